// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_apps.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
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
// Towards several members: with fewer, one may have got none by chance.
constexpr uint64_t kEnoughPassed = 10;
constexpr double kBiased = 0.001;     // chance of such a spread, if it were even
constexpr double kLeastExpected = 5;  // connections of a member, below which chi-square is wrong

std::string Count(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string IdText(uint64_t id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, id);
  return text;
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
    shortest_ = packets_ == 0 ? trace.wire_bytes : std::min(shortest_, trace.wire_bytes);
    example_ = trace.id;
    ++packets_;
  }
  // The longest packet to the same address that passed, as the trace has it in its evidence.
  void AddLongestPassed(uint32_t bytes) {
    longest_passed_ = std::max(longest_passed_, bytes);
    ++with_passed_;
  }
  // The longest of all that passed there.
  void AddLongestOnLink(uint32_t bytes) { longest_on_link_ = std::max(longest_on_link_, bytes); }

  uint64_t packets() const { return packets_; }
  size_t flows() const { return flows_.size(); }
  Nanos first() const { return first_; }
  Nanos last() const { return last_; }
  // Each was longer than whatever passed, to others, too: what passed to the same addresses may
  // have done so before there was a fault.
  bool are_long() const {
    return longest_passed_ > 0 && shortest_ > std::max(longest_passed_, longest_on_link_);
  }
  // To the addresses of most of them other packets passed.
  bool is_mixed() const { return 2 * with_passed_ >= packets_; }
  uint32_t shortest() const { return shortest_; }
  uint32_t longest_passed() const { return longest_passed_; }
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
    json["shortest_bytes"] = shortest_;
    if (longest_passed_ > 0) json["longest_passed_bytes"] = longest_passed_;
    json["example"] = IdText(example_);
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
  uint64_t example_ = 0;  // the trace that was added last
  uint32_t shortest_ = 0;
  uint32_t longest_passed_ = 0;
  uint32_t longest_on_link_ = 0;  // 0: it was stored before that was told
  uint64_t with_passed_ = 0;
  Prefix destination_;
  bool has_destination_ = false;
};

// Packets that left the switch towards those, and how many came to each of them, while there were
// drops.
struct Passed {
  Passed(const std::vector<LinkCounters>& links, uint16_t from, const std::set<std::string>& next,
         const SwitchBook& switches, const Common& common) {
    const Nanos begin = CellOf(common.first(), kNanosPerSecond) * kNanosPerSecond;
    for (const std::string& name : next) by_next[name] = 0;
    for (const LinkCounters& link : links) {
      const auto to = by_next.find(switches.NameOf(link.to));
      const bool is_meant = link.from == from && to != by_next.end() && link.time >= begin &&
                            link.time <= common.last();
      if (!is_meant) continue;
      to->second += link.values[kLinkPackets];
      all += link.values[kLinkPackets];
    }
  }
  // Of several that packets ought to be spread over, the one to which none came; of more than one,
  // the spread may be as it should.
  std::optional<std::string> silent() const {
    std::optional<std::string> found;
    if (by_next.size() < 2 || all < kEnoughPassed) return std::nullopt;
    for (const auto& [name, count] : by_next) {
      if (count > 0) continue;
      if (found) return std::nullopt;
      found = name;
    }
    return found;
  }

  uint64_t all = 0;
  std::map<std::string, uint64_t> by_next;
};

std::string DropVerdict(const Common& common, const Passed& passed) {
  if (common.packets() < kFewPackets) return "few";
  if (common.flows() == 1) return "one_flow";
  const double share =
      static_cast<double>(common.packets()) / static_cast<double>(common.packets() + passed.all);
  if (passed.all == 0) return "all";
  if (common.are_long()) return "long";
  if (passed.silent()) return "member";
  if (share > kNearlyAll) return "most";
  const bool is_by_chance = share <= kMaxRandomShare && common.is_mixed();
  if (common.has_narrow_destination() && !is_by_chance) return "prefix";
  return is_by_chance ? "random" : "some";
}

