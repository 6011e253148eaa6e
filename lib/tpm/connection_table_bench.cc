// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Cost of connection tracking per packet, beside a plain std::unordered_map that only finds the
// flow.

#include <benchmark/benchmark.h>
#include <time.h>

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

// A hostile connection, and what its dearest packet costs: CPU time of that one alone, each time on
// a new connection.
class OnePacket {
 public:
  OnePacket() : table_(Options()) {}

  void FromClient(uint32_t seq, uint32_t bytes, Nanos gap = 20 * kNanosPerMicro) {
    See(flow_, Data(seq, bytes).Ack(1), gap);
  }
  void FromServer(uint32_t ack) { See(Reversed(flow_), PureAck(ack), kNanosPerMicro); }
  void Restart() { See(flow_, Syn(7), kNanosPerMicro); }

  template <typename SetUp, typename Last>
  void Run(benchmark::State& state, SetUp set_up, Last last) {
    uint32_t number = 0;
    for (auto _ : state) {
      FromClient(1, 1);
      Restart();  // gives back what the last time left
      flow_ = ClientFlow(number++ % 16);
      set_up(this);
      const double start = CpuSeconds();
      last(this);
      state.SetIterationTime(CpuSeconds() - start);
    }
  }

 private:
  static ConnectionOptions Options() {
    ConnectionOptions options;
    options.max_connections = 64;
    options.max_history_records = 1u << 20;
    return options;
  }
  static double CpuSeconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  void See(const FlowKey& flow, const Shot& shot, Nanos gap) {
    now_ += gap;
    PacketFacts facts;
    RttSample sample;
    const ConnectionRef found = table_.Find(flow, table_.HashOf(flow), kNoConnection, now_);
    benchmark::DoNotOptimize(
        table_.Observe(found, PacketOf(flow, shot), true, now_, 1, &facts, &sample));
  }

  ConnectionTable table_;
  FlowKey flow_ = ClientFlow(0);
  Nanos now_ = 0;
};

// One segment again, which states so many bytes, over 24,000 ranges of a byte each.
void RangesSentAgain(benchmark::State& state) {
  const auto bytes = static_cast<uint32_t>(state.range(0));
  OnePacket().Run(
      state,
      [](OnePacket* to) {
        for (uint32_t i = 0; i < 24000; i++) {
          to->FromClient(1000 + i, 1, i % 2 == 0 ? 20 * kNanosPerMicro : kNanosPerMicro);
        }
      },
      [bytes](OnePacket* to) { to->FromClient(1000, bytes); });
}

// One segment over so many ranges, and the gaps between them.
void GapsFilled(benchmark::State& state) {
  const auto ranges = static_cast<uint32_t>(state.range(0));
  OnePacket().Run(
      state,
      [ranges](OnePacket* to) {
        for (uint32_t i = 0; i < ranges; i++) to->FromClient(1000 + i * 2, 1);
      },
      [ranges](OnePacket* to) { to->FromClient(1000, ranges * 2 - 20); });
}

// One segment over as many ranges as there may be, of another kind, so that none merge.
void GapsOfAFullListFilled(benchmark::State& state) {
  OnePacket().Run(
      state,
      [](OnePacket* to) {
        for (uint32_t i = 0; i < 24577; i++) to->FromClient(1000 + i * 2, 1);
      },
      [](OnePacket* to) { to->FromClient(1000, 49000, kNanosPerMicro); });
}

// One ACK of so many segments but for the last.
void ManyAcknowledged(benchmark::State& state) {
  const auto segments = static_cast<uint32_t>(state.range(0));
  OnePacket().Run(
      state,
      [segments](OnePacket* to) {
        for (uint32_t i = 0; i < segments; i++) to->FromClient(1000 + i, 1);
      },
      [segments](OnePacket* to) { to->FromServer(1000 + segments - 1); });
}

// A SYN that starts a connection anew of which as much data sent again waits as may.
void RestartWithDataSentAgain(benchmark::State& state) {
  OnePacket().Run(
      state,
      [](OnePacket* to) {
        to->FromClient(1000, 1);
        to->FromClient(1000000, 1);
        for (uint32_t i = 0; i < 192; i++) to->FromClient(900000 - 10 * i, 1);
      },
      [](OnePacket* to) { to->Restart(); });
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
BENCHMARK(RangesSentAgain)->Arg(1460)->Arg(23998)->UseManualTime()->Iterations(50);
BENCHMARK(GapsFilled)->Arg(1000)->Arg(24000)->UseManualTime()->Iterations(50);
BENCHMARK(GapsOfAFullListFilled)->UseManualTime()->Iterations(50);
BENCHMARK(ManyAcknowledged)->Arg(1000)->Arg(65000)->UseManualTime()->Iterations(50);
BENCHMARK(RestartWithDataSentAgain)->UseManualTime()->Iterations(50);
BENCHMARK(UnorderedMapLookUp)->Arg(300)->Arg(10000)->Arg(100000);

}  // namespace
}  // namespace trumpet::testing
