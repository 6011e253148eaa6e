// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_routes.h"

#include <algorithm>
#include <cstring>
#include <queue>
#include <string>
#include <utility>

#include "lib/base/hash.h"
#include "lib/base/text_file.h"

namespace trumpet {
namespace {

constexpr uint64_t kFar = UINT64_MAX;
constexpr size_t kLargestTopology = 16 << 20;
constexpr size_t kMaxKnownStages = 1 << 18;
constexpr size_t kKnownHosts = 1 << 12;  // a power of two

Uint128 NumberOf(const IpBytes& address, bool is_ipv6) {
  Uint128 number = 0;
  for (size_t i = 0; i < (is_ipv6 ? 16u : 4u); ++i) number = number << 8 | address[i];
  return number;
}

bool Contains(const std::vector<size_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

Result<Topology> ReadTopologyFile(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path, kLargestTopology);
  if (!text) return text.status();
  if (text->size() > kLargestTopology) return Status::Error(path + ": is larger than 16 MiB");
  return ParseTopology(*text, path);
}

Status AddSwitches(const Topology& topology, SwitchBook* switches) {
  for (const TopologySwitch& one : topology.switches) {
    const Status added = switches->AddNext(one.name);
    if (!added.ok()) return added;
  }
  return Status::Ok();
}

NetworkRoutes::NetworkRoutes(const Topology& topology, const SwitchBook& switches)
    : links_(topology.switches.size()),
      is_edge_(topology.switches.size()),
      known_hosts_(kKnownHosts) {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < topology.switches.size(); ++i) {
    const TopologySwitch& one = topology.switches[i];
    places[one.name] = i;
    is_edge_[i] = !one.edge_ports.empty();
    numbers_.push_back(switches.NumberOf(one.name));
    if (!numbers_.back()) continue;
    const size_t number = *numbers_.back();
    if (number >= places_.size()) places_.resize(number + 1);
    places_[number] = i;
  }
  std::unordered_map<std::string, size_t> hosts;
  attached_.resize(topology.hosts.size());
  const auto attach = [&](size_t host, size_t at) {
    if (!Contains(attached_[host], at)) attached_[host].push_back(at);
    is_edge_[at] = true;
  };
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    const TopologyHost& host = topology.hosts[i];
    hosts[host.name.empty() ? host.id : host.name] = i;
    const auto at = places.find(host.attached_to);
    if (at != places.end()) attach(i, at->second);
    for (const Prefix& prefix : host.prefixes) {
      hosts_.emplace(std::make_tuple(prefix.is_ipv6, -int{prefix.length}, FirstOf(prefix)), i);
      lengths_.emplace_back(prefix.is_ipv6, -int{prefix.length});
    }
  }
  std::sort(lengths_.begin(), lengths_.end());
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
  for (const TopologyLink& link : topology.links) {
    const auto from = places.find(link.from);
    const auto to = places.find(link.to);
    if (from != places.end() && to != places.end()) {
      links_[from->second].push_back({to->second, link.weight});
      links_[to->second].push_back({from->second, link.weight});
    } else if (from != places.end() && hosts.count(link.to) != 0) {
      attach(hosts[link.to], from->second);
    } else if (to != places.end() && hosts.count(link.from) != 0) {
      attach(hosts[link.from], to->second);
    }
  }
  ShareWays();
}

// Racks have many hosts, and ways and distances are kept for each that is asked for.
void NetworkRoutes::ShareWays() {
  std::vector<std::vector<size_t>> of_hosts = std::exchange(attached_, {});
  std::map<std::vector<size_t>, size_t> places;
  for (auto& [prefix, host] : hosts_) {
    std::vector<size_t>& attached = of_hosts[host];
    std::sort(attached.begin(), attached.end());
    const auto [place, is_new] = places.emplace(attached, attached_.size());
    if (is_new) attached_.push_back(attached);
    host = place->second;
  }
}

std::optional<size_t> NetworkRoutes::PlaceOf(uint16_t switch_number) const {
  return switch_number < places_.size() ? places_[switch_number] : std::nullopt;
}

