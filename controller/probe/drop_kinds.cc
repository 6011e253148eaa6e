// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_kinds.h"

#include <algorithm>
#include <iterator>

namespace trumpet {
namespace {

constexpr uint32_t kMostBytes = 1514;  // longer ones are lost in many a sound network
constexpr uint32_t kMostBits = 12;     // of an address that are turned at first
constexpr uint32_t kMostLengths = 6;   // likewise, shorter ones
constexpr uint8_t kDscpBits = 6;
// Of segments that hosts send: those that open a connection, answer that, carry data and end it.
constexpr uint32_t kUsualFlags[] = {kTcpSyn,           kTcpSyn | kTcpAck, kTcpAck,
                                    kTcpPsh | kTcpAck, kTcpFin | kTcpAck, kTcpRst};

bool HasPorts(const ProbePacket& packet) {
  return packet.protocol == kProtocolUdp || packet.protocol == kProtocolTcp;
}

uint32_t WidthOf(const FieldValue& address) { return address.kind == ValueKind::kIpv4 ? 32 : 128; }

// The shortest frame that has the mark of probes.
uint32_t LeastBytes(const ProbePacket& packet) {
  ProbePacket shortest = packet;
  shortest.bytes = kLeastProbeBytes;
  return static_cast<uint32_t>(MakeProbeFrame(shortest, ProbeMark(), 0).size());
}

uint32_t DistanceTo(uint32_t from, uint32_t to) { return to > from ? to - from : 0; }

uint32_t HostBits(const FieldValue& address, const std::optional<Prefix>& within) {
  return within ? WidthOf(address) - within->length : 0;
}

uint32_t MostOfPort(uint16_t port, DropSide side) {
  return side == DropSide::kUp ? DistanceTo(port, UINT16_MAX) : DistanceTo(1, port);
}

uint16_t Moved(uint16_t value, DropSide side, uint32_t distance) {
  return static_cast<uint16_t>(side == DropSide::kUp ? value + distance : value - distance);
}

// The first and the last address of a block of IPv4 are for nobody, or for all of them.
bool IsOfAHost(const FieldValue& address, const Prefix& within) {
  constexpr uint8_t kPointToPoint = 31;
  if (within.is_ipv6 || within.length >= kPointToPoint) return true;
  return address.value != FirstOf(within) && address.value != LastOf(within);
}

bool TurnBit(FieldValue* address, const std::optional<Prefix>& within, uint32_t bit) {
  address->value ^= Uint128{1} << (bit - 1);
  return IsOfAHost(*address, *within);
}

// Of another protocol than UDP and TCP the ports are not there.
bool SetProtocol(uint32_t protocol, ProbePacket* packet) {
  const bool is_same = packet->protocol == protocol;
  packet->protocol = static_cast<uint8_t>(protocol);
  constexpr uint8_t kEchoRequest = 8;
  constexpr uint8_t kEchoRequest6 = 128;
  packet->icmp_type = protocol == kProtocolIcmpv6 ? kEchoRequest6 : kEchoRequest;
  packet->icmp_code = 0;
  return !is_same;
}

// What a packet with other headers can be as long as.
bool IsAsLong(const ProbePacket& packet) { return LeastBytes(packet) <= packet.bytes; }

bool Change(const DropSuspicion& suspicion, const DropKind& kind, ProbePacket* packet) {
  switch (kind.field) {
    case DropField::kNone:
      return true;
    case DropField::kSrcPort:
      packet->src_port = Moved(packet->src_port, kind.side, kind.distance);
      return true;
    case DropField::kDstPort:
      packet->dst_port = Moved(packet->dst_port, kind.side, kind.distance);
      return true;
    case DropField::kBytes:
      packet->bytes = Moved(packet->bytes, kind.side, kind.distance);
      return true;
    case DropField::kTtl:
      packet->ttl = static_cast<uint8_t>(Moved(packet->ttl, kind.side, kind.distance));
      return true;
    case DropField::kSrc:
      return TurnBit(&packet->src, suspicion.src_within, kind.distance);
    case DropField::kDst:
      return TurnBit(&packet->dst, suspicion.dst_within, kind.distance);
    case DropField::kProtocol:
      return SetProtocol(kind.distance, packet);
    case DropField::kDscp:
      packet->dscp = static_cast<uint8_t>(kind.distance);
      return kind.distance != suspicion.packet.dscp;
    case DropField::kTcpFlags:
      packet->tcp_flags = static_cast<uint16_t>(kind.distance);
      return kind.distance != suspicion.packet.tcp_flags;
  }
  return false;
}

// Near ones and far ones: a port, a few of them, or a large range may be what is dropped.
std::vector<uint32_t> FirstDistances(DropField field, DropSide side, uint32_t most) {
  std::vector<uint32_t> distances;
  switch (field) {
    case DropField::kSrcPort:
    case DropField::kDstPort:
      distances = {1, 16, 256, 4096, most};
      break;
    case DropField::kTtl:
      distances = {1, 4, 16, 64, most};
      break;
    case DropField::kBytes:
      distances = {1, most};
      if (side == DropSide::kDown) distances = DistancesBetween(0, most + 1, kMostLengths);
      if (side == DropSide::kDown) distances.push_back(most);
      break;
    default:
      distances = DistancesBetween(0, most + 1, kMostBits);
      distances.push_back(1);
      distances.push_back(most);
  }
  const auto is_none = [most](uint32_t distance) { return distance == 0 || distance > most; };
  distances.erase(std::remove_if(distances.begin(), distances.end(), is_none), distances.end());
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  return distances;
}

// Of fields without an order.
std::vector<uint32_t> FirstValues(const DropSuspicion& suspicion, DropField field) {
  std::vector<uint32_t> values;
  if (field == DropField::kProtocol) {
    const bool is_ipv6 = suspicion.packet.src.kind == ValueKind::kIpv6;
    return {kProtocolUdp, kProtocolTcp, is_ipv6 ? kProtocolIcmpv6 : kProtocolIcmp};
  }
  if (field == DropField::kTcpFlags) {
    const bool is_tcp = suspicion.packet.protocol == kProtocolTcp;
    if (is_tcp) values.assign(std::begin(kUsualFlags), std::end(kUsualFlags));
    return values;
  }
  for (uint8_t bit = 0; bit < kDscpBits; ++bit) {
    if ((suspicion.debug_dscp >> bit & 1) == 0) {
      values.push_back(suspicion.packet.dscp ^ 1u << bit);
    }
  }
  return values;
}

// As the language of probes has them.
std::string FlagsText(uint16_t flags) {
  constexpr const char* kNames[] = {"+fin", "+syn", "+rst", "+psh", "+ack", "+urg"};
  if (flags == 0 || flags >> std::size(kNames) != 0) return std::to_string(flags);
  std::string text;
  for (size_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((flags >> bit & 1) != 0) text += kNames[bit];
  }
  return text;
}

}  // namespace

const char* DropFieldName(DropField field) {
  switch (field) {
    case DropField::kNone:
      break;
    case DropField::kSrcPort:
      return "srcPort";
    case DropField::kDstPort:
      return "dstPort";
    case DropField::kSrc:
      return "srcIP";
    case DropField::kDst:
      return "dstIP";
    case DropField::kProtocol:
      return "Protocol";
    case DropField::kBytes:
      return "bytes";
    case DropField::kDscp:
      return "dscp";
    case DropField::kTtl:
      return "ttl";
    case DropField::kTcpFlags:
      return "tcpFlags";
  }
  return "";
}

bool IsHashed(DropField field) {
  return field == DropField::kSrcPort || field == DropField::kDstPort || field == DropField::kSrc ||
         field == DropField::kDst;
}

bool IsOrdered(DropField field) {
  return field != DropField::kNone && field != DropField::kProtocol && field != DropField::kDscp &&
         field != DropField::kTcpFlags;
}

uint32_t MostDistance(const DropSuspicion& suspicion, DropField field, DropSide side) {
  const ProbePacket& packet = suspicion.packet;
  const bool is_up = side == DropSide::kUp;
  switch (field) {
    case DropField::kSrcPort:
      return HasPorts(packet) ? MostOfPort(packet.src_port, side) : 0;
    case DropField::kDstPort:
      return HasPorts(packet) ? MostOfPort(packet.dst_port, side) : 0;
    case DropField::kSrc:
      return is_up ? HostBits(packet.src, suspicion.src_within) : 0;
    case DropField::kDst:
      return is_up ? HostBits(packet.dst, suspicion.dst_within) : 0;
    case DropField::kBytes:
      return is_up ? DistanceTo(packet.bytes, kMostBytes)
                   : DistanceTo(LeastBytes(packet), packet.bytes);
    case DropField::kTtl:
      // With less it may end on its way.
      return is_up ? DistanceTo(packet.ttl, UINT8_MAX) : 0;
    default:
      return 0;
  }
}

std::optional<DropKind> KindAt(const DropSuspicion& suspicion, DropField field, DropSide side,
                               uint32_t distance) {
  if (IsOrdered(field) && (distance == 0 || distance > MostDistance(suspicion, field, side))) {
    return std::nullopt;
  }
  DropKind kind{field, side, distance, suspicion.packet};
  if (!Change(suspicion, kind, &kind.packet)) return std::nullopt;
  if (!ProbePacketProblem(kind.packet).empty()) return std::nullopt;
  if (field == DropField::kProtocol && !IsAsLong(kind.packet)) return std::nullopt;
  if (kind.packet.src.value == kind.packet.dst.value) return std::nullopt;
  return kind;
}

std::vector<DropKind> FirstKinds(const DropSuspicion& suspicion) {
  std::vector<DropKind> kinds;
  const auto add = [&](DropField field, DropSide side, uint32_t distance) {
    auto kind = KindAt(suspicion, field, side, distance);
    if (kind) kinds.push_back(std::move(*kind));
  };
  for (const DropField field : kDropFields) {
    if (!IsOrdered(field)) {
      for (const uint32_t value : FirstValues(suspicion, field)) add(field, DropSide::kUp, value);
      continue;
    }
    for (const DropSide side : {DropSide::kDown, DropSide::kUp}) {
      const uint32_t most = MostDistance(suspicion, field, side);
      for (const uint32_t distance : FirstDistances(field, side, most)) add(field, side, distance);
    }
  }
  return kinds;
}

std::vector<uint32_t> DistancesBetween(uint32_t near, uint32_t far, uint32_t most) {
  std::vector<uint32_t> distances;
  const uint64_t between = far > near ? far - near - 1 : 0;
  const uint64_t count = std::min<uint64_t>(between, most);
  for (uint64_t i = 1; i <= count; ++i) {
    distances.push_back(near + static_cast<uint32_t>(i * (between + 1) / (count + 1)));
  }
  return distances;
}

std::string DropValue(const ProbePacket& packet, DropField field) {
  switch (field) {
    case DropField::kNone:
      break;
    case DropField::kSrcPort:
      return std::to_string(packet.src_port);
    case DropField::kDstPort:
      return std::to_string(packet.dst_port);
    case DropField::kSrc:
      return FormatValue(packet.src);
    case DropField::kDst:
      return FormatValue(packet.dst);
    case DropField::kProtocol:
      return packet.protocol == kProtocolTcp    ? "TCP"
             : packet.protocol == kProtocolUdp  ? "UDP"
             : packet.protocol == kProtocolIcmp ? "ICMP"
                                                : "ICMPv6";
    case DropField::kBytes:
      return std::to_string(packet.bytes);
    case DropField::kDscp:
      return std::to_string(packet.dscp);
    case DropField::kTtl:
      return std::to_string(packet.ttl);
    case DropField::kTcpFlags:
      return FlagsText(packet.tcp_flags);
  }
  return "";
}

}  // namespace trumpet
