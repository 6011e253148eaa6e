// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_flow.h"

#include <algorithm>
#include <numeric>

namespace trumpet {
namespace {

constexpr uint32_t kPsnMask = 0xffffff;
constexpr uint32_t kPlaceBits = 4;
constexpr uint32_t kMostCounted = 15;
constexpr uint32_t kNakFlag = 1u << 28;   // a NAK names it
constexpr uint32_t kLateFlag = 1u << 29;  // at some place higher ones came instead
static_assert(kRocePlaces * kPlaceBits <= 28);
// A packet of a READ's answer carries that much at least, and at most.
constexpr uint32_t kLeastMtu = 256;
constexpr uint32_t kMostMtu = 4096;

uint32_t CountOf(uint32_t bits, int place) {
  return bits >> (kPlaceBits * static_cast<uint32_t>(place)) & kMostCounted;
}

bool IsRequest(RoceKind kind) {
  return kind == RoceKind::kSend || kind == RoceKind::kWrite || kind == RoceKind::kReadRequest ||
         kind == RoceKind::kAtomic;
}

bool IsData(RoceKind kind) { return IsRequest(kind) || kind == RoceKind::kReadResponse; }

bool HasOrder(RoceService service) {
  return service == RoceService::kReliable || service == RoceService::kUnreliable ||
         service == RoceService::kExtendedReliable;
}

RoceEvidence EvidenceOf(const RoceSight& sight, uint32_t psn) {
  return {sight.time, sight.switch_number, sight.port, psn};
}

void Keep(const RoceEvidence& evidence, std::vector<RoceEvidence>* list) {
  if (list->size() < kRoceEvidence) list->push_back(evidence);
}

uint32_t PacketsOf(uint32_t bytes, uint32_t mtu) {
  return std::max<uint32_t>(1, bytes / mtu + (bytes % mtu != 0 ? 1 : 0));
}

}  // namespace

const RocePlaceCounts* RoceFlowCounts::Main() const {
  const auto most =
      std::max_element(places.begin(), places.end(), [](const auto& a, const auto& b) {
        return a.packets < b.packets;  // of equal ones the first
      });
  return most == places.end() ? nullptr : &*most;
}

int RoceFlow::FindPlace(const RoceSight& sight) {
  auto& places = counts_.places;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].switch_number == sight.switch_number) return static_cast<int>(i);
  }
  if (places.size() == kRocePlaces) {
    ++counts_.places_not_kept;
    return kNoPlace;
  }
  places.emplace_back();
  places.back().switch_number = sight.switch_number;
  places.back().port = sight.port;
  places.back().first = sight.time;
  return static_cast<int>(places.size() - 1);
}

void RoceFlow::Take(const RoceSight& sight) {
  const int place = FindPlace(sight);
  if (place == kNoPlace) return;
  Count(sight, &counts_.places[static_cast<size_t>(place)]);
  const RocePacket& roce = *sight.roce;
  if (!follows_ || !HasOrder(roce.service)) return;
  if (IsRequest(roce.kind)) {
    is_reliable_ = roce.service != RoceService::kUnreliable;
    FollowRequest(sight, place);
  } else if (roce.kind == RoceKind::kReadResponse) {
    FollowResponse(sight, place);
  }
}

void RoceFlow::Count(const RoceSight& sight, RocePlaceCounts* place) const {
  const RocePacket& roce = *sight.roce;
  place->last = std::max(place->last, sight.time);
  ++place->packets;
  place->bytes += sight.bytes;
  ++place->kinds[static_cast<size_t>(roce.kind)];
  place->marked += sight.is_marked && IsData(roce.kind) ? 1 : 0;
  place->corrupt += sight.is_corrupt ? 1 : 0;
  if (roce.ack && roce.ack->kind == RoceAckKind::kNak) {
    ++place->naks[std::min<size_t>(roce.ack->value, kNakCodes)];
  } else if (roce.ack && roce.ack->kind == RoceAckKind::kNotReady) {
    ++place->not_ready;
    place->longest_wait = std::max(place->longest_wait, NotReadyDelay(roce.ack->value));
  }
  if (roce.kind != RoceKind::kCnp) return;
  const int64_t second = CellOf(sight.time, kNanosPerSecond);
  if (second != place->cnp_second) place->cnps_in_second = 0;
  place->cnp_second = second;
  if (++place->cnps_in_second <= place->cnp_peak) return;
  place->cnp_peak = place->cnps_in_second;
  place->cnp_peak_time = second * kNanosPerSecond;
}

void RoceFlow::Begin(uint32_t psn, RocePlaceCounts* place) const {
  place->has_requests = true;
  place->first_psn = place->next_psn = place->next_in_row = psn;
  place->unknown_psns = 0;
}