// Of each trace it is asked for several times, and by many for the same addresses.
std::optional<size_t> NetworkRoutes::HostOf(const IpBytes& address, uint8_t ip_family) const {
  if (ip_family == 0) return std::nullopt;
  uint64_t first = 0, last = 0;
  std::memcpy(&first, address.data(), 8);
  std::memcpy(&last, address.data() + 8, 8);
  KnownHost& known = known_hosts_[MixBits(first ^ MixBits(last)) & (kKnownHosts - 1)];
  if (known.ip_family != ip_family || known.address != address) {
    known = {address, ip_family, FindHost(address, ip_family)};
  }
  return known.host;
}

std::optional<size_t> NetworkRoutes::FindHost(const IpBytes& address, uint8_t ip_family) const {
  const bool is_ipv6 = ip_family == 6;
  const Uint128 number = NumberOf(address, is_ipv6);
  for (const auto& [of_ipv6, negative_length] : lengths_) {
    if (of_ipv6 != is_ipv6) continue;
    const Prefix prefix{is_ipv6, number, static_cast<uint8_t>(-negative_length)};
    const auto found = hosts_.find({is_ipv6, negative_length, FirstOf(prefix)});
    if (found != hosts_.end()) return found->second;
  }
  return std::nullopt;
}

// Dijkstra from all switches that the host is attached to.
const NetworkRoutes::Distances& NetworkRoutes::DistancesTo(size_t host) const {
  const auto found = distances_.find(host);
  if (found != distances_.end()) return found->second;
  Distances distances(links_.size(), kFar);
  using Step = std::pair<uint64_t, size_t>;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
  for (const size_t at : attached_[host]) {
    distances[at] = 0;
    steps.push({0, at});
  }
  while (!steps.empty()) {
    const auto [distance, at] = steps.top();
    steps.pop();
    if (distance > distances[at]) continue;
    for (const Link& link : links_[at]) {
      const uint64_t longer = distance + link.weight;
      if (longer >= distances[link.to]) continue;
      distances[link.to] = longer;
      steps.push({longer, link.to});
    }
  }
  return distances_.emplace(host, std::move(distances)).first->second;
}

// Step by step, all switches that are next on a shortest way.  Equal ways of unequal numbers of
// hops have no stages: then only the last switch is sure, if there is one.
std::optional<std::vector<TraceStage>> NetworkRoutes::FindStages(size_t from, size_t host) const {
  const Distances& distances = DistancesTo(host);
  if (distances[from] == kFar) return std::nullopt;
  std::vector<TraceStage> stages;
  std::vector<bool> was_there(links_.size());
  std::vector<size_t> here = {from};
  while (distances[here.front()] != 0) {
    std::vector<size_t> next;
    for (const size_t at : here) {
      if (distances[at] == 0) return std::nullopt;
      for (const Link& link : links_[at]) {
        const bool is_on_way =
            distances[link.to] != kFar && distances[link.to] + link.weight == distances[at];
        if (!is_on_way || Contains(next, link.to)) continue;
        if (was_there[link.to]) return std::nullopt;
        next.push_back(link.to);
      }
    }
    TraceStage stage;
    bool all_copy = true;
    for (const size_t at : next) {
      was_there[at] = true;
      if (numbers_[at]) stage.push_back(*numbers_[at]);
      all_copy = all_copy && numbers_[at].has_value();
    }
    std::sort(stage.begin(), stage.end());
    if (all_copy) stages.push_back(std::move(stage));
    here = std::move(next);
  }
  const bool ends_everywhere =
      std::all_of(here.begin(), here.end(), [&](size_t at) { return distances[at] == 0; });
  if (!ends_everywhere) return std::nullopt;
  return stages;
}

// What lies on any of the shortest ways, whatever their lengths are and whoever copies there.
std::vector<uint16_t> NetworkRoutes::FindOthers(
    size_t from, size_t host, const std::optional<std::vector<TraceStage>>& stages) const {
  std::vector<uint16_t> others;
  const Distances& distances = DistancesTo(host);
  if (distances[from] == kFar) return others;
  std::vector<bool> was_there(links_.size());
  std::vector<size_t> here = {from};
  while (!here.empty()) {
    const size_t at = here.back();
    here.pop_back();
    for (const Link& link : links_[at]) {
      const bool is_on_way =
          distances[link.to] != kFar && distances[link.to] + link.weight == distances[at];
      if (!is_on_way || was_there[link.to]) continue;
      was_there[link.to] = true;
      here.push_back(link.to);
      const auto& number = numbers_[link.to];
      const bool is_named =
          number && stages &&
          std::any_of(stages->begin(), stages->end(), [&number](const TraceStage& stage) {
            return std::binary_search(stage.begin(), stage.end(), *number);
          });
      if (number && !is_named) others.push_back(*number);
    }
  }
  return others;
}

