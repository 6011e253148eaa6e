// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/growth_questions.h"

#include <algorithm>
#include <utility>

#include "controller/store/bench_traces.h"

namespace trumpet::bench {
namespace {

constexpr size_t kPage = 100000;
constexpr Nanos kHour = 3600 * kNanosPerSecond;

uint64_t SomeNumber(uint64_t run, uint64_t count) { return (run + 1) * 0x9e3779b97f4a7c15 % count; }

Prefix HostOf(const IpBytes& address) {
  Prefix prefix{false, 0, 32};
  for (size_t i = 0; i < 4; ++i) prefix.address = prefix.address << 8 | address[i];
  return prefix;
}

TraceQuery ById(uint64_t run, uint64_t count, Nanos step) {
  TraceQuery query;
  query.id = TraceOf(SomeNumber(run, count), step).id;
  return query;
}

TraceQuery ByFlow(uint64_t run, uint64_t count, Nanos /*step*/) {
  const FlowKey flow = FlowOf(SomeNumber(run, count));
  TraceQuery query;
  query.src = HostOf(flow.src_ip);
  query.dst = HostOf(flow.dst_ip);
  query.src_port = flow.src_port;
  query.dst_port = flow.dst_port;
  query.protocol = flow.protocol;
  return query;
}

TraceQuery Through(uint64_t run, uint64_t count, Nanos /*step*/) {
  TraceQuery query;
  query.through = static_cast<uint16_t>(SomeNumber(run, count) % kSwitches);
  return query;
}

TraceQuery Lost(uint64_t /*run*/, uint64_t /*count*/, Nanos /*step*/) {
  TraceQuery query;
  query.fault = kDropped;
  return query;
}

TraceQuery LostInAnHour(uint64_t run, uint64_t count, Nanos step) {
  TraceQuery query = Lost(run, count, step);
  query.from = kBegin + static_cast<Nanos>(SomeNumber(run, count)) * step;
  query.until = query.from + kHour;
  return query;
}

TraceQuery Marked(uint64_t /*run*/, uint64_t /*count*/, Nanos /*step*/) {
  TraceQuery query;
  query.marks = kDebug;
  return query;
}

TraceQuery Long(uint64_t /*run*/, uint64_t /*count*/, Nanos /*step*/) {
  TraceQuery query;
  query.min_hops = kHops;
  query.protocol = 6;
  return query;
}

// As IsAskedFor(), without making the trace.
bool Fits(uint64_t number, const TraceQuery& query, Nanos step) {
  const Nanos start = kBegin + static_cast<Nanos>(number) * step;
  return start >= query.from && start < query.until && (!query.fault || IsLost(number)) &&
         (query.marks == 0 || IsMarked(number)) &&
         (!query.through || IsThrough(number, *query.through));
}

}  // namespace

const std::vector<GrowthQuestion>& GrowthQuestions() {
  static const std::vector<GrowthQuestion> questions = {
      {"by id", false, ById, 51},
      {"by flow", false, ByFlow, 5},
      {"lost, of an hour", false, LostInAnHour, 3},
      {"through a switch", false, Through, 1},
      {"lost", false, Lost, 1},
      {"marked by a host (no index)", false, Marked, 1},
      {"count of each hour (no index)", true, Long, 1},
  };
  return questions;
}

uint64_t AskToTheEnd(TraceReader* reader, const GrowthQuestion& question, TraceQuery query) {
  uint64_t found = 0;
  if (question.is_count) {
    const auto counts = reader->Count(query, kHour, {}, nullptr);
    Check(counts.status());
    for (const auto& [begin, count] : *counts) found += count.traces;
    return found;
  }
  query.limit = kPage;
  for (;;) {
    const auto page = reader->Find(query, {}, nullptr);
    Check(page.status());
    found += page->size();
    if (page->size() < kPage) return found;
    query.behind = {page->back().start, page->back().id};
  }
}

uint64_t ExpectedOf(const TraceQuery& query, uint64_t count, Nanos step) {
  if (query.id) return 1;
  uint64_t expected = 0;
  if (query.src) {  // a flow: every so many of them
    for (uint64_t number = 0; number < std::min(count, kFlows); ++number) {
      const FlowKey flow = FlowOf(number);
      const bool is_it = HostOf(flow.src_ip).address == query.src->address &&
                         HostOf(flow.dst_ip).address == query.dst->address &&
                         flow.src_port == query.src_port;
      if (is_it) expected += (count - number + kFlows - 1) / kFlows;
    }
    return expected;
  }
  for (uint64_t number = 0; number < count; ++number) expected += Fits(number, query, step);
  return expected;
}

}  // namespace trumpet::bench
