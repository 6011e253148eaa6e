// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/parsed_packet.h"

#include "lib/base/byte_order.h"

namespace trumpet {

namespace {

FieldValue Number(uint32_t value) { return {ValueKind::kNumber, value}; }

FieldValue IpValue(uint8_t family, const IpBytes& bytes) {
  if (family == 4) return {ValueKind::kIpv4, LoadBe32(bytes.data())};
  const uint64_t high = LoadBe64(bytes.data());
  const uint64_t low = LoadBe64(bytes.data() + 8);
  return {ValueKind::kIpv6, Uint128{high} << 64 | low};
}

FieldValue MacValue(const MacBytes& bytes) {
  const uint64_t high = LoadBe16(bytes.data());
  return {ValueKind::kMac, high << 32 | LoadBe32(bytes.data() + 2)};
}

FieldValue PresentValue(const Headers& headers, Field field) {
  switch (field) {
    case Field::kSrcIp:
      return IpValue(headers.ip_family, headers.src_ip);
    case Field::kDstIp:
      return IpValue(headers.ip_family, headers.dst_ip);
    case Field::kSrcPort:
      return Number(headers.src_port);
    case Field::kDstPort:
      return Number(headers.dst_port);
    case Field::kProtocol:
      return Number(headers.protocol);
    case Field::kSrcMac:
      return MacValue(headers.src_mac);
    case Field::kDstMac:
      return MacValue(headers.dst_mac);
    case Field::kEthType:
      return Number(headers.eth_type);
    case Field::kVlan:
      return Number(headers.vlan);
    case Field::kDscp:
      return Number(headers.dscp);
    case Field::kEcn:
      return Number(headers.ecn);
    case Field::kTtl:
      return Number(headers.ttl);
    case Field::kTcpFlags:
      return Number(headers.tcp_flags);
    case Field::kTunnelId:
      return Number(headers.tunnel_id);
    case Field::kInPort:
      break;  // belongs to the packet, not to a level
  }
  return {};
}

}  // namespace

FieldValue ReadField(const ParsedPacket& packet, const FieldRef& ref) {
  if (ref.level == Level::kInner && !packet.is_tunnelled) return {};
  if (ref.field == Field::kInPort)
    return packet.has_in_port ? Number(packet.in_port) : FieldValue{};
  const Headers& headers = ref.level == Level::kOuter ? packet.outermost() : packet.innermost;
  return headers.Has(ref.field) ? PresentValue(headers, ref.field) : FieldValue{};
}

}  // namespace trumpet
