// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ThresholdSplit: may hosts test a share of an event's threshold, and stay silent below it?
//
// If the event fires exactly when one sum of whole, non-negative values reaches a least L > 0, then
// among n hosts that together reach L, one reaches L / n, rounded up.  So hosts report only buckets
// that do, and the controller asks the others about those (DESIGN section 7).  L is found by trying
// the predicate itself, so factors, rates and rounding are those of the verdict.  Hosts may have
// different shares s: no verdict is missed as long as the (s - 1) of all hosts add up to less than
// L.
//
// What crosses the wire is the share, as a predicate with the event's aggregate (LocalPredicate).
//
// Threads: values and pure functions.

#ifndef TRUMPET_LIB_VERDICT_THRESHOLD_SPLIT_H
#define TRUMPET_LIB_VERDICT_THRESHOLD_SPLIT_H

#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

struct ThresholdSplit {
  std::string why_not;   // for people; empty: the split is sound
  Int128 least = 0;      // what the aggregate must reach; kUnreachable: it cannot
  AggregateCells cells;  // of the aggregate
  Expr aggregate;

  static constexpr Int128 kUnreachable = static_cast<Int128>(1) << 100;

  bool is_sound() const { return why_not.empty(); }
  // One host's share of n >= 1.
  Int128 Share(size_t n) const {
    const auto hosts = static_cast<Int128>(n);
    return (least + hosts - 1) / hosts;
  }
  // What a host compares with its share.
  Int128 ValueOf(const uint64_t* words) const { return AggregateValue(cells, words).integer(); }
  // `aggregate >= share`
  Expr LocalPredicate(Int128 share) const;
};

ThresholdSplit SplitThreshold(const TriggerPlan& plan);

// The share that LocalPredicate() made `predicate` from; 0 if it is none.
Int128 ShareOf(const ThresholdSplit& split, const Expr& predicate);

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_THRESHOLD_SPLIT_H