const NetworkRoutes::Ways& NetworkRoutes::WaysOf(size_t from, size_t host) const {
  const uint64_t key = uint64_t{from} << 32 | host;
  const auto found = ways_.find(key);
  if (found != ways_.end()) return found->second;
  if (ways_.size() >= kMaxKnownStages) {
    put_away_.clear();
    std::swap(put_away_, ways_);
  }
  Ways ways{FindStages(from, host), {}};
  ways.others = FindOthers(from, host, ways.stages);
  return ways_.emplace(key, std::move(ways)).first->second;
}

std::optional<TraceWay> NetworkRoutes::After(uint16_t switch_number, const Trace& trace) const {
  const auto from = PlaceOf(switch_number);
  const auto host = HostOf(trace.packet.flow.dst_ip, trace.packet.flow.ip_family);
  if (!from || !host) return std::nullopt;
  const auto& stages = WaysOf(*from, *host).stages;
  return stages ? std::make_optional(TraceWay(*stages)) : std::nullopt;
}

bool NetworkRoutes::MayPass(uint16_t from, uint16_t switch_number, const Trace& trace) const {
  const auto begin = PlaceOf(from);
  const auto host = HostOf(trace.packet.flow.dst_ip, trace.packet.flow.ip_family);
  if (!begin || !host) return false;
  const std::vector<uint16_t>& others = WaysOf(*begin, *host).others;
  return std::find(others.begin(), others.end(), switch_number) != others.end();
}

bool NetworkRoutes::IsEdge(const TraceHop& hop, const Trace& trace) const {
  const auto at = PlaceOf(hop.switch_number);
  if (!at) return false;
  const auto host = HostOf(trace.packet.flow.src_ip, trace.packet.flow.ip_family);
  return host ? Contains(attached_[*host], *at) : is_edge_[*at];
}

void LearnedRoutes::Learn(const Trace& trace) {
  // Frames that are not IP are of no flow: they end where they are meant to, or go everywhere.
  if (trace.packet.flow.ip_family == 0) return;
  std::vector<TraceHop> hops = trace.hops;
  std::stable_sort(hops.begin(), hops.end(), [](const TraceHop& a, const TraceHop& b) {
    return a.ttl != b.ttl ? a.ttl > b.ttl : a.time < b.time;
  });
  std::vector<TraceStage> way;
  for (const TraceHop& hop : hops) {
    const TraceStage stage = {hop.switch_number};
    if (!way.empty() && way.back() == stage) continue;
    const bool came_back = std::find(way.begin(), way.end(), stage) != way.end();
    if (came_back) return;  // a loop, or sent twice
    way.push_back(stage);
  }
  const auto found = ways_.find(trace.flow);
  if (found != ways_.end()) {
    if (way.size() > found->second.size()) found->second = std::move(way);
  } else if (ways_.size() < max_flows_) {
    ways_.emplace(trace.flow, std::move(way));
  } else {
    ++flows_not_learned_;
  }
}

std::optional<TraceWay> LearnedRoutes::After(uint16_t switch_number, const Trace& trace) const {
  const auto found = ways_.find(trace.flow);
  if (found == ways_.end()) return std::nullopt;
  const std::vector<TraceStage>& way = found->second;
  for (size_t i = 0; i < way.size(); ++i) {
    if (way[i].front() == switch_number) return TraceWay(way, i + 1);
  }
  return std::nullopt;
}

bool LearnedRoutes::IsEdge(const TraceHop& hop, const Trace& trace) const {
  const auto found = ways_.find(trace.flow);
  return found != ways_.end() && found->second.front().front() == hop.switch_number;
}

}  // namespace trumpet
