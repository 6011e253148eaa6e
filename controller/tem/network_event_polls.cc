// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The controller's half of split thresholds: whom to ask for what.

#include <algorithm>

#include "controller/tem/network_event.h"
#include "lib/model/bucket_key.h"

namespace trumpet {

// Hosts begin with share 1, which is to report everything, as they do.  What waits has been
// reported.
bool NetworkEvent::BeginSplit(uint64_t last_share_generation, NetworkOutput* output) {
  if (shares_ || !split_.is_sound()) return false;
  shares_.emplace(plan().spec.id, split_.least, last_share_generation, options_.worthwhile_hosts);
  for (const Member& member : members_) {
    if (member.has_joined() && member.until == INT64_MAX) {
      shares_->Add(member.host, &output->shares);
    }
  }
  for (auto& [interval, waiting] : waiting_) {
    const CellTable& cells = waiting.cells;
    for (uint32_t index = cells.First(); index != kNoBucket; index = cells.Next(index)) {
      NoteReported(cells.host(index), cells.bucket_key(index), /*now=*/0, &waiting);
    }
  }
  return true;
}

// The host has told what it counted in the bucket, and the bucket is worth asking others for.
void NetworkEvent::NoteReported(uint32_t host, std::string_view key, Nanos now, Waiting* waiting) {
  PollTable& polls = waiting->polls;
  if (polls.Find(key) == kNoBucket) {
    const size_t bytes = BucketStore::kBytesPerBucket + max_key_bytes_ + 2 * members_.size();
    if (polls.bucket_count() >= limits_.max_asked_buckets || !Charge(bytes, waiting)) {
      ++waiting->refused_polls;
      return;
    }
  }
  const uint32_t bucket = polls.FindOrAdd(key);
  polls.Set(bucket, host, PollState::kTold);
  Nanos& told = polls.times(bucket).told_ns;
  if (told == 0) told = now;
  if (polls.is_decided(bucket)) {  // more than was thought possible
    polls.SetDecided(bucket, false);
    waiting->asked_buckets = std::min<size_t>(waiting->asked_buckets, bucket);
  }
  waiting->is_asking_over = false;
}

void NetworkEvent::Answer(uint32_t host, FeedAnswer answer, const PartialView& cells,
                          size_t word_count, uint32_t reasons, Nanos now) {
  const int64_t interval = CellOf(cells.epoch_start, interval_ns_);
  const auto found = waiting_.find(interval);
  if (interval < next()) {
    ++counters_.late_partials;
    return;
  }
  const uint32_t bucket =
      found == waiting_.end() ? kNoBucket : found->second.polls.Find(cells.bucket_key);
  if (bucket == kNoBucket || found->second.polls.state(bucket, host) != PollState::kAsked) {
    ++counters_.strangers;
    return;
  }
  Waiting& waiting = found->second;
  const bool is_value = answer == FeedAnswer::kValues;
  if (is_value && word_count != word_count_) {
    ++counters_.malformed;
    return;
  }
  ++counters_.poll_answers;
  if (is_value) Store(host, cells, &waiting);
  const bool has_told = is_value || answer == FeedAnswer::kNoPackets;
  waiting.polls.Set(bucket, host, has_told ? PollState::kTold : PollState::kRefused);
  waiting.polls.AddReasons(bucket, reasons);
  waiting.polls.times(bucket).answered_ns = now;
}

// A host whose interval has not ended could not answer, and may still report by itself.
void NetworkEvent::AskWhereDue(Nanos now, NetworkOutput* output) {
  for (auto& [interval, waiting] : waiting_) {
    if (waiting.polls.bucket_count() == 0 || waiting.is_asking_over) continue;
    if (now >= DeadlineOf(interval)) continue;  // no answer would come in time
    const bool have_all_ended = HaveAllEnded(interval, &waiting);
    const Nanos end = StartOf(interval + 1);
    if (!have_all_ended && !waiting.is_asking && now - options_.deadline_ns / 2 < end) continue;
    if (have_all_ended) SpareHopeless(interval, &waiting);
    waiting.is_asking = true;
    Ask(interval, now, &waiting, output);
    waiting.is_asking_over = have_all_ended;
  }
}

void NetworkEvent::Ask(int64_t interval, Nanos now, Waiting* waiting, NetworkOutput* output) {
  std::vector<uint32_t>& asked = waiting->asked_hosts;
  for (const uint32_t host : asked) {
    AskHost(host, waiting->asked_buckets, interval, now, waiting, output);
  }
  for (const Member& member : members_) {
    if (!Owes(member, interval) || !HasEnded(member, interval) || IsOff(member, interval)) continue;
    if (member.host >= waiting->is_asked.size()) waiting->is_asked.resize(member.host + 1);
    if (waiting->is_asked[member.host]) continue;
    waiting->is_asked[member.host] = true;
    asked.push_back(member.host);
    AskHost(member.host, 0, interval, now, waiting, output);
  }
  waiting->asked_buckets = waiting->polls.bucket_count();
}

void NetworkEvent::AskHost(uint32_t host, size_t first_bucket, int64_t interval, Nanos now,
                           Waiting* waiting, NetworkOutput* output) {
  PollTable& polls = waiting->polls;
  const bool has_told_all = shares_->Largest(host) <= 1;
  for (auto bucket = static_cast<uint32_t>(first_bucket); bucket < polls.bucket_count(); ++bucket) {
    if (polls.is_decided(bucket) || polls.state(bucket, host) != PollState::kUntold) continue;
    if (has_told_all) {
      polls.Set(bucket, host, PollState::kTold);
      continue;
    }
    polls.Set(bucket, host, PollState::kAsked);
    polls.times(bucket).asked_ns = now;
    output->polls.push_back(
        {host, plan().spec.id, StartOf(interval), std::string(polls.key(bucket))});
    ++counters_.polls;
  }
}

void NetworkEvent::SpareHopeless(int64_t interval, Waiting* waiting) {
  PollTable& polls = waiting->polls;
  for (auto bucket = static_cast<uint32_t>(waiting->asked_buckets); bucket < polls.bucket_count();
       ++bucket) {
    if (polls.is_decided(bucket) || CanReach(polls.key(bucket), interval, *waiting)) continue;
    polls.SetDecided(bucket, true);
    ++counters_.polls_spared;
  }
}

// Of the next interval; the others tell everything by themselves.
bool NetworkEvent::IsAnyToBeAsked() const {
  return std::any_of(members_.begin(), members_.end(), [this](const Member& member) {
    return Owes(member, next()) && shares_->Largest(member.host) > 1;
  });
}

// The deadline came before somebody could be asked for a bucket that may have been told of.
bool NetworkEvent::IsAnyUnasked(int64_t interval, const Waiting& waiting) const {
  const PollTable& polls = waiting.polls;
  if (!shares_ || waiting.is_asking_over) return false;
  for (uint32_t bucket = 0; bucket < polls.bucket_count(); ++bucket) {
    if (polls.is_decided(bucket) || !CanReach(polls.key(bucket), interval, waiting)) continue;
    const bool is_unasked =
        std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
          return Owes(member, interval) && polls.state(bucket, member.host) == PollState::kUntold &&
                 shares_->Largest(member.host) > 1;
        });
    if (is_unasked) return true;
  }
  return false;
}

// With what is known of a bucket, and just too little for a report from everyone else?
bool NetworkEvent::CanReach(std::string_view key, int64_t interval, const Waiting& waiting) const {
  Int128 most = 0;
  for (const Member& member : members_) {
    if (!Owes(member, interval)) continue;
    const uint32_t cells = waiting.cells.Find(member.host, key);
    most += cells != kNoBucket ? split_.ValueOf(waiting.cells.words(cells))
                               : shares_->Largest(member.host) - 1;
    if (most >= split_.least) return true;
  }
  return false;
}

}  // namespace trumpet
