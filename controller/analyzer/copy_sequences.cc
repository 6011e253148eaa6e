// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/copy_sequences.h"

#include <algorithm>

namespace trumpet {
namespace {

// A greater step, or one back so far, is a switch that began anew.
constexpr uint32_t kMaxStep = 1 << 20;
constexpr Nanos kSmoothing = 64;  // copies
// The first copies may be left over from before, or of another tunnel: a greater step among them is
// no gap.
constexpr uint32_t kFirstCopies = 64;
constexpr uint32_t kFirstStep = 1024;
// So many in a row that are behind, and fill no gap: the switch began anew with a lower number.
constexpr uint32_t kCopiesBehind = 64;

}  // namespace

void CopySequences::Take(uint16_t switch_number, uint32_t sequence, Nanos time) {
  if (switch_number > kMaxSwitchNumber) return;
  Switch& from = switches_[switch_number];
  const uint32_t step = sequence - from.highest;
  const uint32_t step_back = from.highest - sequence;
  const bool is_behind = step > kMaxStep && step_back <= kMaxStep;
  const bool is_odd = step > kMaxStep || (from.count < kFirstCopies && step > kFirstStep);
  if (!from.is_begun || (is_odd && !is_behind)) return Begin(&from, sequence, time);
  if (step == 0) return;  // the same once more
  if (is_behind) {
    from.behind = Fill(&from, sequence, time) ? 0 : from.behind + 1;
    if (from.behind == kCopiesBehind) Begin(&from, sequence, time);
    return;
  }
  ++from.count;
  from.behind = 0;
  if (step > 1) Open(&from, sequence, time);
  const Nanos spacing = std::max<Nanos>(time - from.latest, 0) / step;
  from.spacing += from.spacing == 0 ? spacing : (spacing - from.spacing) / kSmoothing;
  from.highest = sequence;
  from.latest = std::max(from.latest, time);
}

void CopySequences::Begin(Switch* from, uint32_t sequence, Nanos time) {
  const uint64_t lost = from->lost;
  *from = Switch();
  from->is_begun = true;
  from->highest = sequence;
  from->known_since = from->latest = time;
  from->lost = lost;
}

void CopySequences::Open(Switch* from, uint32_t sequence, Nanos time) {
  from->lost += sequence - from->highest - 1;
  from->gaps.push_back({from->highest + 1, sequence - 1, from->latest, time, {}});
  if (from->gaps.size() <= max_gaps_) return;
  from->known_since = from->gaps.front().after;
  from->gaps.pop_front();
}

// One that comes late was not lost.  False: it was not missing.
bool CopySequences::Fill(Switch* from, uint32_t sequence, Nanos time) {
  for (size_t i = from->gaps.size(); i-- > 0;) {
    Gap& gap = from->gaps[i];
    const bool is_after = sequence - gap.first < kMaxStep;
    if (!is_after) continue;
    if (gap.last - sequence >= kMaxStep) return false;  // behind its end: it was here before
    --from->lost;
    if (gap.first == gap.last) {
      from->gaps.erase(from->gaps.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (sequence == gap.first) {
      ++gap.first;
    } else if (sequence == gap.last) {
      --gap.last;
    } else {
      const Gap behind = {sequence + 1, gap.last, gap.before, std::max(gap.after, time), {}};
      gap.last = sequence - 1;
      from->gaps.insert(from->gaps.begin() + static_cast<std::ptrdiff_t>(i) + 1, behind);
    }
    return true;
  }
  return false;
}

CopySequences::Around CopySequences::Between(uint16_t switch_number, Nanos from,
                                             Nanos until) const {
  Around around;
  if (switch_number > kMaxSwitchNumber) return around;
  const Switch& asked = switches_[switch_number];
  around.is_known = asked.is_begun && from >= asked.known_since && until <= asked.latest;
  if (!around.is_known) return around;
  const auto begin = std::partition_point(asked.gaps.begin(), asked.gaps.end(),
                                          [from](const Gap& gap) { return gap.after < from; });
  for (auto gap = begin; gap != asked.gaps.end() && gap->before <= until; ++gap) {
    around.lost += gap->last - gap->first + 1;
  }
  const double span = static_cast<double>(until - from);
  around.made = static_cast<double>(around.lost);
  if (asked.spacing > 0) around.made += span / static_cast<double>(asked.spacing);
  return around;
}

std::vector<CopySequences::Gap*> CopySequences::GapsBetween(Switch* from, Nanos begin, Nanos end) {
  std::vector<Gap*> gaps;
  auto gap = std::partition_point(from->gaps.begin(), from->gaps.end(),
                                  [begin](const Gap& one) { return one.after < begin; });
  for (; gap != from->gaps.end() && gap->before <= end; ++gap) gaps.push_back(&*gap);
  return gaps;
}

// Somebody's claim may be to another gap as well.
bool CopySequences::MakeRoom(Switch* from, const std::vector<Gap*>& gaps) {
  for (Gap* const gap : gaps) {
    for (size_t i = 0; i < gap->claims.size(); ++i) {
      for (Gap* const other : GapsBetween(from, gap->claims[i].from, gap->claims[i].until)) {
        if (other == gap || !other->has_room()) continue;
        other->claims.push_back(gap->claims[i]);
        gap->claims.erase(gap->claims.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
    }
  }
  return false;
}

CopySequences::Contest CopySequences::Claim(uint16_t switch_number, Nanos from, Nanos around,
                                            Nanos until, Uint128 packet, bool is_certain) {
  Contest contest;
  if (switch_number > kMaxSwitchNumber) return contest;
  Switch& asked = switches_[switch_number];
  std::vector<Gap*> gaps = GapsBetween(&asked, from, until);
  uint64_t lost = 0;
  for (const Gap* const gap : gaps) lost += gap->size();
  if (lost == 0 || lost > kMostToClaim) return contest;
  const auto distance = [around](const Gap* gap) {
    return std::max<Nanos>({gap->before - around, around - gap->after, 0});
  };
  std::stable_sort(gaps.begin(), gaps.end(), [&](const Gap* one, const Gap* other) {
    return distance(one) < distance(other);
  });
  const auto has_claimed = [packet](const Gap* gap) {
    return std::any_of(gap->claims.begin(), gap->claims.end(),
                       [packet](const Claimant& claim) { return claim.packet == packet; });
  };
  const auto has_room = [](const Gap* gap) { return gap->has_room(); };
  auto own = std::find_if(gaps.begin(), gaps.end(), has_claimed);
  const bool is_new = own == gaps.end();
  if (is_new) {
    if (std::none_of(gaps.begin(), gaps.end(), has_room)) MakeRoom(&asked, gaps);
    own = std::find_if(gaps.begin(), gaps.end(), has_room);
    if (own == gaps.end()) own = gaps.begin();
    (*own)->claims.push_back({packet, from, until, is_certain});
  }
  // What is not certainly somebody's is shared by the others.
  uint64_t certain = 0, uncertain = 0;
  for (const Claimant& claim : (*own)->claims) ++(claim.is_certain ? certain : uncertain);
  const uint64_t numbers = (*own)->size();
  const uint64_t left = numbers > certain ? numbers - certain : 0;
  if (uncertain <= left) return contest;
  contest.lost_share = static_cast<double>(left) / static_cast<double>(uncertain);
  for (const Claimant& claim : (*own)->claims) {
    if (is_new && !claim.is_certain && claim.packet != packet) {
      contest.others.push_back(claim.packet);
    }
  }
  return contest;
}

uint64_t CopySequences::lost(uint16_t switch_number) const {
  return switch_number > kMaxSwitchNumber ? 0 : switches_[switch_number].lost;
}

}  // namespace trumpet
