// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of verdicts: an evaluator that keeps everything and looks everything up again, and
// predicates of every kind to try it with.

#ifndef TRUMPET_LIB_VERDICT_SLOW_HOST_TEST_H
#define TRUMPET_LIB_VERDICT_SLOW_HOST_TEST_H

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace kit {

struct Counted {
  uint32_t event;
  Nanos epoch_start;
  std::string key;
  Values packet;
};

// Everything that happened, and what follows from it.
class SlowHost {
 public:
  explicit SlowHost(Nanos flow_timeout) : flow_timeout_(flow_timeout) {}

  std::vector<std::shared_ptr<const TriggerPlan>> plans;
  std::vector<Counted> packets;
  std::vector<FlowStateUpdate> updates;  // by epoch
  std::vector<Nanos> timeouts;           // of these, of the first ones; else flow_timeout

  std::vector<std::string> Reports(Nanos until) const {
    std::vector<std::pair<std::tuple<Nanos, size_t, std::string>, std::string>> found;
    for (size_t order = 0; order < plans.size(); ++order) {
      const Nanos length = plans[order]->spec.interval_ns();
      for (int64_t k = 0; (k + 1) * length <= until; ++k) {
        for (const std::string& key : Keys(*plans[order])) {
          if (!Fires(*plans[order], key, k)) continue;
          const auto place = std::make_tuple((k + 1) * length, order, key);
          found.emplace_back(place, ToJsonLine(MakeReport(*plans[order], key, k)));
        }
      }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> lines;
    for (const auto& [place, line] : found) lines.push_back(line);
    return lines;
  }

  // Of all packets of the event.
  std::set<std::string> Keys(const TriggerPlan& plan) const {
    std::set<std::string> keys;
    if (plan.spec.granularity.is_none()) keys.insert("");
    for (const Counted& counted : packets) {
      if (counted.event == plan.spec.id) keys.insert(counted.key);
    }
    return keys;
  }

  // Is a report due in interval k?
  bool Fires(const TriggerPlan& plan, const std::string& key, int64_t k) const {
    for (int64_t j = 0; j < plan.spec.for_count; ++j) {
      if (!IsTrue(plan, key, k - j)) return false;
    }
    return true;
  }

  Report MakeReport(const TriggerPlan& plan, const std::string& key, int64_t k) const {
    Report report;
    report.event = plan.spec.name;
    report.bucket_json = BucketToJson(plan.spec.granularity, key);
    report.start_ns = k * plan.spec.interval_ns();
    report.end_ns = report.start_ns + plan.spec.interval_ns();
    const Expr& root = plan.spec.predicate;
    const bool is_comparison = IsComparison(root.op);
    report.value = is_comparison ? ValueOfSide(root.args[0], plan, key, k) : Number::Integer(1);
    report.threshold = is_comparison ? ValueOfSide(root.args[1], plan, key, k) : Number::Integer(1);
    return report;
  }

 private:
  std::vector<Values> PacketsIn(const TriggerPlan& plan, const std::string& key, int64_t k) const {
    std::vector<Values> found;
    for (const Counted& counted : packets) {
      const bool is_in = counted.epoch_start / plan.spec.interval_ns() == k;
      if (counted.event == plan.spec.id && counted.key == key && is_in) {
        found.push_back(counted.packet);
      }
    }
    return found;
  }

  bool IsTested(const TriggerPlan& plan, const std::string& key, int64_t k) const {
    if (k < 0) return false;
    if (plan.spec.granularity.is_none()) return true;
    for (int64_t j = std::max<int64_t>(0, k - 16); j <= k; ++j) {
      if (!PacketsIn(plan, key, j).empty()) return true;
    }
    return false;
  }

  // The last update of the bucket's flow by `instant`.
  const FlowStateUpdate* LatestAt(const std::string& key, Nanos instant) const {
    const FlowStateUpdate* latest = nullptr;
    for (const FlowStateUpdate& update : updates) {
      const std::string its_key(FiveTupleBucketKey(update.flow).view());
      if (its_key == key && update.epoch_end <= instant) latest = &update;
    }
    return latest;
  }

  Nanos TimeoutOf(const FlowStateUpdate& update) const {
    const auto number = static_cast<size_t>(&update - updates.data());
    return number < timeouts.size() ? timeouts[number] : flow_timeout_;
  }

  Number FlowValue(Variable variable, const std::string& key, Nanos start, Nanos end) const {
    const bool at_start = variable >= Variable::kAckLastEpoch;
    const Nanos instant = at_start ? start : end;
    const FlowStateUpdate* const latest = LatestAt(key, instant);
    if (latest == nullptr) return Number();
    const FlowState* const state = &latest->state;
    if (instant - state->last_packet_ns > TimeoutOf(*latest)) return Number();
    if (LatestAt(key, end)->state.incarnation != state->incarnation) return Number();
    switch (variable) {
      case Variable::kAck:
      case Variable::kAckLastEpoch:
        return state->has_ack ? Number::Integer(state->ack) : Number();
      case Variable::kSeq:
      case Variable::kSeqLastEpoch:
        return state->has_seq ? Number::Integer(state->seq) : Number();
      default:
        return Number::Integer(state->dup);
    }
  }

  Number ValueOfSide(const Expr& side, const TriggerPlan& plan, const std::string& key,
                     int64_t k) const {
    const auto cells = CellsOf(plan, PacketsIn(plan, key, k));
    const Nanos start = k * plan.spec.interval_ns();
    return Evaluate(side, [&](const Expr& leaf) {
      if (leaf.op == ExprOp::kAggregate) return AggregateValue(plan, leaf, cells.data());
      return FlowValue(leaf.variable, key, start, start + plan.spec.interval_ns());
    });
  }

  bool IsTrue(const TriggerPlan& plan, const std::string& key, int64_t k) const {
    return IsTested(plan, key, k) && ValueOfSide(plan.spec.predicate, plan, key, k).IsTrue();
  }

  Nanos flow_timeout_;
};

inline std::vector<Expr> PlainPredicates() {
  const Expr sum = Sum(Variable::kVolume);
  const Expr none = Op(Sum(Variable::kPackets), ExprOp::kEqual, Num(0));
  const Expr ttl = Op(Agg(AggregateKind::kMax, Var(Variable::kTtl)), ExprOp::kGreater, Num(2));
  const Expr tenth = Op(Var(Variable::kVolume), ExprOp::kMultiply, Real(0.1));
  return {Op(sum, ExprOp::kGreater, Num(4)),
          none,
          Op(sum, ExprOp::kLess, Num(3)),
          Op(Agg(AggregateKind::kAvg, Var(Variable::kVolume)), ExprOp::kGreaterEqual, Real(2.5)),
          Op(ttl, ExprOp::kOr, none),
          Not(ttl),
          Op(Agg(AggregateKind::kStddev, Var(Variable::kVolume)), ExprOp::kGreater, Num(0)),
          Op(Agg(AggregateKind::kSum, tenth), ExprOp::kGreaterEqual, Real(0.5)),
          Op(Num(1), ExprOp::kLess, Agg(AggregateKind::kCount, Var(Variable::kTtl)))};
}

inline std::vector<Expr> FlowPredicates() {
  const Expr moved = Op(Var(Variable::kAck), ExprOp::kSubtract, Var(Variable::kAckLastEpoch));
  const Expr none = Op(Sum(Variable::kPackets), ExprOp::kEqual, Num(0));
  return {Op(moved, ExprOp::kLess, Num(3)),
          Op(Op(Var(Variable::kSeq), ExprOp::kGreater, Var(Variable::kAck)), ExprOp::kAnd,
             Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(0))),
          Op(Op(Var(Variable::kDup), ExprOp::kGreater, Num(1)), ExprOp::kAnd, none),
          Not(Op(Var(Variable::kDupLastEpoch), ExprOp::kEqual, Num(0))),
          Op(Var(Variable::kSeqLastEpoch), ExprOp::kLessEqual, Var(Variable::kSeq))};
}

}  // namespace kit
}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_SLOW_HOST_TEST_H
