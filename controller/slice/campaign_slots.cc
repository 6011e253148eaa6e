// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignRun, slot by slot.

#include <algorithm>
#include <cstdlib>

#include "controller/slice/campaign_run.h"

namespace trumpet {
namespace {

constexpr Nanos kRetryAfter = 100 * kNanosPerMilli;
constexpr Nanos kClockSlack = 2 * kNanosPerMilli;  // by which a clock is pulled straight in a slot
constexpr int kMaxWaits = 6;  // for copies that have not come, each twice as long as the last one
constexpr Nanos kFirstWait = 10 * kNanosPerMilli;
constexpr int64_t kLeastCapBytes = 1600;  // one packet: less would show nothing

FilterExpr FilterOf(const Prefix& prefix) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {Field::kDstIp, Level::kOuter};
  const ValueKind kind = prefix.is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4;
  filter.test.ranges = {{kind, FirstOf(prefix), LastOf(prefix)}};
  return filter;
}

}  // namespace

CampaignRun::SlotJobs CampaignRun::NextJobs() const {
  SlotJobs jobs = confined_;
  if (next_slot_ >= schedule_.size()) return jobs;
  for (int number : schedule_[next_slot_]) jobs.push_back(mirrored_[static_cast<size_t>(number)]);
  return jobs;
}

void CampaignRun::NextSlot() {
  if (is_plan_stale_) {
    ++view_.replans;
    is_of_rest_ = false;
    return Plan();
  }
  view_.planned = static_cast<uint32_t>(slot_count_ - next_slot_);
  if (next_slot_ >= slot_count_) return EndOfSlots();
  const Nanos now = Now();
  const Nanos room =
      std::max(budget_.RoomAt(SlotBytes(), now), parts_.shared->RoomAt(SlotBytes(), now));
  if (room > now) return SetState(SliceRunState::kHolding, room);
  TurnOn(NextJobs());
}

// Prefixes that were only looked at are known now, or looked at again.  After the campaign's own
// slots there is time for more of them where they were faster than the one that the plan went by.
void CampaignRun::EndOfSlots() {
  is_of_rest_ = !is_looking_;
  Plan();
}

// --- on ---

void CampaignRun::TurnOn(SlotJobs jobs) {
  ++attempt_;
  has_stood_still_ = false;
  current_ = std::move(jobs);
  active_.clear();
  unanswered_ = 0;
  failure_.clear();
  slot_began_ = Now();
  const Status status = CheckPlaces(current_);
  if (!status.ok()) return FailSlot(status.message());
  for (const Job& job : current_) {
    ActiveSlice& slice = active_.emplace_back();
    slice.query = static_cast<size_t>(&job - current_.data());
    slice.tag = parts_.tags->Take(slot_began_);
    if (slice.tag == 0) {
      active_.pop_back();
      ReleaseSlot(0);
      return FailSlot("all tags are taken by other slices");
    }
    for (const std::string& router : view_.queries[job.query].locations) {
      Place& place = slice.places.emplace_back();
      place.router = router;
      place.driver = DriverOf(router);
      ++unanswered_;
    }
  }
  reserved_ = SlotBytes();
  budget_.Reserve(reserved_);
  parts_.shared->Reserve(reserved_);
  ExpectAndTurnOn();
}

void CampaignRun::ExpectAndTurnOn() {
  const Nanos start = parts_.clock->UnixNow();
  std::vector<ExpectedSlice> expected;
  for (const ActiveSlice& slice : active_) {
    const size_t number = current_[slice.query].query;
    const SliceQueryView& query = view_.queries[number];
    ExpectedSlice& told = expected.emplace_back();
    told.tag = slice.tag;
    told.run = view_.run;
    told.slot = view_.slots + view_.bootstrap_slots;
    told.query = static_cast<uint32_t>(number);
    told.name = query.name;
    told.is_confine = query.is_confine;
    told.prefix = query.prefix;
    told.path = query.path;
    told.locations = query.locations;
    for (const Place& place : slice.places) {
      told.numbers.push_back(place.driver->NumberOf(place.router));
    }
    told.start = start;
    told.end = start + slot_ + spacing_;
  }
  parts_.collector->Expect(expected);
  has_expected_ = true;
  if (unanswered_ == 0) return AllAnswered();  // regions that nothing can leave
  SetState(SliceRunState::kTurningOn, slot_began_ + options_.patience);
  for (size_t i = 0; i < active_.size(); ++i) {
    const SliceSpec spec = SpecOf(active_[i]);
    for (size_t j = 0; j < active_[i].places.size(); ++j) {
      Place& place = active_[i].places[j];
      SliceSpec placed = spec;
      placed.bridge = place.router;
      place.driver->TurnOn(
          place.router, placed,
          Guarded<const Status&>([this, attempt = attempt_, i, j](const Status& status) {
            OnTurnedOn(attempt, i, j, status);
          }));
    }
  }
}

