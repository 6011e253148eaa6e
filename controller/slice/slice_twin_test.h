// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A network for tests of campaigns, on a clock of its own: routers that copy packet by packet,
// flows with rates that change, commands and copies that take their time or get lost, and things
// that die.

#ifndef TRUMPET_CONTROLLER_SLICE_SLICE_TWIN_TEST_H
#define TRUMPET_CONTROLLER_SLICE_SLICE_TWIN_TEST_H

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/plan/slice/slice_kit_test.h"
#include "controller/slice/campaign_run.h"
#include "controller/slice/copy_collector.h"
#include "controller/slice/slice_driver.h"
#include "controller/slice/slice_planner.h"

namespace trumpet {

constexpr int64_t kTunnelBytes = 50;

class TwinClock final : public WireClock {
 public:
  Nanos UnixNow() const override { return 1'700'000'000 * kNanosPerSecond + now + wall_ahead; }
  Nanos MonotonicNow() const override { return now; }
  Nanos now = kNanosPerSecond;
  Nanos wall_ahead = 0;  // somebody has set the clock
};

// What happens when; of one instant, in the order in which it was said.
class Agenda {
 public:
  explicit Agenda(TwinClock* clock) : clock_(clock) {}
  void After(Nanos delay, std::function<void()> action) {
    due_.emplace(clock_->now + std::max<Nanos>(delay, 0), std::move(action));
  }
  bool is_empty() const { return due_.empty(); }
  Nanos next() const { return due_.empty() ? INT64_MAX : due_.begin()->first; }
  void RunNext() {
    clock_->now = std::max(clock_->now, due_.begin()->first);
    const auto action = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    action();
  }

 private:
  TwinClock* const clock_;
  std::multimap<Nanos, std::function<void()>> due_;
};

struct TwinFlow {
  Prefix prefix;
  std::set<std::string> routers;  // on its way
  int packet_bytes = 1000;
  std::map<Nanos, int64_t> rates;  // bits per second, from then on

  int64_t RateAt(Nanos time) const {
    auto next = rates.upper_bound(time);
    return next == rates.begin() ? 0 : std::prev(next)->second;
  }
};

struct TwinCopy {
  Nanos at = 0;
  int64_t bytes = 0;  // with the tunnel
};

class TwinNetwork final : public SliceDriver, public CopyCollector, public SlicePlanner {
 public:
  TwinNetwork(TwinClock* clock, Agenda* agenda, uint32_t seed)
      : clock_(clock), agenda_(agenda), random_(seed) {}

  std::vector<TwinFlow> flows;
  Nanos command_latency = kNanosPerMilli;
  Nanos copy_latency = 3 * kNanosPerMilli;
  double copy_loss = 0;
  std::set<std::string> dead;    // switches
  bool answers_commands = true;  // else they are lost on their way
  bool has_analyzer = true;
  bool analyzer_answers = true;
  std::function<void(const SliceEnd&)> on_end;

  // What came of it.
  std::vector<TwinCopy> copies;
  size_t most_on = 0;
  uint64_t turned_on = 0;
  std::string mistake;  // of whoever drives us

  size_t on() const { return on_.size(); }
  const std::vector<ExpectedSlice>& expected() const { return expected_; }
  int finished = 0;
  std::vector<CopyLatency> latencies;  // of the last run

  // --- SliceDriver ---
  const char* name() const override { return "twin"; }
  bool Serves(const std::string& router) const override { return dead.count(router) == 0; }
  void TurnOn(const std::string& router, const SliceSpec& slice, SliceDriver::Done done) override {
    if (!answers_commands) return;
    agenda_->After(Latency(command_latency), [this, router, slice, done] {
      if (dead.count(router) > 0) return done(Status::Error("connection lost"));
      Begin(router, slice);
      agenda_->After(Latency(command_latency), [done] { done(Status::Ok()); });
    });
  }
  void TurnOff(const std::string& router, uint32_t tag, SliceDriver::Done done) override {
    // After what was said before: commands of one switch come in order.
    agenda_->After(2 * command_latency, [this, router, tag, done] {
      if (on_.count({router, tag}) > 0) EndSlice(router, tag);
      done(Status::Ok());
    });
  }
  void OnEnd(Ended ended) override { on_end = std::move(ended); }
  // The switch restarts: what was on is gone without a word.
  void Kill(const std::string& router) {
    dead.insert(router);
    for (auto slice = on_.begin(); slice != on_.end();) {
      slice = slice->first.first == router ? on_.erase(slice) : std::next(slice);
    }
  }

  // --- CopyCollector ---
  bool is_ready() const override { return has_analyzer; }
  void Expect(const std::vector<ExpectedSlice>& slices) override {
    expected_.insert(expected_.end(), slices.begin(), slices.end());
    for (const ExpectedSlice& slice : slices) known_.insert(slice.tag);
  }
  void AskTallies(const std::vector<uint32_t>& tags, Tallies answer) override {
    if (!has_analyzer || !analyzer_answers) return;
    agenda_->After(kNanosPerMilli / 2, [this, tags, answer] {
      std::vector<SliceTally> tallies;
      for (uint32_t tag : tags) {
        for (const auto& [key, tally] : tallies_) {
          if (key.first == tag) tallies.push_back(tally);
        }
      }
      answer(tallies);
    });
  }
  void SetLatencies(uint64_t, const std::vector<CopyLatency>& told) override { latencies = told; }
  void Finish(uint64_t, std::function<void(const Result<std::string>&)> answer) override {
    ++finished;
    if (!has_analyzer || !analyzer_answers) return;
    agenda_->After(kNanosPerMilli, [answer] { answer(std::string("{\"loss\":0}")); });
  }

