// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_evidence.h"

#include <algorithm>
#include <map>
#include <utility>

#include "controller/probe/chances.h"

namespace trumpet {
namespace {

constexpr double kLeastCopyLoss = 1e-6;

bool IsPortFound(const DropFieldRole& role) {
  return role.role == DropRole::kOneValue || role.role == DropRole::kRange;
}

// Packets without ports pass whatever looks at ports: they say nothing of the protocol then.
bool HasPorts(const DropKind& kind) {
  return kind.packet.protocol == kProtocolUdp || kind.packet.protocol == kProtocolTcp;
}

}  // namespace

void DropTally::Add(const DropOutcome& outcome) {
  ++sent;
  if (outcome.fate == ProbeFate::kLooped) ++looped;
  if (outcome.fate == ProbeFate::kPassed || outcome.fate == ProbeFate::kLost) ++known;
  if (outcome.fate != ProbeFate::kLost) return;
  ++lost;
  copies_odds += outcome.copies_odds;
}

void DropTally::Add(const DropTally& other) {
  sent += other.sent;
  known += other.known;
  lost += other.lost;
  looped += other.looped;
  copies_odds += other.copies_odds;
}

DropEvidence::DropEvidence(const DropSuspicion& suspicion) : suspicion_(suspicion) {
  // As long as it is sent.
  ProbePacket& packet = suspicion_.packet;
  packet.bytes = static_cast<uint16_t>(MakeProbeFrame(packet, ProbeMark(), 0).size());
  DropKind own;
  own.packet = packet;
  AddKind(own);
}

size_t DropEvidence::AddKind(const DropKind& kind) {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const DropKind& other) {
    return other.field == kind.field && other.side == kind.side && other.distance == kind.distance;
  });
  if (found != kinds_.end()) return static_cast<size_t>(found - kinds_.begin());
  kinds_.push_back(kind);
  tallies_.emplace_back();
  return kinds_.size() - 1;
}

void DropEvidence::Add(const DropOutcome& outcome) {
  tallies_[outcome.kind].Add(outcome);
  outcomes_.push_back(outcome);
}

// Which side passes first, and whether nothing behind it vanishes.
void DropEvidence::FindEdges(DropFieldRole* role, bool* is_in_order) const {
  std::array<std::map<uint32_t, bool>, 2> sides;  // whether they vanish
  for (const size_t kind : role->vanish) {
    sides[static_cast<size_t>(kinds_[kind].side)][kinds_[kind].distance] = true;
  }
  for (const size_t kind : role->pass) {
    sides[static_cast<size_t>(kinds_[kind].side)][kinds_[kind].distance] = false;
  }
  for (const DropSide side : {DropSide::kDown, DropSide::kUp}) {
    DropEdge& edge = role->edges[static_cast<size_t>(side)];
    for (const auto& [distance, vanishes] : sides[static_cast<size_t>(side)]) {
      if (!vanishes && edge.far == 0) edge.far = distance;
      if (vanishes && edge.far != 0) *is_in_order = false;
      if (vanishes) edge.near = distance;
    }
    edge.is_whole = edge.far == 0 && edge.near == MostDistance(suspicion_, role->field, side);
  }
}

DropFieldRole DropEvidence::RoleOf(DropField field) const {
  DropFieldRole role;
  role.field = field;
  const bool has_port =
      field == DropField::kProtocol &&
      (IsPortFound(RoleOf(DropField::kDstPort)) || IsPortFound(RoleOf(DropField::kSrcPort)));
  for (size_t i = 1; i < kinds_.size(); ++i) {
    if (kinds_[i].field != field || (has_port && !HasPorts(kinds_[i]))) continue;
    const DropTally& tally = tallies_[i];
    role.tally.Add(tally);
    if (tally.passes()) role.pass.push_back(i);
    if (tally.vanishes()) role.vanish.push_back(i);
  }
  if (role.tally.sent == 0) return role;
  role.role = DropRole::kNotKnown;
  if (role.pass.empty() && role.vanish.empty()) return role;
  bool is_in_order = IsOrdered(field);
  if (is_in_order) FindEdges(&role, &is_in_order);
  // A length that is too long was not found by the next shorter one yet.
  const auto is_next = [](const DropEdge& edge) { return edge.far == 1; };
  const bool is_alone = !IsOrdered(field) || IsHashed(field) ||
                        std::all_of(role.edges.begin(), role.edges.end(), is_next);
  if (role.pass.empty()) {
    role.role = DropRole::kNoMatter;
  } else if (role.vanish.empty() && is_alone) {
    role.role = DropRole::kOneValue;
  } else {
    role.role = is_in_order ? DropRole::kRange : DropRole::kScattered;
  }
  return role;
}

std::vector<DropFieldRole> DropEvidence::Roles() const {
  std::vector<DropFieldRole> roles;
  for (const DropField field : kDropFields) roles.push_back(RoleOf(field));
  return roles;
}

// As judges of traces have it, or as often as copies are missing of packets of the flow that
// passed, if that is more.
double DropEvidence::CopyLoss(const DropTally& tally) const {
  size_t longest = 0;
  for (const DropOutcome& outcome : outcomes_) {
    const bool counts = outcome.kind == 0 && outcome.fate == ProbeFate::kPassed;
    if (counts) longest = std::max(longest, outcome.path.size());
  }
  double due = 0;
  double missing = 0;
  for (const DropOutcome& outcome : outcomes_) {
    if (outcome.kind != 0 || outcome.fate != ProbeFate::kPassed || longest < 2) continue;
    due += static_cast<double>(longest - 1);  // the last one is there, or it would seem lost
    missing += static_cast<double>(longest - outcome.path.size());
  }
  const double judged = tally.lost == 0 ? 0 : tally.copies_odds / tally.lost;
  return std::min(0.5, std::max({kLeastCopyLoss, judged, due == 0 ? 0 : missing / due}));
}

double DropEvidence::ChanceOfCopies(const DropTally& tally) const {
  return ChanceOfSoMany(tally.lost, tally.known, CopyLoss(tally));
}

bool DropEvidence::IsByChance() const {
  DropTally passing;
  for (const DropTally& tally : tallies_) {
    if (tally.passes()) passing.Add(tally);
  }
  return IsReal(passing) && passing.lost > 0;
}

}  // namespace trumpet
