// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/flow_counters.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr uint8_t kAnyVersion = TRUMPET_OF_13;  // matches are spelled alike in all of them

// What the flows of a table tell.
struct TableCount {
  bool has_whole = false;   // one that matches the prefix and nothing else
  bool is_unknown = false;  // one of them does not count
  uint64_t bytes = 0;       // since the last look
};

bool IsOurs(const OpenflowFlow& flow) {
  return (flow.cookie & kOpenflowCookieMask) == kOpenflowCookie;
}

std::string MatchTowards(const Prefix& prefix) {
  return (prefix.is_ipv6 ? "ipv6,ipv6_dst=" : "ip,nw_dst=") + PrintPrefix(prefix);
}

// "ip,nw_dst=10.0.0.0/8" of "table=0,priority=5,ip,nw_dst=10.0.0.0/8".
std::string MatchOf(const std::string& place) {
  const size_t priority = place.find("priority=");
  if (priority == std::string::npos)
    return place.substr(std::min(place.find(',') + 1, place.size()));
  const size_t comma = place.find(',', priority);
  return comma == std::string::npos ? "" : place.substr(comma + 1);
}

}  // namespace

void FlowCounters::Watch(const Prefix& prefix, Nanos now) {
  const std::string key = PrintPrefix(prefix);
  const auto known = watched_.find(key);
  if (known != watched_.end()) {
    known->second.asked = now;
    return;
  }
  if (watched_.size() >= kMaxPrefixes) return;
  const OpenflowRule rule{OpenflowRule::Kind::kFlow,
                          "priority=1," + MatchTowards(prefix) + ",actions=drop", 0, false};
  const auto spelled = PlaceAndText(kAnyVersion, rule);
  if (!spelled.ok()) return;
  watched_[key] = {prefix, now, MatchOf(spelled->first), {}};
}

void FlowCounters::Round() {
  if (unanswered_ > 0) return;
  const Nanos now = clock_.MonotonicNow();
  for (auto one = watched_.begin(); one != watched_.end();) {
    const bool is_wanted = one->second.asked + memory_ > now;
    one = is_wanted ? std::next(one) : watched_.erase(one);
  }
  if (to_look_at_.empty()) {
    for (const auto& [key, watched] : watched_) {
      for (const OpenflowSwitch* which : net_->Switches()) {
        if (which->is_ready()) to_look_at_.emplace_back(key, which->datapath_id());
      }
    }
  }
  for (size_t looks = 0; looks < kPerRound && !to_look_at_.empty(); ++looks) {
    const auto [key, datapath_id] = to_look_at_.front();
    to_look_at_.pop_front();
    Look(key, datapath_id);
  }
}

void FlowCounters::Look(const std::string& key, uint64_t datapath_id) {
  const auto found = watched_.find(key);
  OpenflowSwitch* const which = net_->Find(datapath_id);
  if (found == watched_.end() || which == nullptr || !which->is_ready()) return;
  ++unanswered_;
  which->AskFlowsWithin(MatchTowards(found->second.prefix), kMaxFlows,
                        [this, key, datapath_id, alive = std::weak_ptr<bool>(alive_)](
                            const Result<std::vector<OpenflowFlow>>& flows) {
                          if (alive.expired()) return;
                          --unanswered_;
                          const auto watched = watched_.find(key);
                          if (watched == watched_.end()) return;
                          if (flows.ok()) return Take(&watched->second, datapath_id, *flows);
                          watched->second.readings.erase(datapath_id);
                        });
}

void FlowCounters::Take(Watched* watched, uint64_t datapath_id,
                        const std::vector<OpenflowFlow>& flows) {
  const Nanos now = clock_.MonotonicNow();
  Reading& last = watched->readings[datapath_id];
  const bool is_first = last.at == 0;
  const Nanos since = now - last.at;
  Reading next{now, {}};
  std::map<uint8_t, TableCount> tables;
  for (const OpenflowFlow& flow : flows) {
    if (IsOurs(flow)) continue;
    const std::string place = flow.Place();
    TableCount& table = tables[flow.table];
    table.has_whole |= MatchOf(place) == watched->match;
    if (flow.packets == kUnknownCount || flow.bytes == kUnknownCount) {
      table.is_unknown = true;
      continue;
    }
    const uint64_t bytes = flow.bytes + flow.packets * copy_overhead_;
    next.bytes[place] = bytes;
    const auto before = last.bytes.find(place);
    if (before != last.bytes.end() && before->second <= bytes) {
      table.bytes += bytes - before->second;
    } else if (flow.duration <= since) {
      table.bytes += bytes;  // it came meanwhile
    }
  }
  uint64_t most = 0;
  for (const auto& [number, table] : tables) {
    if (table.has_whole && !table.is_unknown) most = std::max(most, table.bytes);
  }
  last = std::move(next);
  if (is_first || since <= 0 || most == 0) return;
  const double bits = static_cast<double>(most) * 8 * kNanosPerSecond / static_cast<double>(since);
  known_.Measured(watched->prefix, static_cast<int64_t>(std::min(bits, 1e15)), now);
}

std::optional<int64_t> FlowCounters::RateOf(const Prefix& prefix, Nanos now) {
  Watch(prefix, now);
  const auto demand = known_.Estimate(prefix, now);
  return demand ? std::optional<int64_t>(demand->rate_bps) : std::nullopt;
}

}  // namespace trumpet
