// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a copy costs the analyzer, from its frame in memory to the verdict: 64-byte TCP packets that
// cross four switches and come in ERSPAN II, so many packets under way at a time (the argument).
//
// Ours: TraceMaker with a topology.  Plain: parse.h and mirror_copy.h, an unordered_map by 5-tuple
// and IP ID, a vector of hops for each packet, loop and last hop checked after a second; no
// retransmissions, lost copies, late ones or bounds.  Items are copies; compare CPU times.  Run
// with
// --benchmark_enable_random_interleaving=true --benchmark_repetitions=5.

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/traces/bench_copies.h"
#include "controller/traces/trace_maker.h"
#include "controller/traces/trace_routes.h"
#include "lib/base/hash.h"
#include "lib/packet/mirror_copy.h"

namespace trumpet {
namespace {

using bench_copies::Copies;
using bench_copies::kChain;
using bench_copies::kHops;

constexpr size_t kCopies = 1 << 19;  // of a round

// Frames of a round, written before the clock runs, and their times: `under_way` packets begin
// each second, and each is seen by one switch after the other at once.
struct Round {
  std::vector<uint8_t> bytes;
  size_t size = 0;
  std::vector<Nanos> times;

  Round(size_t under_way, uint32_t first_packet, Nanos begin) {
    static const Copies copies;
    size = copies.bytes();
    bytes.resize(kCopies * size);
    for (uint32_t i = 0; i < kCopies; ++i) {
      const uint32_t packet = first_packet + i / kHops;
      copies.Write(static_cast<uint16_t>(i % kHops), packet, packet, &bytes[i * size]);
      times.push_back(begin + Nanos{i / kHops} * kNanosPerSecond / static_cast<Nanos>(under_way));
    }
  }
  Frame frame(size_t i) const {
    const auto length = static_cast<uint32_t>(size);
    return {&bytes[i * size], length, length};
  }
};

constexpr size_t kBurst = 64;  // frames at a time, as a ring has them

// Feeds rounds to `take(frames)`, kBurst at a time, time going on from one to the next.
template <typename Take>
void Feed(benchmark::State& state, const Take& take) {
  const auto under_way = static_cast<size_t>(state.range(0));
  Nanos begin = 1700000000 * kNanosPerSecond;
  uint32_t packet = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Round round(under_way, packet, begin);
    packet += kCopies / kHops;
    begin = round.times.back() + 1;
    state.ResumeTiming();
    std::array<TimedFrame, kBurst> burst;
    for (size_t i = 0; i < kCopies; i += kBurst) {
      for (size_t k = 0; k < kBurst; ++k) burst[k] = {round.times[i + k], round.frame(i + k)};
      take(burst);
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCopies));
}

void Ours(benchmark::State& state) {
  TraceMakerOptions options;
  options.copies.seed = 7;
  options.copies.leaves_slices = true;
  options.table.max_traces = 1 << 20;
  options.table.max_hops = 1 << 22;
  const Topology topology = *ParseTopology(kChain, "chain");
  SwitchBook switches;
  (void)AddSwitches(topology, &switches);
  const NetworkRoutes routes(topology, switches);
  uint64_t delivered = 0;
  TraceMaker maker(options, routes, [&](const TraceReport& report) {
    delivered += report.pass->fault == TraceFault::kNone ? 1 : 0;
  });
  Feed(state, [&](const std::array<TimedFrame, kBurst>& burst) {
    maker.TakeFrames(burst.data(), burst.size(), nullptr);
    maker.Advance(burst.back().time);
  });
  maker.Finish();
  if (delivered != state.iterations() * kCopies / kHops) state.SkipWithError("traces are missing");
}

class PlainTraces {
 public:
  void Take(const Frame& frame, Nanos time) {
    MirrorCopy copy;
    if (ReadMirrorCopy(frame, &copy) != CopyVerdict::kCopy) return;
    ParsedPacket packet;
    ParsePacket({copy.inner, copy.inner_captured, copy.inner_bytes}, ParseOptions(), &packet);
    const uint8_t* const ip = copy.inner + 14;
    Key key{};
    std::memcpy(key.bytes, ip + 12, 12);  // addresses, ports
    std::memcpy(key.bytes + 12, ip + 4, 2);
    key.bytes[14] = ip[9];
    auto [found, is_new] = traces_.try_emplace(key);
    if (is_new) order_.emplace_back(time, key);
    found->second.push_back({copy.session, ip[8], time});
    while (!order_.empty() && time - order_.front().first >= kNanosPerSecond) Judge();
  }
  void Finish() {
    while (!order_.empty()) Judge();
  }
  uint64_t delivered() const { return delivered_; }

 private:
  struct Key {
    uint8_t bytes[16];
    bool operator==(const Key& other) const { return std::memcmp(bytes, other.bytes, 16) == 0; }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return HashBytes(key.bytes, 16, 0); }
  };
  struct Hop {
    uint16_t switch_number;
    uint8_t ttl;
    Nanos time;
  };
  void Judge() {
    const auto found = traces_.find(order_.front().second);
    const std::vector<Hop>& hops = found->second;
    bool has_loop = false;
    for (size_t i = 0; i < hops.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        has_loop = has_loop || hops[i].switch_number == hops[j].switch_number;
      }
    }
    delivered_ += !has_loop && hops.back().switch_number == kHops ? 1 : 0;
    traces_.erase(found);
    order_.pop_front();
  }

  std::unordered_map<Key, std::vector<Hop>, KeyHash> traces_;
  std::deque<std::pair<Nanos, Key>> order_;
  uint64_t delivered_ = 0;
};

void Plain(benchmark::State& state) {
  PlainTraces traces;
  Feed(state, [&](const std::array<TimedFrame, kBurst>& burst) {
    for (const TimedFrame& timed : burst) traces.Take(timed.frame, timed.time);
  });
  traces.Finish();
  if (traces.delivered() != state.iterations() * kCopies / kHops) {
    state.SkipWithError("traces are missing");
  }
}

BENCHMARK(Ours)->Arg(1 << 10)->Arg(1 << 14)->Arg(1 << 17)->Unit(benchmark::kMillisecond);
BENCHMARK(Plain)->Arg(1 << 10)->Arg(1 << 14)->Arg(1 << 17)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trumpet
