// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/slice_answers.h"

#include <cstdio>

#include "lib/base/text_table.h"

namespace trumpet {
namespace {

const ApiJson& MemberOf(const ApiJson& value, const char* key) {
  static const ApiJson kNone;
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : kNone;
}

double NumberOf(const ApiJson& value, const char* key) {
  const ApiJson& member = MemberOf(value, key);
  return member.is_number() ? member.get<double>() : 0;
}

std::string Fixed(double value, int decimals) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// "0.8 (0.0-2.7)"
std::string WithRange(double value, double low, double high, int decimals) {
  return Fixed(value, decimals) + " (" + Fixed(low, decimals) + "-" + Fixed(high, decimals) + ")";
}

// In per cent.
std::string ShareOf(const ApiJson& query, const char* key) {
  const ApiJson& estimate = MemberOf(query, key);
  if (!estimate.is_object()) return "-";
  return WithRange(100 * NumberOf(estimate, "value"), 100 * NumberOf(estimate, "low"),
                   100 * NumberOf(estimate, "high"), 1);
}

// In milliseconds.
std::string DelayOf(const ApiJson& query) {
  const ApiJson& delay = MemberOf(query, "delay");
  if (!delay.is_object()) return "-";
  return WithRange(NumberOf(delay, "median_ns") / 1e6, NumberOf(delay, "p5_ns") / 1e6,
                   NumberOf(delay, "p95_ns") / 1e6, 2);
}

// "391 of 403"
std::string JudgedOf(const ApiJson& packets) {
  const double judged = NumberOf(packets, "at_ingress");
  return Fixed(judged, 0) + " of " + Fixed(judged + NumberOf(packets, "unjudged"), 0);
}

// What the figures of a query do not say.
std::string LimitsOf(const std::string& head, const ApiJson& query) {
  std::string text;
  const ApiJson& packets = MemberOf(query, "packets");
  const double judged = NumberOf(packets, "at_ingress");
  const double unjudged = NumberOf(packets, "unjudged");
  if (unjudged > judged) {
    text += head +
            "most packets say nothing of loss: they are of flows of one or two packets in a "
            "slot, or at its edges; longer slots tell more (slices: shortest_slice)\n";
  }
  const double silent = NumberOf(packets, "silent_flows");
  if (silent > 0) {
    text += head + Fixed(silent, 0) +
            " flows were seen at the first switch and never at the last one: if theirs is a way of "
            "its own, it may be cut\n";
  }
  if (const std::string problem = ApiText(query, "no_delay"); !problem.empty()) {
    text += head + "no delay: " + problem + "\n";
  }
  if (const double error = NumberOf(MemberOf(query, "delay"), "error_ns"); error > 0) {
    text += head + "delays may be wrong by " + Fixed(error / 1e6, 2) +
            " ms, if the way to a switch is not as fast as that back\n";
  }
  return text;
}

std::string AnalyzerText(const ApiJson& answer) {
  TextTable paths(
      {">Q", "copied at", ">judged", ">loss %", ">share %", ">delay ms", ">copies lost %"});
  std::string regions;
  std::string limits;
  for (const ApiJson& query : MemberOf(answer, "queries")) {
    const std::string number = Fixed(NumberOf(query, "query") + 1, 0);
    if (ApiText(query, "kind") == "confine") {
      regions +=
          "  Q" + number + ": " + ApiText(query, "violations") + " packets left the region\n";
      continue;
    }
    paths.Add({number, ApiText(query, "locations"), JudgedOf(MemberOf(query, "packets")),
               ShareOf(query, "loss"), ShareOf(query, "share"), DelayOf(query),
               ShareOf(query, "copy_loss")});
    limits += LimitsOf("  Q" + number + ": ", query);
  }
  std::string text = "analyzer " + ApiText(answer, "analyzer") + ", intervals for " +
                     Fixed(100 * NumberOf(answer, "confidence"), 0) +
                     " % of cases, delays of 90 % of packets:\n";
  if (!paths.is_empty()) text += paths.ToString(0);
  return text + regions + limits;
}

}  // namespace

std::string SliceAnswersText(const ApiJson& answers) {
  std::string text;
  const ApiJson& analyzers = MemberOf(answers, "analyzers");
  if (!analyzers.is_array()) return text;
  for (const ApiJson& one : analyzers) text += AnalyzerText(one);
  return text;
}

}  // namespace trumpet
