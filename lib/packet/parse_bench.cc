// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ParsePacket per kind of frame, with the reference parser as the plain
// alternative.  Frames are in cache: what is measured is the work, not memory.

#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "lib/packet/reference_parse.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: the frames read as sentences only without the prefix

constexpr size_t kBatchPackets = 32;

Bytes FrameOf(int kind) {
  Ipv4Header udp;
  udp.protocol = kProtocolUdp;
  TcpHeader syn;
  syn.flags = kTcpSyn;
  syn.options = {2, 4, 5, 180, 1, 3, 3, 7};
  const Bytes tcp = Ethernet(0x0800, Ipv4({}, Tcp({}, Zeros(6))));
  switch (kind) {
    case 0:
      return tcp;
    case 1:
      return Ethernet(0x0800, Ipv4(udp, Udp(1, 53, Zeros(18))));
    case 2:
      return Ethernet(0x0800, Ipv4({}, Tcp(syn, {})));
    case 3:
      return Ethernet(0x8100, Tag(5, 0x0800, Ipv4({}, Tcp({}, Zeros(6)))));
    case 4:
      return Ethernet(0x86dd, Ipv6({}, Tcp({}, {})));
    default:
      return Ethernet(0x0800, Ipv4(udp, Udp(1, 4789, Vxlan(7, tcp))));
  }
}

const char* KindName(int kind) {
  constexpr const char* kNames[] = {"IPv4 TCP", "IPv4 UDP", "SYN", "VLAN", "IPv6 TCP", "VXLAN"};
  return kNames[kind];
}

void BM_ParsePacket(benchmark::State& state) {
  const Bytes bytes = FrameOf(static_cast<int>(state.range(0)));
  const uint32_t length = static_cast<uint32_t>(bytes.size());
  const ParseOptions options;
  std::array<ParsedPacket, kBatchPackets> packets;
  for (auto _ : state) {
    for (ParsedPacket& packet : packets)
      ParsePacket({bytes.data(), length, length}, options, &packet);
    benchmark::DoNotOptimize(packets.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatchPackets));
  state.SetLabel(KindName(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_ParsePacket)->DenseRange(0, 5);

void BM_ReferenceParse(benchmark::State& state) {
  const Bytes bytes = FrameOf(static_cast<int>(state.range(0)));
  const ParseOptions options;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReferenceParse(bytes, static_cast<uint32_t>(bytes.size()), options));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(KindName(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_ReferenceParse)->Arg(0)->Arg(5);

}  // namespace
}  // namespace trumpet
