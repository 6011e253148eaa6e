// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/sent_asker.h"

#include <algorithm>
#include <utility>

#include "lib/wire/limits.h"

namespace trumpet {

SentAsker::SentAsker(const Parts& parts) : parts_(parts), rounds_(parts.base, [this] { Round(); }) {
  rounds_.RunEvery(kPeriod);
}

void SentAsker::Round() {
  if (!parts_.is_wanted()) return;
  const std::vector<TracePlace> places = parts_.places();
  const size_t count = std::min(places.size(), kAtATime);
  for (size_t i = 0; i < count; ++i) Ask(places[next_++ % places.size()]);
}

void SentAsker::Ask(const TracePlace& place) {
  OpenflowSwitch* const which = parts_.net->Find(place.datapath_id);
  if (which == nullptr || !which->is_ready() || known_[place.datapath_id].is_asked) return;
  known_[place.datapath_id].is_asked = true;
  const Nanos asked_at = parts_.clock->MonotonicNow();
  const OpenflowClaim claim = TraceRuleClaim();
  which->AskFlows(
      kTraceRuleTable, claim.cookie, claim.cookie_mask,
      [this, alive = std::weak_ptr<bool>(alive_), id = place.datapath_id, number = place.at.number,
       asked_at](const Result<std::vector<OpenflowFlow>>& flows) {
        if (alive.expired()) return;
        Known* const known = &known_[id];
        known->is_asked = false;
        const Nanos ago = parts_.clock->MonotonicNow() - asked_at;
        if (!flows.ok() || ago > kMaxAskedAgo) return;
        Add(*flows, known);
        parts_.tell({number, known->sum, ago});
      });
}

void SentAsker::Add(const std::vector<OpenflowFlow>& flows, Known* known) {
  std::map<std::string, uint64_t> packets;
  for (const OpenflowFlow& flow : flows) {
    if (flow.packets != kUnknownCount) packets[flow.Place()] = flow.packets;
  }
  const auto is_gone = [&packets](const auto& before) {
    const auto now = packets.find(before.first);
    return now == packets.end() || now->second < before.second;
  };
  const bool begins =
      known->packets.empty() || std::any_of(known->packets.begin(), known->packets.end(), is_gone);
  uint64_t more = 0;
  for (const auto& [place, count] : packets) {
    const auto before = known->packets.find(place);
    more += before == known->packets.end() ? count : count - before->second;
  }
  known->sum = begins ? 0 : known->sum + more;
  known->packets = std::move(packets);
}

}  // namespace trumpet
