// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowExportDecoder: what one exporter tells of its traffic in datagrams of sFlow 5, NetFlow 5,
// NetFlow 9 (RFC 3954) or IPFIX (RFC 7011): towards which address how much went.
//
// Threads: one.  Memory: kMaxTemplates of kMaxFields.  Datagrams come from outside: whatever they
// hold is read within their bounds, and what is behind the first nonsense is left unread.

#ifndef TRUMPET_CONTROLLER_SLICE_FLOW_EXPORT_H
#define TRUMPET_CONTROLLER_SLICE_FLOW_EXPORT_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/base/byte_cursor.h"
#include "lib/base/units.h"
#include "lib/packet/prefix.h"

namespace trumpet {

struct FlowSample {
  uint64_t origin = 0;   // tells apart the switches that one exporter speaks for
  Prefix destination;    // of full length
  uint64_t bytes = 0;    // of Ethernet frames, without FCS; scaled up by the sampling
  uint64_t packets = 0;  // likewise
  uint64_t sampled = 0;  // packets that this was seen in
  Nanos duration = 0;    // from the first to the last of them
};

constexpr uint64_t kMaxSampleBytes = 1ull << 40;  // and packets: what one sample may tell

enum class FlowExportResult : uint8_t { kRead, kMalformed, kUnknown };

class FlowExportDecoder {
 public:
  static constexpr size_t kMaxTemplates = 256;
  static constexpr size_t kMaxFields = 128;

  // Appends to `samples` what was read before anything was wrong.
  FlowExportResult Decode(const uint8_t* data, size_t size, std::vector<FlowSample>* samples);

  // Sets of records whose template has not come, or found no room.
  uint64_t unknown_sets() const { return unknown_sets_; }

 private:
  struct Field {
    uint16_t type = 0;  // 0: of an enterprise, or padding
    uint16_t size = 0;  // 65535: the record says
  };
  using Template = std::vector<Field>;
  using TemplateKey = std::pair<uint32_t, uint16_t>;  // domain, number
  struct Message {
    uint32_t domain = 0;
    uint64_t origin = 0;
    bool is_ipfix = false;
    std::vector<FlowSample>* samples = nullptr;
  };

  static bool DecodeSflow(ByteCursor cursor, std::vector<FlowSample>* samples);
  static bool DecodeNetflow5(ByteCursor cursor, std::vector<FlowSample>* samples);
  bool DecodeSets(ByteCursor cursor, const Message& message);
  bool DecodeSet(uint16_t number, ByteCursor set, const Message& message);
  bool DecodeTemplates(ByteCursor set, const Message& message);
  bool DecodeOptionTemplates(ByteCursor set, const Message& message);
  bool DecodeTemplate(ByteCursor* set, uint16_t number, size_t count, const Message& message);
  bool DecodeRecord(const Template& fields, ByteCursor* set, const Message& message);

  std::map<TemplateKey, Template> templates_;
  std::map<uint32_t, uint64_t> sampling_;  // by domain; one of so many packets
  uint64_t unknown_sets_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_FLOW_EXPORT_H
