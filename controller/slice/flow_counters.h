// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowCounters: what a prefix takes, by the counters of the flows that switches forward it with.
//
// A switch can tell if it has a flow, of whomever but us, that matches all packets towards the
// prefix and no others (docs/slices.md).  What the counters of that flow, and of those of its table
// that lie within it, have grown by from one look to the next is what came.  The switch that saw
// most counts; of several tables, through which packets may go one after the other, the one that
// did.
//
// Threads: one.  Whoever owns it calls Round() every kPeriod.  Memory: kMaxPrefixes, kMaxFlows of
// each at each switch; more cannot be told of.  Lifetime: `net` and `clock` must outlive it; its
// end drops answers.

#ifndef TRUMPET_CONTROLLER_SLICE_FLOW_COUNTERS_H
#define TRUMPET_CONTROLLER_SLICE_FLOW_COUNTERS_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/slice/demand_book.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class FlowCounters final : public DemandSource {
 public:
  // Open vSwitch brings counters up to date twice a second.
  static constexpr Nanos kPeriod = 5 * kNanosPerSecond;
  static constexpr size_t kPerRound = 512;  // looks; a prefix at a switch each
  static constexpr size_t kMaxPrefixes = 256;
  static constexpr size_t kMaxFlows = 1024;

  // `copy_overhead`: bytes that a copy has beyond the frame that it is of.
  FlowCounters(const WireClock& clock, OpenflowNet* net, Nanos memory, uint32_t copy_overhead)
      : clock_(clock), net_(net), memory_(memory), copy_overhead_(copy_overhead), known_(memory) {}

  // Looks after the prefix, until nobody has asked for it for as long as the memory.
  void Watch(const Prefix& prefix, Nanos now);
  // Looks at the next ones, if all answers of the last round have come.
  void Round();

  const char* name() const override { return "flows"; }
  // Of a prefix that nobody has watched it is told as soon as it was looked at twice.
  std::optional<int64_t> RateOf(const Prefix& prefix, Nanos now) override;

  size_t watched_count() const { return watched_.size(); }
  size_t unanswered() const { return unanswered_; }

 private:
  // What flows of a switch had counted, by their place.
  struct Reading {
    Nanos at = 0;
    std::map<std::string, uint64_t> bytes;  // of their copies
  };
  struct Watched {
    Prefix prefix;
    Nanos asked = 0;
    std::string match;                     // as the switch spells it
    std::map<uint64_t, Reading> readings;  // by datapath id
  };

  void Look(const std::string& key, uint64_t datapath_id);
  void Take(Watched* watched, uint64_t datapath_id, const std::vector<OpenflowFlow>& flows);

  const WireClock& clock_;
  OpenflowNet* const net_;
  const Nanos memory_;
  const uint32_t copy_overhead_;
  DemandBook known_;
  std::map<std::string, Watched> watched_;                   // by the prefix, printed
  std::deque<std::pair<std::string, uint64_t>> to_look_at_;  // and the switch
  size_t unanswered_ = 0;
  // Gone with this one, so that answers know.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_FLOW_COUNTERS_H