void RoceFlow::FollowRequest(const RoceSight& sight, int at) {
  RocePlaceCounts& place = counts_.places[static_cast<size_t>(at)];
  const RocePacket& roce = *sight.roce;
  const uint32_t psn = roce.sequence;
  if (!place.has_requests) Begin(psn, &place);
  int32_t step = PsnStep(place.next_psn, psn);
  if (step > kRoceMaxStep || step < -kRoceMaxStep) {
    ++place.restarts;
    Begin(psn, &place);
    step = 0;
  }
  bool is_late = false;
  NoteSkipped(psn, place);
  place.next_in_row = (psn + 1) & kPsnMask;
  if (step < 0) {
    const bool is_new = IsInWindow(psn) && CountOf(SlotOf(psn).bits, at) == 0;
    is_late = is_new && PsnStep(place.first_psn, psn) >= 0;
    // What came before the first of this place is no loss of it.
    if (is_late) ++place.late;
    if (!is_late) ++place.repeated;
  } else {
    if (step > place.unknown_psns) {
      ++place.gaps;
      place.missing += static_cast<uint64_t>(step);
      NoteGap(sight, place.next_psn);
    }
    uint32_t taken = 1;
    place.unknown_psns = 0;
    if (roce.kind == RoceKind::kReadRequest && roce.memory) {
      taken = PacketsOf(roce.memory->bytes, kMostMtu);
      const uint32_t most = PacketsOf(roce.memory->bytes, kLeastMtu);
      place.unknown_psns = static_cast<int32_t>(std::min<uint32_t>(most - taken, kRoceMaxStep));
      taken = std::min<uint32_t>(taken, kRoceMaxStep);
    }
    place.next_psn = (psn + taken) & kPsnMask;
  }
  Mark(psn, at, is_late);
}

// Numbers go on within a message only: between two, requests have taken some.
void RoceFlow::FollowResponse(const RoceSight& sight, int at) {
  RocePlaceCounts& place = counts_.places[static_cast<size_t>(at)];
  const RocePacket& roce = *sight.roce;
  const bool begins = roce.place == RocePlace::kFirst || roce.place == RocePlace::kOnly;
  if (place.is_in_response && !begins) {
    const int32_t step = PsnStep(place.next_response, roce.sequence);
    if (step < 0 || step > kRoceMaxStep) {
      ++place.repeated;
      return;
    }
    if (step > 0) {
      ++place.gaps;
      place.missing += static_cast<uint64_t>(step);
      NoteGap(sight, place.next_response);
    }
  }
  place.is_in_response = roce.place == RocePlace::kFirst || roce.place == RocePlace::kMiddle;
  place.next_response = (roce.sequence + 1) & kPsnMask;
}

void RoceFlow::NoteGap(const RoceSight& sight, uint32_t psn) {
  Keep(EvidenceOf(sight, psn), &counts_.gap_evidence);
}

// What is sent again has gaps of its own.
void RoceFlow::NoteSkipped(uint32_t psn, const RocePlaceCounts& place) {
  const int32_t skipped = PsnStep(place.next_in_row, psn);
  if (skipped <= 0 || skipped >= static_cast<int32_t>(kRoceWindow)) return;
  for (uint32_t one = place.next_in_row; one != psn; one = (one + 1) & kPsnMask) {
    if (IsInWindow(one) && SlotOf(one).bits != 0) SlotOf(one).bits |= kLateFlag;
  }
}

bool RoceFlow::IsInWindow(uint32_t psn) const {
  if (!has_top_) return false;
  const int32_t step = PsnStep(top_, psn);
  return step <= 0 && step > -static_cast<int32_t>(kRoceWindow);
}

bool RoceFlow::IsNear(uint32_t psn) const {
  return IsInWindow(psn) || (has_top_ && PsnStep(top_, psn) == 1);
}

void RoceFlow::MoveTo(uint32_t psn) {
  if (!has_top_) {
    window_.resize(kRoceWindow);
    has_top_ = true;
    top_ = psn;
    return;
  }
  const int32_t step = PsnStep(top_, psn);
  const bool is_far = step >= static_cast<int32_t>(kRoceWindow) || step < -kRoceMaxStep;
  if (is_far) {
    for (uint32_t i = kRoceWindow; i-- > 0;) {
      const uint32_t old = (top_ - i) & kPsnMask;
      Judge(old, SlotOf(old).bits, false);
      SlotOf(old) = Slot();
    }
    top_ = psn;
    return;
  }
  for (int32_t i = 0; i < step; ++i) {
    const uint32_t old = (top_ + 1 - kRoceWindow) & kPsnMask;
    Judge(old, SlotOf(old).bits, false);
    SlotOf(old) = Slot();
    top_ = (top_ + 1) & kPsnMask;
  }
}

