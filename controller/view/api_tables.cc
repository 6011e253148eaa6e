// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/api_tables.h"

#include <algorithm>
#include <utility>

#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

// The value as a cell; of a list its items.
std::string Text(const ApiJson& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump(-1, ' ', false, ApiJson::error_handler_t::replace);
  std::string text;
  for (const ApiJson& item : value) text += (text.empty() ? "" : " ") + Text(item);
  return text;
}

const ApiJson& Get(const ApiJson& value, const char* key) {
  static const ApiJson kNone;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : kNone;
}

std::string TextOf(const ApiJson& value, const char* key) { return Text(Get(value, key)); }

Nanos NanosOf(const ApiJson& value, const char* key) { return ApiWhole(value, key); }

std::string TimeOf(const ApiJson& value, const char* key) {
  const Nanos time = NanosOf(value, key);
  return time == 0 ? "-" : FormatTime(time);
}

std::string MicrosOf(const ApiJson& value, const char* key) {
  return FormatRatio(static_cast<double>(NanosOf(value, key)), 1000);
}

// "3 of 5"
std::string AppliedOf(const ApiJson& value, const char* applied, const char* wanted) {
  return TextOf(value, applied) + " of " + TextOf(value, wanted);
}

// "3 of 5 hosts, 12.5 ms after it was sent"
std::string InstallationOf(const ApiJson& event) {
  if (!Get(event, "reads").empty()) return "";  // it is on no host
  const std::string applied = AppliedOf(event, "hosts_applied", "hosts_wanted") + " hosts";
  const Nanos took = NanosOf(event, "applied_ns") - NanosOf(event, "sent_ns");
  if (NanosOf(event, "applied_ns") == 0 || took < 0) return applied;
  return applied + ", " + FormatRatio(static_cast<double>(took), kNanosPerMilli) +
         " ms after it was sent";
}

std::string StateOf(const ApiJson& event) {
  if (!TextOf(event, "problem").empty()) return "problem";
  return TextOf(event, "enabled") == "no" ? "disabled" : "enabled";
}

// {"dstPort":80,"srcIP":"10.0.0.1"} as dstPort=80 srcIP=10.0.0.1
std::string BucketOf(const ApiJson& report) {
  const ApiJson& bucket = Get(report, "bucket");
  std::string text;
  for (const auto& [field, value] : bucket.items()) {
    text += (text.empty() ? "" : " ") + field + "=" + Text(value);
  }
  return text.empty() ? "-" : text;
}

// A line each.
std::string IdsText(const ApiJson& ids) {
  std::string text;
  for (const auto& [key, value] : ids.items()) text += key + ": " + Text(value) + "\n";
  return text;
}

std::string NoteOf(const ApiJson& report) {
  std::string note = TextOf(report, "cleared") == "yes" ? "clear" : "";
  if (TextOf(report, "complete") == "no") {
    const std::string reasons = TextOf(report, "reasons");
    note += std::string(note.empty() ? "" : ", ") + "incomplete" +
            (reasons.empty() ? "" : ": " + reasons);
  }
  return note;
}

}  // namespace

std::string ApiText(const ApiJson& value, const char* key) { return TextOf(value, key); }

int64_t ApiWhole(const ApiJson& value, const char* key) {
  const ApiJson& number = Get(value, key);
  return number.is_number_integer() ? number.get<int64_t>() : 0;
}

std::string EventTable(const ApiJson& events) {
  TextTable table({"name", "state", "applied", "mode", ">reports", "last report", "event"});
  for (const ApiJson& event : events) {
    table.Add({TextOf(event, "name"), StateOf(event),
               AppliedOf(event, "hosts_applied", "hosts_wanted"), TextOf(event, "mode"),
               TextOf(Get(event, "counters"), "reports"), TimeOf(event, "last_report_ns"),
               TextOf(event, "line")});
  }
  return table.is_empty() ? "no events\n" : table.ToString(0);
}

std::string EventText(const ApiJson& event, const ApiJson& hosts) {
  std::string text = TextOf(event, "name") + ": " + TextOf(event, "line") + "\n";
  const std::pair<const char*, std::string> rows[] = {
      {"state", StateOf(event)},
      {"problem", TextOf(event, "problem")},
      {"tenant", TextOf(event, "tenant")},
      {"applied", InstallationOf(event)},
      {"decided by", TextOf(event, "mode")},
      {"not by threshold", TextOf(event, "why_not_threshold")},
      {"reads", TextOf(event, "reads")},
      {"changed", TimeOf(event, "changed_ns") + " by " + TextOf(event, "changed_by")},
      {"last report", TimeOf(event, "last_report_ns")},
  };
  for (const auto& [name, value] : rows) {
    if (!value.empty()) text += std::string("  ") + name + ": " + value + "\n";
  }
  const ApiJson& counters = Get(event, "counters");
  for (const auto& [name, value] : counters.items()) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += "  " + words + ": " + Text(value) + "\n";
  }
  TextTable table({"host", "state", "runs since", "error"});
  for (const ApiJson& host : hosts) {
    table.Add({TextOf(host, "host"), TextOf(host, "state"), TimeOf(host, "applied_ns"),
               TextOf(host, "error")});
  }
  return table.is_empty() ? text : text + "\n" + table.ToString(0);
}

