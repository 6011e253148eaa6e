// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which hosts owe an event what, and whether they have delivered.

#include <algorithm>

#include "controller/tem/network_event.h"

namespace trumpet {

void NetworkEvent::Invite(uint32_t host, NetworkOutput* output) {
  if (shares_) shares_->Add(host, &output->shares);
}

void NetworkEvent::Await(uint32_t host, Nanos from) {
  if (IsAwaited(host)) return;
  Member* const member = AddMember(host);
  member->wanted_from = from;
  member->wanted_until = INT64_MAX;
}

bool NetworkEvent::IsAwaited(uint32_t host) const {
  const Member* const member = FindMember(host);
  return member != nullptr && member->wanted_from != INT64_MAX && member->wanted_until == INT64_MAX;
}

void NetworkEvent::Forgo(uint32_t host, Nanos until) {
  if (FindMember(host) == nullptr) return;
  Member* const member = AddMember(host);
  member->wanted_until = std::min(member->wanted_until, until);
}

// A member that joins again has begun anew: what it counted last is lost.
void NetworkEvent::Join(uint32_t host, Nanos from) {
  Member* const member = AddMember(host);
  if (!member->has_joined()) {
    member->from = from;
    ++joined_count_;
    missed_until_ = std::max(missed_until_, from);
  } else {
    Lose(host, from);
  }
  member->until = INT64_MAX;
  LookAgainFrom(static_cast<size_t>(member - members_.data()));
}

void NetworkEvent::Lose(uint32_t host, Nanos until) {
  const Member* const member = FindMember(host);
  if (member == nullptr || !member->has_joined()) return;
  NetworkHost& state = *(*hosts_)[host];
  const Nanos lost_from = std::max(member->from, std::min(state.ended_until, member->until));
  if (lost_from >= until) return;
  state.incomplete_of[plan().spec.id].Add(lost_from, until, kMonitorInterrupted);
}

void NetworkEvent::Leave(uint32_t host, Nanos until, NetworkOutput* output) {
  if (shares_) shares_->Remove(host, until, &output->shares);
  Forgo(host, until);
  if (FindMember(host) == nullptr) return;
  Member* const member = AddMember(host);
  member->until = std::min(member->until, until);
  LookAgain();
}

// The member, there or new.  A new one comes to the end, where those who ask who has ended have not
// been yet: with a thousand hosts on thousands of events, going over all members for each newcomer
// took seconds.
NetworkEvent::Member* NetworkEvent::AddMember(uint32_t host) {
  if (const Member* found = FindMember(host)) {
    return &members_[static_cast<size_t>(found - members_.data())];
  }
  members_.emplace_back();
  members_.back().host = host;
  ++(*hosts_)[host]->events;
  if (host >= member_places_.size()) member_places_.resize(host + 1);
  member_places_[host] = static_cast<uint32_t>(members_.size());
  return &members_.back();
}

// The member at that place has changed.
void NetworkEvent::LookAgainFrom(size_t place) {
  for (auto& [interval, waiting] : waiting_) {
    waiting.ended_members = std::min(waiting.ended_members, place);
    if (place == 0) waiting.is_owed = false;
    waiting.is_asking_over = false;
  }
}

void NetworkEvent::ShareApplied(uint32_t host, uint64_t generation, Nanos from,
                                NetworkOutput* output) {
  if (shares_) shares_->Applied(host, generation, from, &output->shares);
}

const NetworkEvent::Member* NetworkEvent::FindMember(uint32_t host) const {
  const uint32_t place = host < member_places_.size() ? member_places_[host] : 0;
  return place == 0 ? nullptr : &members_[place - 1];
}

bool NetworkEvent::IsMember(uint32_t host) const { return FindMember(host) != nullptr; }

bool NetworkEvent::HasJoined(uint32_t host) const {
  const Member* const member = FindMember(host);
  return member != nullptr && member->has_joined();
}

// Members have changed: whatever was known by their places is looked at again.
void NetworkEvent::IndexMembers() {
  member_places_.clear();
  for (size_t i = 0; i < members_.size(); ++i) {
    const uint32_t host = members_[i].host;
    if (host >= member_places_.size()) member_places_.resize(host + 1);
    member_places_[host] = static_cast<uint32_t>(i + 1);
  }
  LookAgain();
}

bool NetworkEvent::Owes(const Member& member, int64_t interval) const {
  return member.from < StartOf(interval + 1) && member.until > StartOf(interval);
}

// It should have counted, and had not begun to.
bool NetworkEvent::IsMissed(const Member& member, int64_t interval) const {
  return !Owes(member, interval) && member.wanted_from < StartOf(interval + 1) &&
         member.wanted_until > StartOf(interval);
}

bool NetworkEvent::IsAnyMissed(int64_t interval) const {
  if (joined_count_ == members_.size() && missed_until_ <= StartOf(interval)) return false;
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return IsMissed(member, interval); });
}

// All it counted has come.
bool NetworkEvent::HasEnded(const Member& member, int64_t interval) const {
  return (*hosts_)[member.host]->ended_until >= StartOf(interval + 1) || IsOff(member, interval);
}

// All it counted has come, and that was not all it should have counted.
bool NetworkEvent::IsOff(const Member& member, int64_t interval) const {
  const NetworkHost& host = *(*hosts_)[member.host];
  return host.off_from < StartOf(interval + 1) && host.ended_until < StartOf(interval + 1);
}

bool NetworkEvent::HaveAllEnded(int64_t interval, Waiting* waiting) const {
  size_t& at = waiting->ended_members;
  for (; at < members_.size(); ++at) {
    if (!Owes(members_[at], interval)) continue;
    waiting->is_owed |= !IsOff(members_[at], interval);
    if (!HasEnded(members_[at], interval)) return false;
    waiting->delivered_ns = std::max(waiting->delivered_ns, (*hosts_)[members_[at].host]->ended_at);
  }
  return true;
}

}  // namespace trumpet
