// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/stage_cutter.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

constexpr uint32_t kNowhere = UINT32_MAX;

bool IsWrite(const MeasureNode& node) {
  return node.kind == MeasureNodeKind::kUpdate || node.kind == MeasureNodeKind::kTimestamp;
}

std::vector<StageRange> RangesOf(const std::vector<uint32_t>& reach, uint32_t count) {
  std::vector<StageRange> ranges;
  for (uint32_t at = 0; at < count;) {
    StageRange range = {at, at};
    for (; at <= range.last; ++at) range.last = std::max(range.last, reach[at]);
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

StageCutter::StageCutter(const std::vector<KnownSet>& known, const CompiledProgram& compiled,
                         uint32_t entry)
    : compiled_(compiled), source_(compiled.source), entry_(entry) {
  while (OperatorAt(end_).kernel != EndProgram) end_++;
  for (size_t i = 0; i < source_.variables.size(); ++i) {
    keyed_[i] = source_.variables[i].key != kNoIndex;
  }
  GatherKnown(known);
}

bool StageCutter::HasCopies() const {
  for (uint32_t at = 0; at < end_; ++at) {
    if (IsCopy(at)) return true;
  }
  return false;
}

uint32_t StageCutter::Resolve(uint32_t place) const {
  while (OperatorAt(place).kernel == Jump) place += OperatorAt(place).skip;
  return place;
}

bool StageCutter::IsJump(const StageRange& range) const {
  return range.first == range.last && range.first < end_ && OperatorAt(range.first).kernel == Jump;
}

bool StageCutter::IsTogether(const StageRange& range, bool wait) const {
  return range.first == range.last && IsDoneForAll(range.first, wait);
}

bool StageCutter::IsDoneForAll(uint32_t place, bool wait) const {
  return place < end_ && (OperatorAt(place).burst_kernel != nullptr || (wait && IsCopy(place)));
}

bool StageCutter::IsOneByOne(const StageRange& range, bool wait) const {
  return !IsTogether(range, wait) && !IsJump(range) && RunCellsOf(range, wait).plan == nullptr;
}

// The map that a variable is of, if its cells are known before the program runs.
HashUse StageCutter::MapOf(size_t variable) const {
  const MeasureIndex key =
      variable < source_.variables.size() ? source_.variables[variable].key : kNoIndex;
  if (key == kNoIndex || compiled_.keys[key].is_late) return {};
  for (const SlotPlan& plan : compiled_.slots[key]) {
    const bool is_of_plan = plan.first == compiled_.variables[variable].first_slot;
    if (is_of_plan && plan.form == SlotForm::kMap) return {key, &plan};
  }
  return {};
}

HashUse StageCutter::RunCellsOf(const StageRange& range, bool wait) const {
  KnownSet known;
  KnownSet ties;
  if (OperatorAt(range.first).kernel == Jump) return {};
  for (uint32_t at = range.first; at <= range.last; ++at) {
    if (OperatorAt(at).kernel == Jump) continue;
    if (!IsDoneForAll(at, wait)) return {};
    ties |= known & known_[at];
    if (OperatorAt(at).slot_use == SlotUse::kSetPair) ties |= all_known_[at] & keyed_;
    known |= known_[at];
  }
  HashUse cells;
  for (size_t i = 0; i < ties.size(); ++i) {
    if (!ties.test(i)) continue;
    const HashUse map = MapOf(i);
    if (map.plan == nullptr || (cells.plan != nullptr && cells.plan != map.plan)) return {};
    cells = map;
  }
  return cells;
}

bool StageCutter::KnowsOnlyCells(const StageRange& range, const HashUse& cells) const {
  for (uint32_t at = range.first; at <= range.last; ++at) {
    for (size_t i = 0; i < known_[at].size(); ++i) {
      if (known_[at].test(i) && MapOf(i).plan != cells.plan) return false;
    }
  }
  return true;
}

std::vector<StageRange> StageCutter::Cut(bool wait) const {
  const bool has_copies = HasCopies();
  std::vector<uint32_t> reach = Ties(has_copies && !wait);
  const uint32_t count = end_ + (has_copies ? 1 : 0);
  for (;;) {
    const std::vector<StageRange> ranges = RangesOf(reach, count);
    if (!TieMore(ranges, wait, &reach)) return ranges;
  }
}

bool StageCutter::MayCopiesWait() const {
  bool has_left = false;
  bool has_tagged = false;  // in the fork under way, which does it again at its end
  for (uint32_t at = 0; at < end_; ++at) {
    const Operator& op = OperatorAt(at);
    const bool tags = op.is_tag || (op.kernel == CommitFork && has_tagged);
    if (has_left && tags) return false;
    if (op.kernel == BeginFork && op.target == 0) has_tagged = false;
    has_tagged |= op.is_tag;
    has_left |= IsCopy(at);
  }
  const std::vector<StageRange> ranges = Cut(true);
  return !has_left || ranges.back().first == end_;
}

void StageCutter::GatherKnown(const std::vector<KnownSet>& known) {
  const KnownSet shared = SharedVariables();
  const KnownSet written = WrittenThings();
  for (uint32_t at = 0; at <= end_; ++at) {
    all_known_.push_back(at < end_ ? known[entry_ + at] : KnownToCopies(known));
    known_.push_back(all_known_[at]);
    if ((known_[at] & shared).any()) known_[at].set(kKnowsShared);
    known_[at] &= written;
  }
  for (uint32_t at = 0; at < end_; ++at) {
    if (IsAlone(at)) FreeIfByItself(at);
  }
}

// What is added up for a burst gives each packet its own view, unless packets come to it by parts.
void StageCutter::FreeIfByItself(uint32_t at) {
  const KnownSet known = std::exchange(known_[at], {});
  for (const bool copies_wait : {false, true}) {
    for (const StageRange& range : Cut(copies_wait)) {
      const bool is_inside = range.first <= at && at <= range.last;
      if (is_inside && range.first != range.last) known_[at] = known;
    }
  }
}

KnownSet StageCutter::SharedVariables() const {
  KnownSet shared;
  for (size_t i = 0; i < compiled_.variables.size(); ++i) {
    if (compiled_.variables[i].region == kSharedRegion) shared.set(i);
  }
  return shared;
}

// Whoever reads what is never written need not wait for anybody.
KnownSet StageCutter::WrittenThings() const {
  KnownSet written;
  for (size_t i = kMaxMeasureVariables; i < written.size(); ++i) written.set(i);
  for (const MeasureNode& node : source_.nodes) {
    if (IsWrite(node)) written.set(node.target);
  }
  return written;
}

KnownSet StageCutter::KnownToCopies(const std::vector<KnownSet>& known) const {
  KnownSet all;
  for (MeasureIndex stream = kCtrlStream + 1; stream < compiled_.entries.size(); ++stream) {
    uint32_t at = compiled_.entries[stream];
    if (at == CompiledProgram::kNoCode) continue;
    for (; compiled_.operators[at].kernel != EndProgram; ++at) all |= known[at];
  }
  return all.reset(kKnowsLog).reset(kKnowsFlags);  // which are done with when a packet is
}

// Whether the operator adds to the viewed variable, which others only read, and all of them
// behind it.  What a burst adds to a shared variable at once is what packets add one after the
// other while other threads wait; as long as there is no second one, nobody can tell.
bool StageCutter::IsAlone(uint32_t at) const {
  const Operator& op = OperatorAt(at);
  const MeasureIndex variable = compiled_.viewed;
  if (!op.is_viewed || op.slot_use != SlotUse::kAddScalar || op.target != variable) return false;
  for (uint32_t before = 0; before < at; ++before) {
    if (known_[before].test(variable)) return false;
  }
  const auto writes = [variable](const MeasureNode& node) {
    return IsWrite(node) && node.target == variable;
  };
  const auto& nodes = source_.nodes;
  if (std::count_if(nodes.begin(), nodes.end(), writes) != 1) return false;
  for (const MeasureWindow& window : source_.windows) {
    if (window.task != kNoIndex &&
        std::count(window.variables.begin(), window.variables.end(), variable) != 0) {
      return false;
    }
  }
  return !op.is_shared || SharedVariables().count() == 1;
}

// For each place the last one that it must stay together with.
std::vector<uint32_t> StageCutter::Ties(bool holds_copies) const {
  std::vector<uint32_t> last(KnownSet().size());
  for (uint32_t at = 0; at <= end_; ++at) {
    for (size_t i = 0; i < last.size(); ++i) {
      if (Knows(at, i, holds_copies)) last[i] = at;
    }
  }
  std::vector<uint32_t> reach(end_ + 1);
  for (uint32_t at = 0; at <= end_; ++at) {
    reach[at] = at;
    for (size_t i = 0; i < last.size(); ++i) {
      if (Knows(at, i, holds_copies)) reach[at] = std::max(reach[at], last[i]);
    }
  }
  return reach;
}

bool StageCutter::Knows(uint32_t at, size_t thing, bool holds_copies) const {
  if (thing == kKnowsCopies) return holds_copies && (at == end_ || IsCopy(at));
  return known_[at].test(thing);
}

// Ties ranges together where a packet would come into the midst of one, or where packets that
// take one of them one after the other go on in the next one only.  False: there is none to tie.
bool StageCutter::TieMore(const std::vector<StageRange>& ranges, bool wait,
                          std::vector<uint32_t>* reach) const {
  std::vector<const StageRange*> range_at(end_ + 1, nullptr);
  for (const StageRange& range : ranges) {
    for (uint32_t at = range.first; at <= range.last; ++at) range_at[at] = &range;
  }
  // From which place outside of its range packets come to a place first, but from that before it.
  std::vector<uint32_t> from(end_ + 1, kNowhere);
  const auto land = [&](uint32_t at, uint32_t to) {
    const uint32_t place = Resolve(to);
    if (from[place] == kNowhere) from[place] = at;
  };
  for (const StageRange& range : ranges) {
    for (uint32_t at = range.first; at <= range.last && at < end_; ++at) {
      const uint32_t target = at + OperatorAt(at).skip;
      if (range_at[target] != &range && target != at + 1) land(at, target);
      if (at == range.last && OperatorAt(at + 1).kernel == Jump) land(at, at + 1);
    }
  }
  bool has_tied = false;
  const auto tie = [&](uint32_t place, uint32_t to) {
    (*reach)[place] = std::max((*reach)[place], to);
    has_tied = true;
  };
  for (uint32_t at = 0; at < end_; ++at) {
    const StageRange* const range = range_at[at];
    if (from[at] != kNowhere && at != range->first) tie(from[at], range->last);
  }
  for (size_t i = 0; i + 1 < ranges.size(); ++i) {
    const StageRange& next = ranges[i + 1];
    const bool can_join = next.first < end_ && from[next.first] == kNowhere &&
                          IsOneByOne(ranges[i], wait) && IsOneByOne(next, wait);
    if (can_join) tie(ranges[i].first, next.last);
  }
  return has_tied;
}

}  // namespace trumpet
