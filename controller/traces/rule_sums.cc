// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/rule_sums.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "controller/analyzer/sample_estimate.h"
#include "lib/base/hash.h"
#include "lib/base/text_file.h"
#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kHeaps = 1024;
constexpr double kReach = 1.959964;  // of 95 %

// The same of both directions, as the sample is.
uint64_t ConnectionKey(FlowKey flow, uint64_t seed) {
  const FlowKey other = Reversed(flow);
  const auto place = [](const FlowKey& key) {
    return std::tie(key.src_ip, key.src_port, key.dst_ip, key.dst_port);
  };
  if (place(other) < place(flow)) flow = other;
  return HashBytes(&flow, sizeof flow, seed);
}

Json EstimateJson(const Estimate& estimate) {
  return {{"value", std::llround(estimate.value)},
          {"low", std::llround(std::floor(estimate.low))},
          {"high", std::llround(std::ceil(estimate.high))}};
}

}  // namespace

Result<std::vector<ToldRule>> ReadRulesFile(const std::string& path) {
  constexpr size_t kLargest = 1 << 20;
  const Result<std::string> text = ReadTextFile(path, kLargest);
  if (!text.ok()) return text.status();
  if (text->size() > kLargest) return Status::Error(path + ": is larger than 1 MiB");
  const bool is_json = path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
  const auto rules = is_json ? ParseTraceRulesJson(*text, path) : ParseTraceRulesYaml(*text, path);
  if (!rules.ok()) return rules.status();
  return ToldRulesOf(*rules);
}

void RuleSums::Set(std::vector<ToldRule> rules) {
  if (rules == rules_) return;
  rules_ = std::move(rules);
  now_ = std::vector<Sums>(rules_.size());
  last_.clear();
  begin_ = last_begin_ = 0;
}

const ToldRule* RuleSums::RuleOf(const TraceReport& report) const {
  const uint32_t tag = report.pass->hops.front().tag;
  if (!IsTraceTag(tag) || TraceTagRule(tag) >= rules_.size()) return nullptr;
  return &rules_[TraceTagRule(tag)];
}

uint32_t RuleSums::TruncatedTo(const TraceReport& report) const {
  const ToldRule* const rule = RuleOf(report);
  const bool is_cut = rule != nullptr && rule->snap_bytes != 0 &&
                      report.trace->packet.wire_bytes > rule->snap_bytes;
  return is_cut ? rule->snap_bytes : 0;
}

RuleSums::Connection* RuleSums::ConnectionOf(const FlowKey& flow, Sums* sums) const {
  const uint64_t key = ConnectionKey(flow, seed_);
  const auto found = sums->connections.find(key);
  if (found != sums->connections.end()) return &found->second;
  if (sums->connections.size() < kMaxConnections) return &sums->connections[key];
  ++sums->in_heaps;
  sums->heaps.resize(kHeaps);
  return &sums->heaps[key % kHeaps];
}

void RuleSums::Add(const TraceReport& report) {
  if (report.trace->revision > 0) return;
  const ToldRule* const rule = RuleOf(report);
  if (rule == nullptr) return;
  const TraceHop& first = report.pass->hops.front();
  if (begin_ == 0) begin_ = first.time;
  newest_ = std::max(newest_, first.time);
  if (window_ > 0 && first.time - begin_ >= window_) {
    last_ = std::exchange(now_, std::vector<Sums>(rules_.size()));
    last_begin_ = std::exchange(begin_, first.time);
  }
  Sums& sums = now_[static_cast<size_t>(rule - rules_.data())];
  const uint32_t bytes = report.trace->packet.wire_bytes;
  ++sums.packets;
  sums.bytes += bytes;
  sums.truncated += TruncatedTo(report) != 0 ? 1 : 0;
  sums.in_tunnels += first.is_encapsulated ? 1 : 0;
  if (rule->sample_bits == 0) return;
  Connection* const connection = ConnectionOf(report.trace->packet.flow, &sums);
  ++connection->packets;
  connection->bytes += bytes;
}

Json RuleSums::OfAll(const ToldRule& rule, const Sums& sums) {
  SampleSums connections;
  SampleSums packets;
  SampleSums bytes;
  const auto add = [&](const Connection& one) {
    if (one.packets == 0) return;
    connections.Add(1);
    packets.Add(static_cast<double>(one.packets));
    bytes.Add(static_cast<double>(one.bytes));
  };
  for (const auto& [key, one] : sums.connections) add(one);
  for (const Connection& one : sums.heaps) add(one);
  Json json = Json::object();
  // Of heaps nobody knows how many connections they are.
  if (sums.in_heaps == 0) {
    json["connections"] = EstimateJson(EstimateFromSample(connections, rule.sample_bits, kReach));
  }
  json["packets"] = EstimateJson(EstimateFromSample(packets, rule.sample_bits, kReach));
  json["bytes"] = EstimateJson(EstimateFromSample(bytes, rule.sample_bits, kReach));
  return json;
}

Json RuleSums::Show() const {
  const bool is_last = last_begin_ != 0;
  const std::vector<Sums>& told = is_last ? last_ : now_;
  const Nanos from = is_last ? last_begin_ : begin_;
  const Nanos until = is_last ? begin_ : newest_;
  Json list = Json::array();
  for (size_t i = 0; i < rules_.size(); ++i) {
    const ToldRule& rule = rules_[i];
    const Sums& sums = told[i];
    Json json = {{"rule", rule.name}, {"from_ns", from}, {"until_ns", until}};
    json["packets"] = sums.packets;
    json["bytes"] = sums.bytes;
    if (rule.snap_bytes != 0) json["truncated"] = sums.truncated;
    if (rule.sample_bits != 0) {
      json["sample"] = "1/" + std::to_string(1u << rule.sample_bits);
      json["connections"] = sums.connections.size();
      if (sums.in_tunnels > 0) json["in_tunnels"] = sums.in_tunnels;
      if (sums.in_heaps > 0) json["in_heaps"] = sums.in_heaps;
      json["of_all"] = OfAll(rule, sums);
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace trumpet
