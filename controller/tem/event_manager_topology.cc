// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Who is where, as the file says and as agents tell, and what hosts are told of it.

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/tem/event_manager_impl.h"
#include "lib/wire/limits.h"
#include "lib/wire/place_codec.h"

namespace trumpet {
namespace {

// Of the workloads behind the host's edge ports.
std::vector<uint64_t> MacsOf(const HostFacts& facts) {
  std::vector<uint64_t> macs;
  for (const Port& port : facts.ports) {
    if (!port.is_uplink) macs.insert(macs.end(), port.macs.begin(), port.macs.end());
  }
  std::sort(macs.begin(), macs.end());
  macs.erase(std::unique(macs.begin(), macs.end()), macs.end());
  return macs;
}

bool MayMoveIn(size_t count, size_t more, size_t max) { return more <= max - std::min(count, max); }

template <typename List>
void Append(List* from, List* to) {
  to->insert(to->end(), std::make_move_iterator(from->begin()),
             std::make_move_iterator(from->end()));
}

}  // namespace

void EventManager::Impl::SetTopology(Topology topology) {
  file_ = std::move(topology);
  for (const auto& [id, host] : hosts_.all()) {
    host->is_in_file = false;
    host->prefixes.clear();
  }
  for (const TopologyHost& place : file_.hosts) {
    ManagedHost* const host = hosts_.Add(place.id);
    host->is_in_file = true;
    host->name = place.name.empty() ? place.id : place.name;
    host->prefixes = place.prefixes;
    const Status numbered = GiveNumber(host);
    if (!numbered.ok()) Log("err", numbered.message());
  }
  std::vector<ManagedHost*> gone;
  for (const auto& [id, host] : hosts_.all()) {
    if (!host->is_in_file && host->sessions == 0) gone.push_back(host.get());
  }
  for (ManagedHost* host : gone) {
    if (host->number) desk_.verdicts().RemoveHost(*host->number, Now(), desk_.output());
    hosts_.Forget(host);
  }
  MoveHosts();
}

// Those of the file first, whose positions stay the same as agents come.
void EventManager::Impl::MakePlacement() {
  topology_ = file_;
  for (const auto& [id, host] : hosts_.all()) {
    host->position.reset();
    if (host->is_in_file) continue;
    TopologyHost place;
    place.id = id;
    place.name = host->name;
    topology_.hosts.push_back(std::move(place));
  }
  for (size_t i = 0; i < topology_.hosts.size(); ++i) {
    ManagedHost* const host = hosts_.Find(topology_.hosts[i].id);
    host->position = static_cast<uint32_t>(i);
    topology_.hosts[i].macs = MacsOf(host->facts);
  }
  placement_ = std::make_unique<Placement>(topology_);
  ++placement_version_;
}

// Everybody has another place, perhaps, and events other hosts.
void EventManager::Impl::MoveHosts() {
  is_placement_stale_ = false;
  is_split_stale_ = true;
  MakePlacement();
  for (const auto& [id, host] : hosts_.all()) Add({Task::Kind::kTellPlace, 0, id});
  for (const auto& [name, event] : events_.all()) {
    if (event->is_running && !event->is_measured)
      Add({Task::Kind::kPlaceEvent, event->record.id, ""});
  }
}

void EventManager::Impl::TellPlace(ManagedHost* host) {
  const bool can_be_told =
      host->session != nullptr && (host->session->capabilities() & kCapabilityPlace) != 0;
  if (!can_be_told || !host->position) return;
  HostPlace place = placement_->PlaceOf(*host->position);
  if (host->told_place == place) return;
  // Above whatever a process before this one has said.
  place_generation_ = std::max(place_generation_ + 1, static_cast<uint64_t>(Now()) / 1000);
  const Status split =
      SplitHostPlace(place, place_generation_, kMaxFrameToAgent, [&](Message&& part) {
        if (host->session != nullptr && host->session->Send(part).ok()) return;
        host->last_error = "could not be told its place";
      });
  if (!split.ok()) {
    host->last_error = split.message();
    Log("err", "host " + host->id + ": " + split.message());
    return;
  }
  host->told_place = std::move(place);
}

void EventManager::Impl::Take(ManagedHost* host, HostFacts facts) {
  HostFacts* const all = &host->facts_to_come;
  if (facts.part == 0) {
    *all = HostFacts();
    host->are_facts_broken = false;
  }
  const bool has_room =
      MayMoveIn(all->ports.size(), facts.ports.size(), kMaxPorts) &&
      MayMoveIn(all->bridges.size(), facts.bridges.size(), kMaxBridges) &&
      MayMoveIn(all->external_ids.size(), facts.external_ids.size(), kMaxKeyValues);
  if (!has_room || facts.part != all->part) host->are_facts_broken = true;
  if (host->are_facts_broken) return;
  Append(&facts.ports, &all->ports);
  Append(&facts.bridges, &all->bridges);
  Append(&facts.external_ids, &all->external_ids);
  ++all->part;
  if (!facts.is_last) return;
  const std::vector<uint64_t> macs_before = MacsOf(host->facts);
  host->facts = std::move(*all);
  *all = HostFacts();
  if (MacsOf(host->facts) != macs_before) is_placement_stale_ = true;
}

}  // namespace trumpet
