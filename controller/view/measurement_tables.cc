// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/measurement_tables.h"

#include <cstdio>

#include "lib/base/text_table.h"

namespace trumpet {
namespace {

// An answer may hold anything: what is no list is an empty one.
const ApiJson& ListOf(const ApiJson& value, const char* key) {
  static const ApiJson kNone = ApiJson::array();
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() && found->is_array() ? *found : kNone;
}

size_t CountIn(const ApiJson& hosts, const char* state) {
  size_t count = 0;
  for (const ApiJson& host : hosts) count += ApiText(host, "state") == state ? 1 : 0;
  return count;
}

std::string Rounded(const ApiJson& value, const char* key) {
  const auto found = value.find(key);
  if (found == value.end() || !found->is_number()) return "?";
  char text[64];
  std::snprintf(text, sizeof text, "%.0f", found->get<double>());
  return text;
}

std::string PercentText(const ApiJson& value, const char* key) {
  const auto found = value.find(key);
  if (found == value.end() || !found->is_number()) return "?";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * found->get<double>());
  return text;
}

// "about 480 (470 to 480)"
std::string EstimateText(const ApiJson& value, const char* key) {
  const auto found = value.is_object() ? value.find(key) : value.end();
  if (!value.is_object() || found == value.end() || !found->is_object()) return "";
  return "about " + Rounded(*found, "value") + " (" + Rounded(*found, "low") + " to " +
         Rounded(*found, "high") + ")";
}

std::string AnswerOf(const ApiJson& variable) {
  const std::string keys = EstimateText(variable, "keys");
  if (!keys.empty()) return keys + " keys";
  const std::string estimate = EstimateText(variable, "estimate");
  if (!estimate.empty()) return estimate;
  const std::string value = ApiText(variable, "value");
  return value.empty() ? "-" : value;
}

const ApiJson& ObjectOf(const ApiJson& value, const char* key) {
  static const ApiJson kNone = ApiJson::object();
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() && found->is_object() ? *found : kNone;
}

// Of programs that collect packets.
std::string CopiesText(const ApiJson& measurement) {
  const ApiJson& copies = ObjectOf(measurement, "copies");
  TextTable endpoints({"endpoint", "copies go to", ">sent", ">over rate", ">failed"});
  for (const ApiJson& endpoint : ListOf(copies, "endpoints")) {
    const std::string address = ApiText(endpoint, "address");
    endpoints.Add({ApiText(endpoint, "endpoint"), address.empty() ? "-" : address,
                   ApiText(endpoint, "sent"), ApiText(endpoint, "over_rate"),
                   ApiText(endpoint, "failed")});
  }
  if (endpoints.is_empty()) return "";
  const std::string rate = ApiText(measurement, "copy_rate");
  TextTable hosts(
      {"collected at", ">packets", ">sent", ">over rate", ">failed", ">lost", ">no address"});
  const auto add = [&hosts](const std::string& where, const ApiJson& one) {
    hosts.Add({where, ApiText(one, "collected"), ApiText(one, "sent"), ApiText(one, "over_rate"),
               ApiText(one, "failed"), ApiText(one, "lost"), ApiText(one, "unbound")});
  };
  for (const ApiJson& host : ListOf(measurement, "hosts")) {
    const ApiJson& of_host = ObjectOf(host, "copies");
    if (!of_host.empty()) add(ApiText(host, "id"), of_host);
  }
  add("all hosts", copies);
  return endpoints.ToString(0) + (rate.empty() ? "" : "at most " + rate + " copies a second\n") +
         hosts.ToString(0);
}

}  // namespace

std::string MeasurementTable(const ApiJson& measurements) {
  TextTable table({"name", "state", ">variables", ">hosts", ">running", "installed by"});
  for (const ApiJson& measurement : measurements) {
    const ApiJson& hosts = ListOf(measurement, "hosts");
    const bool has_problem = !ApiText(measurement, "problem").empty();
    const bool is_on = ApiText(measurement, "installed") == "yes";
    table.Add({ApiText(measurement, "name"),
               has_problem ? "problem"
               : is_on     ? "installed"
                           : "installing",
               std::to_string(ListOf(measurement, "variables").size()),
               std::to_string(hosts.size()), std::to_string(CountIn(hosts, "running")),
               ApiText(measurement, "changed_by")});
  }
  return table.ToString(0);
}

