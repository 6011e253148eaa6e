// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/probe_frame.h"

#include <algorithm>
#include <cstring>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr std::array<uint8_t, 8> kMagic = {'T', 'r', 'm', 'p', 0xf0, 0x9f, 0x8e, 0xba};
constexpr uint16_t kVlanType = 0x8100;
constexpr uint16_t kIpv4Type = 0x0800;
constexpr uint16_t kIpv6Type = 0x86dd;
constexpr size_t kEthernetBytes = 14;
constexpr size_t kVlanBytes = 4;
constexpr size_t kIpv4Bytes = 20;
constexpr size_t kIpv6Bytes = 40;
constexpr size_t kTcpBytes = 20;
constexpr size_t kShortBytes = 8;  // of UDP, and of ICMP with its number
constexpr uint16_t kDontFragment = 0x4000;
constexpr uint16_t kTcpWords = 5;
constexpr uint16_t kWindow = 1024;

bool IsIpv6(const ProbePacket& packet) { return packet.src.kind == ValueKind::kIpv6; }
bool IsIcmp(const ProbePacket& packet) {
  return packet.protocol == kProtocolIcmp || packet.protocol == kProtocolIcmpv6;
}

size_t TransportBytes(const ProbePacket& packet) {
  return packet.protocol == kProtocolTcp ? kTcpBytes : kShortBytes;
}

size_t HeaderBytes(const ProbePacket& packet) {
  return kEthernetBytes + (packet.vlan ? kVlanBytes : 0) +
         (IsIpv6(packet) ? kIpv6Bytes : kIpv4Bytes) + TransportBytes(packet);
}

void Put8(std::string* to, unsigned value) { to->push_back(static_cast<char>(value)); }
void Put16(std::string* to, unsigned value) {
  Put8(to, value >> 8 & 0xff);
  Put8(to, value & 0xff);
}
void Put32(std::string* to, uint32_t value) {
  Put16(to, value >> 16);
  Put16(to, value & 0xffff);
}
void PutAddress(std::string* to, const FieldValue& address) {
  const int bytes = address.kind == ValueKind::kIpv4 ? 4 : 16;
  for (int i = bytes - 1; i >= 0; --i) Put8(to, static_cast<uint8_t>(address.value >> (8 * i)));
}

void Store16(std::string* to, size_t at, uint16_t value) {
  (*to)[at] = static_cast<char>(value >> 8);
  (*to)[at + 1] = static_cast<char>(value & 0xff);
}

