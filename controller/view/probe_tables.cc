// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/probe_tables.h"

#include <cstdio>

#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

ApiJson MemberOf(const ApiJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? ApiJson() : *found;
}

std::string OutcomeOf(const ApiJson& probe) {
  const std::string verdict = ApiText(probe, "verdict");
  return verdict.empty() ? ApiText(probe, "state") : verdict;
}

// ", via spine2, leaf4"
std::string ViaText(const ApiJson& probe) {
  std::string text;
  for (const ApiJson& name : MemberOf(probe, "via")) {
    if (name.is_string()) text += (text.empty() ? ", via " : ", ") + name.get<std::string>();
  }
  return text;
}

// "leaf1 +0.0 us > spine1 +21.4 us"
std::string PathText(const ApiJson& packet) {
  std::string text;
  Nanos start = 0;
  for (const ApiJson& hop : MemberOf(packet, "path")) {
    const Nanos time = ApiWhole(hop, "time_ns");
    if (text.empty()) start = time;
    char after[40];
    std::snprintf(after, sizeof after, " %+.1f us", static_cast<double>(time - start) / 1000);
    text += (text.empty() ? "" : " > ") + ApiText(hop, "switch") + after;
  }
  return text;
}

}  // namespace

std::string ProbePacketText(const ApiJson& probe) {
  std::string text;
  const ApiJson packet = MemberOf(probe, "packet");
  for (const auto& [name, value] : packet.items()) {
    text += (text.empty() ? "" : " ") + name + "=" + ApiText(packet, name.c_str());
  }
  return text;
}

std::string ProbeFlowText(const ApiJson& probe) {
  const ApiJson packet = MemberOf(probe, "packet");
  return ApiText(packet, "Protocol") + " " + ApiText(packet, "srcIP") + " > " +
         ApiText(packet, "dstIP");
}

std::string ProbeTable(const ApiJson& probes) {
  TextTable table({"begun", "id", "at", "packet", ">sent", ">traced", "outcome"});
  for (const ApiJson& probe : probes) {
    table.Add({FormatTime(ApiWhole(probe, "begun_ns")), ApiText(probe, "id"),
               ApiText(probe, "switch") + ":" + ApiText(probe, "port"), ProbeFlowText(probe),
               ApiText(probe, "sent"), ApiText(probe, "traced"), OutcomeOf(probe)});
  }
  return table.is_empty() ? "no probes\n" : table.ToString(0);
}

std::string ProbeText(const ApiJson& probe) {
  std::string text = "probe " + ApiText(probe, "id") + " at switch " + ApiText(probe, "switch") +
                     ", port " + ApiText(probe, "port") + ViaText(probe) + "\n" +
                     ProbePacketText(probe) + "\n";
  TextTable table({">packet", "verdict", "trace", "path"});
  size_t number = 0;
  for (const ApiJson& packet : MemberOf(probe, "packets")) {
    const bool is_traced = packet.contains("trace");
    table.Add({std::to_string(++number), is_traced ? ApiText(packet, "verdict") : "no trace",
               ApiText(packet, "trace"), PathText(packet)});
  }
  if (!table.is_empty()) text += table.ToString(0);
  for (const ApiJson& note : MemberOf(probe, "notes")) {
    if (note.is_string()) text += "note: " + note.get<std::string>() + "\n";
  }
  text += OutcomeOf(probe);
  const std::string explanation = ApiText(probe, "explanation");
  if (!explanation.empty()) text += ": " + explanation;
  const ApiJson confidence = MemberOf(probe, "confidence");
  if (confidence.is_number() && confidence.get<double>() > 0 && confidence.get<double>() < 1) {
    char figure[40];
    std::snprintf(figure, sizeof figure, " (confidence %.4f)", confidence.get<double>());
    text += figure;
  }
  return text + "\n";
}

}  // namespace trumpet
