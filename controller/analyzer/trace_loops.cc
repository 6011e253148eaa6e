// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_loops.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

// How often a switch makes copies at one port of a packet that is not in a loop.
constexpr size_t kMaxCopiesOfPort = 2;

// Copies that were made at one port.
struct Visits {
  TraceHop first;
  Nanos second = 0;  // when the second came
  size_t count = 0;
  bool has_other_ttl = false;
};

std::vector<Visits> RepeatedVisits(const TracePass& pass) {
  std::vector<Visits> all;
  for (const TraceHop& hop : pass.hops) {
    auto found = std::find_if(all.begin(), all.end(), [&hop](const Visits& visits) {
      return IsSamePort(visits.first, hop);
    });
    if (found == all.end()) found = all.insert(all.end(), Visits{hop, 0, 0, false});
    if (++found->count == 2) found->second = hop.time;
    if (hop.ttl != found->first.ttl) found->has_other_ttl = true;
  }
  all.erase(
      std::remove_if(all.begin(), all.end(), [](const Visits& visits) { return visits.count < 2; }),
      all.end());
  return all;
}

// True if the second round begins before the first ends, so that no switch made all its copies at
// once.
bool IsInTurn(const std::vector<Visits>& repeated) {
  for (size_t i = 0; i + 1 < repeated.size(); ++i) {
    const Visits& next = repeated[i + 1];
    if (next.first.switch_number == repeated[i].first.switch_number) continue;
    if (next.first.time < repeated[i].second && repeated[i].second < next.second) return true;
  }
  return false;
}

// Of hops in the order of their copies.  The outermost TTL of a tunnel begins anew with each of
// them, which it never does on the way of one.
TraceLoop LoopKindOf(const std::vector<TraceHop>& hops, const std::vector<uint16_t>& loop) {
  bool is_in_tunnel = false, is_plain = false, begins_anew = false, falls = false;
  for (size_t i = 0; i < hops.size(); ++i) {
    if (!Contains(loop, hops[i].switch_number)) continue;
    (hops[i].is_encapsulated ? is_in_tunnel : is_plain) = true;
    for (size_t before = 0; before < i; ++before) {
      if (!IsSamePort(hops[before], hops[i])) continue;
      begins_anew |= hops[i].is_encapsulated && hops[i].outer_ttl >= hops[before].outer_ttl &&
                     hops[i].ttl < hops[before].ttl;
      falls |= hops[i].outer_ttl < hops[before].outer_ttl || hops[i].ttl < hops[before].ttl;
    }
  }
  if ((is_in_tunnel && is_plain) || begins_anew) return TraceLoop::kOverlay;
  return falls ? TraceLoop::kRouted : TraceLoop::kBridged;
}

}  // namespace

bool HasRepeats(const TracePass& pass) {
  for (size_t i = 1; i < pass.hops.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (IsSamePort(pass.hops[i], pass.hops[j])) return true;
    }
  }
  return false;
}

bool FindLoop(TracePass* pass) {
  const std::vector<Visits> repeated = RepeatedVisits(*pass);
  const bool is_loop =
      IsInTurn(repeated) || std::any_of(repeated.begin(), repeated.end(), [](const Visits& visits) {
        return visits.has_other_ttl || visits.count > kMaxCopiesOfPort;
      });
  if (!is_loop) return false;
  for (const Visits& visits : repeated) {
    if (!Contains(pass->loop, visits.first.switch_number)) {
      pass->loop.push_back(visits.first.switch_number);
    }
  }
  pass->loop_kind = LoopKindOf(pass->hops, pass->loop);
  return true;
}

void RemoveRepeats(TracePass* pass) {
  std::vector<TraceHop> kept;
  for (const TraceHop& hop : pass->hops) {
    const bool is_there = std::any_of(
        kept.begin(), kept.end(), [&hop](const TraceHop& other) { return IsSamePort(hop, other); });
    if (is_there) {
      ++pass->duplicates;
    } else {
      kept.push_back(hop);
    }
  }
  pass->hops = std::move(kept);
}

}  // namespace trumpet
