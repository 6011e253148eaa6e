// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_text.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "controller/traces/trace_text.h"
#include "lib/packet/fields.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

std::string MacText(const std::array<uint8_t, 6>& mac) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                mac[3], mac[4], mac[5]);
  return text.data();
}

std::string Count(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string Percent(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.1f%%", 100 * share);
  return text.data();
}

std::string Millis(Nanos time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms", static_cast<double>(time) / 1e6);
  return text.data();
}

std::string PriorityText(uint8_t priority) {
  return priority == kAllPriorities ? "all priorities" : "priority " + std::to_string(priority);
}

std::string PortText(const PausePlace& place, const SwitchBook& switches) {
  const std::string name = switches.NameOf(place.switch_number);
  return place.port == 0 ? name : "port " + std::to_string(place.port) + " of " + name;
}

Json KeyJson(const RoceFlowKey& key) {
  return {{"src", AddressText(key.src, key.ip_family)},
          {"dst", AddressText(key.dst, key.ip_family)},
          {"queue_pair", key.queue_pair}};
}

Json EvidenceJson(const std::vector<RoceEvidence>& list, bool has_sequence,
                  const SwitchBook& switches) {
  Json json = Json::array();
  for (const RoceEvidence& one : list) {
    json.push_back({{"time_ns", one.time}, {"switch", switches.NameOf(one.switch_number)}});
    if (one.port != 0) json.back()["port"] = one.port;
    if (has_sequence) json.back()["psn"] = one.sequence;
  }
  return json;
}

Json PauseJson(const PausePlace& place, const PauseCounts& port, const SwitchBook& switches) {
  const Nanos seen = std::max<Nanos>(1, std::max(port.last, port.from) - port.first);
  Json json = {{"switch", switches.NameOf(place.switch_number)}, {"port", place.port}};
  json["priority"] = place.priority == kAllPriorities ? Json("all") : Json(place.priority);
  json["from"] = MacText(port.source);
  json["stops"] = port.stops;
  json["goes"] = port.goes;
  json["pairs"] = port.pairs;
  json["quanta"] = port.quanta;
  json["stopped_ns"] = port.stopped;
  json["share"] = std::min(1.0, static_cast<double>(port.stopped) / static_cast<double>(seen));
  json["first_ns"] = port.first;
  json["last_ns"] = port.last;
  return json;
}

struct Named {
  std::string verdict;
  std::string text;
};

std::string LossText(const RoceGroupKey& key, const SwitchBook& switches) {
  if (key.at == kNoPlace) {
    return "before " + switches.NameOf(static_cast<uint16_t>(key.next));
  }
  const std::string at = switches.NameOf(static_cast<uint16_t>(key.at));
  if (key.next == kNoPlace) return "behind " + at;
  return "between " + at + " and " + switches.NameOf(static_cast<uint16_t>(key.next));
}

std::string FlowsText(const RoceGroup& group) {
  return group.flows == 0 ? "" : " of " + Count(group.flows, "queue pair");
}

Named NameGroup(const RoceGroupKey& key, const RoceGroup& group, const SwitchBook& switches) {
  const std::string host = AddressText(key.host, key.ip_family);
  switch (key.finding) {
    case RoceFinding::kLoss:
      return {"loss", Count(group.packets, "packet") + FlowsText(group) +
                          (group.packets == 1 ? " was" : " were") + " lost " +
                          LossText(key, switches)};
    case RoceFinding::kLossUnknown:
      return {"loss", host + " missed packets: " + Count(group.packets, "NAK") +
                          " with a PSN sequence error" + FlowsText(group) +
                          "; where they were lost is not known"};
    case RoceFinding::kCongestion:
      return {"congestion",
              key.at == kNoPlace
                  ? Count(group.packets, "packet") + FlowsText(group) +
                        " bore the mark of congestion before " +
                        switches.NameOf(static_cast<uint16_t>(key.next))
                  : "congestion where " + switches.NameOf(static_cast<uint16_t>(key.at)) +
                        " sends to " + switches.NameOf(static_cast<uint16_t>(key.next)) + ": " +
                        Count(group.packets, "packet") + FlowsText(group) + " got the mark there"};
    case RoceFinding::kNotified:
      return {"congestion", "congestion on the way to " + host + ": it sent " +
                                Count(group.packets, "notification") + " for " +
                                Count(group.flows, "queue pair") + ", at most " +
                                std::to_string(group.peak) + " a second for one"};
    case RoceFinding::kNotReady:
      return {"not_ready", host + " was not ready to receive: " + Count(group.packets, "NAK") +
                               FlowsText(group) + ", which asked to wait for " +
                               Millis(group.longest) + " at most"};
    case RoceFinding::kRefused:
      return {"refused", host + " refused " + Count(group.packets, "request") + FlowsText(group) +
                             ": " + (key.code < kNakCodes ? NakReason(key.code) : "other reasons")};
    case RoceFinding::kReordered:
      return {"reordered", Count(group.packets, "packet") + FlowsText(group) + " came to " +
                               switches.NameOf(static_cast<uint16_t>(key.at)) +
                               " behind later ones, and no NAK names them"};
    case RoceFinding::kCorrupt:
      break;
  }
  return {"corrupt", Count(group.packets, "packet") + FlowsText(group) + " came to " +
                         switches.NameOf(static_cast<uint16_t>(key.at)) +
                         " with a wrong checksum (ICRC)"};
}

Json GroupJson(const RoceGroupKey& key, const RoceGroup& group, const SwitchBook& switches) {
  const Named named = NameGroup(key, group, switches);
  Json json = {{"verdict", named.verdict}, {"packets", group.packets}};
  if (group.of != 0) json["of"] = group.of;
  if (group.flows != 0) json["queue_pairs"] = group.flows;
  const bool is_between =
      key.finding == RoceFinding::kLoss || key.finding == RoceFinding::kCongestion;
  if (key.at != kNoPlace) {
    json[is_between ? "behind" : "switch"] = switches.NameOf(static_cast<uint16_t>(key.at));
  }
  if (key.next != kNoPlace) json["before"] = switches.NameOf(static_cast<uint16_t>(key.next));
  if (key.ip_family != 0) json["host"] = AddressText(key.host, key.ip_family);
  if (group.peak != 0 && key.finding == RoceFinding::kNotified)
    json["peak_per_second"] = group.peak;
  json["first_ns"] = group.first;
  json["last_ns"] = group.last;
  json["explanation"] = named.text;
  const bool has_sequence =
      key.finding == RoceFinding::kLoss || key.finding == RoceFinding::kReordered;
  json["evidence"] = EvidenceJson(group.evidence, has_sequence, switches);
  Json pairs = Json::array();
  for (const RoceFlowKey& flow : group.flow_evidence) pairs.push_back(KeyJson(flow));
  json["some"] = std::move(pairs);
  return json;
}

bool Has(const RoceGroups& groups, RoceFinding finding) {
  return std::any_of(groups.groups().begin(), groups.groups().end(),
                     [finding](const auto& one) { return one.first.finding == finding; });
}

}  // namespace

