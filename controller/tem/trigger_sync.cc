// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/trigger_sync.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace trumpet {
namespace {

constexpr size_t kBytesPerRemoval = 12;
constexpr size_t kMaxAnswerItems = 65536;  // an answer names each change once, at most

}  // namespace

TriggerSync::~TriggerSync() {
  for (Entry& entry : entries_) {
    if (entry.is_wanted) Drop(entry.id);
  }
}

TriggerSync::Entry* TriggerSync::FindEntry(uint32_t event_id) {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), event_id,
                       [](const Entry& entry, uint32_t id) { return entry.id < id; });
  return found == entries_.end() || found->id != event_id ? nullptr : &*found;
}

const TriggerSync::Entry* TriggerSync::FindEntry(uint32_t event_id) const {
  return const_cast<TriggerSync*>(this)->FindEntry(event_id);
}

// --- wishes ------------------------------------------------------------------------------------

void TriggerSync::Want(uint32_t event_id) {
  Entry* entry = FindEntry(event_id);
  if (entry == nullptr) {
    Entry fresh;
    fresh.id = event_id;
    const auto place = std::lower_bound(entries_.begin(), entries_.end(), event_id,
                                        [](const Entry& one, uint32_t id) { return one.id < id; });
    entry = &*entries_.insert(place, fresh);
  }
  if (entry->is_wanted) return;
  entry->is_wanted = true;
  entry->state = SyncState::kWaiting;
  ++wanted_count_;
  ++(*tallies_)[event_id].wanted;
  MarkDirty(entry);
}

void TriggerSync::Drop(uint32_t event_id) {
  Entry* const entry = FindEntry(event_id);
  if (entry == nullptr || !entry->is_wanted) return;
  SetState(entry, SyncState::kWaiting);
  entry->is_wanted = false;
  entry->is_counting = false;
  if (entry->flight == Flight::kPut) entry->flight = Flight::kPutInVain;
  --wanted_count_;
  const auto tally = tallies_->find(event_id);
  if (tally != tallies_->end() && --tally->second.wanted == 0) tallies_->erase(tally);
  shares_.erase(event_id);
  errors_.erase(event_id);
  MarkDirty(entry);
}

void TriggerSync::SetShare(uint32_t event_id, const ThresholdShare& share) {
  Entry* const entry = FindEntry(event_id);
  if (entry == nullptr || !entry->is_wanted) return;
  ThresholdShare& last = shares_[event_id];
  if (last.generation >= share.generation) return;  // it has been overtaken, or is known
  last = share;
  MarkDirty(entry);
}

void TriggerSync::MarkDirty(Entry* entry) {
  if (entry->is_dirty) return;
  entry->is_dirty = true;
  dirty_.push_back(entry->id);
}

void TriggerSync::SetState(Entry* entry, SyncState state) {
  if (entry->state == state) return;
  TriggerTally& tally = (*tallies_)[entry->id];
  if (entry->state == SyncState::kApplied && is_connected_) {
    --tally.applied;
    --applied_count_;
  }
  if (entry->state == SyncState::kRefused) --tally.refused;
  if (state == SyncState::kApplied && is_connected_) {
    ++tally.applied;
    ++applied_count_;
  }
  if (state == SyncState::kRefused) ++tally.refused;
  entry->state = state;
}

// The host has come, or gone, with all that is applied.
void TriggerSync::CountApplied(int32_t sign) {
  for (const Entry& entry : entries_) {
    if (entry.state != SyncState::kApplied) continue;
    (*tallies_)[entry.id].applied += static_cast<uint32_t>(sign);
    applied_count_ += static_cast<uint32_t>(sign);
  }
}

// --- session -----------------------------------------------------------------------------------

