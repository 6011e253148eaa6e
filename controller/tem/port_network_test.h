// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of NetworkVerdicts: one event on hosts that say what the test tells them to say.

#ifndef TRUMPET_CONTROLLER_TEM_PORT_NETWORK_TEST_H
#define TRUMPET_CONTROLLER_TEM_PORT_NETWORK_TEST_H

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "controller/tem/network_verdicts.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace kit {

using Lines = std::vector<std::string>;

constexpr uint32_t kEvent = 1;

// A network of hosts "a", "b", ... with the volume per port above 10, in intervals of 10 ms from 0
// on; times in ms.
class Network {
 public:
  explicit Network(size_t hosts, const NetworkEventOptions& options = {},
                   const NetworkOptions& network = {}, uint32_t for_count = 1)
      : verdicts(network) {
    EventSpec spec = Event(kEvent, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(10)), ByPort());
    spec.for_count = for_count;
    plan = Plan(spec);
    EXPECT_TRUE(verdicts.Install(plan, 0, options).ok());
    for (size_t i = 0; i < hosts; ++i) {
      const uint32_t host = *verdicts.AddHost(std::string(1, static_cast<char>('a' + i)));
      verdicts.Invite(kEvent, host, &output);
      verdicts.Join(kEvent, host, 0);
    }
  }

  // `now_ms`: when it came.
  void Volume(uint32_t host, int64_t ms, uint32_t port, int64_t volume, int64_t now_ms = 0) {
    const auto words = CellsOf(*plan, Values{{Variable::kPackets, 1}, {Variable::kVolume, volume}});
    const std::string key = PortKey(port);
    verdicts.Add(host, View(ms, key, words), words.size(), Ms(now_ms));
  }

  void Answer(uint32_t host, int64_t ms, uint32_t port, int64_t volume, int64_t now_ms = 0) {
    const auto words = CellsOf(*plan, Values{{Variable::kPackets, 1}, {Variable::kVolume, volume}});
    const std::string key = PortKey(port);
    verdicts.Answer(host, volume > 0 ? FeedAnswer::kValues : FeedAnswer::kNoPackets,
                    View(ms, key, words), words.size(), 0, Ms(now_ms));
  }

  void End(uint32_t host, int64_t ms) { verdicts.EndUntil(host, Ms(ms), Ms(ms)); }

  // Reports as "port@start volume" with marks.
  Lines At(int64_t ms) {
    output.reports.clear();
    while (!verdicts.Advance(Ms(ms), output.reports.size() + 1, &output)) {
    }
    Lines lines;
    for (const NetworkReport& network : output.reports) {
      const Report& report = network.report;
      std::string line = report.bucket_json.substr(11, report.bucket_json.size() - 12) + "@" +
                         std::to_string(report.start_ns / kNanosPerMilli) + " " +
                         report.value.ToString();
      if (network.is_clear) line += " clear";
      for (const std::string& name : network.silent_hosts) line += " -" + name;
      if (!report.is_complete()) line += " " + ReasonsToJson(report.incomplete_reasons);
      lines.push_back(line);
    }
    return lines;
  }

  NetworkCounters counters() const { return verdicts.counters(); }

  NetworkVerdicts verdicts;
  NetworkOutput output;
  std::shared_ptr<const TriggerPlan> plan;

 private:
  static PartialView View(int64_t ms, const std::string& key, const std::vector<uint64_t>& words) {
    return PartialOf(kEvent, Ms(ms), Ms(ms + 10), key, words);
  }
};

}  // namespace kit
}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_PORT_NETWORK_TEST_H
