// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/copy_sequences.h"

#include <algorithm>

#include "controller/analyzer/set_back.h"

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
// So many claims may move when one comes.
constexpr size_t kMostSteps = 32;
// So many claim a gap; of more almost all were lost themselves.
constexpr size_t kMostClaims = 1024;

}  // namespace

void CopySequences::Take(uint16_t switch_number, uint32_t sequence, Nanos time) {
  if (switch_number > kMaxSwitchNumber) return;
  Switch& from = switches_[switch_number];
  const uint32_t step = sequence - from.highest;
  const uint32_t step_back = from.highest - sequence;
  const bool is_behind = step > kMaxStep && step_back <= kMaxStep;
  const bool is_odd = step > kMaxStep || (from.count < kFirstCopies && step > kFirstStep);
  // Gaps of a time that is to come again would lie behind those of now.
  const bool is_set_back = WasSetBack(from.latest, time);
  if (!from.is_begun || is_set_back || (is_odd && !is_behind)) return Begin(&from, sequence, time);
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
  ForgetOldest(from);
}

void CopySequences::ForgetOldest(Switch* from) const {
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
      ForgetOldest(from);
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

// Of a copy made about then, from the time of the gap.
Nanos CopySequences::Gap::Distance(Nanos around) const {
  return std::max<Nanos>({before - around, around - after, 0});
}

bool CopySequences::Gap::IsLikelier(const MissingCopy& one, const MissingCopy& other) const {
  if (one.is_certain != other.is_certain) return one.is_certain;
  return Distance(one.around) < Distance(other.around);
}

// Behind those that are as likely.
void CopySequences::Gap::Add(const Claimant& claim) {
  const auto place = std::upper_bound(claims.begin(), claims.end(), claim,
                                      [this](const Claimant& one, const Claimant& other) {
                                        return IsLikelier(one.missing, other.missing);
                                      });
  claims.insert(place, claim);
}

// Although there is no room.
bool CopySequences::Gap::WouldHold(const Claimant& claim) const {
  return IsLikelier(claim.missing, claims[size() - 1].missing);
}

// Somebody's claim may be to another gap as well, where somebody else may have to go first.
bool CopySequences::MakeRoom(Switch* from, Gap* gap, std::vector<Gap*>* tried) {
  tried->push_back(gap);
  for (size_t i = 0; i < gap->claims.size(); ++i) {
    const Claimant claim = gap->claims[i];
    for (Gap* const other : GapsBetween(from, claim.missing.from, claim.missing.until)) {
      if (tried->size() >= kMostSteps) return false;
      if (std::find(tried->begin(), tried->end(), other) != tried->end()) continue;
      if (!other->has_room() && !MakeRoom(from, other, tried)) continue;
      other->Add(claim);
      gap->claims.erase(gap->claims.begin() + static_cast<std::ptrdiff_t>(i));
      return gap->has_room();
    }
  }
  return false;
}

// Those of the time of a claim, the nearest first.
std::vector<CopySequences::Gap*> CopySequences::GapsOf(Switch* from, const Claimant& claim) {
  std::vector<Gap*> gaps = GapsBetween(from, claim.missing.from, claim.missing.until);
  std::stable_sort(gaps.begin(), gaps.end(), [&claim](const Gap* one, const Gap* other) {
    return one->Distance(claim.missing.around) < other->Distance(claim.missing.around);
  });
  return gaps;
}

// That in which room was made, else the first.
CopySequences::Gap* CopySequences::RoomIn(Switch* from, const std::vector<Gap*>& gaps) {
  std::vector<Gap*> tried;
  const auto found = std::find_if(gaps.begin(), gaps.end(), [&](Gap* gap) {
    const bool is_new = std::find(tried.begin(), tried.end(), gap) == tried.end();
    return is_new && MakeRoom(from, gap, &tried);
  });
  return found == gaps.end() ? gaps.front() : *found;
}

// Each has the nearest gap of which it is among the likeliest; who has to go looks for another.
// Returns the gap at which somebody waits now without a number, or null.
CopySequences::Gap* CopySequences::Place(Switch* from, Claimant claim) {
  for (size_t step = 1;; ++step) {
    const std::vector<Gap*> gaps = GapsOf(from, claim);
    const auto own = std::find_if(gaps.begin(), gaps.end(), [&claim](const Gap* gap) {
      return gap->has_room() || gap->WouldHold(claim);
    });
    Gap* const gap = own == gaps.end() ? RoomIn(from, gaps) : *own;
    const bool had_room = gap->has_room();
    gap->Add(claim);
    if (had_room) return nullptr;
    if (own == gaps.end() || step == kMostSteps) return gap;
    const auto behind = gap->claims.begin() + static_cast<std::ptrdiff_t>(gap->size());
    claim = *behind;
    gap->claims.erase(behind);
  }
}

// The numbers are of the likeliest; those that are about as likely as the last of these, and as the
// first that has none, share.
void CopySequences::Share(Gap* gap, Nanos spread) {
  std::vector<Claimant>& claims = gap->claims;
  const auto certain =
      static_cast<uint64_t>(std::count_if(claims.begin(), claims.end(), [](const Claimant& claim) {
        return claim.missing.is_certain;
      }));
  const uint64_t numbers = std::min<uint64_t>(std::max(gap->size(), certain), claims.size());
  const auto distance = [&](uint64_t i) { return gap->Distance(claims[i].missing.around); };
  uint64_t first = numbers, end = numbers;  // of those that share
  if (numbers > certain && claims.size() > numbers) {
    while (first > certain && distance(numbers) - distance(first - 1) <= spread) --first;
    while (end < claims.size() && distance(end) - distance(numbers - 1) <= spread) ++end;
  }
  for (uint64_t i = 0; i < claims.size(); ++i) {
    claims[i].lost_share = i < numbers ? 1 : 0;
    if (i < first || i >= end) continue;
    claims[i].lost_share = static_cast<double>(numbers - first) / static_cast<double>(end - first);
  }
}

CopySequences::Contest CopySequences::Claim(const MissingCopy& missing, Uint128 packet) {
  Contest contest;
  if (missing.switch_number > kMaxSwitchNumber) return contest;
  Switch& asked = switches_[missing.switch_number];
  const Claimant claim = {packet, missing};
  const std::vector<Gap*> gaps = GapsOf(&asked, claim);
  uint64_t lost = 0;
  for (const Gap* const gap : gaps) lost += gap->size();
  if (lost == 0 || lost > kMostToClaim) return contest;
  const auto has_claimed = [packet](const Gap* gap) {
    return std::any_of(gap->claims.begin(), gap->claims.end(),
                       [packet](const Claimant& one) { return one.packet == packet; });
  };
  auto own = std::find_if(gaps.begin(), gaps.end(), has_claimed);
  if (own == gaps.end() && gaps.front()->claims.size() >= kMostClaims) {
    contest.lost_share = missing.is_certain ? 1 : 0;
    return contest;
  }
  Gap* waiting = nullptr;
  if (own == gaps.end()) {
    waiting = Place(&asked, claim);
    own = std::find_if(gaps.begin(), gaps.end(), has_claimed);
  }
  if (own == gaps.end()) return contest;
  Share(*own, missing.spread);
  if (waiting != nullptr && waiting != *own) Share(waiting, missing.spread);
  for (const Claimant& one : (*own)->claims) {
    if (one.packet == packet) contest.lost_share = one.lost_share;
  }
  if (waiting == nullptr) return contest;
  for (Claimant& one : waiting->claims) {
    if (one.lost_share > kLikely || one.is_told) continue;
    one.is_told = true;
    if (one.packet != packet) contest.others.push_back(one.packet);
  }
  return contest;
}

uint64_t CopySequences::lost(uint16_t switch_number) const {
  return switch_number > kMaxSwitchNumber ? 0 : switches_[switch_number].lost;
}

}  // namespace trumpet
