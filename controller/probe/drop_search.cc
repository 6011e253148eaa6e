// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_search.h"

#include <algorithm>
#include <utility>

#include "controller/probe/chances.h"

namespace trumpet {
namespace {

constexpr uint32_t kEach = 3;          // packets of a kind, where all of the flow vanish
constexpr uint32_t kOwn = 8;           // of the flow, in between
constexpr uint32_t kBetween = 7;       // kinds between what vanishes and what passes
constexpr uint32_t kPorts = 40;        // more source ports
constexpr uint32_t kMostAgain = 200;   // packets of the flow, where few were lost
constexpr uint32_t kOfField = 48;      // packets of a field, where some of the flow vanish
constexpr uint32_t kOfDoubtful = 192;  // of one that seems to lose fewer
constexpr uint32_t kOwnOfSome = 60;
constexpr double kDoubtful = 0.05;
constexpr size_t kRoundsOfSome = 2;
constexpr uint32_t kLeastKnown = 2;  // one of so many sent must have become known

bool IsKnown(const DropTally& tally) { return tally.known * kLeastKnown >= tally.sent; }

}  // namespace

DropSearch::DropSearch(const DropSuspicion& suspicion)
    : evidence_(suspicion), random_(suspicion.seed) {}

std::vector<size_t> DropSearch::NextRound() {
  if (rounds_ == kMaxRounds) return {};
  const DropTally before = evidence_.flow();
  const bool is_again = rounds_ == 1 && before.lost > 0 && !evidence_.IsReal(before);
  std::vector<Wanted> wanted;
  uint32_t own = 0;
  if (rounds_ == 0) {
    own = evidence_.suspicion().count;
  } else if (before.looped > 0 || !IsKnown(before) || before.lost == 0) {
    return {};
  } else if (is_again) {
    own = std::min(3 * evidence_.suspicion().count, kMostAgain);
  } else if (evidence_.IsReal(before)) {
    wanted = Plan();
    if (wanted.empty()) return {};
    own = is_partial_ ? kOwnOfSome : kOwn;
  }
  std::vector<size_t> kinds = Spread(wanted, own);
  if (!kinds.empty()) ++rounds_;
  return kinds;
}

std::vector<DropSearch::Wanted> DropSearch::Plan() {
  const DropTally& flow = evidence_.flow();
  if (!is_partial_ && (flow.passes() || evidence_.IsByChance())) {
    // What has ended since cannot be looked into.
    const auto& outcomes = evidence_.outcomes();
    const bool has_ended =
        has_kinds_ && flow.passes() &&
        std::none_of(
            outcomes.end() - std::min<ptrdiff_t>(kOwn, static_cast<ptrdiff_t>(outcomes.size())),
            outcomes.end(),
            [](const DropOutcome& outcome) { return outcome.fate == ProbeFate::kLost; });
    if (has_ended) return {};
    is_partial_ = true;
  }
  return is_partial_ ? PlanWhereSomeVanish() : PlanWhereAllVanish();
}

std::vector<DropSearch::Wanted> DropSearch::PlanWhereAllVanish() {
  std::vector<Wanted> wanted;
  if (!has_kinds_) {
    has_kinds_ = true;
    AddFirstKinds(kEach, 0, &wanted);
    return wanted;
  }
  const std::vector<DropFieldRole> roles = evidence_.Roles();
  const bool is_scattered = std::any_of(roles.begin(), roles.end(), [](const DropFieldRole& role) {
    return role.role == DropRole::kScattered && IsHashed(role.field);
  });
  for (const DropFieldRole& role : roles) {
    const bool passes = !role.pass.empty();
    if (role.field == DropField::kSrcPort && passes && !has_ports_) AddPorts(&wanted);
    // Where the way of a packet matters, values next to each other mean nothing.
    if (IsHashed(role.field) && is_scattered) continue;
    if (role.role == DropRole::kRange) AddBetween(role, &wanted);
  }
  return wanted;
}

std::vector<DropSearch::Wanted> DropSearch::PlanWhereSomeVanish() {
  std::vector<Wanted> wanted;
  if (partial_rounds_ == kRoundsOfSome) return wanted;
  if (++partial_rounds_ == 1) {
    AddFirstKinds(0, kOfField, &wanted);
    return wanted;
  }
  const DropTally& flow = evidence_.flow();
  for (const DropFieldRole& role : evidence_.Roles()) {
    const DropTally& field = role.tally;
    const double chance = ChanceOfSoFew(field.lost, field.known, flow.lost, flow.known);
    if (field.known == 0 || chance >= kDoubtful) continue;
    std::vector<size_t> kinds;
    for (size_t i = 0; i < evidence_.kinds().size(); ++i) {
      if (evidence_.kinds()[i].field == role.field) kinds.push_back(i);
    }
    const auto each = static_cast<uint32_t>((kOfDoubtful + kinds.size() - 1) / kinds.size());
    for (const size_t kind : kinds) wanted.push_back({kind, each});
  }
  return wanted;
}

// So many of each kind, or as many as make `of_field` of each field.
void DropSearch::AddFirstKinds(uint32_t each, uint32_t of_field, std::vector<Wanted>* wanted) {
  const std::vector<DropKind> first = FirstKinds(evidence_.suspicion());
  for (const DropKind& kind : first) {
    const auto of_same =
        static_cast<uint32_t>(std::count_if(first.begin(), first.end(), [&](const DropKind& other) {
          return other.field == kind.field;
        }));
    const uint32_t count = each != 0 ? each : (of_field + of_same - 1) / of_same;
    wanted->push_back({evidence_.AddKind(kind), count});
  }
}

void DropSearch::AddBetween(const DropFieldRole& role, std::vector<Wanted>* wanted) {
  for (const DropSide side : {DropSide::kDown, DropSide::kUp}) {
    const DropEdge& edge = role.edges[static_cast<size_t>(side)];
    // Nothing passes on that side, or nothing is between.
    if (edge.far == 0) continue;
    for (const uint32_t distance : DistancesBetween(edge.near, edge.far, kBetween)) {
      const auto kind = KindAt(evidence_.suspicion(), role.field, side, distance);
      if (kind) wanted->push_back({evidence_.AddKind(*kind), kEach});
    }
  }
}

// At random: those next to each other may be dropped by a rule, these are by the way they take.
void DropSearch::AddPorts(std::vector<Wanted>* wanted) {
  has_ports_ = true;
  const uint16_t own = evidence_.suspicion().packet.src_port;
  constexpr uint16_t kLeastPort = 1024;
  for (uint32_t i = 0; i < kPorts; ++i) {
    const auto port = static_cast<uint16_t>(kLeastPort + random_() % (UINT16_MAX - kLeastPort));
    const DropSide side = port > own ? DropSide::kUp : DropSide::kDown;
    const auto distance = static_cast<uint32_t>(port > own ? port - own : own - port);
    const auto kind = KindAt(evidence_.suspicion(), DropField::kSrcPort, side, distance);
    if (kind) wanted->push_back({evidence_.AddKind(*kind), 2});
  }
}

// One of each kind in turn, with the flow's own in between: whatever happens at some time happens
// to all of them.
std::vector<size_t> DropSearch::Spread(const std::vector<Wanted>& wanted, uint32_t own) const {
  std::vector<size_t> others;
  uint32_t most = 0;
  for (const Wanted& one : wanted) most = std::max(most, one.count);
  for (uint32_t turn = 0; turn < most; ++turn) {
    for (const Wanted& one : wanted) {
      if (turn < one.count) others.push_back(one.kind);
    }
  }
  if (others.size() + own > kMaxRoundPackets) others.resize(kMaxRoundPackets - own);
  std::vector<size_t> kinds;
  size_t owns = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    kinds.push_back(others[i]);
    // The last one is the last of all.
    for (; owns < own * (i + 1) / others.size(); ++owns) kinds.push_back(0);
  }
  kinds.resize(others.size() + own, 0);
  return kinds;
}

}  // namespace trumpet
