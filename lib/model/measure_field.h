// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasureField: what measurement programs read of a packet, and which of it they may write.
//
// All values are unsigned numbers, big-endian on the wire; what a packet does not have reads as 0,
// and writing it does nothing.  Programs add fields of their own headers (MeasureHeader); a
// MeasureFieldId below kMeasureFieldCount is one of this table, a higher one is
// `program.header_fields[id - kMeasureFieldCount]`.
//
// Threads: constants; no state.

#ifndef TRUMPET_LIB_MODEL_MEASURE_FIELD_H
#define TRUMPET_LIB_MODEL_MEASURE_FIELD_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trumpet {

// Where a field lives.
enum class MeasureSource : uint8_t {
  kEthernet,
  kIpv4,
  kTcp,
  kUdp,
  // The ez-Segway message: UDP to port 30000 with at least 10 bytes of payload.
  kSegway,
  kMetadata,  // of the switch or of the packet in it; in no byte of the packet
  // Between switches (lib/measure/carrier_shim.h).  vlan.vid of a packet that carries nothing is
  // that of its outermost VLAN tag.
  kCarrier,
};

enum class MeasureWrite : uint8_t {
  kNever,
  kCopies,   // only of copies: on forwarded packets it would change where they go, or what arrives
  kForward,  // of forwarded packets, too
};

enum MeasureFieldIndex : uint16_t {
  kEthDst,
  kEthSrc,
  kEthType,
  kIpv4Tos,
  kIpv4Len,
  kIpv4Id,
  kIpv4Ttl,
  kIpv4Proto,
  kIpv4Checksum,
  kIpv4Src,
  kIpv4Dst,
  kTcpSrc,
  kTcpDst,
  kTcpFlags,
  kUdpSrc,
  kUdpDst,
  kSegwayMsg,
  kSegwayTs,
  kSegwayTime,
  kPktSize,           // bytes on the wire from the Ethernet header on, without FCS
  kPktInputPort,      // number of the port in its bridge
  kPktOutputPort,     // likewise; known where the packet leaves
  kPktInQueueLength,  // packets left in the receive queue behind this burst
  kPktRequest,        // of a packet of `ctrl`: what it asks for
  kPktHhVolume,       // of an answer to it
  kSwitchId,
  kVlanVid,
  kGeneveOption,
  kMeasureFieldCount,
};

using MeasureFieldId = uint16_t;

struct MeasureField {
  const char* name;
  uint8_t bits;  // 1 to 64
  MeasureWrite write;
  MeasureSource source;
};

// By MeasureFieldIndex.
constexpr MeasureField kMeasureFields[] = {
    {"eth.dst", 48, MeasureWrite::kCopies, MeasureSource::kEthernet},
    {"eth.src", 48, MeasureWrite::kCopies, MeasureSource::kEthernet},
    {"eth.type", 16, MeasureWrite::kCopies, MeasureSource::kEthernet},
    {"ipv4.tos", 8, MeasureWrite::kForward, MeasureSource::kIpv4},
    {"ipv4.len", 16, MeasureWrite::kCopies, MeasureSource::kIpv4},
    {"ipv4.id", 16, MeasureWrite::kForward, MeasureSource::kIpv4},
    {"ipv4.ttl", 8, MeasureWrite::kCopies, MeasureSource::kIpv4},
    {"ipv4.proto", 8, MeasureWrite::kCopies, MeasureSource::kIpv4},
    {"ipv4.checksum", 16, MeasureWrite::kForward, MeasureSource::kIpv4},
    {"ipv4.src", 32, MeasureWrite::kCopies, MeasureSource::kIpv4},
    {"ipv4.dst", 32, MeasureWrite::kCopies, MeasureSource::kIpv4},
    {"tcp.src", 16, MeasureWrite::kCopies, MeasureSource::kTcp},
    {"tcp.dst", 16, MeasureWrite::kCopies, MeasureSource::kTcp},
    {"tcp.flags", 8, MeasureWrite::kCopies, MeasureSource::kTcp},
    {"udp.src", 16, MeasureWrite::kCopies, MeasureSource::kUdp},
    {"udp.dst", 16, MeasureWrite::kCopies, MeasureSource::kUdp},
    {"segway_header.msg", 8, MeasureWrite::kForward, MeasureSource::kSegway},
    {"segway_header.ts", 8, MeasureWrite::kForward, MeasureSource::kSegway},
    {"segway_header.time", 64, MeasureWrite::kForward, MeasureSource::kSegway},
    {"pkt.size", 32, MeasureWrite::kNever, MeasureSource::kMetadata},
    {"pkt.input_port", 16, MeasureWrite::kNever, MeasureSource::kMetadata},
    {"pkt.output_port", 16, MeasureWrite::kNever, MeasureSource::kMetadata},
    {"pkt.in_queue_length", 16, MeasureWrite::kNever, MeasureSource::kMetadata},
    {"pkt.request", 16, MeasureWrite::kForward, MeasureSource::kMetadata},
    {"pkt.hh_volume", 32, MeasureWrite::kForward, MeasureSource::kMetadata},
    {"switch.id", 8, MeasureWrite::kNever, MeasureSource::kMetadata},
    {"vlan.vid", 12, MeasureWrite::kForward, MeasureSource::kCarrier},
    {"geneve.option", 32, MeasureWrite::kForward, MeasureSource::kCarrier},
};
static_assert(sizeof(kMeasureFields) / sizeof(kMeasureFields[0]) == kMeasureFieldCount);

// Of the table, by its name; the aliases of the language are not known here.
inline std::optional<MeasureFieldId> MeasureFieldByName(std::string_view name) {
  for (MeasureFieldId id = 0; id < kMeasureFieldCount; ++id) {
    if (name == kMeasureFields[id].name) return id;
  }
  return std::nullopt;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_MEASURE_FIELD_H