void TriggerSync::OnConnected(uint64_t controller_id, const Hello& hello) {
  if (!is_connected_) CountApplied(1);
  is_connected_ = true;
  is_halted_ = false;
  host_has_set_ = hello.set_generation != 0;
  const bool is_ours = hello.set_controller_id == controller_id;
  const bool is_same_process = hello.process_start_ns == process_start_ns_ && is_ours;
  process_start_ns_ = hello.process_start_ns;
  if (is_ours) last_generation_ = std::max(last_generation_, hello.set_generation);
  if (is_same_process && is_base_known_ && hello.set_generation == acknowledged_generation_) return;
  if (!is_same_process) is_process_new_ = true;
  // If it applied a set whose answer was lost, it may have ousted something meanwhile: the instant
  // that it answers next says from when on it has gone on counting what is the same.
  if (!is_same_process || hello.set_generation != acknowledged_generation_) {
    for (Entry& entry : entries_) entry.is_counting = false;
  }
  LoseBase();
}

void TriggerSync::OnDisconnected() {
  if (is_connected_) CountApplied(-1);
  is_connected_ = false;
  if (!is_under_way_) return;
  // The host may have applied it, or not: hello will say.
  is_under_way_ = false;
  for (const Item& item : items_) {
    Entry* const entry = FindEntry(item.id);
    if (entry == nullptr) continue;
    entry->flight = Flight::kNone;
    if (entry->state == SyncState::kSent) SetState(entry, SyncState::kWaiting);
    MarkDirty(entry);
  }
}

void TriggerSync::BeginAnew() {
  for (Entry& entry : entries_) entry.is_counting = entry.has_begun = false;
  LoseBase();
}

// Nothing is known of what the host runs: it gets all.
void TriggerSync::LoseBase() {
  is_base_known_ = false;
  acknowledged_generation_ = 0;
  for (Entry& entry : entries_) {
    entry.flight = Flight::kNone;
    entry.may_be_there = false;
    if (entry.is_wanted) SetState(&entry, SyncState::kWaiting);
  }
}

// --- sets --------------------------------------------------------------------------------------

bool TriggerSync::HasBegun() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.has_begun; });
}

// A host with nothing to run says from when on it does without what it ran.
bool TriggerSync::HasNeed() const {
  if (is_base_known_) return !dirty_.empty();
  return wanted_count_ > 0 || host_has_set_ || HasBegun();
}

void TriggerSync::BeginSet() {
  items_.clear();
  if (!is_base_known_) {
    for (Entry& entry : entries_) {
      if (entry.is_wanted) items_.push_back({entry.id, true});
    }
  } else {
    std::sort(dirty_.begin(), dirty_.end());
    for (const uint32_t id : dirty_) {
      const Entry* entry = FindEntry(id);
      if (entry == nullptr) continue;
      if (entry->is_wanted || entry->may_be_there) items_.push_back({id, entry->is_wanted});
    }
  }
  ForgetDirty();
  if (is_base_known_ && items_.empty()) return;
  is_under_way_ = true;
  may_host_have_all_ = !is_base_known_ && host_has_set_;
  has_answer_begun_ = false;
  base_generation_ = is_base_known_ ? acknowledged_generation_ : 0;
  ++last_generation_;
  next_item_ = 0;
  next_part_ = 0;
  bytes_under_way_ = 0;
}

void TriggerSync::ForgetDirty() {
  if (dirty_.empty()) return;
  for (const uint32_t id : dirty_) {
    if (Entry* entry = FindEntry(id)) entry->is_dirty = false;
  }
  dirty_.clear();
  if (!is_under_way_) Sweep();
}