  // --- SlicePlanner ---
  void Plan(SlicePlanRequest request, SlicePlanner::Done done) override {
    agenda_->After(kNanosPerMilli,
                   [request = std::move(request), done] { done(PlanNow(request)); });
  }

 private:
  struct Slice {
    SliceSpec spec;
    Nanos began = 0;
    SliceEnd end;  // what is copied by its deadline; cut if it is turned off before
    std::vector<TwinCopy> copies;
  };

  Nanos Latency(Nanos usual) {
    return usual / 2 + static_cast<Nanos>(random_() % static_cast<uint64_t>(usual));
  }

  void Begin(const std::string& router, const SliceSpec& spec) {
    if (spec.tag == 0 || spec.tag > kMaxSliceTag) mistake = "a tag out of range";
    if (known_.count(spec.tag) == 0) mistake = "the analyzer was not told of a slice";
    if (spec.duration <= 0) mistake = "a slice without an end";
    if (!on_.emplace(std::make_pair(router, spec.tag), Slice{spec, clock_->now, {}, {}}).second) {
      mistake = "a tag that is on already";
    }
    ++turned_on;
    most_on = std::max(most_on, on_.size());
    agenda_->After(spec.duration, [this, router, tag = spec.tag, began = clock_->now] {
      const auto found = on_.find({router, tag});
      if (found != on_.end() && found->second.began == began) EndSlice(router, tag);
    });
  }

  // Every packet of its time, one after the other.
  void EndSlice(const std::string& router, uint32_t tag) {
    const auto found = on_.find({router, tag});
    const Slice slice = found->second;
    on_.erase(found);
    SliceEnd end;
    end.switch_name = router;
    end.tag = tag;
    end.lasted = clock_->now - slice.began;
    for (const TwinFlow& flow : flows) {
      if (flow.routers.count(router) == 0 || !IsOf(flow, slice.spec)) continue;
      CopyFlow(flow, slice, &end);
    }
    agenda_->After(Latency(command_latency), [this, end] {
      if (on_end && dead.count(end.switch_name) == 0) on_end(end);
    });
  }

  static bool IsOf(const TwinFlow& flow, const SliceSpec& spec) {
    const ValueRange& range = spec.filter.test.ranges[0];
    return range.low <= FirstOf(flow.prefix) && LastOf(flow.prefix) <= range.high;
  }

  void CopyFlow(const TwinFlow& flow, const Slice& slice, SliceEnd* end) {
    Nanos at = slice.began;
    while (true) {
      const int64_t rate = std::max<int64_t>(flow.RateAt(at), 1000);
      const bool is_silent = flow.RateAt(at) == 0;
      at += flow.packet_bytes * 8 * kNanosPerSecond / rate;
      if (at >= clock_->now) return;
      if (is_silent) continue;
      const auto length = static_cast<uint64_t>(flow.packet_bytes);
      const SliceSpec& spec = slice.spec;
      const bool fits = (spec.max_packets == 0 || end->packets < spec.max_packets) &&
                        (spec.max_bytes == 0 || end->bytes + length <= spec.max_bytes);
      if (!fits) {
        ++end->withheld;
        continue;
      }
      ++end->packets;
      end->bytes += length;
      const int64_t kept = spec.snap_bytes > 0
                               ? std::min<int64_t>(spec.snap_bytes, flow.packet_bytes)
                               : flow.packet_bytes;
      copies.push_back({at, kept + kTunnelBytes});
      Arrive(slice.spec.tag, end->switch_name, at + copy_latency, kept);
    }
  }

  // Tallies are asked for after the copies have come, or else they are late.
  void Arrive(uint32_t tag, const std::string& router, Nanos at, int64_t bytes) {
    if (std::uniform_real_distribution<double>(0, 1)(random_) < copy_loss) return;
    agenda_->After(at - clock_->now, [this, tag, router, at, bytes] {
      SliceTally& tally = tallies_[{tag, router}];
      tally.tag = tag;
      tally.switch_name = router;
      ++tally.packets;
      tally.bytes += static_cast<uint64_t>(bytes);
      tally.copy_bytes += static_cast<uint64_t>(bytes + kTunnelBytes);
      tally.last = clock_->UnixNow() + std::max<Nanos>(at - clock_->now, 0);
      if (tally.first == 0) tally.first = tally.last;
    });
  }

  TwinClock* const clock_;
  Agenda* const agenda_;
  std::mt19937 random_;
  std::map<std::pair<std::string, uint32_t>, Slice> on_;
  std::set<uint32_t> known_;
  std::vector<ExpectedSlice> expected_;
  std::map<std::pair<uint32_t, std::string>, SliceTally> tallies_;
};

// The most that was copied in any second, in bytes.
inline int64_t MostInASecond(std::vector<TwinCopy> copies) {
  std::sort(copies.begin(), copies.end(),
            [](const TwinCopy& a, const TwinCopy& b) { return a.at < b.at; });
  int64_t most = 0;
  int64_t sum = 0;
  size_t first = 0;
  for (const TwinCopy& copy : copies) {
    sum += copy.bytes;
    while (copies[first].at + kNanosPerSecond <= copy.at) sum -= copies[first++].bytes;
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_SLICE_TWIN_TEST_H
