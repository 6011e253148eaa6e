// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PlainFrame: the few values that counting needs, read straight from the most common frames.
//
// A plain frame has at most one VLAN tag, IPv4 without options and not a fragment or IPv6 without
// extension headers, then TCP or UDP to no tunnel port, with all their fixed headers captured.
// Such a frame is its own innermost level, so what PlainReader says is what ParsePacket would say;
// for all others it says nothing.  Half of the work of ParsePacket for the plainest of frames, as
// it writes nothing but what is asked for.
//
// Threads: immutable once made.

#ifndef TRUMPET_LIB_PACKET_PLAIN_FRAME_H
#define TRUMPET_LIB_PACKET_PLAIN_FRAME_H

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/packet/parse.h"
#include "lib/packet/parse_transport.h"
#include "lib/packet/parse_tunnel.h"

namespace trumpet {

// The addresses are bytes as on the wire.
struct PlainFrame {
  uint64_t ips;              // IPv4: the source's four bytes, then the destination's
  const uint8_t* addresses;  // IPv6: source and destination, within the frame
  uint32_t ports;            // source, and destination << 16
  uint32_t volume_and_ecn;
  bool is_tcp;  // else UDP

  uint32_t src_ip() const { return static_cast<uint32_t>(ips); }
  uint32_t dst_ip() const { return static_cast<uint32_t>(ips >> 32); }

  // Of volume_and_ecn.
  static uint32_t Volume(uint64_t volume_and_ecn) { return static_cast<uint16_t>(volume_and_ecn); }
  static uint32_t Ecn(uint64_t volume_and_ecn) { return volume_and_ecn >> 24 & 3; }
};

class PlainReader {
 public:
  // Captured of a frame with IPv4: with a TCP header for UDP, too, as frames of Ethernet are
  // longer.
  static constexpr uint32_t kMinIpv4Bytes =
      parse_internal::kEthernetBytes + parse_internal::kIpv4MinBytes + parse_internal::kTcpMinBytes;

  explicit PlainReader(const ParseOptions& options) : options_(options) {
    for (const uint16_t port : options.vxlan_ports) NoteTunnelPort(port);
    for (const uint16_t port : options.geneve_ports) NoteTunnelPort(port);
  }

  // False, and nothing is known, when the frame is not a plain one with IPv4.
  [[gnu::always_inline]] bool ReadIpv4(const Frame& frame, PlainFrame* plain) const {
    if (frame.captured_length < kMinIpv4Bytes) return false;
    const uint8_t* data = frame.data;
    uint32_t to_class = LoadAsIs(data + 12);  // type, version, length of header, traffic class
    if (__builtin_expect(to_class << 8 != 0x45000800, 0)) {
      if (!IsTagged(frame, kMinIpv4Bytes)) return false;
      data += kTagBytes;
      to_class = LoadAsIs(data + 12);
      if (to_class << 8 != 0x45000800) return false;
    }
    const uint32_t to_protocol = LoadAsIs(data + 20);  // fragment word, ttl, protocol
    const uint32_t total_bytes = LoadBe32(data + 16) >> 16;
    const uint32_t ports = LoadBe32(data + 34);
    std::memcpy(&plain->ips, data + 26, sizeof plain->ips);
    plain->ports = ports << 16 | ports >> 16;
    uint32_t header_bytes = parse_internal::kUdpBytes;
    uint32_t volume;
    switch (to_protocol & 0xff00ff3f) {  // without ttl, and without the flag "do not fragment"
      case uint32_t{kProtocolUdp} << 24:
        if (total_bytes < kIpv4Bytes + header_bytes || IsTunnel(ports)) return false;
        volume = total_bytes - kIpv4Bytes - header_bytes;
        plain->is_tcp = false;
        break;
      case uint32_t{kProtocolTcp} << 24:
        header_bytes = TcpHeaderBytes(data + 34);
        if (total_bytes < kIpv4Bytes + parse_internal::kTcpMinBytes) return false;
        volume = parse_internal::Minus(total_bytes - kIpv4Bytes, header_bytes);
        plain->is_tcp = true;
        break;
      default:
        return false;
    }
    plain->volume_and_ecn = volume | (to_class & 0x03000000);
    return true;
  }

  // The same with IPv6.
  bool ReadIpv6(const Frame& frame, PlainFrame* plain) const {
    if (frame.captured_length < kMinIpv6Bytes) return false;
    const uint8_t* data = frame.data;
    if (LoadBe16(data + 12) != parse_internal::kEthTypeIpv6) {
      if (!IsTagged(frame, kMinIpv6Bytes)) return false;
      data += kTagBytes;
      if (LoadBe16(data + 12) != parse_internal::kEthTypeIpv6) return false;
    }
    const uint8_t* ip = data + parse_internal::kEthernetBytes;
    const uint8_t* transport = ip + parse_internal::kIpv6Bytes;
    const uint32_t stated_bytes = LoadBe16(ip + 4);
    const uint32_t ports = LoadBe32(transport);
    plain->is_tcp = ip[6] == kProtocolTcp;
    const bool is_udp = ip[6] == kProtocolUdp && !IsTunnel(ports);
    const uint32_t least_bytes =
        plain->is_tcp ? parse_internal::kTcpMinBytes : parse_internal::kUdpBytes;
    const auto captured_bytes =
        frame.captured_length - static_cast<uint32_t>(transport - frame.data);
    const bool is_plain = ip[0] >> 4 == 6 && (plain->is_tcp || is_udp) &&
                          stated_bytes >= least_bytes && captured_bytes >= least_bytes;
    if (!is_plain) return false;
    const uint32_t header_bytes = plain->is_tcp ? TcpHeaderBytes(transport) : least_bytes;
    plain->addresses = ip + 8;
    plain->ports = ports << 16 | ports >> 16;
    plain->volume_and_ecn = parse_internal::Minus(stated_bytes, header_bytes) |
                            static_cast<uint32_t>(ip[1] >> 4 & 3) << 24;
    return true;
  }

  // Bit i: perhaps a tunnel port that is i modulo 64.
  uint64_t some_tunnel_ports() const { return some_tunnel_ports_; }

 private:
  static constexpr uint32_t kTagBytes = 4;
  static constexpr uint32_t kIpv4Bytes = parse_internal::kIpv4MinBytes;
  static constexpr uint32_t kMinIpv6Bytes =
      parse_internal::kEthernetBytes + parse_internal::kIpv6Bytes + parse_internal::kUdpBytes;

  static uint32_t LoadAsIs(const uint8_t* bytes) {
    uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  // Whether there is a VLAN tag, and `least_bytes` besides it.
  static bool IsTagged(const Frame& frame, uint32_t least_bytes) {
    if (frame.captured_length < least_bytes + kTagBytes) return false;
    const uint16_t type = LoadBe16(frame.data + 12);
    return type == 0x8100 || type == 0x88a8;
  }

  static uint32_t TcpHeaderBytes(const uint8_t* tcp) {
    return std::max(parse_internal::kTcpMinBytes, (tcp[parse_internal::kTcpOffsetByte] >> 4) * 4u);
  }

  void NoteTunnelPort(uint16_t port) {
    if (port != 0) some_tunnel_ports_ |= uint64_t{1} << port % 64;
  }

  // A look at one bit spares most packets the exact answer.  The destination is the lower half.
  bool IsTunnel(uint32_t ports) const {
    return (some_tunnel_ports_ >> ports % 64 & 1) != 0 &&
           parse_internal::IsTunnelPort(static_cast<uint16_t>(ports), options_);
  }

  const ParseOptions options_;
  uint64_t some_tunnel_ports_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PLAIN_FRAME_H