// What the slot may copy is shared out by what its queries are expected to take.
SliceSpec CampaignRun::SpecOf(const ActiveSlice& slice) const {
  const Job& job = current_[slice.query];
  const SliceQueryView& query = view_.queries[job.query];
  SliceSpec spec;
  spec.tag = slice.tag;
  spec.filter = FilterOf(query.prefix);
  spec.duration = slot_;
  if (query.is_confine) {
    spec.max_packets = options_.confine_packets;
    spec.packets_per_second = static_cast<uint32_t>(std::max<int64_t>(
        1, options_.confine_packets * kNanosPerSecond / std::max<Nanos>(slot_, 1)));
    spec.snap_bytes = options_.confine_snap_bytes;
    return spec;
  }
  int64_t costs = 0;
  bool is_strict = false;
  for (const Job& other : current_) {
    costs += other.cost_bps;
    is_strict |= other.is_capped;
  }
  const double share = static_cast<double>(job.cost_bps) /
                       static_cast<double>(std::max<int64_t>(costs, 1)) /
                       static_cast<double>(std::max<size_t>(query.locations.size(), 1));
  const auto bytes = static_cast<int64_t>(static_cast<double>(SlotBytes()) * share *
                                          (is_strict ? 1 : 1 + options_.excess));
  // Three quarters for packets and one for their tunnels' headers: neither long nor short ones take
  // more together, and half of the usual allowance is enough for either.
  spec.max_bytes = static_cast<uint64_t>(std::max(bytes * 3 / 4, kLeastCapBytes));
  spec.max_packets =
      static_cast<uint64_t>(std::max<int64_t>(bytes / 4 / options_.copy_overhead, 1));
  return spec;
}

void CampaignRun::OnTurnedOn(uint64_t attempt, size_t slice, size_t place, const Status& status) {
  if (attempt != attempt_ || view_.state != SliceRunState::kTurningOn) return;
  Place& answered = active_[slice].places[place];
  if (answered.is_answered) return;
  answered.is_answered = true;
  answered.is_on = status.ok();
  if (!status.ok() && failure_.empty()) failure_ = answered.router + ": " + status.message();
  if (--unanswered_ == 0) AllAnswered();
}

void CampaignRun::AllAnswered() {
  if (!failure_.empty()) {
    TurnOffAll();
    ReleaseSlot(reserved_);
    return FailSlot(failure_);
  }
  expected_end_ = parts_.clock->UnixNow() + slot_;
  wall_ahead_ = WallAhead();
  SetState(SliceRunState::kMirroring, Now() + slot_ + spacing_);
  Tell(SliceMoment::Kind::kSlotBegun, 0);
}

// The slot is due again, unless that has happened too often.
void CampaignRun::FailSlot(const std::string& why) {
  ++view_.failed_slots;
  ++failures_;
  const bool has_analyzer = parts_.collector != nullptr && parts_.collector->is_ready();
  if (failures_ >= options_.failures || !has_analyzer) {
    return Finish(SliceRunState::kFailed, why);
  }
  SetState(SliceRunState::kHolding, Now() + kRetryAfter);
}

// --- off ---

void CampaignRun::OnEnd(const SliceEnd& end) {
  for (ActiveSlice& slice : active_) {
    if (slice.tag != end.tag) continue;
    for (Place& place : slice.places) {
      if (place.router != end.switch_name || place.has_ended) continue;
      place.has_ended = true;
      place.end = end;
    }
  }
  if (view_.state == SliceRunState::kTallying && has_tallies_ && HasEnded()) CloseSlot();
}

bool CampaignRun::HasEnded() const {
  for (const ActiveSlice& slice : active_) {
    for (const Place& place : slice.places) {
      if (!place.has_ended) return false;
    }
  }
  return true;
}

void CampaignRun::TurnOffAll() {
  for (const ActiveSlice& slice : active_) {
    for (const Place& place : slice.places) {
      const bool was_refused = place.is_answered && !place.is_on;
      if (place.has_ended || was_refused) continue;
      place.driver->TurnOff(place.router, slice.tag, [](const Status&) {});
    }
  }
}

// `bytes` have been copied in it.
void CampaignRun::ReleaseSlot(int64_t bytes) {
  const Nanos now = Now();
  for (const ActiveSlice& slice : active_) parts_.tags->Release(slice.tag, now);
  budget_.Spend(reserved_, bytes, now);
  parts_.shared->Spend(reserved_, bytes, now);
  reserved_ = 0;
  active_.clear();
  tallies_.clear();
  has_tallies_ = false;
  waits_ = 0;
  waited_ = 0;
  ++attempt_;  // answers that are still to come are late
}

// --- what came of it ---

void CampaignRun::AskTallies() {
  if (!parts_.collector->is_ready()) {
    TurnOffAll();
    ReleaseSlot(reserved_);
    return Finish(SliceRunState::kFailed, "the analyzer has gone");
  }
  std::vector<uint32_t> tags;
  for (const ActiveSlice& slice : active_) tags.push_back(slice.tag);
  has_stood_still_ = false;
  SetState(SliceRunState::kTallying, Now() + options_.patience);
  parts_.collector->AskTallies(
      tags, Guarded<const Result<std::vector<SliceTally>>&>(
                [this, attempt = attempt_](const auto& tallies) { OnTallies(attempt, tallies); }));
}