bool TriggerSync::NextPart(const Maker& maker, size_t max_bytes, TriggerSet* part) {
  if (!is_connected_) return false;
  if (!is_under_way_) {
    if (is_halted_) return false;
    if (!HasNeed()) {
      ForgetDirty();
      return false;
    }
    BeginSet();
    if (!is_under_way_) return false;
  } else if (next_item_ == items_.size() && next_part_ > 0) {
    return false;  // all of it is out
  }
  *part = TriggerSet();
  part->generation = last_generation_;
  part->base_generation = base_generation_;
  part->part = next_part_++;
  size_t bytes = 0;
  while (next_item_ < items_.size() && bytes < max_bytes) {
    const Item item = items_[next_item_];
    Entry* const entry = FindEntry(item.id);
    if (entry == nullptr) {
      ++next_item_;
      continue;
    }
    TriggerChange change;
    if (item.is_put) {
      const auto share = shares_.find(item.id);
      TriggerOnWire trigger;
      // What has gone meanwhile is not put any more; the next set sees to it.
      const bool is_there =
          entry->is_wanted &&
          maker(item.id, share == shares_.end() ? nullptr : &share->second, &trigger);
      if (is_there) {
        if (bytes > 0 && bytes + trigger.bytes > max_bytes) break;
        bytes += trigger.bytes;
        entry->flight = Flight::kPut;
        if (entry->state != SyncState::kApplied) SetState(entry, SyncState::kSent);
        if (trigger.encoded != nullptr) {
          part->encoded_changes.push_back(std::move(trigger.encoded));
        } else {
          change.put = std::move(trigger.trigger);
          part->changes.push_back(std::move(change));
        }
      }
    } else {
      bytes += kBytesPerRemoval;
      change.remove_event_id = item.id;
      entry->flight = Flight::kRemove;
      part->changes.push_back(std::move(change));
    }
    ++next_item_;
  }
  bytes_under_way_ += bytes;
  part->is_last = next_item_ == items_.size();
  return true;
}

TriggerSync::Outcome TriggerSync::OnAck(const TriggerAck& ack, Nanos now) {
  Outcome outcome;
  const bool is_all_out = next_item_ == items_.size();
  if (!is_under_way_ || ack.generation != last_generation_ || (ack.is_applied && !is_all_out)) {
    return outcome;
  }
  if (!has_answer_begun_) {
    answer_ = ack;
    has_answer_begun_ = true;
  } else if (answer_.errors.size() + answer_.shares.size() < kMaxAnswerItems) {
    answer_.errors.insert(answer_.errors.end(), ack.errors.begin(), ack.errors.end());
    answer_.shares.insert(answer_.shares.end(), ack.shares.begin(), ack.shares.end());
  }
  if (ack.has_more) return outcome;

  outcome.is_known = true;
  outcome.is_applied = answer_.is_applied;
  outcome.applied_ns = answer_.applied_ns;
  outcome.flow_timeout_ns = answer_.flow_timeout_ns;
  is_under_way_ = false;
  if (!answer_.is_applied) {
    ++refused_sets_;
    last_error_ = answer_.text.empty() ? "the host refused the set" : answer_.text;
    // A whole set will do better than changes; if even that was refused, not at once.
    is_halted_ = base_generation_ == 0;
    LoseBase();
    return outcome;
  }
  acknowledged_generation_ = answer_.generation;
  is_base_known_ = true;
  host_has_set_ = true;
  outcome.has_begun_anew = std::exchange(is_process_new_, false);
  if (base_generation_ == 0) TakeOmitted(&outcome);
  TakeErrors(now, &outcome);
  for (const Item& item : items_) {
    if (Entry* const entry = FindEntry(item.id)) TakeAnswer(entry, answer_, now, &outcome);
  }
  outcome.shares = std::move(answer_.shares);
  Sweep();
  return outcome;
}

// What is not in a whole set is not on the host any more.
void TriggerSync::TakeOmitted(Outcome* outcome) {
  for (Entry& entry : entries_) {
    if (entry.flight == Flight::kNone) TakeEnd(&entry, outcome);
  }
}

