// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_copy.h"

#include <algorithm>
#include <optional>

#include "controller/analyzer/packet_identity.h"
#include "controller/analyzer/usual_copy.h"
#include "lib/base/byte_order.h"
#include "lib/base/hash.h"
#include "lib/model/trace_rule.h"
#include "lib/packet/roce.h"

namespace trumpet {
namespace {

constexpr uint16_t kGreKeyFlag = 0x2000;
constexpr uint16_t kGreSequenceFlag = 0x1000;
constexpr uint16_t kGreChecksumFlag = 0x8000;
constexpr uint32_t kGreBytes = 4;
constexpr uint32_t kFrameBytesHashed = 64;

void SetOrigin(uint32_t key, TraceHop* hop) {
  hop->switch_number = static_cast<uint16_t>(key >> kSliceTagBits);
  hop->tag = key & kMaxSliceTag;
}

bool IsTunnel(LayerKind kind) {
  switch (kind) {
    case LayerKind::kGre:
    case LayerKind::kVxlan:
    case LayerKind::kVxlanGpe:
    case LayerKind::kGeneve:
      return true;
    default:
      return false;
  }
}

// True if the key says who made the copy.  Sets the sequence number, too.
bool ReadGre(const uint8_t* gre, const Layer& layer, TraceHop* hop) {
  const uint16_t flags = LoadBe16(gre);
  const bool has_key = (flags & kGreKeyFlag) != 0;
  uint32_t at = kGreBytes + ((flags & kGreChecksumFlag) != 0 ? 4 : 0);
  if (layer.bytes == kGreBytes) return false;
  if (has_key) {
    SetOrigin(LoadBe32(gre + at), hop);
    at += 4;
  }
  hop->has_sequence = (flags & kGreSequenceFlag) != 0;
  if (hop->has_sequence) hop->sequence = LoadBe32(gre + at);
  return has_key;
}

// ERSPAN III has no index: its platform's part and its hardware id are not ours to set.
void ReadErspan(const uint8_t* erspan, const Layer& layer, TraceHop* hop) {
  hop->switch_number = LoadBe16(erspan + 2) & 0x3ff;
  hop->tag = layer.kind == LayerKind::kErspan2 ? LoadBe32(erspan + 4) & kMaxSliceTag : 0;
}

// What the tunnel of a copy says of it.
struct Origin {
  bool is_known = false;
  bool has_tag = false;  // all 20 bits of it
};

// Where the copied packet begins in the list; 0: there is no tunnel.
int FindPacket(const uint8_t* data, const Layers& layers, Origin* origin, TraceHop* hop) {
  int i = 0;
  while (i < layers.count && !IsTunnel(layers.list[static_cast<size_t>(i)].kind)) ++i;
  if (i == layers.count) return 0;
  const Layer& tunnel = layers.list[static_cast<size_t>(i++)];
  if (tunnel.kind != LayerKind::kGre) {
    // A VNI has 24 bits: ten of the switch, 14 of the tag.
    const uint32_t vni = LoadBe32(data + tunnel.at + 4) >> 8;
    hop->switch_number = static_cast<uint16_t>(vni >> 14);
    hop->tag = vni & 0x3fff;
    origin->is_known = true;
    return i;
  }
  origin->is_known = origin->has_tag = ReadGre(data + tunnel.at, tunnel, hop);
  for (; i < layers.count; ++i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    switch (layer.kind) {
      case LayerKind::kErspan2:
      case LayerKind::kErspan3:
        ReadErspan(data + layer.at, layer, hop);
        origin->is_known = true;
        origin->has_tag = layer.kind == LayerKind::kErspan2;
        break;
      case LayerKind::kErspan1:
      case LayerKind::kErspanPlatform:
      case LayerKind::kMellanox:
        break;
      default:
        return i;
    }
  }
  return i;
}

uint8_t TtlOf(const uint8_t* data, const Layer& ip) {
  return data[ip.at + (ip.kind == LayerKind::kIpv4 ? 8 : 7)];
}

// The packet, whose first layer is at `first`.
TraceVerdict ReadPacket(const Frame& frame, const Layers& layers, int first,
                        const TraceCopyOptions& options, TraceCopy* copy) {
  const uint32_t at = layers.list[static_cast<size_t>(first)].at;
  copy->bytes = frame.data + at;
  copy->captured = frame.captured_length - at;
  const Layer* innermost = nullptr;
  for (int i = first; i < layers.count; ++i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    if (layer.kind != LayerKind::kIpv4 && layer.kind != LayerKind::kIpv6) continue;
    if (innermost == nullptr) {
      copy->hop.outer_ttl = TtlOf(frame.data, layer);
    } else {
      copy->hop.is_encapsulated = true;
    }
    innermost = &layer;
  }
  copy->packet = DescribePacket(frame, layers, first, options.debug_dscp);
  if (innermost == nullptr) {
    const uint32_t size = std::min(copy->captured, kFrameBytesHashed);
    copy->key = HashBytes(copy->bytes, size, options.seed);
    // A frame that stops a sender ends at the next switch, and all of a port's are alike: each copy
    // is a packet of its own.
    if (ReadMacControl(frame.data, layers, first)) {
      const uint64_t place = static_cast<uint64_t>(copy->hop.switch_number) << 32 | copy->hop.tag;
      const auto time = static_cast<uint64_t>(copy->hop.time);
      copy->key =
          HashNumber(static_cast<uint64_t>(copy->key) ^ HashNumber(place, time), options.seed);
      copy->flow = HashNumber(place, options.seed);
    }
    return TraceVerdict::kCopy;
  }
  const std::optional<PacketIdentity> identity = options.pairs.Identify(
      frame.data + innermost->at, frame.captured_length - innermost->at, options.seed);
  if (!identity) return TraceVerdict::kMalformed;
  copy->key = identity->hash;
  copy->flow = identity->flow;
  copy->hop.ttl = identity->ttl;
  return TraceVerdict::kCopy;
}

}  // namespace

TraceVerdict ReadTraceCopy(const Frame& frame, Nanos time, const TraceCopyOptions& options,
                           TraceCopy* copy) {
  if (ReadUsualCopy(frame, time, options, copy)) return TraceVerdict::kCopy;
  return ReadAnyTraceCopy(frame, time, options, copy);
}

TraceVerdict ReadAnyTraceCopy(const Frame& frame, Nanos time, const TraceCopyOptions& options,
                              TraceCopy* copy) {
  *copy = TraceCopy();
  Layers layers;
  ReadLayers(frame.data, frame.captured_length, LayerKind::kEthernet, options.layers, &layers);
  copy->hop.time = time;
  Origin origin;
  const int first = FindPacket(frame.data, layers, &origin, &copy->hop);
  if (first == 0) return TraceVerdict::kOther;
  if (!origin.is_known) return TraceVerdict::kNoOrigin;
  const bool is_of_trace =
      IsTraceTag(copy->hop.tag) && TraceTagPort(copy->hop.tag) != kTraceTestPort;
  if (options.leaves_slices && origin.has_tag && !is_of_trace) {
    return TraceVerdict::kSlice;
  }
  if (first == layers.count) return TraceVerdict::kMalformed;
  return ReadPacket(frame, layers, first, options, copy);
}

TraceVerdict ReadTraceFrame(const Frame& frame, Nanos time, uint16_t switch_number,
                            const TraceCopyOptions& options, TraceCopy* copy) {
  *copy = TraceCopy();
  Layers layers;
  ReadLayers(frame.data, frame.captured_length, LayerKind::kEthernet, options.layers, &layers);
  copy->hop.time = time;
  copy->hop.switch_number = switch_number;
  if (layers.count == 0) return TraceVerdict::kMalformed;
  return ReadPacket(frame, layers, 0, options, copy);
}

}  // namespace trumpet
