// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/results.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>

namespace trumpet::bench {
namespace {

std::string Cell(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The ratios to reach, for the cases that have one.
const std::map<std::string, double>& Goals() {
  static const std::map<std::string, double> goals = {
      {"300 flows", 0.70}, {"1000 flows", 0.70}, {"10000 flows", 0.85}, {"100000 flows", 1.30}};
  return goals;
}

// What keeps a row from counting; empty if nothing does.
std::string ProblemOf(const Json& row) {
  if (row.contains("problem")) return row["problem"].get<std::string>();
  if (!row.value("sweeps_finished", true)) {
    return std::to_string(row["epochs_skipped"].get<uint64_t>()) +
           " epochs ended before the sweep of the one before";
  }
  return "";
}

// Half of the samples within 15 % of the least.
bool IsQuiet(const Json& row) {
  return row["ns_median"].get<double>() <= 1.15 * row["ns_min"].get<double>();
}

void PrintRow(const Json& row) {
  std::string text = "  " + row["contender"].get<std::string>();
  text.resize(std::max<size_t>(text.size() + 1, 16), ' ');
  for (const char* member : {"ns_min", "ns_median", "ns_p90", "ns_max", "ns_min_without_frames"}) {
    text += Cell("%9.2f", row[member].get<double>());
  }
  text += Cell("%8.2f", row["ratio"].get<double>());
  std::fprintf(stderr, "%s\n", text.c_str());
  const std::string problem = ProblemOf(row);
  if (!problem.empty()) std::fprintf(stderr, "  NOT VALID: %s\n", problem.c_str());
}

std::string WordsOf(const Json& members) {
  std::string text;
  for (const auto& [name, value] : members.items()) {
    if (!value.is_object()) text += (text.empty() ? "" : ", ") + name + " " + value.dump();
  }
  return text;
}

// A run of another kind: its own members as they are.
void PrintOther(const Json& row) {
  const Json& results = row["results"];
  std::fprintf(stderr, "%s\n", row["case"].get<std::string>().c_str());
  for (const auto& [name, value] : results.items()) {
    if (!value.is_object()) continue;
    std::fprintf(stderr, "  %-13s %s\n", name.c_str(), WordsOf(value).c_str());
  }
  std::fprintf(stderr, "  %s\n", WordsOf(results).c_str());
  const std::string problem = ProblemOf(row);
  if (!problem.empty()) std::fprintf(stderr, "  NOT VALID: %s\n", problem.c_str());
}

}  // namespace

void Results::Add(const std::vector<Json>& rows) {
  if (rows.empty()) return;
  if (rows[0].contains("contender")) {
    std::fprintf(stderr, "%s\n", rows[0]["case"].get<std::string>().c_str());
    std::fprintf(stderr, "  %-14s%9s%9s%9s%9s%9s%8s\n", "CPU ns/packet", "min", "median", "p90",
                 "max", "own", "ratio");
  }
  for (const Json& row : rows) {
    row.contains("contender") ? PrintRow(row) : PrintOther(row);
    if (json_file_.empty()) std::cout << row.dump() << "\n" << std::flush;
    rows_.push_back(row);
  }
}

int Results::exit_status() const {
  int status = 0;
  for (const Json& row : rows_) {
    if (row.contains("problem")) return 1;
    if (!ProblemOf(row).empty()) status = 3;
  }
  return status;
}

const Json* Results::Find(const std::string& label, const char* contender) const {
  for (const Json& row : rows_) {
    if (row["case"] == label && row.value("contender", "") == contender) return &row;
  }
  return nullptr;
}

std::string Results::LineOf(const std::string& label) const {
  std::string line = label;
  line.resize(std::max<size_t>(line.size() + 1, 38), ' ');
  for (const char* contender :
       {"yardstick", "map", "parse", "lookup", "match-first", "match-later", "monitor"}) {
    const Json* row = Find(label, contender);
    line += row == nullptr ? "       -" : Cell("%8.1f", (*row)["ns_min"].get<double>());
  }
  const Json& monitor = *Find(label, "monitor");
  const bool is_quiet = IsQuiet(monitor) && IsQuiet(*Find(label, "yardstick"));
  line += Cell("%7.1f", monitor["ns_p90"].get<double>());
  line += Cell("%7.1f", monitor["ns_min_without_frames"].get<double>());
  line += Cell("%6.1f%%", 100 * monitor["sweep_share"].get<double>());
  line += monitor["sweeps_finished"].get<bool>() ? "  yes" : "   NO";
  line += Cell("%7.2f", monitor["ratio"].get<double>()) + (is_quiet ? " " : "~");
  const auto goal = Goals().find(label);
  if (goal != Goals().end()) {
    line += Cell("(%.2f", goal->second) +
            (monitor["ratio"].get<double>() <= goal->second ? " met)" : " not met)");
  }
  return ProblemOf(monitor).empty() ? line : line + "  NOT VALID";
}

// The labels of all cases that the monitor ran, each once.
std::vector<std::string> Results::Labels() const {
  std::vector<std::string> labels;
  for (const Json& row : rows_) {
    const auto label = row["case"].get<std::string>();
    if (row.value("contender", "") == "monitor") labels.push_back(label);
  }
  return labels;
}

void Results::PrintCases() const {
  const std::vector<std::string> labels = Labels();
  if (labels.empty()) return;
  std::fprintf(
      stderr,
      "\nCPU ns per packet, minimum of the repeats; own: without the frames; done: every "
      "sweep ended in its epoch;\nratio: monitor / yardstick (goal); ~: too noisy to trust, one of "
      "them varied by more than 15 %%\n%-38s%8s%8s%8s%8s"
      "%8s%8s%8s%7s%7s%7s%5s%7s\n",
      "4,096 triggers, 8/packet, 32 masks", "yardst.", "map", "parse", "lookup", "m-first",
      "m-later", "monitor", "p90", "own", "sweep", "done", "ratio");
  for (const std::string& label : labels) std::fprintf(stderr, "%s\n", LineOf(label).c_str());
}

void Results::PrintOthers() const {
  if (Labels().empty()) return;  // they stand above, all of them
  std::fprintf(stderr, "\n");
  for (const Json& row : rows_) {
    if (!row.contains("contender")) PrintOther(row);
  }
}

bool Results::Finish() const {
  PrintCases();
  PrintOthers();
  if (json_file_.empty()) return true;
  std::ofstream file(json_file_);
  for (const Json& row : rows_) file << row.dump() << "\n";
  file.close();
  std::fprintf(stderr, "\nbench-monitor: %zu results in %s%s\n", rows_.size(), json_file_.c_str(),
               file ? "" : ": cannot be written");
  return static_cast<bool>(file);
}

}  // namespace trumpet::bench
