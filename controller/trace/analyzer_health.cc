// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/analyzer_health.h"

#include <algorithm>

namespace trumpet {

const char* AnalyzerStateName(AnalyzerState state) {
  switch (state) {
    case AnalyzerState::kAway:
      return "away";
    case AnalyzerState::kSilent:
      return "silent";
    case AnalyzerState::kReturning:
      return "returning";
    case AnalyzerState::kAlive:
      return "alive";
  }
  return "";
}

AnalyzerHealth::AnalyzerHealth(const std::vector<std::string>& names,
                               const AnalyzerHealthOptions& options)
    : options_(options) {
  for (const std::string& name : names) {
    members_.emplace_back();
    members_.back().name = name;
  }
}

void AnalyzerHealth::Update(Nanos now, const std::vector<AnalyzerSign>& signs) {
  const Nanos step = updated_at_ == 0 ? 0 : std::min(now - updated_at_, kMaxStep);
  updated_at_ = now;
  age_ += step;
  bool all_alive = true;
  for (Member& member : members_) {
    const auto sign = std::find_if(signs.begin(), signs.end(), [&](const AnalyzerSign& one) {
      return one.name == member.name;
    });
    Look(&member, sign == signs.end() ? nullptr : &*sign, step);
    all_alive = all_alive && member.state == AnalyzerState::kAlive;
  }
  is_settled_ = is_settled_ || all_alive || age_ >= options_.settle;
}

void AnalyzerHealth::Look(Member* member, const AnalyzerSign* sign, Nanos step) const {
  if (sign == nullptr) {
    member->state = AnalyzerState::kAway;
    return;
  }
  const bool has_spoken = sign->last_heard_at > member->heard_at;
  member->heard_at = std::max(member->heard_at, sign->last_heard_at);
  member->quiet = has_spoken ? 0 : member->quiet + step;
  if (member->quiet >= options_.silence) {
    member->state = AnalyzerState::kSilent;
    return;
  }
  if (member->state == AnalyzerState::kAlive) return;
  if (member->state != AnalyzerState::kReturning) {
    // What is heard from one that was silent; a connection by itself is no sign of life.
    if (!has_spoken) return;
    member->state = AnalyzerState::kReturning;
    member->steady = 0;
  } else {
    member->steady += step;
  }
  const bool is_believed = !is_settled_ || member->steady >= options_.return_after;
  if (is_believed) member->state = AnalyzerState::kAlive;
}

std::vector<bool> AnalyzerHealth::Alive() const {
  std::vector<bool> alive;
  alive.reserve(members_.size());
  for (const Member& member : members_) alive.push_back(member.state == AnalyzerState::kAlive);
  return alive;
}

}  // namespace trumpet
