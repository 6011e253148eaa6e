// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_text.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "lib/packet/fields.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillion = 1e6;

Json Names(const TraceStage& stage, const SwitchBook& switches) {
  Json names = Json::array();
  for (const uint16_t number : stage) names.push_back(switches.NameOf(number));
  return names;
}

Json Names(const std::vector<TraceStage>& stages, const SwitchBook& switches) {
  Json names = Json::array();
  for (const TraceStage& stage : stages) names.push_back(Names(stage, switches));
  return names;
}

// What the verdict rests on; keys that say nothing are left out.
std::string Evidence(const TraceReport& report, const SwitchBook& switches,
                     const PassedLengths::Longest& passed, uint32_t truncated_to) {
  const TracePass& pass = *report.pass;
  Json json = Json::object();
  if (!pass.expected_next.empty()) json["expected_next"] = Names(pass.expected_next, switches);
  if (!pass.lost_copies.empty()) json["lost_copies"] = Names(pass.lost_copies, switches);
  if (!pass.loop.empty()) {
    json["loop"] = Names(pass.loop, switches);
    json["loop_kind"] = kTraceLoops[static_cast<size_t>(pass.loop_kind)];
  }
  if (passed.to_address > 0) json["longest_passed"] = passed.to_address;
  if (passed.on_link > 0) json["longest_on_link"] = passed.on_link;
  if (truncated_to > 0) json["truncated_to"] = truncated_to;
  if (pass.duplicates > 0) json["duplicates"] = pass.duplicates;
  if (pass.is_off_route) json["off_route"] = true;
  if (pass.is_start_missing) json["start_missing"] = true;
  if (pass.has_changed_rules) json["rules_changed"] = true;
  if (report.trace->hops_not_kept > 0) json["hops_not_kept"] = report.trace->hops_not_kept;
  if (report.trace->is_evicted) json["evicted"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// How sure the verdict is; null: nothing says where the packet ought to go.
Json Confidence(const StoredTrace& trace) {
  const double drop = trace.drop_ppm / kMillion;
  switch (static_cast<TraceFault>(trace.fault)) {
    case TraceFault::kDropped:
      return drop;
    case TraceFault::kCopiesLost:
      return (1e6 - trace.drop_ppm) / kMillion;
    case TraceFault::kNotKnown:
      return nullptr;
    default:
      return 1.0;
  }
}

constexpr std::pair<uint8_t, std::string_view> kMarks[] = {{kMarkConnection, "connection"},
                                                           {kMarkProtocol, "protocol"},
                                                           {kMarkDebug, "debug"},
                                                           {kMarkProbe, "probe"}};

Json Marks(uint8_t marks) {
  Json names = Json::array();
  for (const auto& [mark, name] : kMarks) {
    if ((marks & mark) != 0) names.push_back(name);
  }
  return names;
}

Json FlowJson(const FlowKey& flow) {
  if (flow.ip_family == 0) return nullptr;
  Json json = {{"src", AddressText(flow.src_ip, flow.ip_family)},
               {"dst", AddressText(flow.dst_ip, flow.ip_family)},
               {"protocol", flow.protocol}};
  if (flow.src_port != 0 || flow.dst_port != 0) {
    json["src_port"] = flow.src_port;
    json["dst_port"] = flow.dst_port;
  }
  return json;
}

double Percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::round(1e6 * static_cast<double>(part) / static_cast<double>(whole)) / 1e4;
}

}  // namespace

std::string AddressText(const IpBytes& address, uint8_t ip_family) {
  Uint128 number = 0;
  for (size_t i = 0; i < (ip_family == 4 ? 4u : 16u); ++i) number = number << 8 | address[i];
  return FormatValue({ip_family == 4 ? ValueKind::kIpv4 : ValueKind::kIpv6, number});
}

uint8_t TraceMarkOf(std::string_view name) {
  for (const auto& [mark, known] : kMarks) {
    if (known == name) return mark;
  }
  return 0;
}

std::string FlowText(const FlowKey& flow) {
  if (flow.ip_family == 0) return "not IP";
  const bool has_ports = flow.src_port != 0 || flow.dst_port != 0;
  const auto end = [&](const IpBytes& address, uint16_t port) {
    const std::string text = AddressText(address, flow.ip_family);
    if (!has_ports) return text;
    return (flow.ip_family == 6 ? "[" + text + "]" : text) + ":" + std::to_string(port);
  };
  const std::string protocol = flow.protocol == kProtocolTcp   ? "tcp"
                               : flow.protocol == kProtocolUdp ? "udp"
                                                               : std::to_string(flow.protocol);
  return protocol + " " + end(flow.src_ip, flow.src_port) + " > " + end(flow.dst_ip, flow.dst_port);
}

