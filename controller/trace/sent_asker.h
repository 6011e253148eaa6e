// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SentAsker: asks the switches that copy, again and again, how many packets their trace rules have
// copied; a budget may have held back some of these copies.
//
// Flows are asked for, and not the port to the analyzers, into which a switch floods what others
// send, too.  What is told is a sum that begins with 0, and begins anew when a flow is gone, or was
// made anew: nobody knows what such a flow counted in the end.
//
// Open vSwitch brings these counters up to date twice a second; kPeriod is no part of that, so that
// they are looked at early and late in it.  Of more switches than kAtATime each is asked more
// rarely.
//
// Threads: that of the loop.  Lifetime: `net` must outlive it.

#ifndef TRUMPET_CONTROLLER_TRACE_SENT_ASKER_H
#define TRUMPET_CONTROLLER_TRACE_SENT_ASKER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/trace/trace_rule_manager.h"
#include "lib/base/loop_event.h"
#include "lib/wire/trace_message.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class SentAsker {
 public:
  static constexpr Nanos kPeriod = 370 * kNanosPerMilli;
  static constexpr size_t kAtATime = 64;

  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    OpenflowNet* net = nullptr;
    std::function<std::vector<TracePlace>()> places;  // as they are now
    std::function<bool()> is_wanted;                  // else nobody is asked
    std::function<void(const TraceSent&)> tell;
  };

  explicit SentAsker(const Parts& parts);
  SentAsker(const SentAsker&) = delete;
  SentAsker& operator=(const SentAsker&) = delete;

 private:
  // What the flows of a switch had counted, by their place.
  struct Known {
    std::map<std::string, uint64_t> packets;
    uint64_t sum = 0;
    bool is_asked = false;
  };

  void Round();
  void Ask(const TracePlace& place);
  static void Add(const std::vector<OpenflowFlow>& flows, Known* known);

  const Parts parts_;
  size_t next_ = 0;
  std::map<uint64_t, Known> known_;  // by datapath id
  // Gone with this one, so that answers know.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  LoopEvent rounds_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_SENT_ASKER_H
