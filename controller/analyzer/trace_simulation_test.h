// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A simulated network of three tiers whose switches copy every packet, with faults put in and the
// truth beside the copies; for tests.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TRACE_SIMULATION_TEST_H
#define TRUMPET_CONTROLLER_ANALYZER_TRACE_SIMULATION_TEST_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "controller/analyzer/trace_judge.h"

namespace trumpet {

struct TraceWorld {
  int flows = 40;
  int packets = 2000;
  double packet_loss = 0;
  double copy_loss = 0;
  double copy_twice = 0;  // by the network: with the same number
  double resend = 0;      // of packets: the same bytes, 200 ms later
  double loop = 0;        // of packets
  bool decrements_ttl = true;
  bool knows_equal_paths = true;  // else any switch of the tier may be the next
  Nanos spacing = 100 * kNanosPerMicro;
  Nanos hop_delay = 50 * kNanosPerMicro;
  Nanos jitter = 30 * kNanosPerMicro;  // of copies on their way to the analyzer
  // Each switch does something else for so long, in each such time, not all at once; 0: never.
  Nanos stall_length = 0;
  Nanos stall_period = 0;
  // Between so many packets and the next ones; 0: they come all the time.
  int burst = 0;
  Nanos pause = 0;
  uint16_t lossy_switch = 0;  // that loses copies; 0: all do
  // They lose copies for so long, in each such time; 0: always.
  Nanos loss_length = 0;
  Nanos loss_period = 0;
};

// A switch has sent so many copies when it is asked, less those that its counter lags behind.
struct SentReading {
  uint16_t switch_number = 0;
  uint64_t sent = 0;
  Nanos asked_at = 0;
  Nanos told_at = 0;
};

struct PassTruth {
  std::optional<size_t> dropped_behind;  // index in the path
  bool is_looped = false;
  size_t copies = 0;  // that arrived, each once
};

class TraceSimulation : public TraceRoutes {
 public:
  static constexpr uint32_t kEdgeTag = 1;
  static constexpr Nanos kBegin = 100 * kNanosPerSecond;

  TraceSimulation(const TraceWorld& world, uint64_t seed) : world_(world), random_(seed) {
    for (int flow = 0; flow < world.flows; ++flow) paths_.push_back(DrawPath());
    for (int packet = 0; packet < world.packets; ++packet) Send(packet);
    Deliver();
  }

  // In the order of arrival.
  const std::vector<TraceCopy>& copies() const { return copies_; }
  // What a controller is told that asks all switches once in a while, from before the first packet
  // to some seconds after the last; by time.
  std::vector<SentReading> Readings(uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<SentReading> readings;
    const Nanos end = copies_.back().hop.time + 4 * kNanosPerSecond;
    for (Nanos now = kBegin - 3 * kNanosPerSecond; now < end; now += 370 * kNanosPerMilli) {
      for (const auto& [switch_number, times] : sent_) {
        const auto lag = static_cast<Nanos>(random() % (500 * kNanosPerMilli));
        const auto sent = std::upper_bound(times.begin(), times.end(), now - lag) - times.begin();
        const auto answered = static_cast<Nanos>(random() % (20 * kNanosPerMilli));
        readings.push_back({switch_number, static_cast<uint64_t>(sent), now, now + answered});
      }
    }
    return readings;
  }
  // By key.
  const std::map<uint64_t, std::vector<PassTruth>>& truth() const { return truth_; }
  const std::vector<uint16_t>& PathOf(uint64_t flow) const { return paths_[flow]; }

  std::optional<TraceWay> After(uint16_t switch_number, const Trace& trace) const override {
    const std::vector<uint16_t>& path = paths_[trace.flow];
    auto at = std::find(path.begin(), path.end(), switch_number);
    if (at == path.end()) return std::nullopt;
    std::vector<TraceStage>& stages = asked_[{trace.flow, switch_number}];
    stages.clear();
    for (++at; at != path.end(); ++at) stages.push_back(StageOf(*at));
    return TraceWay(stages);
  }
  bool IsEdge(const TraceHop& hop, const Trace&) const override { return hop.tag == kEdgeTag; }

 private:
  static constexpr uint16_t kTierSwitches = 4;

  bool Happens(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }
  uint16_t Below(uint16_t bound) { return static_cast<uint16_t>(random_() % bound); }

  // Leaves are 10 to 13 and 50 to 53, the tiers between them 20 to 43.
  std::vector<uint16_t> DrawPath() {
    const int tiers[][5] = {{1, 5, 0, 0, 0}, {1, 3, 5, 0, 0}, {1, 2, 3, 4, 5}};
    std::vector<uint16_t> path;
    for (const int tier : tiers[Below(3)]) {
      if (tier != 0) path.push_back(static_cast<uint16_t>(10 * tier + Below(kTierSwitches)));
    }
    return path;
  }

