// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A host of the tests of verdicts, fed by hand, and the events that most of them use.

#ifndef TRUMPET_LIB_VERDICT_VERDICTS_HOST_TEST_H
#define TRUMPET_LIB_VERDICT_VERDICTS_HOST_TEST_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet::kit {

constexpr Nanos kFlowTimeout = Ms(100);
constexpr uint32_t kPorts = 1;  // id of the event in most tests

// A host whose intervals are 10 ms unless said otherwise; times in ms, "interval k" is [10k,
// 10k+10).
class Host {
 public:
  explicit Host(const std::vector<EventSpec>& events, Nanos from = 0, bool is_offline = true)
      : verdicts_(kFlowTimeout) {
    Install(events, from, is_offline);
  }

  void Install(const std::vector<EventSpec>& events, Nanos from, bool is_offline = true,
               bool has_tracked_tcp = false) {
    HostVerdicts::Plans plans;
    for (const EventSpec& event : events) plans.push_back(Plan(event));
    for (const auto& plan : plans) plans_[plan->spec.id] = plan;
    verdicts_.Apply(plans, from, is_offline, has_tracked_tcp);
  }

  // One packet of `volume` in the epoch that begins at `ms`.
  void Packet(uint32_t event, int64_t ms, const std::string& key, int64_t volume = 1,
              bool is_unscaled = false) {
    const TriggerPlan& plan = *plans_[event];
    const auto words = CellsOf(
        plan,
        Values{{Variable::kPackets, 1}, {Variable::kVolume, volume}, {Variable::kRwnd, volume}});
    PartialView partial = PartialOf(event, Ms(ms), Ms(ms + 10), key, words);
    partial.is_unscaled = is_unscaled;
    verdicts_.Add(partial);
  }

  // The flow's state at the end of the epoch [ms, ms + 10), last packet in its middle.
  void State(int64_t ms, uint8_t flow, int64_t ack, uint32_t incarnation = 1, uint16_t zone = 0) {
    FlowStateUpdate update = StateOf(ms, flow, ack);
    update.flow.zone = zone;
    update.state.incarnation = incarnation;
    verdicts_.Add(update);
  }
  static FlowStateUpdate StateOf(int64_t ms, uint8_t flow, int64_t ack) {
    FlowStateUpdate update;
    update.flow = Flow(flow);
    update.state.ack = ack;
    update.state.has_ack = true;
    update.state.last_packet_ns = Ms(ms + 5);
    update.state.incarnation = 1;
    update.epoch_start = Ms(ms);
    update.epoch_end = Ms(ms + 10);
    return update;
  }

  // Decides up to `ms`; the reports as "event bucket @interval-start value>threshold".
  std::vector<std::string> Reports(int64_t ms) {
    reports_.clear();
    verdicts_.Advance(Ms(ms), &reports_);
    std::vector<std::string> texts;
    for (const Report& report : reports_) {
      texts.push_back(report.event + " " + report.bucket_json + " @" +
                      std::to_string(report.start_ns / kNanosPerMilli) + " " +
                      report.value.ToString() + "|" + report.threshold.ToString());
    }
    return texts;
  }

  const std::vector<Report>& last() const { return reports_; }
  HostVerdicts& verdicts() { return verdicts_; }

 private:
  HostVerdicts verdicts_;
  std::map<uint32_t, std::shared_ptr<const TriggerPlan>> plans_;
  std::vector<Report> reports_;
};

using Texts = std::vector<std::string>;

inline Expr VolumeAbove(int64_t threshold) {
  return Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(threshold));
}

inline Expr NoPackets() { return Op(Sum(Variable::kPackets), ExprOp::kEqual, Num(0)); }

inline Expr AckMoved() {
  return Op(Op(Var(Variable::kAck), ExprOp::kSubtract, Var(Variable::kAckLastEpoch)),
            ExprOp::kGreaterEqual, Num(0));
}

inline EventSpec For(EventSpec event, uint32_t count) {
  event.for_count = count;
  return event;
}

}  // namespace trumpet::kit

#endif  // TRUMPET_LIB_VERDICT_VERDICTS_HOST_TEST_H
