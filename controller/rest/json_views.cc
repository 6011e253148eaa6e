// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/json_views.h"

#include <cstdio>

namespace trumpet {
namespace {

const char* StateName(HostApplication state) {
  switch (state) {
    case HostApplication::kWaiting:
      return "waiting";
    case HostApplication::kSent:
      return "sent";
    case HostApplication::kApplied:
      return "applied";
    case HostApplication::kRefused:
      return "refused";
    case HostApplication::kUnreachable:
      return "unreachable";
  }
  return "waiting";
}

// What the store holds was printed by us, but anybody may write into a database.
Json Definition(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

Json Prefixes(const std::vector<Prefix>& prefixes) {
  Json list = Json::array();
  for (const Prefix& prefix : prefixes) list.push_back(PrintPrefix(prefix));
  return list;
}

std::string MacText(uint64_t mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x",
                static_cast<unsigned>(mac >> 40 & 0xff), static_cast<unsigned>(mac >> 32 & 0xff),
                static_cast<unsigned>(mac >> 24 & 0xff), static_cast<unsigned>(mac >> 16 & 0xff),
                static_cast<unsigned>(mac >> 8 & 0xff), static_cast<unsigned>(mac & 0xff));
  return text;
}

Json Macs(const std::vector<uint64_t>& macs) {
  Json list = Json::array();
  for (uint64_t mac : macs) list.push_back(MacText(mac));
  return list;
}

std::string DatapathId(uint64_t id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

Json KeyValues(const std::vector<KeyValue>& pairs) {
  Json map = Json::object();
  for (const KeyValue& pair : pairs) map[pair.key] = pair.value;
  return map;
}

Json Bridges(const HostFacts& facts) {
  Json list = Json::array();
  for (const Bridge& bridge : facts.bridges) {
    list.push_back({{"name", bridge.name},
                    {"datapath_id", DatapathId(bridge.datapath_id)},
                    {"external_ids", KeyValues(bridge.external_ids)},
                    {"datapath_type", bridge.datapath_type}});
  }
  return list;
}

Json Ports(const HostFacts& facts) {
  Json list = Json::array();
  for (const Port& port : facts.ports) {
    list.push_back({{"bridge", port.bridge},
                    {"name", port.name},
                    {"of_port", port.of_port},
                    {"type", port.type},
                    {"macs", Macs(port.macs)},
                    {"is_uplink", port.is_uplink},
                    {"external_ids", KeyValues(port.external_ids)},
                    {"mac_in_use", port.mac_in_use == 0 ? "" : MacText(port.mac_in_use)},
                    {"link_state", port.link_state},
                    {"error", port.error},
                    {"remote_ip", port.remote_ip},
                    {"local_ip", port.local_ip}});
  }
  return list;
}

Json Counters(const NetworkCounters& counters) {
  return {{"intervals_decided", counters.intervals_decided},
          {"intervals_incomplete", counters.intervals_incomplete},
          {"reports", counters.reports},
          {"clears", counters.clears},
          {"reports_suppressed", counters.reports_suppressed},
          {"partials", counters.partials},
          {"late_partials", counters.late_partials},
          {"refused_partials", counters.refused_partials},
          {"buckets_evicted", counters.buckets_evicted},
          {"polls", counters.polls}};
}

}  // namespace

std::string EntityTag(const EventRecord& record) {
  return "\"e" + std::to_string(record.id) + (record.is_enabled ? "\"" : "-off\"");
}

Json ToJson(const EventView& event) {
  Json json = {{"name", event.record.name},
               {"id", event.record.id},
               {"enabled", event.record.is_enabled},
               {"tenant", event.record.tenant},
               {"definition", Definition(event.record.definition)},
               {"line", event.line},
               {"mode", event.mode},
               {"why_not_threshold", event.why_not_threshold},
               {"problem", event.problem},
               {"hosts_wanted", event.wanted},
               {"hosts_applied", event.applied},
               {"sent_ns", event.changed_ns},
               {"applied_ns", event.last_applied_ns},
               {"last_report_ns", event.last_report_ns},
               {"created_ns", event.record.created_ns},
               {"changed_ns", event.record.changed_ns},
               {"changed_by", event.record.changed_by},
               {"counters", Counters(event.counters)}};
  if (!event.reads.empty()) json["reads"] = event.reads;
  return json;
}

Json ToJson(const EventCheck& check) {
  Json json = {{"name", check.spec.name},
               {"definition", Definition(check.json)},
               {"line", check.line},
               {"exists", check.exists},
               {"hosts", check.hosts},
               {"mode", check.mode},
               {"why_not_threshold", check.why_not_threshold},
               {"words_per_bucket", check.words_per_bucket},
               {"bytes_per_interval", check.bytes_per_interval},
               {"ns_per_packet", check.ns_per_packet},
               {"warnings", check.warnings}};
  if (!check.reads.empty()) json["reads"] = check.reads;
  return json;
}

Json ToJson(const EventOnHost& host) {
  return {{"host", host.host},
          {"state", StateName(host.state)},
          {"applied_ns", host.applied_ns},
          {"acknowledged_ns", host.acknowledged_ns},
          {"error", host.error}};
}

Json ToJson(const HostView& host) {
  return {{"id", host.id},
          {"name", host.name},
          {"connected", host.is_connected},
          {"monitor_off", host.is_monitor_off},
          {"in_topology", host.is_in_topology},
          {"address", host.address},
          {"software", host.software},
          {"connected_since_ns", host.connected_since_ns},
          {"last_seen_ns", host.last_seen_ns},
          {"sessions", host.sessions},
          {"last_error", host.last_error},
          {"epoch_ns", host.epoch_ns},
          {"clock_offset_ns", host.clock_offset_ns},
          {"skew_bound_ns", host.skew_bound_ns},
          {"rtt_ns", host.rtt_ns},
          {"set_generation", host.set_generation},
          {"events_wanted", host.events_wanted},
          {"events_applied", host.events_applied},
          {"queued_bytes", host.queued_bytes},
          {"ended_until_ns", host.ended_until_ns},
          {"bytes_received", host.counters.bytes_received},
          {"bytes_sent", host.counters.bytes_sent},
          {"prefixes", Prefixes(host.prefixes)},
          {"external_ids", KeyValues(host.facts.external_ids)},
          {"bridges", Bridges(host.facts)},
          {"ports", Ports(host.facts)},
          {"port_count", host.port_count}};
}

namespace {

// What only LLDP knows is there if LLDP has told it.
Json Links(const std::vector<TopologyLink>& links) {
  static const char* const kSources[] = {"file", "lldp", "file+lldp"};
  Json list = Json::array();
  for (const TopologyLink& link : links) {
    Json one = {{"from", link.from},
                {"to", link.to},
                {"weight", link.weight},
                {"source", kSources[static_cast<size_t>(link.source)]}};
    if (link.source != LinkSource::kFile) {
      one["from_port"] = link.from_port;
      one["to_port"] = link.to_port;
      one["age_ms"] = link.age / kNanosPerMilli;
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

Json ToJson(const Topology& topology) {
  Json hosts = Json::array();
  for (const TopologyHost& host : topology.hosts) {
    hosts.push_back({{"id", host.id},
                     {"name", host.name},
                     {"prefixes", Prefixes(host.prefixes)},
                     {"macs", Macs(host.macs)},
                     {"attached_to", host.attached_to},
                     {"labels", host.labels}});
  }
  Json switches = Json::array();
  for (const TopologySwitch& node : topology.switches) {
    switches.push_back({{"name", node.name},
                        {"datapath_id", DatapathId(node.datapath_id)},
                        {"edge_ports", node.edge_ports},
                        {"source", node.is_in_file ? "file" : "openflow"}});
  }
  return {{"hosts", std::move(hosts)},
          {"switches", std::move(switches)},
          {"links", Links(topology.links)},
          {"lost_links", Links(topology.lost_links)}};
}

void AppendJsonText(const ReportRow& row, std::string* text) {
  *text += "{\"number\":";
  *text += std::to_string(row.number);
  if (row.json.size() <= 2) {
    *text += '}';
  } else {
    *text += ',';
    text->append(row.json, 1);
  }
}

std::string ToJsonText(const ReportRow& row) {
  std::string text;
  AppendJsonText(row, &text);
  return text;
}

}  // namespace trumpet