std::string Explain(const std::string& verdict, const std::string& place, const Common& common,
                    const Passed& passed) {
  std::string text = Count(common.packets(), "packet") + " of " + Count(common.flows(), "flow") +
                     " lost " + place + ", while " + std::to_string(passed.all) + " passed: ";
  if (verdict == "few") return text + "too few to tell why";
  if (verdict == "one_flow") return text + "all of one flow, as a blackhole of it would";
  if (verdict == "all") return text + "nothing passes";
  if (verdict == "long") {
    return text + "all of " + std::to_string(common.shortest()) +
           " bytes or more, and to the same " + "addresses nothing longer than " +
           std::to_string(common.longest_passed()) + " passed";
  }
  if (verdict == "member") return text + "nothing came to " + passed.silent().value_or("one");
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

// Empty: it was stored before kinds were told.
std::string LoopKindOf(const StoredTrace& trace) {
  const Json evidence = Json::parse(trace.evidence, nullptr, false);
  const bool has_kind =
      evidence.is_object() && evidence.contains("loop_kind") && evidence["loop_kind"].is_string();
  return has_kind ? evidence["loop_kind"].get<std::string>() : "";
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
    Common& common = groups[{trace.last_switch, next}];
    common.Add(trace);
    const auto bytes = [&evidence](const char* key) -> std::optional<uint32_t> {
      const bool has =
          evidence.is_object() && evidence.contains(key) && evidence[key].is_number_unsigned();
      if (!has) return std::nullopt;
      return evidence[key].get<uint32_t>();
    };
    if (const auto passed = bytes("longest_passed")) common.AddLongestPassed(*passed);
    if (const auto passed = bytes("longest_on_link")) common.AddLongestOnLink(*passed);
  }
  Json answer = Json::array();
  for (const auto& [place, common] : groups) {
    const auto& [from, next] = place;
    const Passed passed(links, from, next, switches, common);
    const std::string verdict = DropVerdict(common, passed);
    std::string text = "behind " + switches.NameOf(from);
    for (const std::string& name : next) text += (&name == &*next.begin() ? " to " : " or ") + name;
    Json json = {{"verdict", verdict},
                 {"behind", switches.NameOf(from)},
                 {"expected_next", next},
                 {"passed", passed.all},
                 {"explanation", Explain(verdict, text, common, passed)}};
    if (passed.by_next.size() > 1) json["passed_to"] = passed.by_next;
    if (verdict == "member") json["member"] = *passed.silent();
    json.update(common.ToJson());
    answer.push_back(std::move(json));
  }
  return answer;
}

Json DebugLoops(const std::vector<StoredTrace>& traces, const SwitchBook& switches) {
  std::map<std::pair<std::vector<uint16_t>, std::string>, Common> groups;
  for (const StoredTrace& trace : traces) {
    if (trace.fault != static_cast<uint8_t>(TraceFault::kLoop)) continue;
    std::map<uint16_t, size_t> visits;
    for (const StoredHop& hop : trace.hops) ++visits[hop.switch_number];
    std::vector<uint16_t> round;
    for (const auto& [number, count] : visits) {
      if (count > 1) round.push_back(number);
    }
    groups[{round, LoopKindOf(trace)}].Add(trace);
  }
  Json answer = Json::array();
  for (const auto& [place, common] : groups) {
    const auto& [round, kind] = place;
    std::string text = Count(common.packets(), "packet") + " of " + Count(common.flows(), "flow");
    const auto dst = common.destination();
    if (dst) text += " to " + *dst;
    text += " went round";
    for (const uint16_t number : round) text += " " + switches.NameOf(number);
    if (kind == "overlay") text += ", through a tunnel that somebody sends it back into";
    if (kind == "routed") text += ", with a TTL that falls";
    Json json = {{"verdict", "loop"},
                 {"kind", kind},
                 {"switches", Names(round, switches)},
                 {"explanation", text}};
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