Json PauseFindings(const std::map<PausePlace, PauseCounts>& ports, const PauseOptions& options,
                   const SwitchBook& switches) {
  std::vector<std::pair<PausePlace, const PauseCounts*>> storms;
  Json findings = Json::array();
  Json others = Json::array();
  for (const auto& [place, port] : ports) {
    if (port.storm_spans != 0) {
      storms.emplace_back(place, &port);
      continue;
    }
    if (port.stops == 0) continue;
    Json json = PauseJson(place, port, switches);
    json["verdict"] = "paused";
    json["explanation"] = PortText(place, switches) + " was stopped for " + Millis(port.stopped) +
                          " in all, " + PriorityText(place.priority) + ", by " +
                          MacText(port.source) + ": no storm";
    others.push_back(std::move(json));
  }
  std::stable_sort(storms.begin(), storms.end(), [](const auto& a, const auto& b) {
    return a.second->storm_begin < b.second->storm_begin;
  });
  const bool stands_still =
      storms.size() > 1 && std::all_of(storms.begin(), storms.end(),
                                       [&](const auto& one) { return one.second->is_standing; });
  for (size_t i = 0; i < storms.size(); ++i) {
    const auto& [place, port] = storms[i];
    Json json = PauseJson(place, *port, switches);
    std::string text = "PAUSE storm from " + MacText(port->source) + " into " +
                       PortText(place, switches) + ", " + PriorityText(place.priority) + ": " +
                       Percent(options.storm_share) + " of the time or more in " +
                       Count(port->storm_spans, "span") + " of " + Millis(options.storm_time);
    if (storms.size() > 1 && i == 0) text += "; the first of " + Count(storms.size(), "port");
    if (i > 0) {
      text +=
          "; " + Millis(port->storm_begin - storms[0].second->storm_begin) + " after the first one";
    }
    if (stands_still) text += "; none of them had ended, as in a deadlock";
    json["verdict"] = "storm";
    json["order"] = i + 1;
    json["begin_ns"] = port->storm_begin;
    json["spans"] = port->storm_spans;
    json["stands_still"] = stands_still;
    json["explanation"] = text;
    findings.push_back(std::move(json));
  }
  for (Json& one : others) findings.push_back(std::move(one));
  return findings;
}

