// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/latency_app.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "lib/base/log_buckets.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kFewPackets = 20;
constexpr double kStandardErrors = 2.58;  // 99 in 100 lie within so many

std::string TimeText(uint64_t nanos) {
  char text[40];
  const double value = static_cast<double>(nanos);
  if (nanos < 1000) {
    std::snprintf(text, sizeof text, "%.0f ns", value);
  } else if (nanos < 1000000) {
    std::snprintf(text, sizeof text, "%.1f us", value / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.1f ms", value / 1e6);
  }
  return text;
}

// The bucket in which the number of this rank lies, from 0.
uint32_t BucketAt(const LinkLatency& link, uint64_t rank) {
  uint64_t below = 0;
  for (const auto& [bucket, count] : link.histogram) {
    below += count;
    if (rank < below) return bucket;
  }
  return link.histogram.empty() ? 0 : link.histogram.rbegin()->first;
}

const char* ChangeOf(const LinkLatency& now, const LinkLatency& before) {
  if (now.packets < kFewPackets || before.packets < kFewPackets) return "few";
  const auto is = MedianRange(now);
  const auto was = MedianRange(before);
  if (is.first > was.second) return "slower";
  return is.second < was.first ? "faster" : "same";
}

std::string ChangeText(const std::string& change, uint64_t median) {
  if (change == "few") return "; too few to compare with earlier";
  if (change == "same") return "; as earlier";
  return "; " + change + " than earlier, when half took less than " + TimeText(median);
}

}  // namespace

void LatencyBook::Add(const StoredTrace& trace) {
  for (size_t i = 1; i < trace.hops.size(); ++i) {
    const StoredHop& from = trace.hops[i - 1];
    const StoredHop& to = trace.hops[i];
    if (from.switch_number == to.switch_number) continue;
    const auto nanos = static_cast<uint64_t>(std::max<Nanos>(to.time - from.time, 0));
    LinkLatency& link = links_[{from.switch_number, to.switch_number}];
    ++link.packets;
    link.nanos += nanos;
    link.longest = std::max(link.longest, nanos);
    ++link.histogram[LogBucketOf(nanos)];
  }
}

// Whatever the distribution: how many of n lie below its median is binomial.
std::pair<uint32_t, uint32_t> MedianRange(const LinkLatency& link) {
  const auto count = static_cast<double>(link.packets);
  const double off = kStandardErrors * std::sqrt(count) / 2;
  const double low = std::floor(count / 2 - off);
  const double high = std::ceil(count / 2 + off);
  return {BucketAt(link, low <= 0 ? 0 : static_cast<uint64_t>(low)),
          BucketAt(link, static_cast<uint64_t>(std::min(high, count)))};
}

Json ProfileLatency(const LatencyBook& now, const LatencyBook* before, const SwitchBook& switches) {
  uint64_t all = 0;
  for (const auto& [ends, link] : now.links()) all += link.nanos;
  std::vector<std::pair<std::pair<uint16_t, uint16_t>, const LinkLatency*>> order;
  for (const auto& [ends, link] : now.links()) order.emplace_back(ends, &link);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->nanos > b.second->nanos; });
  Json answer = Json::array();
  for (const auto& [ends, link] : order) {
    const double share = all == 0 ? 0 : static_cast<double>(link->nanos) / static_cast<double>(all);
    const bool is_few = link->packets < kFewPackets;
    const bool is_slowest = answer.empty() && !is_few && order.size() > 1;
    const std::string from = switches.NameOf(ends.first);
    const std::string to = switches.NameOf(ends.second);
    const uint64_t median = LogPercentile(link->histogram, 0.5);
    std::string text = from + " to " + to + ": half of " + std::to_string(link->packets) +
                       " packets took more than " + TimeText(median) + ", " +
                       std::to_string(std::lround(100 * share)) + "% of the time on all links";
    if (is_few) text += "; too few to tell";
    Json histogram = Json::array();
    for (const auto& [bucket, count] : link->histogram) {
      histogram.push_back({{"from_ns", LogBucketFirst(bucket)}, {"packets", count}});
    }
    Json json = {{"verdict", is_few       ? "few"
                             : is_slowest ? "slowest"
                                          : "other"},
                 {"from", from},
                 {"to", to},
                 {"packets", link->packets},
                 {"share", share},
                 {"mean_ns", link->nanos / link->packets},
                 {"p50_ns", median},
                 {"p90_ns", LogPercentile(link->histogram, 0.9)},
                 {"p99_ns", LogPercentile(link->histogram, 0.99)},
                 {"longest_ns", link->longest},
                 {"histogram", std::move(histogram)}};
    if (before != nullptr) {
      const auto found = before->links().find(ends);
      const LinkLatency was = found == before->links().end() ? LinkLatency() : found->second;
      const std::string change = ChangeOf(*link, was);
      const uint64_t median_was = LogPercentile(was.histogram, 0.5);
      json["earlier"] = {{"change", change}, {"packets", was.packets}, {"p50_ns", median_was}};
      text += ChangeText(change, median_was);
    }
    json["explanation"] = text;
    answer.push_back(std::move(json));
  }
  return answer;
}

}  // namespace trumpet
