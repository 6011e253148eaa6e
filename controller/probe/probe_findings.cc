// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/probe_findings.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lib/model/trace_rule.h"
#include "lib/packet/layers.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

// That there is a fault at some place, before anything is known; as judges of traces have it.
constexpr double kFault = 0.001;
constexpr size_t kLeastBytes = 8;  // of a transport, by which a packet is known
constexpr size_t kTcpBytes = 20;

// What the innermost IP header carries, as far as it was captured.
std::string_view TransportOf(const std::string& packet, LayerKind first) {
  Layers layers;
  ReadLayers(reinterpret_cast<const uint8_t*>(packet.data()), static_cast<uint32_t>(packet.size()),
             first, LayerOptions(), &layers);
  for (int i = layers.count - 1; i >= 0; --i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    if (layer.kind != LayerKind::kIpv4 && layer.kind != LayerKind::kIpv6) continue;
    return std::string_view(packet).substr(layer.at + layer.bytes);
  }
  return {};
}

template <typename T>
T Get(const Json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : otherwise;
  } else {
    return found->is_number() ? found->get<T>() : otherwise;
  }
}

std::vector<ProbeHop> PathOf(const Json& told) {
  std::vector<ProbeHop> path;
  const auto hops = told.find("path");
  if (hops == told.end() || !hops->is_array()) return path;
  for (const Json& hop : *hops) {
    if (!hop.is_object()) continue;
    path.push_back({Get<std::string>(hop, "switch", ""), Get<uint32_t>(hop, "ttl", 0),
                    Get<Nanos>(hop, "time_ns", 0), Get<uint32_t>(hop, "tag", 0)});
  }
  return path;
}

// Switches copy behind forwarding, so copies of bridges in one datapath come in reverse.  Where
// TTLs do not say, the first one would then be of the switch that is known to be the last.
bool IsReversed(const ProbeTrace& trace) {
  const auto& path = trace.path;
  return path.size() > 1 && path.front().switch_name == trace.last_switch &&
         path.back().switch_name != trace.last_switch &&
         std::all_of(path.begin(), path.end(),
                     [&](const ProbeHop& hop) { return hop.ttl == path.front().ttl; });
}

bool IsEnd(const ProbeTrace& trace) {
  return trace.verdict == "dropped" || trace.verdict == "copies_lost";
}

// Either something there takes all of them, or each one's copies were lost by themselves.
double ProbabilityOfDrop(const std::vector<const ProbeTrace*>& ends) {
  double copies = 1;
  for (const ProbeTrace* end : ends) copies *= OddsOfLostCopies(*end);
  return kFault / (kFault + copies);
}

