// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_apps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "controller/analyzer/trace_judge.h"
#include "controller/traces/link_book.h"
#include "lib/packet/prefix.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

// Fewer drops say nothing of a pattern.
constexpr size_t kFewPackets = 3;
// Random loss that is worse is no loss by chance any more.
constexpr double kMaxRandomShare = 0.2;
// Where more is lost, nothing is left to compare a destination with.
constexpr double kNearlyAll = 0.9;
constexpr double kBiased = 0.001;     // chance of such a spread, if it were even
constexpr double kLeastExpected = 5;  // connections of a member, below which chi-square is wrong

std::string Count(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What packets of a group have in common.
class Common {
 public:
  void Add(const StoredTrace& trace) {
    const FlowKey& flow = trace.flow;
    flows_.insert({StoredAddress(flow.src_ip, flow.ip_family),
                   StoredAddress(flow.dst_ip, flow.ip_family), flow.protocol, flow.src_port,
                   flow.dst_port});
    first_ = packets_ == 0 ? trace.start : std::min(first_, trace.start);
    last_ = packets_ == 0 ? trace.start : std::max(last_, trace.start);
    seconds_.insert(CellOf(trace.start, kNanosPerSecond));
    AddDestination(flow);
    ++packets_;
  }

  uint64_t packets() const { return packets_; }
  size_t flows() const { return flows_.size(); }
  Nanos first() const { return first_; }
  Nanos last() const { return last_; }
  // No destination prefix shorter than 8 bits says anything.
  std::optional<std::string> destination() const {
    if (!has_destination_ || destination_.length < 8) return std::nullopt;
    return PrintPrefix(destination_);
  }
  // 24 bits, or 64.
  bool has_narrow_destination() const {
    return has_destination_ && destination_.length >= (destination_.is_ipv6 ? 64 : 24);
  }
  Json ToJson() const {
    Json json = {{"packets", packets_}, {"flows", flows()}};
    const auto dst = destination();
    if (dst) json["dst"] = *dst;
    json["first_ns"] = first_;
    json["last_ns"] = last_;
    const int64_t span = CellOf(last_, kNanosPerSecond) - CellOf(first_, kNanosPerSecond) + 1;
    json["seconds"] = {{"with", seconds_.size()}, {"of", span}};
    return json;
  }

 private:
  void AddDestination(const FlowKey& flow) {
    if (flow.ip_family == 0) return;
    const bool is_ipv6 = flow.ip_family == 6;
    Prefix one{is_ipv6, 0, static_cast<uint8_t>(is_ipv6 ? 128 : 32)};
    for (size_t i = 0; i < (is_ipv6 ? 16u : 4u); ++i) {
      one.address = one.address << 8 | flow.dst_ip[i];
    }
    if (!has_destination_ && packets_ == 0) {
      destination_ = one;
      has_destination_ = true;
      return;
    }
    has_destination_ = has_destination_ && destination_.is_ipv6 == is_ipv6;
    while (destination_.length > 0 &&
           (one.address < FirstOf(destination_) || one.address > LastOf(destination_))) {
      --destination_.length;
      destination_.address = FirstOf(destination_);
    }
  }

  std::set<std::tuple<std::string, std::string, uint8_t, uint16_t, uint16_t>> flows_;
  std::set<int64_t> seconds_;
  uint64_t packets_ = 0;
  Nanos first_ = 0;
  Nanos last_ = 0;
  Prefix destination_;
  bool has_destination_ = false;
};

// Packets that left the switch towards one of those and came there, while there were drops.
uint64_t Passed(const std::vector<LinkCounters>& links, uint16_t from,
                const std::set<std::string>& next, const SwitchBook& switches,
                const Common& common) {
  const Nanos begin = CellOf(common.first(), kNanosPerSecond) * kNanosPerSecond;
  uint64_t passed = 0;
  for (const LinkCounters& link : links) {
    const bool is_meant = link.from == from && next.count(switches.NameOf(link.to)) != 0 &&
                          link.time >= begin && link.time <= common.last();
    if (is_meant) passed += link.values[kLinkPackets];
  }
  return passed;
}

std::string DropVerdict(const Common& common, uint64_t passed) {
  if (common.packets() < kFewPackets) return "few";
  if (common.flows() == 1) return "one_flow";
  const double share =
      static_cast<double>(common.packets()) / static_cast<double>(common.packets() + passed);
  if (passed == 0) return "all";
  if (share > kNearlyAll) return "most";
  if (common.has_narrow_destination() && share > kMaxRandomShare) return "prefix";
  return share <= kMaxRandomShare ? "random" : "some";
}

std::string Explain(const std::string& verdict, const std::string& place, const Common& common,
                    uint64_t passed) {
  std::string text = Count(common.packets(), "packet") + " of " + Count(common.flows(), "flow") +
                     " lost " + place + ", while " + std::to_string(passed) + " passed: ";
  if (verdict == "few") return text + "too few to tell why";
  if (verdict == "one_flow") return text + "all of one flow, as a blackhole of it would";
  if (verdict == "all") return text + "nothing passes";
  if (verdict == "most") return text + "hardly anything passes";
  if (verdict == "prefix") return text + "all to " + common.destination().value_or("one place");
  if (verdict == "random") return text + "of many flows and few of all, as by chance";
  return text + "some flows, and no pattern that is known";
}

Json Names(const std::vector<uint16_t>& numbers, const SwitchBook& switches) {
  Json names = Json::array();
  for (const uint16_t number : numbers) names.push_back(switches.NameOf(number));
  return names;
}

}  // namespace