uint16_t Checksum(const std::string& bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    const auto high = static_cast<uint8_t>(bytes[i]);
    const auto low = static_cast<uint8_t>(i + 1 < bytes.size() ? bytes[i + 1] : 0);
    sum += uint32_t{high} << 8 | low;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// Never the right one, and never 0, which means that there is none in UDP over IPv4.  Half of the
// bits are others, so that rounding 0 and 0xffff into each other does not repair it.
uint16_t Wrong(uint16_t right) {
  constexpr uint16_t kBits = 0x5555;
  const auto wrong = static_cast<uint16_t>(right ^ kBits);
  return wrong == 0 ? static_cast<uint16_t>(~kBits) : wrong;
}

// What comes before the transport's bytes in its checksum.
std::string PseudoHeader(const ProbePacket& packet, size_t bytes) {
  std::string header;
  if (packet.protocol == kProtocolIcmp) return header;
  PutAddress(&header, packet.src);
  PutAddress(&header, packet.dst);
  Put32(&header, static_cast<uint32_t>(bytes));
  Put32(&header, packet.protocol);
  return header;
}

std::string Transport(const ProbePacket& packet, const ProbeMark& mark, size_t bytes) {
  std::string text;
  size_t checksum_at = 6;
  if (packet.protocol == kProtocolTcp) {
    checksum_at = 16;
    Put16(&text, packet.src_port);
    Put16(&text, packet.dst_port);
    // Packets differ here, too, for copies that are cut before the mark.
    Put32(&text, static_cast<uint32_t>(mark.probe) + mark.packet);
    Put32(&text, 0);
    Put16(&text, unsigned{kTcpWords} << 12 | packet.tcp_flags);
    Put16(&text, kWindow);
    Put32(&text, 0);
  } else if (IsIcmp(packet)) {
    checksum_at = 2;
    Put8(&text, packet.icmp_type);
    Put8(&text, packet.icmp_code);
    Put16(&text, 0);
    Put16(&text, static_cast<uint16_t>(mark.probe));
    Put16(&text, static_cast<uint16_t>(mark.packet));
  } else {
    Put16(&text, packet.src_port);
    Put16(&text, packet.dst_port);
    Put16(&text, static_cast<unsigned>(bytes));
    Put16(&text, 0);
  }
  for (const uint8_t byte : kMagic) Put8(&text, byte);
  Put32(&text, static_cast<uint32_t>(mark.probe >> 32));
  Put32(&text, static_cast<uint32_t>(mark.probe));
  Put32(&text, mark.packet);
  text.resize(bytes, '\0');
  Store16(&text, checksum_at, Wrong(Checksum(PseudoHeader(packet, bytes) + text)));
  return text;
}

void PutIp(const ProbePacket& packet, const ProbeMark& mark, unsigned traffic_class,
           size_t payload_bytes, std::string* frame) {
  if (IsIpv6(packet)) {
    Put32(frame, 6u << 28 | traffic_class << 20);
    Put16(frame, static_cast<unsigned>(payload_bytes));
    Put8(frame, packet.protocol);
    Put8(frame, packet.ttl);
    PutAddress(frame, packet.src);
    PutAddress(frame, packet.dst);
    return;
  }
  std::string header;
  Put8(&header, 4u << 4 | kIpv4Bytes / 4);
  Put8(&header, traffic_class);
  Put16(&header, static_cast<unsigned>(kIpv4Bytes + payload_bytes));
  Put16(&header, static_cast<uint16_t>(mark.probe + mark.packet));
  Put16(&header, kDontFragment);
  Put8(&header, packet.ttl);
  Put8(&header, packet.protocol);
  Put16(&header, 0);
  PutAddress(&header, packet.src);
  PutAddress(&header, packet.dst);
  Store16(&header, 10, Checksum(header));
  *frame += header;
}

FieldValue LoadAddress(const uint8_t* at, ValueKind kind) {
  FieldValue address{kind, 0};
  const size_t bytes = kind == ValueKind::kIpv4 ? 4 : 16;
  for (size_t i = 0; i < bytes; ++i) address.value = address.value << 8 | at[i];
  return address;
}

// Both move `at` behind the header; false if it is none, or that of a later fragment.
bool ReadIpv4(const uint8_t* header, ProbePacket* packet, size_t* at) {
  constexpr uint16_t kOffsetMask = 0x1fff;
  const size_t bytes = (header[0] & 0xfu) * 4;
  if (header[0] >> 4 != 4 || bytes < kIpv4Bytes) return false;
  if ((LoadBe16(header + 6) & kOffsetMask) != 0) return false;
  packet->dscp = static_cast<uint8_t>(header[1] >> 2);
  packet->ecn = header[1] & 3;
  packet->ttl = std::max<uint8_t>(header[8], 1);
  packet->protocol = header[9];
  packet->src = LoadAddress(header + 12, ValueKind::kIpv4);
  packet->dst = LoadAddress(header + 16, ValueKind::kIpv4);
  *at += bytes;
  return true;
}

bool ReadIpv6(const uint8_t* header, ProbePacket* packet, size_t* at) {
  if (header[0] >> 4 != 6) return false;
  const unsigned traffic_class = LoadBe32(header) >> 20 & 0xff;
  packet->dscp = static_cast<uint8_t>(traffic_class >> 2);
  packet->ecn = traffic_class & 3;
  packet->protocol = header[6];
  packet->ttl = std::max<uint8_t>(header[7], 1);
  packet->src = LoadAddress(header + 8, ValueKind::kIpv6);
  packet->dst = LoadAddress(header + 24, ValueKind::kIpv6);
  *at += kIpv6Bytes;
  return true;
}

void ReadTransport(const uint8_t* header, ProbePacket* packet) {
  if (IsIcmp(*packet)) {
    packet->icmp_type = header[0];
    packet->icmp_code = header[1];
    return;
  }
  packet->src_port = LoadBe16(header);
  packet->dst_port = LoadBe16(header + 2);
  constexpr uint16_t kFlagsMask = 0xfff;
  if (packet->protocol == kProtocolTcp) {
    packet->tcp_flags = static_cast<uint16_t>(LoadBe16(header + 12) & kFlagsMask);
  }
}

bool IsNobody(const FieldValue& address) {
  if (address.value == 0) return true;
  if (address.kind == ValueKind::kIpv4) return address.value >> 28 >= 14;  // groups and beyond
  return address.value >> 120 == 0xff;
}

}  // namespace