// The one where most of them are; of several the first by name.
std::string MostCommonEnd(const std::vector<const ProbeTrace*>& ends) {
  std::map<std::string, size_t> counts;
  for (const ProbeTrace* end : ends) ++counts[end->last_switch];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

std::string Of(size_t part, size_t all) {
  return std::to_string(part) + " of " + std::to_string(all) + (all == 1 ? " packet" : " packets");
}

// The place in `frames`, all of which have their number in their mark, where it got that far.
size_t FirstThatMayBe(std::string_view carried, size_t count) {
  for (const size_t header : {kLeastBytes, kTcpBytes}) {
    if (carried.size() < header) continue;
    const auto mark = ReadProbeMark(reinterpret_cast<const uint8_t*>(carried.data()) + header,
                                    carried.size() - header);
    if (mark) return std::min<size_t>(mark->packet, count);
  }
  return 0;
}

std::vector<std::string> ExpectedNext(const Json& told) {
  std::vector<std::string> names;
  const auto evidence = told.find("evidence");
  if (evidence == told.end() || !evidence->is_object()) return names;
  const auto next = evidence->find("expected_next");
  if (next == evidence->end() || !next->is_array()) return names;
  for (const Json& name : *next) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace

double OddsOfLostCopies(const ProbeTrace& trace) {
  const double sure = std::clamp(trace.confidence, 1e-9, 1 - 1e-9);
  const double dropped = trace.verdict == "dropped" ? sure : 1 - sure;
  return kFault * (1 - dropped) / dropped;
}

std::string FromHex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

std::optional<ProbeTrace> ReadProbeTrace(const TraceFindings::Found& found,
                                         const std::vector<std::string>& frames) {
  const Json told = Json::parse(found.record.text, nullptr, false);
  if (!told.is_object()) return std::nullopt;
  const auto frame = told.find("frame");
  if (frame == told.end() || !frame->is_object()) return std::nullopt;
  const std::string packet = FromHex(Get<std::string>(*frame, "hex", ""));
  const bool is_ip = Get<std::string>(*frame, "link", "") == "ip";
  const std::string_view carried =
      TransportOf(packet, is_ip ? LayerKind::kIpv4 : LayerKind::kEthernet);
  if (carried.size() < kLeastBytes) return std::nullopt;
  for (size_t i = FirstThatMayBe(carried, frames.size()); i < frames.size(); ++i) {
    const std::string_view sent = TransportOf(frames[i], LayerKind::kEthernet);
    const size_t bytes = std::min(sent.size(), carried.size());
    if (sent.substr(0, bytes) != carried.substr(0, bytes)) continue;
    ProbeTrace trace;
    trace.packet = i;
    trace.analyzer = found.analyzer;
    trace.id = Get<std::string>(told, "id", "");
    trace.revision = Get<uint64_t>(told, "revision", 0);
    trace.verdict = Get<std::string>(told, "verdict", "not_known");
    trace.confidence = Get<double>(told, "confidence", 0);
    trace.last_switch = Get<std::string>(told, "last_switch", "");
    trace.expected_next = ExpectedNext(told);
    trace.path = PathOf(told);
    if (IsReversed(trace)) std::reverse(trace.path.begin(), trace.path.end());
    return trace;
  }
  return std::nullopt;
}

std::optional<ProbeOrigin> ReadProbeOrigin(const std::string& text) {
  const Json told = Json::parse(text, nullptr, false);
  if (!told.is_object()) return std::nullopt;
  ProbeTrace trace;
  trace.last_switch = Get<std::string>(told, "last_switch", "");
  trace.path = PathOf(told);
  const auto frame = told.find("frame");
  const bool has_frame = frame != told.end() && frame->is_object() &&
                         Get<std::string>(*frame, "link", "") == "ethernet";
  if (trace.path.empty() || !has_frame) return std::nullopt;
  const std::string bytes = FromHex(Get<std::string>(*frame, "hex", ""));
  const auto packet = ProbePacketLike(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                      Get<uint32_t>(told, "bytes", 0));
  if (!packet) return std::nullopt;
  const ProbeHop& first = IsReversed(trace) ? trace.path.back() : trace.path.front();
  return ProbeOrigin{first.switch_name, TraceTagPort(first.tag), *packet};
}

ProbeConclusion ConcludeProbe(const std::vector<ProbeTrace>& traces, size_t sent) {
  ProbeConclusion all;
  std::vector<const ProbeTrace*> ends;
  std::vector<const ProbeTrace*> unknown;
  size_t delivered = 0;
  const ProbeTrace* loop = nullptr;
  for (const ProbeTrace& trace : traces) {
    if (trace.verdict == "loop") loop = &trace;
    if (trace.verdict == "delivered") ++delivered;
    if (trace.verdict == "delivered") all.last_switch = trace.last_switch;
    if (IsEnd(trace)) ends.push_back(&trace);
    if (trace.verdict == "not_known") unknown.push_back(&trace);
  }
  all.confidence = 1;
  if (loop != nullptr) {
    all.verdict = "loop";
    all.last_switch = loop->last_switch;
    all.explanation = "a packet went in a loop, last seen at " + loop->last_switch;
  } else if (traces.empty()) {
    all.verdict = "no_copies";
    all.explanation = "no copy of " + Of(sent, sent) + " is in a trace of any analyzer";
  } else if (!ends.empty()) {
    const double drop = ProbabilityOfDrop(ends);
    all.last_switch = MostCommonEnd(ends);
    all.verdict = delivered > 0 ? "some_delivered" : drop >= 0.5 ? "dropped" : "copies_lost";
    all.confidence = drop >= 0.5 ? drop : 1 - drop;
    all.explanation = Of(ends.size(), sent) +
                      (drop >= 0.5 ? " dropped" : " without copies, which got lost rather,") +
                      " behind " + all.last_switch;
    if (delivered > 0) all.explanation += ", " + std::to_string(delivered) + " delivered";
  } else if (!unknown.empty()) {
    all.verdict = "not_known";
    all.confidence = 0;
    all.last_switch = MostCommonEnd(unknown);
    all.explanation =
        "last seen at " + all.last_switch + "; where such packets ought to go is not known";
  } else {
    all.verdict = "delivered";
    all.explanation = Of(delivered, sent) + " left the network at " + all.last_switch;
  }
  const size_t missing = sent - std::min(sent, traces.size());
  if (missing > 0 && !traces.empty()) {
    all.explanation += "; " + std::to_string(missing) + " without a trace";
  }
  return all;
}

}  // namespace trumpet