void TriggerSync::TakeErrors(Nanos now, Outcome* outcome) {
  std::unordered_set<uint32_t> refused;
  for (const EventError& error : answer_.errors) {
    Entry* const entry = FindEntry(error.event_id);
    const bool is_there =
        entry != nullptr && (entry->may_be_there || entry->flight != Flight::kNone);
    if (!is_there || !entry->is_wanted) continue;
    TakeRefusal(entry, error, now, outcome);
    refused.insert(error.event_id);
  }
  if (answer_.errors.size() + answer_.shares.size() >= kMaxAnswerItems) return;  // not all, perhaps
  // What runs now, after all, is put once more: the answer then says so, with its share.
  for (Entry& entry : entries_) {
    if (entry.state == SyncState::kRefused && refused.count(entry.id) == 0) MarkDirty(&entry);
  }
}

void TriggerSync::TakeRefusal(Entry* entry, const EventError& error, Nanos now, Outcome* outcome) {
  entry->flight = Flight::kNone;
  entry->may_be_there = true;  // in the set, though it does not run
  TakeEnd(entry, outcome);
  SetState(entry, SyncState::kRefused);
  entry->acknowledged_ns = now;
  errors_[entry->id] = (error.place.empty() ? "" : error.place + ": ") + error.text;
}

// The host does not count it.
void TriggerSync::TakeEnd(Entry* entry, Outcome* outcome) {
  entry->is_counting = false;
  if (std::exchange(entry->has_begun, false)) outcome->left.push_back(entry->id);
}

void TriggerSync::TakeAnswer(Entry* entry, const TriggerAck& ack, Nanos now, Outcome* outcome) {
  const Flight flight = entry->flight;
  entry->flight = Flight::kNone;
  if (flight == Flight::kRemove) {
    entry->may_be_there = entry->is_counting = entry->has_begun = false;
    outcome->left.push_back(entry->id);
    return;
  }
  if (flight == Flight::kNone) return;
  const bool was_there = may_host_have_all_ || entry->may_be_there;
  entry->may_be_there = true;
  if (flight == Flight::kPutInVain) {
    MarkDirty(entry);
    return;
  }
  errors_.erase(entry->id);
  const bool is_new = !entry->is_counting || entry->state != SyncState::kApplied;
  outcome->applied.push_back({entry->id, !entry->is_counting, was_there});
  entry->is_counting = entry->has_begun = true;
  entry->acknowledged_ns = now;
  if (outcome->applied.back().begins) entry->applied_ns = ack.applied_ns;
  SetState(entry, SyncState::kApplied);
  TriggerTally& tally = (*tallies_)[entry->id];
  if (!is_new || tally.was_complete) return;
  tally.last_applied_ns = now;
  tally.was_complete = tally.applied == tally.wanted;
}

// Forgets what is neither wanted nor there.
void TriggerSync::Sweep() {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [](const Entry& entry) {
                                  return !entry.is_wanted && !entry.may_be_there &&
                                         !entry.has_begun && !entry.is_dirty &&
                                         entry.flight == Flight::kNone;
                                }),
                 entries_.end());
}

// --- how it is ---------------------------------------------------------------------------------

bool TriggerSync::Find(uint32_t event_id, View* view) const {
  const Entry* const entry = FindEntry(event_id);
  if (entry == nullptr || !entry->is_wanted) return false;
  view->state = entry->state;
  view->applied_ns = entry->applied_ns;
  view->acknowledged_ns = entry->acknowledged_ns;
  const auto error = errors_.find(event_id);
  view->error = error == errors_.end() ? "" : error->second;
  return true;
}

bool TriggerSync::IsSettled() const {
  if (is_under_way_ || !dirty_.empty()) return false;
  return !HasNeed();
}

std::vector<uint32_t> TriggerSync::WantedIds() const {
  std::vector<uint32_t> ids;
  for (const Entry& entry : entries_) {
    if (entry.is_wanted) ids.push_back(entry.id);
  }
  return ids;
}

std::vector<uint32_t> TriggerSync::UnwantedIds() const {
  std::vector<uint32_t> ids;
  for (const Entry& entry : entries_) {
    if (!entry.is_wanted) ids.push_back(entry.id);
  }
  return ids;
}

}  // namespace trumpet
