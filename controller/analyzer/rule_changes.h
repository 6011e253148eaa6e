// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RuleChanges: at which switches trace rules changed, and when.  What passes there meanwhile may
// have no copy of it, and is not lost, nor is its copy.
//
// Threads: one.  Memory: 1 kB for each switch whose rules have changed.

#ifndef TRUMPET_CONTROLLER_ANALYZER_RULE_CHANGES_H
#define TRUMPET_CONTROLLER_ANALYZER_RULE_CHANGES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "controller/analyzer/set_back.h"
#include "lib/base/units.h"

namespace trumpet {

class RuleChanges {
 public:
  // The switch may be told before we are.
  static constexpr Nanos kBefore = kNanosPerSecond;
  // It has its flows when it says so, and looks through those of its datapath behind that.
  static constexpr Nanos kAfter = kNanosPerSecond;
  // Nobody says that a change is over if the controller has gone.
  static constexpr Nanos kLongest = 30 * kNanosPerSecond;
  static constexpr size_t kKept = 64;

  // The rules of these switches are changing now, and of no others; rising.
  void Set(const std::vector<uint16_t>& changing, Nanos now) {
    if (WasSetBack(told_at_, now)) {
      changing_.clear();  // all that change still begin once more
      changes_.clear();
    }
    told_at_ = now;
    for (const uint16_t one : changing_) {
      if (!std::binary_search(changing.begin(), changing.end(), one)) End(one, now);
    }
    for (const uint16_t one : changing) {
      if (!std::binary_search(changing_.begin(), changing_.end(), one)) Begin(one, now);
    }
    changing_ = changing;
  }

  // They changed at some time from `from` to `until`, or may have.
  bool Between(uint16_t switch_number, Nanos from, Nanos until) const {
    const auto found = changes_.find(switch_number);
    if (found == changes_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Change& change) {
      return from <= change.until && until >= change.from;
    });
  }

 private:
  struct Change {
    Nanos from = 0;
    Nanos until = 0;
  };

  // One that the last one has not ended before goes on with it.
  void Begin(uint16_t switch_number, Nanos now) {
    std::deque<Change>& changes = changes_[switch_number];
    if (changes.empty() || changes.back().until < now - kBefore) {
      changes.push_back({now - kBefore, 0});
    }
    changes.back().until = now + kLongest;
    if (changes.size() > kKept) changes.pop_front();
  }

  void End(uint16_t switch_number, Nanos now) {
    Change& last = changes_[switch_number].back();
    last.until = std::min(last.until, now + kAfter);
  }

  Nanos told_at_ = 0;
  std::vector<uint16_t> changing_;
  std::map<uint16_t, std::deque<Change>> changes_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_RULE_CHANGES_H