void CampaignRun::OnTallies(uint64_t attempt, const Result<std::vector<SliceTally>>& tallies) {
  if (attempt != attempt_ || view_.state != SliceRunState::kTallying || has_tallies_) return;
  if (!tallies) {
    TurnOffAll();
    ReleaseSlot(reserved_);
    return Finish(SliceRunState::kFailed, "the analyzer: " + tallies.message());
  }
  has_tallies_ = true;
  // When somebody has set the clock meanwhile, times of arrival say nothing.
  const bool has_jumped = std::abs(WallAhead() - wall_ahead_) > kClockSlack;
  for (const SliceTally& tally : *tallies) {
    tallies_[{tally.tag, tally.switch_name}] = tally;
    if (!has_jumped) slowest_ = std::max(slowest_, tally.last - expected_end_);
  }
  spacing_ = std::clamp(std::max(spacing_, slowest_ + kNanosPerMilli), options_.least_spacing,
                        options_.most_spacing);
  if (HasEnded()) CloseSlot();
}

bool CampaignRun::HasCome(const ActiveSlice& slice, const Place& place) const {
  return place.end.packets == 0 || tallies_.count({slice.tag, place.router}) > 0;
}

// Routers say that they have copied, and nothing has come: copies take longer than anybody knew.
// They are asked for again some times, but not of routers from which nothing came then either.
bool CampaignRun::AwaitsCopies() {
  std::set<std::string> missing;
  for (const ActiveSlice& slice : active_) {
    for (const Place& place : slice.places) {
      if (!HasCome(slice, place) && silent_.count(place.router) == 0) missing.insert(place.router);
    }
  }
  if (waits_ < kMaxWaits) return !missing.empty();
  silent_.insert(missing.begin(), missing.end());
  return false;
}

// What the routers copied of it; tells the demand book the largest rate at any of them.
int64_t CampaignRun::CountSlice(const ActiveSlice& slice, Nanos now) {
  SliceQueryView& query = view_.queries[current_[slice.query].query];
  int64_t copied = 0;
  double peak = 0;
  bool is_seen = false;
  ++query.slots;
  for (const Place& place : slice.places) {
    const auto found = tallies_.find({slice.tag, place.router});
    const SliceTally tally = found == tallies_.end() ? SliceTally() : found->second;
    const uint64_t overhead = place.end.packets * options_.copy_overhead;
    // However much a switch or an analyzer says, sums of it are numbers.
    const uint64_t bytes =
        std::min<uint64_t>(std::max(tally.copy_bytes, place.end.bytes + overhead), slice::kMaxCost);
    const uint64_t packets = std::max(tally.packets, place.end.packets);
    const Nanos lasted = place.end.lasted > 0 ? place.end.lasted : slot_;
    query.packets += tally.packets;
    query.bytes += tally.copy_bytes;
    query.withheld += place.end.withheld;
    copied += static_cast<int64_t>(bytes);
    is_seen |= packets + place.end.withheld > 0;
    // Packets beyond the cap were as long as those before it; all of them, as long as full ones.
    const double each = packets > 0 ? static_cast<double>(bytes) / static_cast<double>(packets)
                                    : 1500.0 + options_.copy_overhead;
    const double wanted = each * static_cast<double>(packets + place.end.withheld);
    peak = std::max(peak, wanted * 8 * kNanosPerSecond / static_cast<double>(lasted));
  }
  if (!query.is_confine && (is_seen || !query.is_bootstrap)) {
    const double most = static_cast<double>(slice::kMaxCost);
    parts_.demands->Measured(query.prefix, static_cast<int64_t>(std::min(peak, most)), now);
  }
  return copied;
}

void CampaignRun::CloseSlot() {
  if (HasEnded() && AwaitsCopies()) {
    const Nanos wait = kFirstWait << waits_++;
    waited_ += wait;
    has_tallies_ = false;
    return SetState(SliceRunState::kMirroring, Now() + wait);
  }
  failures_ = 0;
  const Nanos now = Now();
  if (!HasEnded()) TurnOffAll();  // switches that did not say so
  int64_t copied = 0;
  for (const ActiveSlice& slice : active_) copied += CountSlice(slice, now);
  const Nanos waited = waited_;
  view_.copied_bytes += copied;
  ReleaseSlot(copied);
  const bool is_over_budget = copied > SlotBytes() || budget_.is_exceeded(now);
  Tell(SliceMoment::Kind::kSlotEnded, copied);
  if (is_over_budget) Tell(SliceMoment::Kind::kOverBudget, copied);
  if (is_looking_) {
    ++view_.bootstrap_slots;
  } else {
    ++view_.slots;
  }
  ++next_slot_;
  if (is_over_budget) {
    ++view_.over_budget;
    is_plan_stale_ = true;
  }
  overhead_ = std::max<Nanos>(overhead_ * 7 / 8, now - slot_began_ - slot_ - spacing_ - waited);
  NextSlot();
}

}  // namespace trumpet