  TraceStage StageOf(uint16_t switch_number) const {
    const bool is_leaf = switch_number < 20 || switch_number >= 50;
    if (world_.knows_equal_paths || is_leaf) return {switch_number};
    TraceStage stage;
    for (uint16_t i = 0; i < kTierSwitches; ++i) {
      stage.push_back(static_cast<uint16_t>(switch_number / 10 * 10 + i));
    }
    return stage;
  }

  void Send(int packet) {
    const auto key = static_cast<uint64_t>(packet + 1);
    const uint64_t flow = random_() % paths_.size();
    const Nanos pauses = world_.burst == 0 ? 0 : packet / world_.burst * world_.pause;
    const Nanos start = kBegin + packet * world_.spacing + pauses;
    Cross(key, flow, start);
    if (Happens(world_.resend)) Cross(key, flow, start + 200 * kNanosPerMilli);
  }

  void Cross(uint64_t key, uint64_t flow, Nanos time) {
    const std::vector<uint16_t>& path = paths_[flow];
    PassTruth pass;
    pass.is_looped = path.size() >= 3 && Happens(world_.loop);
    uint8_t ttl = 64;
    const auto visit = [&](size_t at, uint32_t tag) {
      time = WhenAwake(path[at], time);
      Copy(key, flow, path[at], tag, ttl, time, truth_[key].size());
      time += world_.hop_delay;
      if (world_.decrements_ttl) --ttl;
    };
    truth_[key];
    for (size_t i = 0; i < path.size(); ++i) {
      visit(i, i == 0 ? kEdgeTag : 2);
      if (pass.is_looped && i == 2) {
        for (int round = 0; round < 10; ++round) {
          visit(1, 3);  // comes back at another port
          visit(2, 2);
        }
        break;
      }
      if (i + 1 < path.size() && Happens(world_.packet_loss)) {
        pass.dropped_behind = i;
        pass.is_looped = false;  // it did not come so far
        break;
      }
    }
    truth_[key].push_back(pass);
  }

  void Copy(uint64_t key, uint64_t flow, uint16_t switch_number, uint32_t tag, uint8_t ttl,
            Nanos time, size_t pass) {
    TraceCopy copy;
    copy.key = key;
    copy.flow = flow;
    copy.hop.time = time;
    copy.hop.switch_number = switch_number;
    copy.hop.tag = tag;
    copy.hop.ttl = copy.hop.outer_ttl = ttl;
    copy.hop.has_sequence = true;
    made_.push_back({copy, pass});
  }

  Nanos WhenAwake(uint16_t switch_number, Nanos time) const {
    if (world_.stall_period == 0) return time;
    const Nanos since = (time + switch_number * 7 * kNanosPerMilli) % world_.stall_period;
    return std::max(time, time - since + world_.stall_length);
  }

  bool LosesCopies(const TraceHop& hop) const {
    if (world_.lossy_switch != 0 && hop.switch_number != world_.lossy_switch) return false;
    return world_.loss_period == 0 || hop.time % world_.loss_period < world_.loss_length;
  }

  // Numbers the copies as their switches do, loses some, and brings the others out of order.
  void Deliver() {
    std::stable_sort(made_.begin(), made_.end(), [](const Made& a, const Made& b) {
      return a.copy.hop.time < b.copy.hop.time;
    });
    std::map<uint16_t, uint32_t> sequences;
    for (Made& made : made_) {
      TraceHop& hop = made.copy.hop;
      hop.sequence = sequences[hop.switch_number]++;
      sent_[hop.switch_number].push_back(hop.time);
      if (LosesCopies(hop) && Happens(world_.copy_loss)) continue;
      ++truth_[static_cast<uint64_t>(made.copy.key)][made.pass].copies;
      const int times = Happens(world_.copy_twice) ? 2 : 1;
      const Nanos made_at = hop.time;
      for (int i = 0; i < times; ++i) {
        hop.time = made_at + static_cast<Nanos>(random_() % static_cast<uint64_t>(world_.jitter));
        copies_.push_back(made.copy);
      }
    }
    std::stable_sort(copies_.begin(), copies_.end(), [](const TraceCopy& a, const TraceCopy& b) {
      return a.hop.time < b.hop.time;
    });
  }

  struct Made {
    TraceCopy copy;
    size_t pass;
  };

  const TraceWorld world_;
  std::mt19937_64 random_;
  std::vector<std::vector<uint16_t>> paths_;
  mutable std::map<std::pair<uint64_t, uint16_t>, std::vector<TraceStage>> asked_;
  std::vector<Made> made_;
  std::map<uint16_t, std::vector<Nanos>> sent_;
  std::vector<TraceCopy> copies_;
  std::map<uint64_t, std::vector<PassTruth>> truth_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TRACE_SIMULATION_TEST_H
