// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What analyzers and the controller tell each other of traces, as values; a part of Message.
//
// lib/wire/trumpet.proto says what each message is for.

#ifndef TRUMPET_LIB_WIRE_TRACE_MESSAGE_H
#define TRUMPET_LIB_WIRE_TRACE_MESSAGE_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

enum class TraceWhat : uint8_t { kTraces, kEstimate, kWatch, kLinks, kCount, kCounter, kApp };
enum class TracePackets : uint8_t { kNone, kHeaders, kWhole };

struct TraceWord {
  std::string name;
  std::string value;
};

struct TraceRequest {
  uint64_t number = 0;
  TraceWhat what = TraceWhat::kTraces;
  TracePackets packets = TracePackets::kNone;
  std::vector<TraceWord> words;
};

struct TraceRecord {
  Nanos start = 0;
  uint64_t id = 0;
  std::string text;
};

struct TraceAnswer {
  uint64_t number = 0;
  std::vector<TraceRecord> records;
  bool has_more = false;
  uint64_t files = 0;
  uint64_t traces = 0;
  uint64_t bytes = 0;
  uint64_t left_out = 0;
  std::string error;
  bool is_wrong = false;
};

struct TraceCancel {
  uint64_t number = 0;
};

struct TraceNetwork {
  uint32_t part = 0;
  bool is_last = true;
  std::string text;
};

struct TraceCounters {
  uint32_t part = 0;
  bool is_last = true;
  std::string text;
};

struct TraceSent {
  uint16_t switch_number = 0;
  uint64_t sent = 0;
  Nanos asked_ago = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_TRACE_MESSAGE_H