std::string CheckTable(const ApiJson& checks) {
  TextTable table({"name", "", ">hosts", "mode", ">bytes a bucket", ">bytes an interval",
                   ">ns a packet", "event"});
  std::string notes;
  for (const ApiJson& check : checks) {
    const ApiJson& words = Get(check, "words_per_bucket");
    table.Add({TextOf(check, "name"), TextOf(check, "exists") == "yes" ? "replaces" : "new",
               std::to_string(Get(check, "hosts").size()), TextOf(check, "mode"),
               words.is_number() ? std::to_string(8 * words.get<uint64_t>()) : "",
               TextOf(check, "bytes_per_interval"), TextOf(check, "ns_per_packet"),
               TextOf(check, "line")});
    if (!Get(check, "reads").empty()) {
      notes += TextOf(check, "name") + ": the controller reads " + TextOf(check, "reads") +
               " of all hosts at the end of each interval\n";
    }
    for (const ApiJson& warning : Get(check, "warnings")) {
      notes += TextOf(check, "name") + ": warning: " + Text(warning) + "\n";
    }
  }
  return table.ToString(0) + notes;
}

std::string HostTable(const ApiJson& hosts) {
  TextTable table({"host", "name", "state", "address", "events", ">ports", ">skew us", ">rtt us",
                   "since", "last error"});
  for (const ApiJson& host : hosts) {
    const bool is_connected = TextOf(host, "connected") == "yes";
    table.Add({TextOf(host, "id"), TextOf(host, "name"),
               !is_connected                          ? "away"
               : TextOf(host, "monitor_off") == "yes" ? "monitor off"
                                                      : "connected",
               TextOf(host, "address"), AppliedOf(host, "events_applied", "events_wanted"),
               TextOf(host, "port_count"), MicrosOf(host, "skew_bound_ns"),
               MicrosOf(host, "rtt_ns"),
               TimeOf(host, is_connected ? "connected_since_ns" : "last_seen_ns"),
               TextOf(host, "last_error")});
  }
  return table.is_empty() ? "no hosts\n" : table.ToString(0);
}

std::string HostText(const ApiJson& host) {
  std::string text = HostTable(ApiJson::array({host}));
  text +=
      "\nsoftware: " + TextOf(host, "software") + "\nprefixes: " + TextOf(host, "prefixes") + "\n";
  text += IdsText(Get(host, "external_ids"));
  TextTable bridges({"bridge", "datapath", "datapath id"});
  for (const ApiJson& bridge : Get(host, "bridges")) {
    bridges.Add(
        {TextOf(bridge, "name"), TextOf(bridge, "datapath_type"), TextOf(bridge, "datapath_id")});
  }
  if (!bridges.is_empty()) text += "\n" + bridges.ToString(0);
  TextTable ports({"bridge", "port", ">number", "type", "kind", "link", "macs behind it",
                   "mac in use", "interface", "remote", "error"});
  for (const ApiJson& port : Get(host, "ports")) {
    ports.Add({TextOf(port, "bridge"), TextOf(port, "name"), TextOf(port, "of_port"),
               TextOf(port, "type"), TextOf(port, "is_uplink") == "yes" ? "uplink" : "edge",
               TextOf(port, "link_state"), TextOf(port, "macs"), TextOf(port, "mac_in_use"),
               TextOf(Get(port, "external_ids"), "iface-id"), TextOf(port, "remote_ip"),
               TextOf(port, "error")});
  }
  return ports.is_empty() ? text : text + "\n" + ports.ToString(0);
}

std::string TopologyText(const ApiJson& topology) {
  TextTable hosts({"host", "name", "attached to", "labels", "prefixes"});
  for (const ApiJson& host : Get(topology, "hosts")) {
    hosts.Add({TextOf(host, "id"), TextOf(host, "name"), TextOf(host, "attached_to"),
               TextOf(host, "labels"), TextOf(host, "prefixes")});
  }
  TextTable switches({"switch", "datapath id", "edge ports", "source"});
  for (const ApiJson& one : Get(topology, "switches")) {
    switches.Add({TextOf(one, "name"), TextOf(one, "datapath_id"), TextOf(one, "edge_ports"),
                  TextOf(one, "source")});
  }
  TextTable links({"link from", ">port", "to", ">port", ">weight", "source", ">age"});
  for (const char* list : {"links", "lost_links"}) {
    const bool is_lost = std::string_view(list) == "lost_links";
    for (const ApiJson& link : Get(topology, list)) {
      const std::string age = TextOf(link, "age_ms");
      links.Add({TextOf(link, "from"), TextOf(link, "from_port"), TextOf(link, "to"),
                 TextOf(link, "to_port"), TextOf(link, "weight"),
                 is_lost ? "file, lost" : TextOf(link, "source"), age.empty() ? "" : age + " ms"});
    }
  }
  std::string text = hosts.is_empty() ? "no hosts\n" : hosts.ToString(0);
  if (!switches.is_empty()) text += "\n" + switches.ToString(0);
  if (!links.is_empty()) text += "\n" + links.ToString(0);
  return text;
}

std::string ReportTable(const ApiJson& reports) {
  TextTable table({">number", "end", "event", "bucket", ">value", ">threshold", "note"});
  for (const ApiJson& report : reports) {
    table.Add({TextOf(report, "number"), FormatTime(NanosOf(report, "end_ns")),
               TextOf(report, "event"), BucketOf(report), TextOf(report, "value"),
               TextOf(report, "threshold"), NoteOf(report)});
  }
  return table.is_empty() ? "no reports\n" : table.ToString(0);
}

std::string ReportLine(const ApiJson& report) {
  std::string text = FormatTime(NanosOf(report, "end_ns")) + "  " + TextOf(report, "event") + "  " +
                     BucketOf(report);
  if (TextOf(report, "cleared") != "yes") {
    text += "  value " + TextOf(report, "value") + ", threshold " + TextOf(report, "threshold");
  }
  const std::string note = NoteOf(report);
  return note.empty() ? text : text + "  (" + note + ")";
}

}  // namespace trumpet
