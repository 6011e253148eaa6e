// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// VerdictPredicate: tests an event's predicate on the merged cells of a bucket.
//
// Threads: immutable once made.  Lifetime: the plan must outlive it.

#ifndef TRUMPET_LIB_VERDICT_VERDICT_PREDICATE_H
#define TRUMPET_LIB_VERDICT_VERDICT_PREDICATE_H

#include <cstdint>
#include <utility>
#include <vector>

#include "lib/model/expr.h"
#include "lib/verdict/flow_state_map.h"
#include "lib/verdict/threshold_split.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

// Only true fires.  `value` and `threshold` are the sides of the comparison at the root, 1 and 1
// without one.
struct Verdict {
  bool fires = false;
  Number value;
  Number threshold;
};

// The verdict of a predicate whose leaves `leaf(const Expr&)` -> Number tells.
template <typename Leaf>
Verdict VerdictOf(const Expr& root, const Leaf& leaf) {
  Verdict verdict;
  if (IsComparison(root.op)) {
    verdict.value = Evaluate(root.args[0], leaf);
    verdict.threshold = Evaluate(root.args[1], leaf);
    verdict.fires = Apply(root.op, verdict.value, verdict.threshold).IsTrue();
  } else {
    verdict.fires = Evaluate(root, leaf).IsTrue();
    verdict.value = verdict.threshold = Number::Integer(1);
  }
  return verdict;
}

class VerdictPredicate {
 public:
  explicit VerdictPredicate(const TriggerPlan& plan);

  Verdict Test(const uint64_t* words, const FlowInstants& flow) const;
  // Does Test() say no, because a threshold is not reached?  For the many that are far below, at a
  // tenth of the cost; false where the predicate is no such threshold.
  bool IsBelowThreshold(const uint64_t* words) const {
    return split_.is_sound() && split_.ValueOf(words) < split_.least;
  }
  const ThresholdSplit& split() const { return split_; }

  // Cells of a bucket without packets.
  const uint64_t* empty_words() const { return empty_words_.data(); }

  // Can a bucket without packets fire, whatever the state of its flow?  If not, nobody needs to
  // ask.
  bool can_fire_empty() const { return can_fire_empty_; }

  // Does any value come from TCP tracking, so that a lost connection matters?
  bool uses_connections() const { return uses_connections_; }
  bool uses_tcp() const { return uses_tcp_; }  // of those, more than is_burst

 private:
  Number Leaf(const Expr& leaf, const uint64_t* words, const FlowInstants& flow) const;
  bool CanBe(const Expr& expr, bool truth) const;

  const TriggerPlan& plan_;
  const ThresholdSplit split_;
  std::vector<std::pair<const Expr*, AggregateCells>> aggregates_;
  std::vector<uint64_t> empty_words_;
  bool can_fire_empty_ = false;
  bool uses_connections_ = false;
  bool uses_tcp_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_VERDICT_PREDICATE_H