void RoceFlow::Mark(uint32_t psn, int place, bool is_late) {
  MoveTo(psn);
  if (!IsInWindow(psn)) return;
  uint32_t& bits = SlotOf(psn).bits;
  const uint32_t count = CountOf(bits, place) + 1;
  if (count > kMostCounted) return;
  bits += 1u << (kPlaceBits * static_cast<uint32_t>(place));
  if (is_late) bits |= kLateFlag;
  RocePlaceCounts& here = counts_.places[static_cast<size_t>(place)];
  for (int i = 0; i < static_cast<int>(counts_.places.size()); ++i) {
    if (i != place && CountOf(bits, i) >= count) ++here.position_sum;
  }
  ++here.positions;
}

void RoceFlow::NoteNak(uint32_t psn, const RoceSight& sight) {
  if (!IsInWindow(psn)) return;
  uint32_t& bits = SlotOf(psn).bits;
  if ((bits & kNakFlag) == 0) Keep(EvidenceOf(sight, psn), &counts_.nak_evidence);
  bits |= kNakFlag;
}

// Places that had a packet later than others are farther on its way.
std::vector<int> RoceFlow::Order() const {
  std::vector<int> order(counts_.places.size());
  std::iota(order.begin(), order.end(), 0);
  const auto position = [this](int i) {
    const RocePlaceCounts& place = counts_.places[static_cast<size_t>(i)];
    return place.positions == 0
               ? 0.0
               : static_cast<double>(place.position_sum) / static_cast<double>(place.positions);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return position(a) < position(b); });
  return order;
}

void RoceFlow::AddLoss(uint32_t psn, int behind, int next, uint64_t packets) {
  RoceLoss& loss = counts_.losses[{behind, next}];
  loss.packets += packets;
  const int known = behind != kNoPlace ? behind : next;
  const RocePlaceCounts& place = counts_.places[static_cast<size_t>(known)];
  RoceEvidence evidence{place.last, place.switch_number, place.port, psn};
  for (const RoceEvidence& one : counts_.nak_evidence) {
    if (one.sequence == psn) evidence.time = one.time;
  }
  for (const RoceEvidence& one : counts_.gap_evidence) {
    if (one.sequence == psn) evidence.time = one.time;
  }
  Keep(evidence, &loss.evidence);
}

void RoceFlow::Judge(uint32_t psn, uint32_t bits, bool is_over) {
  if ((bits & ~kLateFlag) == 0 || counts_.places.empty()) return;
  std::vector<int> covering;
  uint32_t most = 0;
  uint32_t least = kMostCounted;
  for (const int i : Order()) {
    const RocePlaceCounts& place = counts_.places[static_cast<size_t>(i)];
    const bool covers = place.has_requests && PsnStep(place.first_psn, psn) >= 0 &&
                        PsnStep(psn, place.next_psn) > 0;
    if (!covers) continue;
    covering.push_back(i);
    most = std::max(most, CountOf(bits, i));
    least = std::min(least, CountOf(bits, i));
  }
  if (covering.empty() || most == 0) return;
  const uint32_t last = CountOf(bits, covering.back());
  if (last == most) {
    if ((bits & kNakFlag) == 0) return;
    if ((bits & kLateFlag) != 0) {
      AddLoss(psn, kNoPlace, covering.front(), 1);
    } else {
      AddLoss(psn, covering.back(), kNoPlace, 1);
    }
    return;
  }
  const bool may_be_resent = is_reliable_ && most == 1 && (bits & kNakFlag) == 0;
  if (may_be_resent) {
    ++(is_over ? counts_.undecided : counts_.copies_missing);
    return;
  }
  uint32_t passed = last;
  for (size_t i = covering.size() - 1; i-- > 0;) {
    const uint32_t here = CountOf(bits, covering[i]);
    if (here <= passed) continue;
    AddLoss(psn, covering[i], covering[i + 1], here - passed);
    passed = here;
  }
}

RoceFlowCounts RoceFlow::Finish() const {
  RoceFlow over = *this;
  if (over.has_top_) {
    for (uint32_t i = kRoceWindow; i-- > 0;) {
      const uint32_t psn = (over.top_ - i) & kPsnMask;
      over.Judge(psn, over.SlotOf(psn).bits, true);
    }
  }
  const std::vector<int> order = over.Order();
  std::vector<int> at(order.size());
  RoceFlowCounts counts = over.counts_;
  for (size_t i = 0; i < order.size(); ++i) {
    at[static_cast<size_t>(order[i])] = static_cast<int>(i);
    counts.places[i] = over.counts_.places[static_cast<size_t>(order[i])];
  }
  counts.losses.clear();
  for (auto& [ends, loss] : over.counts_.losses) {
    const auto moved = [&at](int i) { return i == kNoPlace ? i : at[static_cast<size_t>(i)]; };
    counts.losses[{moved(ends.first), moved(ends.second)}] = std::move(loss);
  }
  return counts;
}

}  // namespace trumpet
