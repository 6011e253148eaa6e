// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/trace_tables.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

Nanos NanosOf(const ApiJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<Nanos>() : 0;
}

ApiJson MemberOf(const ApiJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? ApiJson() : *found;
}

std::string ProtocolText(const ApiJson& packet) {
  const std::string number = ApiText(packet, "protocol");
  return number == "6" ? "tcp" : number == "17" ? "udp" : number == "1" ? "icmp" : number;
}

// "10.0.1.1:1000", "[2001:db8::1]:53"
std::string EndText(const ApiJson& packet, const char* address, const char* port) {
  const std::string text = ApiText(packet, address);
  if (!packet.contains(port)) return text;
  const bool is_ipv6 = text.find(':') != text.npos;
  return (is_ipv6 ? "[" + text + "]" : text) + ":" + ApiText(packet, port);
}

std::string PacketText(const ApiJson& trace) {
  const ApiJson packet = MemberOf(trace, "packet");
  if (!packet.is_object()) return "not IP";
  return ProtocolText(packet) + " " + EndText(packet, "src", "src_port") + " > " +
         EndText(packet, "dst", "dst_port");
}

std::string PathText(const ApiJson& trace) {
  std::string text;
  for (const ApiJson& hop : MemberOf(trace, "path")) {
    text += (text.empty() ? "" : ">") + ApiText(hop, "switch");
  }
  return text;
}

// "+20.0 us"
std::string SinceText(Nanos nanos) {
  char text[40];
  std::snprintf(text, sizeof text, "+%.1f us", static_cast<double>(nanos) / 1000);
  return text;
}

}  // namespace

std::string TraceTable(const ApiJson& traces) {
  TextTable table({"start", "id", "packet", "verdict", "path", "analyzer"});
  for (const ApiJson& trace : traces) {
    table.Add({FormatTime(NanosOf(trace, "start_ns")), ApiText(trace, "id"), PacketText(trace),
               ApiText(trace, "verdict"), PathText(trace), ApiText(trace, "analyzer")});
  }
  return table.is_empty() ? "no traces\n" : table.ToString(0);
}

std::string TraceLine(const ApiJson& trace) {
  return FormatTime(NanosOf(trace, "start_ns")) + "  " + ApiText(trace, "id") + "  " +
         PacketText(trace) + "  " + ApiText(trace, "verdict") + "  " + PathText(trace);
}

std::string TraceText(const ApiJson& trace) {
  std::string text = TraceTable(ApiJson::array({trace}));
  text += "verdict: " + ApiText(trace, "verdict");
  const std::string confidence = ApiText(trace, "confidence");
  if (!confidence.empty()) text += " with confidence " + confidence;
  text += ", last seen at " + ApiText(trace, "last_switch") + "\n";
  const ApiJson evidence = MemberOf(trace, "evidence");
  if (evidence.is_object() && !evidence.empty()) {
    text += "evidence: " + evidence.dump(-1, ' ', false, ApiJson::error_handler_t::replace) + "\n";
  }
  TextTable table({"switch", "ttl", "tag", "after"});
  const Nanos start = NanosOf(trace, "start_ns");
  for (const ApiJson& hop : MemberOf(trace, "path")) {
    table.Add({ApiText(hop, "switch"), ApiText(hop, "ttl"), ApiText(hop, "tag"),
               SinceText(NanosOf(hop, "time_ns") - start)});
  }
  return text + (table.is_empty() ? "" : table.ToString(0));
}

std::string TraceCounterTable(const ApiJson& counters) {
  if (counters.empty()) return "nothing was counted\n";
  std::vector<std::string> keys;
  for (const auto& [key, value] : counters[0].items()) keys.push_back(key);
  std::vector<std::string> head = keys;
  if (!head.empty()) head[0] = "start";
  TextTable table(head);
  for (const ApiJson& one : counters) {
    std::vector<std::string> row;
    for (const std::string& key : keys) {
      row.push_back(key == "start_ns" ? FormatTime(NanosOf(one, "start_ns"))
                                      : ApiText(one, key.c_str()));
    }
    table.Add(row);
  }
  return table.ToString(0);
}

std::string AppFindingsText(const ApiJson& answer) {
  std::string text;
  for (const ApiJson& one : MemberOf(answer, "findings")) {
    text += ApiText(one, "verdict") + ": " + ApiText(one, "explanation") + "\n";
  }
  return text.empty() ? "nothing was found\n" : text;
}

std::string NamedCounterTable(const ApiJson& counters) {
  if (counters.empty()) return "no named counters\n";
  TextTable table({"name", "step", "filter", "made", "by"});
  for (const ApiJson& one : counters) {
    std::string text;
    const ApiJson filter = MemberOf(one, "filter");
    for (const auto& [word, value] : filter.items()) {
      text += (text.empty() ? "" : " ") + word + "=";
      if (value.is_string()) text += value.get<std::string>();
      for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
        text += (i > 0 ? "," : "") + (value[i].is_string() ? value[i].get<std::string>() : "");
      }
    }
    table.Add({ApiText(one, "name"), ApiText(one, "step_s") + " s",
               text.empty() ? "everything" : text, FormatTime(NanosOf(one, "created_ns")),
               ApiText(one, "created_by")});
  }
  return table.ToString(0);
}

std::string CounterValueTable(const ApiJson& values) {
  if (values.empty()) return "nothing was counted\n";
  TextTable table({"start", "packets", "bytes", "connections", "delivered", "dropped",
                   "copies_lost", "loop", "not_known", "hop p50", "hop p99"});
  for (const ApiJson& one : values) {
    std::vector<std::string> row = {FormatTime(NanosOf(one, "start_ns"))};
    for (const char* const key : {"packets", "bytes", "connections", "delivered", "dropped",
                                  "copies_lost", "loop", "not_known"}) {
      row.push_back(ApiText(one, key));
    }
    const ApiJson latency = MemberOf(one, "hop_latency_ns");
    for (const char* const key : {"p50", "p99"}) {
      row.push_back(latency.is_object() ? SinceText(NanosOf(latency, key)).substr(1) : "-");
    }
    table.Add(row);
  }
  return table.ToString(0);
}

std::string TraceEstimateText(const ApiJson& estimate) {
  TextTable table({"analyzer", "files", "traces", "bytes"});
  for (const ApiJson& one : MemberOf(estimate, "analyzers")) {
    table.Add({ApiText(one, "analyzer"), ApiText(one, "files"), ApiText(one, "traces"),
               ApiText(one, "bytes")});
  }
  table.Add(
      {"all", ApiText(estimate, "files"), ApiText(estimate, "traces"), ApiText(estimate, "bytes")});
  return table.ToString(0);
}

}  // namespace trumpet