std::optional<ProbeMark> ReadProbeMark(const uint8_t* payload, size_t bytes) {
  if (bytes < kProbeMarkBytes || std::memcmp(payload, kMagic.data(), kMagic.size()) != 0) {
    return std::nullopt;
  }
  ProbeMark mark;
  mark.probe = uint64_t{LoadBe32(payload + 8)} << 32 | LoadBe32(payload + 12);
  mark.packet = LoadBe32(payload + 16);
  return mark;
}

std::optional<ProbePacket> ProbePacketLike(const uint8_t* frame, size_t captured,
                                           uint32_t wire_bytes) {
  ProbePacket packet;
  size_t at = kEthernetBytes;
  if (captured < at) return std::nullopt;
  std::copy_n(frame, packet.dst_mac.size(), packet.dst_mac.begin());
  std::copy_n(frame + packet.dst_mac.size(), packet.src_mac.size(), packet.src_mac.begin());
  uint16_t type = LoadBe16(frame + at - 2);
  if (type == kVlanType && captured >= at + kVlanBytes) {
    constexpr uint16_t kVlanMask = 0xfff;
    packet.vlan = static_cast<uint16_t>(LoadBe16(frame + at) & kVlanMask);
    at += kVlanBytes;
    type = LoadBe16(frame + at - 2);
  }
  const bool is_ip =
      (type == kIpv4Type && captured >= at + kIpv4Bytes && ReadIpv4(frame + at, &packet, &at)) ||
      (type == kIpv6Type && captured >= at + kIpv6Bytes && ReadIpv6(frame + at, &packet, &at));
  if (!is_ip || captured < at + TransportBytes(packet)) return std::nullopt;
  ReadTransport(frame + at, &packet);
  const uint32_t bytes = std::max(wire_bytes, static_cast<uint32_t>(captured));
  packet.bytes =
      static_cast<uint16_t>(std::clamp<uint32_t>(bytes, kLeastProbeBytes, kMostProbeBytes));
  if (!ProbePacketProblem(packet).empty()) return std::nullopt;
  return packet;
}

std::string ProbePacketProblem(const ProbePacket& packet) {
  const bool is_ipv4 = packet.src.kind == ValueKind::kIpv4;
  if (!is_ipv4 && !IsIpv6(packet)) return "a packet needs srcIP";
  if (packet.dst.kind != ValueKind::kIpv4 && packet.dst.kind != ValueKind::kIpv6) {
    return "a packet needs dstIP";
  }
  if (packet.src.kind != packet.dst.kind) return "srcIP and dstIP are of two kinds";
  if (IsNobody(packet.src)) return "srcIP is no address of a host";
  if (IsNobody(packet.dst)) return "dstIP is no address of a host";
  const bool has_ports = packet.protocol == kProtocolUdp || packet.protocol == kProtocolTcp;
  if (!has_ports && packet.protocol != (is_ipv4 ? kProtocolIcmp : kProtocolIcmpv6)) {
    // Whatever else there is has no checksum that keeps every host from taking it.
    return "Protocol is UDP, TCP or ICMP";
  }
  if (packet.dst_mac == MacBytes{}) {
    return "a packet needs dstMAC: without, bridges would send it everywhere";
  }
  if ((packet.dst_mac[0] & 1) != 0) return "dstMAC is that of a group";
  if ((packet.src_mac[0] & 1) != 0) return "srcMAC is that of a group";
  return "";
}

std::string MakeProbeFrame(const ProbePacket& packet, const ProbeMark& mark, uint8_t debug_dscp) {
  const size_t headers = HeaderBytes(packet);
  const size_t bytes = std::max<size_t>(packet.bytes, headers + kProbeMarkBytes);
  const size_t transport_bytes = bytes - headers + TransportBytes(packet);
  std::string frame;
  frame.append(reinterpret_cast<const char*>(packet.dst_mac.data()), packet.dst_mac.size());
  frame.append(reinterpret_cast<const char*>(packet.src_mac.data()), packet.src_mac.size());
  if (packet.vlan) {
    Put16(&frame, kVlanType);
    Put16(&frame, *packet.vlan);
  }
  Put16(&frame, IsIpv6(packet) ? kIpv6Type : kIpv4Type);
  const unsigned dscp = packet.dscp | debug_dscp;
  PutIp(packet, mark, dscp << 2 | packet.ecn, transport_bytes, &frame);
  return frame + Transport(packet, mark, transport_bytes);
}

}  // namespace trumpet
