// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/drop_tables.h"

#include <cstdio>

#include "controller/view/probe_tables.h"
#include "lib/base/text_table.h"
#include "lib/base/units.h"

namespace trumpet {
namespace {

ApiJson MemberOf(const ApiJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? ApiJson() : *found;
}

std::string OutcomeOf(const ApiJson& search) {
  const std::string verdict = ApiText(search, "verdict");
  return verdict.empty() ? ApiText(search, "state") : verdict;
}

// "3 of 40"
std::string LostOf(const ApiJson& packets) {
  if (!packets.is_object()) return "";
  return ApiText(packets, "lost") + " of " + ApiText(packets, "known");
}

std::string FieldsText(const ApiJson& search) {
  TextTable table({"field", "role", ">lost", "vanish with", "pass with"});
  for (const ApiJson& field : MemberOf(search, "fields")) {
    const std::string role = ApiText(field, "role");
    if (role == "not_tried") continue;
    table.Add({ApiText(field, "field"), role, LostOf(MemberOf(field, "packets")),
               ApiText(field, "lost"), ApiText(field, "passed")});
  }
  return table.is_empty() ? "" : table.ToString(0);
}

// Traces of packets of the flow itself.
std::string TracesText(const ApiJson& search) {
  const ApiJson kinds = MemberOf(search, "kinds");
  if (!kinds.is_array() || kinds.empty()) return "";
  std::string text;
  for (const ApiJson& trace : MemberOf(MemberOf(kinds.front(), "traces"), "lost")) {
    if (trace.is_string()) text += " " + trace.get<std::string>();
  }
  return text.empty() ? "" : "traces of lost packets:" + text + "\n";
}

}  // namespace

std::string DropSearchTable(const ApiJson& searches) {
  TextTable table({"begun", "id", "at", "packet", ">sent", ">lost", "outcome"});
  for (const ApiJson& search : searches) {
    table.Add({FormatTime(ApiWhole(search, "begun_ns")), ApiText(search, "id"),
               ApiText(search, "switch") + ":" + ApiText(search, "port"), ProbeFlowText(search),
               ApiText(search, "sent"), LostOf(MemberOf(search, "packets")), OutcomeOf(search)});
  }
  return table.is_empty() ? "no searches\n" : table.ToString(0);
}

std::string DropSearchText(const ApiJson& search) {
  std::string text = "search " + ApiText(search, "id") + " at switch " + ApiText(search, "switch") +
                     ", port " + ApiText(search, "port") + "\n" + ProbePacketText(search) + "\n" +
                     FieldsText(search) + TracesText(search);
  for (const ApiJson& note : MemberOf(search, "notes")) {
    if (note.is_string()) text += "note: " + note.get<std::string>() + "\n";
  }
  text += OutcomeOf(search);
  const std::string persistence = ApiText(search, "persistence");
  if (persistence == "transient" || persistence == "persistent") text += ", " + persistence;
  const std::string explanation = ApiText(search, "explanation");
  return text + (explanation.empty() ? "" : ": " + explanation) + "\n";
}

}  // namespace trumpet