StoredTrace ToStored(const TraceReport& report, const SwitchBook& switches,
                     const PassedLengths::Longest& passed, uint32_t truncated_to) {
  const Trace& trace = *report.trace;
  const TracePass& pass = *report.pass;
  StoredTrace stored;
  stored.id = report.id;
  stored.revision = trace.revision;
  stored.start = pass.hops.front().time;
  stored.flow = trace.packet.flow;
  stored.wire_bytes = trace.packet.wire_bytes;
  stored.marks = trace.packet.marks;
  stored.fault = static_cast<uint8_t>(pass.fault);
  stored.drop_ppm = static_cast<uint32_t>(std::lround(pass.drop_probability * kMillion));
  stored.last_switch = pass.last_switch;
  for (const TraceHop& hop : pass.hops) {
    stored.start = std::min(stored.start, hop.time);
    stored.hops.push_back({hop.time, hop.tag, hop.switch_number, hop.ttl});
  }
  stored.evidence = Evidence(report, switches, passed, truncated_to);
  stored.packet = std::string(trace.bytes);
  return stored;
}

Json ToJson(const StoredTrace& trace, const SwitchBook& switches) {
  char id[17];
  std::snprintf(id, sizeof id, "%016" PRIx64, trace.id);
  Json path = Json::array();
  for (const StoredHop& hop : trace.hops) {
    path.push_back({{"switch", switches.NameOf(hop.switch_number)},
                    {"tag", hop.tag},
                    {"ttl", hop.ttl},
                    {"time_ns", hop.time}});
  }
  const size_t fault = std::min<size_t>(trace.fault, kTraceFaults - 1);
  Json evidence = Json::parse(trace.evidence, nullptr, false);
  if (evidence.is_discarded()) evidence = nullptr;  // not ours
  return {{"id", id},
          {"revision", trace.revision},
          {"start_ns", trace.start},
          {"packet", FlowJson(trace.flow)},
          {"bytes", trace.wire_bytes},
          {"marks", Marks(trace.marks)},
          {"verdict", kTraceVerdicts[fault]},
          {"confidence", Confidence(trace)},
          {"last_switch", switches.NameOf(trace.last_switch)},
          {"path", std::move(path)},
          {"evidence", std::move(evidence)}};
}

Json ToJson(const TraceMaker& maker, const SwitchBook& switches) {
  const TraceSums sums = maker.sums();
  const uint64_t lost = sums.lost_by_number + sums.lost_by_trace;
  const uint64_t sent = sums.copies + lost;
  Json verdicts = Json::object();
  for (size_t i = 0; i < kTraceFaults; ++i) {
    verdicts[std::string(kTraceVerdicts[i])] = sums.faults[i];
  }
  Json by_switch = Json::array();
  for (const auto& [number, one] : maker.switch_sums()) {
    by_switch.push_back({{"switch", switches.NameOf(number)}, {"received", one.received}});
    if (one.has_numbers) by_switch.back()["lost"] = one.lost;
    if (one.is_counted) by_switch.back()["lost_at_least"] = one.lost_at_least;
  }
  const TraceTableCounters& table = maker.table_counters();
  return {{"frames",
           {{"all", sums.frames},
            {"copies", sums.copies},
            {"other", sums.other},
            {"no_origin", sums.no_origin},
            {"malformed", sums.malformed}}},
          {"copies",
           {{"sent", sent},
            {"in_traces", sums.in_traces},
            {"duplicates", sums.duplicates},
            {"shed", sums.shed},
            {"waiting", sums.waiting},
            {"lost", lost},
            {"lost_by_number", sums.lost_by_number},
            {"lost_by_trace", sums.lost_by_trace},
            {"received_percent", Percent(sums.in_traces + sums.duplicates, sent)},
            {"shed_percent", Percent(sums.shed, sent)},
            {"waiting_percent", Percent(sums.waiting, sent)},
            {"lost_percent", Percent(lost, sent)}}},
          {"packets", {{"all", sums.packets}, {"kept", sums.kept}, {"verdicts", verdicts}}},
          {"traces",
           {{"begun", table.traces},
            {"told_again", table.revised},
            {"late_copies", table.late_copies},
            {"evicted", table.evicted},
            {"cut_packets", table.cut_packets}}},
          {"switches", by_switch}};
}

std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace trumpet