Json DebugDrops(const std::vector<StoredTrace>& traces, const std::vector<LinkCounters>& links,
                const SwitchBook& switches) {
  std::map<std::pair<uint16_t, std::set<std::string>>, Common> groups;
  for (const StoredTrace& trace : traces) {
    if (trace.fault != static_cast<uint8_t>(TraceFault::kDropped)) continue;
    const Json evidence = Json::parse(trace.evidence, nullptr, false);
    std::set<std::string> next;
    if (evidence.is_object() && evidence.contains("expected_next")) {
      for (const Json& name : evidence["expected_next"]) {
        if (name.is_string()) next.insert(name.get<std::string>());
      }
    }
    groups[{trace.last_switch, next}].Add(trace);
  }
  Json answer = Json::array();
  for (const auto& [place, common] : groups) {
    const auto& [from, next] = place;
    const uint64_t passed = Passed(links, from, next, switches, common);
    const std::string verdict = DropVerdict(common, passed);
    std::string text = "behind " + switches.NameOf(from);
    for (const std::string& name : next) text += (&name == &*next.begin() ? " to " : " or ") + name;
    Json json = {{"verdict", verdict},
                 {"behind", switches.NameOf(from)},
                 {"expected_next", next},
                 {"passed", passed},
                 {"explanation", Explain(verdict, text, common, passed)}};
    json.update(common.ToJson());
    answer.push_back(std::move(json));
  }
  return answer;
}

Json DebugLoops(const std::vector<StoredTrace>& traces, const SwitchBook& switches) {
  std::map<std::vector<uint16_t>, Common> groups;
  for (const StoredTrace& trace : traces) {
    if (trace.fault != static_cast<uint8_t>(TraceFault::kLoop)) continue;
    std::map<uint16_t, size_t> visits;
    for (const StoredHop& hop : trace.hops) ++visits[hop.switch_number];
    std::vector<uint16_t> round;
    for (const auto& [number, count] : visits) {
      if (count > 1) round.push_back(number);
    }
    groups[round].Add(trace);
  }
  Json answer = Json::array();
  for (const auto& [round, common] : groups) {
    std::string text = Count(common.packets(), "packet") + " of " + Count(common.flows(), "flow");
    const auto dst = common.destination();
    if (dst) text += " to " + *dst;
    text += " went round";
    for (const uint16_t number : round) text += " " + switches.NameOf(number);
    Json json = {{"verdict", "loop"}, {"switches", Names(round, switches)}, {"explanation", text}};
    json.update(common.ToJson());
    answer.push_back(std::move(json));
  }
  return answer;
}

// Of whole degrees the tail is a finite sum.
double ChiSquareTail(double value, unsigned degrees) {
  if (degrees == 0 || value <= 0) return 1;
  const double x = value / 2;
  double a = degrees % 2 == 0 ? 1 : 0.5;
  double tail = degrees % 2 == 0 ? std::exp(-x) : std::erfc(std::sqrt(x));
  for (; a < degrees / 2.0; a += 1) tail += std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  return std::min(tail, 1.0);
}

Json ProfileEcmp(const std::vector<LinkCounters>& links, uint16_t at,
                 const std::vector<uint16_t>& members, const SwitchBook& switches) {
  std::vector<uint64_t> connections(members.size());
  uint64_t sum = 0;
  for (const LinkCounters& link : links) {
    const auto member = std::find(members.begin(), members.end(), link.to);
    if (link.from != at || member == members.end()) continue;
    connections[static_cast<size_t>(member - members.begin())] += link.values[kLinkConnections];
    sum += link.values[kLinkConnections];
  }
  const double expected = static_cast<double>(sum) / static_cast<double>(members.size());
  double chi_square = 0;
  size_t worst = 0;
  const auto off = [&](size_t i) { return static_cast<double>(connections[i]) - expected; };
  Json by_member = Json::array();
  for (size_t i = 0; i < members.size(); ++i) {
    if (expected > 0) chi_square += off(i) * off(i) / expected;
    if (std::abs(off(i)) > std::abs(off(worst))) worst = i;
    by_member.push_back({{"switch", switches.NameOf(members[i])}, {"connections", connections[i]}});
  }
  const double chance = ChiSquareTail(chi_square, static_cast<unsigned>(members.size()) - 1);
  const bool is_enough = members.size() > 1 && expected >= kLeastExpected;
  const bool is_biased = is_enough && chance < kBiased;
  std::string text = Count(sum, "connection") + " over " + Count(members.size(), "member") + ": ";
  if (!is_enough) {
    text += "too few to tell";
  } else if (is_biased) {
    text += switches.NameOf(members[worst]) + " has " + std::to_string(connections[worst]) +
            " where " + std::to_string(std::lround(expected)) + " were to be expected";
  } else {
    text += "as an even spread would have it";
  }
  return {{"verdict", !is_enough  ? "few"
                      : is_biased ? "biased"
                                  : "even"},
          {"at", switches.NameOf(at)},
          {"members", by_member},
          {"chi_square", chi_square},
          {"chance", chance},
          {"explanation", text}};
}

}  // namespace trumpet
