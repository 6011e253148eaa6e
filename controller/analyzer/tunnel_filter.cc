// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/tunnel_filter.h"

#include <pcap/pcap.h>

#include <iterator>

#include "lib/packet/parsed_packet.h"

namespace trumpet {
namespace {

constexpr uint16_t kIpv4 = 0x0800;
constexpr uint16_t kIpv6 = 0x86dd;
constexpr uint8_t kDestinationOptions = 60;
constexpr uint32_t kTypeAt = 12;  // of the EtherType
constexpr uint32_t kTagBytes = 4;

static_assert(sizeof(bpf_insn) == 8, "what the kernel takes");

// GRE over IPv4, over IPv6, and over IPv6 behind destination options, which ip6gre writes.
const bpf_insn kOnlyTunnels[] = {
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kIpv4, 0, 2),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kProtocolGre, 4, 5),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kIpv6, 0, 4),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 20),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kProtocolGre, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kDestinationOptions, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    BPF_STMT(BPF_RET | BPF_K, 0),
};

// The same, and UDP to the ports of VXLAN and Geneve.  Of a datagram in fragments there is nothing
// to take: only the first has ports.
constexpr uint16_t kVxlanPort = 4789;
constexpr uint16_t kGenevePort = 6081;
const bpf_insn kOnlyTunnelsAndUdp[] = {
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kIpv4, 0, 8),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kProtocolGre, 15, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kProtocolUdp, 0, 13),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 20),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x3fff, 11, 0),
    BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14),
    BPF_STMT(BPF_LD | BPF_H | BPF_IND, 16),
    BPF_JUMP(BPF_JMP | BPF_JA, 6, 0, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kIpv6, 0, 7),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 20),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kProtocolGre, 6, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kDestinationOptions, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kProtocolUdp, 0, 3),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 56),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kVxlanPort, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kGenevePort, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
};

bool HasTag(const Frame& frame) {
  if (frame.captured_length < kTypeAt + 2 + kTagBytes) return false;
  const unsigned type = frame.data[kTypeAt] << 8 | frame.data[kTypeAt + 1];
  return type == 0x8100 || type == 0x88a8;
}

}  // namespace

TunnelFilter OnlyTunnels(bool and_udp) {
  if (!and_udp) return {kOnlyTunnels, std::size(kOnlyTunnels)};
  return {kOnlyTunnelsAndUdp, std::size(kOnlyTunnelsAndUdp)};
}

// Behind a tag everything stands as it does without one, four bytes further on.
bool PassesFilter(TunnelFilter filter, const Frame& frame) {
  const uint32_t skip = HasTag(frame) ? kTagBytes : 0;
  return bpf_filter(filter.code, frame.data + skip, frame.wire_length - skip,
                    frame.captured_length - skip) != 0;
}

}  // namespace trumpet