std::string MeasurementText(const ApiJson& measurement) {
  std::string text = "measurement " + ApiText(measurement, "name") + "\n";
  const std::string problem = ApiText(measurement, "problem");
  if (!problem.empty()) text += "problem: " + problem + "\n";
  TextTable variables({"variable", "kind", ">cells", "merges"});
  for (const ApiJson& variable : ListOf(measurement, "variables")) {
    variables.Add({ApiText(variable, "name"), ApiText(variable, "kind"), ApiText(variable, "cells"),
                   ApiText(variable, "merges")});
  }
  if (!variables.is_empty()) text += variables.ToString(0);
  TextTable hosts({"host", "state", ">switch", "error"});
  for (const ApiJson& host : ListOf(measurement, "hosts")) {
    hosts.Add({ApiText(host, "id"), ApiText(host, "state"), ApiText(host, "switch"),
               ApiText(host, "error")});
  }
  if (!hosts.is_empty()) text += hosts.ToString(0);
  return text + CopiesText(measurement);
}

namespace {

std::string SilentText(const ApiJson& reading) {
  std::string text;
  for (const ApiJson& host : ListOf(reading, "silent")) {
    text += "without host " + ApiText(host, "id") + ": " + ApiText(host, "why") + "\n";
  }
  return text;
}

// "ipv4.dst=167772161 pkt.request=7"
std::string PacketText(const ApiJson& copy) {
  std::string text;
  const auto packet = copy.is_object() ? copy.find("packet") : copy.end();
  if (!copy.is_object() || packet == copy.end() || !packet->is_object()) return text;
  for (const auto& [field, value] : packet->items()) {
    text += (text.empty() ? "" : " ") + field + "=" + value.dump();
  }
  return text;
}

}  // namespace

std::string AnswerText(const ApiJson& answer) {
  std::string text = SilentText(answer);
  TextTable table({"host", "endpoint", "packet"});
  for (const ApiJson& host : ListOf(answer, "answers")) {
    for (const ApiJson& copy : ListOf(host, "copies")) {
      table.Add({ApiText(host, "host"), ApiText(copy, "endpoint"), PacketText(copy)});
    }
  }
  const std::string left_out = ApiText(answer, "left_out");
  if (left_out != "0" && !left_out.empty()) text += left_out + " copies are left out\n";
  return text + (table.is_empty() ? "no host has an answer\n" : table.ToString(0));
}

std::string ReadingText(const ApiJson& reading) {
  std::string text = SilentText(reading);
  const ApiJson& variables = ListOf(reading, "variables");
  TextTable table({"variable", "kind", ">in use", "value"});
  for (const ApiJson& variable : variables) {
    table.Add({ApiText(variable, "name"), ApiText(variable, "kind"), ApiText(variable, "in_use"),
               AnswerOf(variable)});
  }
  if (!table.is_empty()) text += table.ToString(0);
  if (variables.size() != 1) return text;
  TextTable keys({"key of a collected packet", ">value", ">at least", ">surely"});
  for (const ApiJson& key : ListOf(variables[0], "top_keys")) {
    const auto estimate = key.find("estimate");
    const bool has_estimate = estimate != key.end() && estimate->is_object();
    keys.Add({ApiText(key, "key"), ApiText(key, "value"),
              has_estimate ? Rounded(*estimate, "low") : "-",
              has_estimate ? PercentText(*estimate, "confidence") : "-"});
  }
  if (!keys.is_empty()) text += keys.ToString(0);
  TextTable cells({">cell", ">value"});
  for (const ApiJson& cell : ListOf(variables[0], "largest")) {
    cells.Add({ApiText(cell, "cell"), ApiText(cell, "value")});
  }
  if (!cells.is_empty()) text += cells.ToString(0);
  return text;
}

}  // namespace trumpet
