// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Cost of connection tracking per packet, beside a plain std::unordered_map that only finds the
// flow.

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/tpm/tcp_test_kit.h"

namespace trumpet::testing {
namespace {

constexpr int kBatch = 32;

std::vector<FlowKey> Flows(int64_t count) {
  std::vector<FlowKey> flows;
  for (uint32_t i = 0; i < count; i++) flows.push_back(ClientFlow(i));
  return flows;
}

// Data in order from the client, an ACK from the server after every second segment.
void Track(benchmark::State& state, bool has_hints, bool tracks_tcp) {
  const std::vector<FlowKey> flows = Flows(state.range(0));
  ConnectionOptions options;
  options.max_connections = static_cast<uint32_t>(flows.size()) + 64;
  options.max_history_records = options.max_connections * 8;
  ConnectionTable table(options);
  std::vector<ConnectionRef> hints(flows.size(), kNoConnection);
  std::vector<uint32_t> next(flows.size(), 1000);
  ParsedPacket packet = PacketOf(flows[0], Data(0, 100).Ack(1));
  PacketFacts facts;
  RttSample sample;
  Nanos now = 0;
  size_t at = 0;
  uint64_t hashes[kBatch];
  for (auto _ : state) {
    for (int i = 0; i < kBatch; i++) {
      const size_t flow =
          at + static_cast<size_t>(i) < flows.size() ? at + static_cast<size_t>(i) : 0;
      hashes[i] = table.HashOf(flows[flow]);
      if (has_hints) {
        table.PrefetchHint(hints[flow]);
      } else {
        table.Prefetch(hashes[i]);
      }
    }
    for (int i = 0; i < kBatch; i++) {
      const size_t flow =
          at + static_cast<size_t>(i) < flows.size() ? at + static_cast<size_t>(i) : 0;
      const bool is_ack = next[flow] / 100 % 3 == 2;
      packet.tcp.payload_bytes = is_ack ? 0 : 100;
      packet.tcp.seq = is_ack ? 1 : next[flow];
      packet.tcp.ack = is_ack ? next[flow] : 1;
      next[flow] += 100;
      const FlowKey key = is_ack ? Reversed(flows[flow]) : flows[flow];
      const ConnectionRef found =
          table.Find(key, hashes[i], has_hints ? hints[flow] : kNoConnection, now);
      hints[flow] = found;
      benchmark::DoNotOptimize(
          table.Observe(found, packet, tracks_tcp, now, flow, &facts, &sample));
      now += 67;
    }
    at += kBatch;
    if (at >= flows.size()) at = 0;
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void TcpWithHints(benchmark::State& state) { Track(state, true, true); }
void TcpWithoutHints(benchmark::State& state) { Track(state, false, true); }
void BurstsWithHints(benchmark::State& state) { Track(state, true, false); }

// Of a window of so many segments, every other one sent in a burst, any is sent again and the other
// side repeats its ACK: what a hostile sender can make a packet cost.
void DataSentAgain(benchmark::State& state) {
  constexpr uint32_t kBytes = 100;
  const auto window = static_cast<uint32_t>(state.range(0));
  ConnectionOptions options;
  options.max_connections = 64;
  options.max_history_records = 1u << 20;
  ConnectionTable table(options);
  const FlowKey flow = ClientFlow(1);
  ParsedPacket packet = PacketOf(flow, Data(0, kBytes).Ack(1));
  PacketFacts facts;
  RttSample sample;
  Nanos now = 0;
  const auto see = [&](uint32_t segment) {
    packet.tcp.seq = 1000 + segment * kBytes;
    now += segment % 2 == 0 ? 20 * kNanosPerMicro : kNanosPerMicro;
    const ConnectionRef found = table.Find(flow, table.HashOf(flow), kNoConnection, now);
    benchmark::DoNotOptimize(table.Observe(found, packet, true, now, 1, &facts, &sample));
  };
  for (uint32_t segment = 0; segment < window; segment++) see(segment);
  std::mt19937 random(1);
  for (auto _ : state) see(static_cast<uint32_t>(random() % window));
  state.SetItemsProcessed(state.iterations());
}

void UnorderedMapLookUp(benchmark::State& state) {
  struct Hash {
    size_t operator()(const FlowKey& key) const {
      return std::hash<std::string_view>()(
          std::string_view(reinterpret_cast<const char*>(&key), sizeof key));
    }
  };
  const std::vector<FlowKey> flows = Flows(state.range(0));
  std::unordered_map<FlowKey, uint64_t, Hash> map;
  size_t at = 0;
  for (auto _ : state) {
    for (int i = 0; i < kBatch; i++) {
      benchmark::DoNotOptimize(map[flows[at]]++);
      if (++at == flows.size()) at = 0;
    }
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

BENCHMARK(TcpWithHints)->Arg(300)->Arg(10000)->Arg(100000);
BENCHMARK(TcpWithoutHints)->Arg(300)->Arg(10000)->Arg(100000);
BENCHMARK(BurstsWithHints)->Arg(300)->Arg(10000)->Arg(100000);
BENCHMARK(DataSentAgain)->Arg(64)->Arg(1000)->Arg(24000);
BENCHMARK(UnorderedMapLookUp)->Arg(300)->Arg(10000)->Arg(100000);

}  // namespace
}  // namespace trumpet::testing