Json GroupFindings(const RoceGroups& groups, bool has_all_packets, const SwitchBook& switches) {
  const bool has_loss = Has(groups, RoceFinding::kLoss);
  const bool has_marks = Has(groups, RoceFinding::kCongestion);
  const uint64_t cnps = groups.kinds()[static_cast<size_t>(RoceKind::kCnp)];
  Json findings = Json::array();
  for (const auto& [key, group] : groups.groups()) {
    // What another finding says better.
    if (key.finding == RoceFinding::kLossUnknown && has_loss) continue;
    if (key.finding == RoceFinding::kNotified && has_marks && has_all_packets) continue;
    Json json = GroupJson(key, group, switches);
    if (key.finding == RoceFinding::kCongestion) json["notifications_of_all"] = cnps;
    if (key.finding == RoceFinding::kLoss) json["naks_of_all"] = groups.naks();
    findings.push_back(std::move(json));
  }
  return findings;
}

Json NothingFound(const RoceGroups& groups, const PauseBook& pauses) {
  return {{"verdict", "nothing"},
          {"packets", groups.packets()},
          {"pause_frames", pauses.frames()},
          {"explanation", "nothing abnormal in " + Count(groups.packets(), "packet") + " and " +
                              Count(pauses.frames(), "PAUSE frame")}};
}

Json KindsJson(const std::array<uint64_t, kRoceKinds>& kinds) {
  static constexpr const char* kNames[kRoceKinds] = {
      "send",        "write",  "read_request", "read_response",
      "acknowledge", "atomic", "atomic_ack",   "congestion_notification",
      "other"};
  Json json = Json::object();
  for (size_t i = 0; i < kRoceKinds; ++i) {
    if (kinds[i] != 0) json[kNames[i]] = kinds[i];
  }
  return json;
}

Json FlowJson(const RoceFlowKey& key, const RoceFlowCounts& counts, const SwitchBook& switches) {
  Json json = {{"verdict", "queue_pair"}};
  json.update(KeyJson(key));
  const RocePlaceCounts* const main = counts.Main();
  if (main == nullptr) return json;
  uint64_t naks = 0;
  for (const uint64_t count : main->naks) naks += count;
  json["packets"] = main->packets;
  json["bytes"] = main->bytes;
  json["kinds"] = KindsJson(main->kinds);
  json["naks"] = naks;
  json["not_ready"] = main->not_ready;
  if (main->cnp_peak != 0) {
    json["notifications"] = {{"peak_per_second", main->cnp_peak}, {"at_ns", main->cnp_peak_time}};
  }
  Json places = Json::array();
  for (const RocePlaceCounts& place : counts.places) {
    places.push_back({{"switch", switches.NameOf(place.switch_number)},
                      {"port", place.port},
                      {"packets", place.packets},
                      {"marked", place.marked},
                      {"gaps", place.gaps},
                      {"missing", place.missing},
                      {"late", place.late},
                      {"repeated", place.repeated},
                      {"restarts", place.restarts}});
  }
  json["places"] = std::move(places);
  uint64_t lost = 0;
  for (const auto& [ends, loss] : counts.losses) lost += loss.packets;
  json["lost"] = lost;
  json["copies_missing"] = counts.copies_missing;
  return json;
}

}  // namespace trumpet
