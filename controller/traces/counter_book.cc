// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/counter_book.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "controller/analyzer/trace_judge.h"
#include "controller/analyzer/trace_packet.h"
#include "controller/traces/link_book.h"
#include "controller/traces/trace_query.h"
#include "lib/base/log_buckets.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, kCountedNames> kNames = {
    "packets", "bytes",     "connections", "delivered", "dropped", "copies_lost",
    "loop",    "not_known", "hops",        "hop_times", "hop_ns"};
static_assert(kCountedNotKnown - kCountedDelivered == static_cast<uint32_t>(TraceFault::kNotKnown) -
                                                          static_cast<uint32_t>(TraceFault::kNone));

constexpr uint64_t kMaxStepSeconds = 3600;

// What counting looks at, and no more: this is done for each packet.
void FillCounted(const TraceReport& report, StoredTrace* trace) {
  const TracePacket& packet = report.trace->packet;
  const TracePass& pass = *report.pass;
  trace->id = report.id;
  trace->start = pass.hops.front().time;
  trace->flow = packet.flow;
  trace->wire_bytes = packet.wire_bytes;
  trace->marks = packet.marks;
  trace->fault = static_cast<uint8_t>(pass.fault);
  trace->last_switch = pass.last_switch;
  trace->hops.clear();
  for (const TraceHop& hop : pass.hops) {
    trace->start = std::min(trace->start, hop.time);
    trace->hops.push_back({hop.time, hop.tag, hop.switch_number, hop.ttl});
  }
}

Result<NamedCounter> ReadCounter(const Json& json, const SwitchBook& switches) {
  const auto has = [&](const char* key, bool (Json::*is)() const noexcept) {
    return json.is_object() && json.contains(key) && (json[key].*is)();
  };
  NamedCounter counter;
  const bool is_whole = has("id", &Json::is_number_unsigned) && has("name", &Json::is_string) &&
                        has("step_s", &Json::is_number_unsigned) && has("words", &Json::is_array);
  if (!is_whole) return Status::Error("is no counter");
  counter.id = json["id"].get<uint64_t>();
  counter.name = json["name"].get<std::string>();
  const auto seconds = json["step_s"].get<uint64_t>();
  if (seconds == 0 || seconds > kMaxStepSeconds) return Status::Error("has no step");
  counter.step = static_cast<Nanos>(seconds) * kNanosPerSecond;
  for (const Json& word : json["words"]) {
    if (!word.is_array() || word.size() != 2 || !word[0].is_string() || !word[1].is_string()) {
      return Status::Error("has words that are none");
    }
    counter.words.push_back({word[0].get<std::string>(), word[1].get<std::string>()});
    const TraceWord& one = counter.words.back();
    const Status set = SetTraceQuery(one.name, one.value, switches, &counter.query);
    if (!set.ok()) return set;
  }
  return counter;
}

}  // namespace

void CountTrace(const StoredTrace& trace, CountedValues* values) {
  auto& sums = *values;
  ++sums[kCountedPackets];
  sums[kCountedBytes] += trace.wire_bytes;
  if ((trace.marks & kMarkSyn) != 0) ++sums[kCountedConnections];
  ++sums[kCountedDelivered + std::min<uint32_t>(trace.fault, kTraceFaults - 1)];
  sums[kCountedHops] += trace.hops.size();
  for (size_t i = 1; i < trace.hops.size(); ++i) {
    if (trace.hops[i].switch_number == trace.hops[i - 1].switch_number) continue;
    const Nanos latency = std::max<Nanos>(trace.hops[i].time - trace.hops[i - 1].time, 0);
    ++sums[kCountedHopTimes];
    sums[kCountedHopNanos] += static_cast<uint64_t>(latency);
    ++sums[kCountedLatency + LogBucketOf(static_cast<uint64_t>(latency))];
  }
}

std::string CountedName(uint32_t value) {
  if (value < kCountedNames) return kNames[value];
  return value < kCountedLatency ? "" : "b" + std::to_string(value - kCountedLatency);
}

Result<std::vector<NamedCounter>> ParseNamedCounters(std::string_view text,
                                                     const SwitchBook& switches,
                                                     std::vector<std::string>* left_out) {
  const Json json = Json::parse(text, nullptr, false);
  const bool is_list = json.is_object() && json.contains("counters") &&
                       json["counters"].is_array() &&
                       json["counters"].size() <= CounterBook::kMaxCounters;
  if (!is_list) return Status::Error("counters of traces are told as something else");
  std::vector<NamedCounter> counters;
  for (const Json& one : json["counters"]) {
    auto counter = ReadCounter(one, switches);
    if (counter.ok()) {
      counters.push_back(std::move(*counter));
    } else {
      const bool has_name = one.is_object() && one.contains("name") && one["name"].is_string();
      left_out->push_back((has_name ? one["name"].get<std::string>() : "a counter") + ": " +
                          counter.message());
    }
  }
  return counters;
}

void CounterBook::Add(const TraceReport& report) {
  if (counters_.empty() || report.trace->revision > 0) return;
  FillCounted(report, &trace_);
  Add(trace_);
}

void CounterBook::Add(const StoredTrace& trace) {
  bool is_counted = false;
  for (const NamedCounter& counter : counters_) {
    if (!IsAskedFor(trace, counter.query)) continue;
    if (!is_counted) {
      values_.clear();
      CountTrace(trace, &values_);
      is_counted = true;
    }
    const Nanos begin = CellOf(trace.start, counter.step) * counter.step;
    for (const auto& [value, sum] : values_) rows_[{counter.id, begin, value}] += sum;
  }
}

std::vector<CounterRow> CounterBook::TakeAll() {
  std::vector<CounterRow> all;
  all.reserve(rows_.size());
  for (const auto& [place, sum] : rows_) {
    all.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), sum});
  }
  rows_.clear();
  return all;
}

}  // namespace trumpet
