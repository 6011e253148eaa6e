// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RuleTester: sends test packets (trace_tests.h) through switches that have the trace rules, and
// asks the analyzers whether the copies have come.  A rule counts as active at a switch when a copy
// of a test packet of each of its matches has come back under the rule's tag; that is tried again
// every kRetest.
//
// All copies of a switch go one way, and that may end at any time: a route, a neighbour, a port.
// So of each switch one test packet or another is under way every kWatch, and when one does not
// come back, all its rules are tried anew at once.
//
// Packets are known by marks drawn at random, one for each, which are one of their MAC addresses:
// copies may be cut behind the headers.  In a round each rule is tried once at most at each switch:
// 64 packets, whatever rules there are.
//
// Threads: that of the libevent loop.  Lifetime: `base`, `clock` and the switches must outlive it;
// its end drops answers.

#ifndef TRUMPET_CONTROLLER_TRACE_RULE_TESTER_H
#define TRUMPET_CONTROLLER_TRACE_RULE_TESTER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/openflow/openflow_switch.h"
#include "controller/plan/trace/trace_tests.h"
#include "controller/trace/trace_rule_book.h"
#include "lib/base/loop_event.h"
#include "lib/model/slice_copies.h"
#include "lib/wire/slice_message.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

// Whoever knows which copies have come: the analyzers.
struct CopyWitness {
  using Packets = std::function<void(const Result<std::vector<PacketRecord>>&)>;

  std::function<bool()> is_ready;
  std::function<void(const std::vector<ExpectedSlice>& slices)> expect;
  std::function<void(uint32_t tag, uint64_t first, uint32_t max_packets, Packets answer)> ask;
};

struct RuleTesterCounters {
  uint64_t sent = 0;
  uint64_t back = 0;    // by the rule they were for
  uint64_t missed = 0;  // not back in time
};

class RuleTester {
 public:
  static constexpr Nanos kTick = 100 * kNanosPerMilli;
  static constexpr Nanos kPatience = 2 * kNanosPerSecond;  // with the copies of a round
  static constexpr Nanos kRetest = 30 * kNanosPerSecond;
  static constexpr Nanos kWatch = 3 * kNanosPerSecond;
  static constexpr int kMisses = 3;         // that make a rule fail
  static constexpr size_t kPerRound = 512;  // switches

  using Log = std::function<void(const char* level, const std::string& text)>;

  RuleTester(event_base* base, const WireClock& clock, CopyWitness witness, uint64_t seed, Log log);

  // What is to be tried from now on, at switches that are told then; `names` are those of the
  // rules.
  void SetTests(std::vector<TraceTest> tests, std::vector<std::string> names);
  // Its rules are there, as those of switch `number`; all of them are tried anew.
  void Begin(OpenflowSwitch* which, uint16_t number);
  void End(const OpenflowSwitch* which) { members_.erase(which->datapath_id()); }

  // Of a switch that Begin() was called for.
  TraceRuleVerdict VerdictOf(const OpenflowSwitch* which, size_t rule) const;
  const RuleTesterCounters& counters() const { return counters_; }

  void Tick();

 private:
  struct Trial {
    Nanos passed_at = 0;  // monotonic; 0: not yet
    Nanos sent_at = 0;
    int misses = 0;          // in a row
    int taken_by = -1;       // another rule
    std::string impossible;  // why no packet can be made
  };
  struct Member {
    OpenflowSwitch* which = nullptr;
    uint16_t number = 0;
    std::vector<Trial> trials;  // of tests_
    Nanos sent_at = 0;          // of its last test packet
    Nanos doubted_at = 0;       // what has passed before is to be tried again
    bool is_lost = false;       // copies that came do not any more, and that was told
  };
  struct Sent {
    uint64_t datapath_id = 0;
    size_t test = 0;
  };

  void BeginRound();
  std::vector<size_t> DueTests(const Member& member, Nanos now) const;
  std::optional<size_t> WatchTest(const Member& member, Nanos now) const;
  void Expect(ExpectedSlice slice, bool is_watch, const std::vector<Sent>& due);
  void Send(const Sent& what);
  void EndRound();
  void Missed(Member* member, size_t test);
  void Ask();
  void Take(int rule, const std::vector<PacketRecord>& packets);
  void TakeMark(int rule, const std::string& switch_name, const FrameMark& mark);

  const WireClock& clock_;
  const CopyWitness witness_;
  const Log log_;
  std::vector<TraceTest> tests_;
  std::vector<std::string> names_;
  std::map<uint64_t, Member> members_;  // by datapath id
  uint64_t last_member_ = 0;            // of the last round
  std::map<FrameMark, Sent> sent_;      // and not back yet, of this round
  Nanos deadline_ = 0;                  // of the round
  std::set<size_t> asked_;              // rules whose copies the round is about
  size_t answers_due_ = 0;
  uint64_t round_ = 0;
  RuleTesterCounters counters_;
  std::mt19937_64 random_;
  LoopEvent ticker_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_RULE_TESTER_H
