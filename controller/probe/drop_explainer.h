// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DropExplainer: asks the analyzers for a packet that was lost, and the switch behind which it was
// lost for its flows, meters and ports; why it was lost is concluded from these (drop_reason.h).
//
// If it is not to blame, the switches where the packet ought to have come next are asked: of what a
// meter drops Open vSwitch 3.1 makes no copy, for the meter of a clone drops the packet with it.
//
// What switches say is how they are now: of a fault that is over they say nothing, or another
// thing.
//
// Threads: that of the libevent loop.  Lifetime: the parts must outlive it; its end drops answers.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_EXPLAINER_H
#define TRUMPET_CONTROLLER_PROBE_DROP_EXPLAINER_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/probe/drop_reason.h"
#include "controller/probe/prober.h"

namespace trumpet {

class DropExplainer final : public DropReasons {
 public:
  static constexpr size_t kMaxPlaces = 16;    // of a question; the others are not explained
  static constexpr size_t kMaxFlows = 20000;  // of a switch

  struct Parts {
    OpenflowNet* net = nullptr;
    std::function<uint64_t(TraceQuestion, TraceAsker::Answer)> ask;
    // What OpenFlow calls a switch that traces may call otherwise.
    std::function<std::string(const std::string& name)> name_of;
    // The port at which what one switch sends comes to another, both as OpenFlow calls them; 0: it
    // is not known.
    std::function<uint32_t(const std::string& from, const std::string& to)> port_behind;
  };

  explicit DropExplainer(const Parts& parts) : parts_(parts) {}
  DropExplainer(const DropExplainer&) = delete;
  DropExplainer& operator=(const DropExplainer&) = delete;

  void Explain(std::vector<SwitchOfDrops> places, Answer answer) override;

 private:
  // One question, place after place.
  struct Job {
    std::vector<SwitchOfDrops> places;
    Answer answer;
    std::vector<DropReason> reasons;
    // Of the place that is looked into.
    WalkedPacket packet;
    SwitchState state;
    size_t next = 0;   // of SwitchOfDrops::next that have been asked, too
    DropReason first;  // what the switch itself says

    const SwitchOfDrops& place() const { return places[reasons.size()]; }
    const std::string& asked() const {
      return next == 0 ? place().switch_name : place().next[next - 1];
    }
  };
  using JobPtr = std::shared_ptr<Job>;  // whoever calls back next has it

  void Next(const JobPtr& job);
  void Reason(const JobPtr& job, DropReason reason);
  void NotKnown(const JobPtr& job, const std::string& why) { Reason(job, {"not_known", why, ""}); }
  void TakeTrace(const JobPtr& job, const TraceFindings& findings);
  void AskFlows(const JobPtr& job);
  void AskMeters(const JobPtr& job);
  void AskPorts(const JobPtr& job);
  void Conclude(const JobPtr& job);
  OpenflowSwitch* SwitchOf(const Job& job) const;

  const Parts parts_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_EXPLAINER_H
