// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What analyzers of copies and the controller tell each other, as values; a part of Message.
//
// lib/wire/trumpet.proto says what each message is for.

#ifndef TRUMPET_LIB_WIRE_SLICE_MESSAGE_H
#define TRUMPET_LIB_WIRE_SLICE_MESSAGE_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/slice_copies.h"

namespace trumpet {

struct ExpectSlices {
  std::vector<ExpectedSlice> slices;
};

struct TallyRequest {
  uint64_t number = 0;
  std::vector<uint32_t> tags;
};

struct SliceTallies {
  uint64_t number = 0;
  bool is_last = true;
  std::vector<SliceTally> tallies;
};

struct FinishRun {
  uint64_t run = 0;
  std::vector<CopyLatency> latencies;
};

struct RunAnswer {
  uint64_t run = 0;
  uint32_t part = 0;
  bool is_last = true;
  std::string text;
};

struct PacketsRequest {
  uint64_t number = 0;
  uint32_t tag = 0;
  uint64_t first = 0;
  uint32_t max_packets = 0;
};

struct PacketRecord {
  std::string switch_name;
  Nanos time = 0;
  uint32_t wire_bytes = 0;
  bool is_ethernet = true;
  std::string bytes;
};

struct PacketRecords {
  uint64_t number = 0;
  uint64_t first = 0;
  bool is_last = true;
  std::vector<PacketRecord> records;
};

// In the files of a run.
struct PacketFilePlace {
  uint32_t slot = 0;
  uint32_t query = 0;
  uint64_t offset = 0;
};

struct PacketFileRequest {
  uint64_t number = 0;
  uint64_t run = 0;
  PacketFilePlace from;
  uint32_t max_bytes = 0;
};

struct PacketFilePiece {
  uint64_t number = 0;
  PacketFilePlace next;
  bool is_last = true;
  std::string bytes;
  std::string error;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SLICE_MESSAGE_H
