// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "controller/slice/flow_export.h"
#include "lib/packet/parse.h"

namespace trumpet {
namespace {

// sFlow version 5, of sflow.org; formats of enterprise 0.
enum : uint32_t { kFlowSample = 1, kExpandedFlowSample = 3 };
enum : uint32_t { kRawHeader = 1, kIpv4Data = 3, kIpv6Data = 4 };
enum : uint32_t { kHeaderOfEthernet = 1 };
constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kMaxSampling = 1u << 24;

Prefix AddressOf(const uint8_t* bytes, size_t size) {
  Prefix address;
  address.is_ipv6 = size == 16;
  for (size_t i = 0; i < size; ++i) address.address = address.address << 8 | bytes[i];
  address.length = static_cast<uint8_t>(size * 8);
  return address;
}

// The outermost IP header's destination: what routers see.
bool ReadRawHeader(ByteCursor record, FlowSample* sample) {
  const uint32_t protocol = record.Be32();
  const uint32_t frame_bytes = record.Be32();
  const uint32_t stripped = record.Be32();
  const ByteCursor header = record.Take(record.Be32());
  if (!record.ok() || protocol != kHeaderOfEthernet || stripped > frame_bytes) return false;
  ParsedPacket packet;
  Frame frame;
  frame.data = header.here();
  frame.captured_length = static_cast<uint32_t>(header.left());
  frame.wire_length = std::max(frame_bytes - stripped, frame.captured_length);
  ParsePacket(frame, ParseOptions(), &packet);
  const Headers& headers = packet.outermost();
  if (!headers.Has(Field::kDstIp)) return false;
  sample->destination = AddressOf(headers.dst_ip.data(), headers.ip_family == 6 ? 16 : 4);
  sample->bytes = frame.wire_length;
  return true;
}

bool ReadIpData(ByteCursor record, size_t address_bytes, FlowSample* sample) {
  const uint32_t bytes = record.Be32();
  record.Skip(4 + address_bytes);  // protocol, source
  const ByteCursor address = record.Take(address_bytes);
  if (!record.ok()) return false;
  sample->destination = AddressOf(address.here(), address_bytes);
  sample->bytes = uint64_t{bytes} + kEthernetBytes;
  return true;
}

bool ReadRecord(uint32_t format, const ByteCursor& record, FlowSample* sample) {
  if (format == kRawHeader) return ReadRawHeader(record, sample);
  if (format == kIpv4Data) return ReadIpData(record, 4, sample);
  return format == kIpv6Data && ReadIpData(record, 16, sample);
}

// One packet; the first record that knows where it went counts.
bool ReadSample(ByteCursor cursor, bool is_expanded, std::vector<FlowSample>* samples) {
  cursor.Skip(is_expanded ? 12 : 8);  // sequence, source
  const uint32_t sampling = cursor.Be32();
  cursor.Skip(is_expanded ? 24 : 16);  // pool, drops, ports
  const uint32_t count = cursor.Be32();
  for (uint32_t i = 0; i < count && cursor.ok(); ++i) {
    const uint32_t format = cursor.Be32();
    const ByteCursor record = cursor.Take(cursor.Be32());
    FlowSample sample;
    if (!cursor.ok() || !ReadRecord(format, record, &sample)) continue;
    sample.packets = std::clamp(sampling, 1u, kMaxSampling);
    sample.bytes = std::min(sample.bytes * sample.packets, kMaxSampleBytes);
    sample.sampled = 1;
    samples->push_back(sample);
    break;
  }
  return cursor.ok();
}

}  // namespace

bool FlowExportDecoder::DecodeSflow(ByteCursor cursor, std::vector<FlowSample>* samples) {
  cursor.Skip(4);  // version
  const uint32_t family = cursor.Be32();
  if (family != 1 && family != 2) return false;
  cursor.Skip(family == 1 ? 0 : 12);
  const uint64_t origin =
      cursor.Number(8);  // the agent, of whose address the end will do; its part
  cursor.Skip(8);        // sequence, uptime
  const uint32_t count = cursor.Be32();
  for (uint32_t i = 0; i < count && cursor.ok(); ++i) {
    const uint32_t format = cursor.Be32();
    const ByteCursor sample = cursor.Take(cursor.Be32());
    const bool is_flow = format == kFlowSample || format == kExpandedFlowSample;
    const size_t before = samples->size();
    if (cursor.ok() && is_flow && !ReadSample(sample, format == kExpandedFlowSample, samples)) {
      return false;
    }
    if (samples->size() > before) samples->back().origin = origin;
  }
  return cursor.ok();
}

}  // namespace trumpet
