// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_counts.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "controller/traces/link_book.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

// In the order of LinkValue.
constexpr std::array<const char*, kLinkCounters> kLinkNames = {
    "packets", "bytes",      "connections", "dropped",   "copies_lost",
    "looped",  "below_10us", "below_100us", "below_1ms", "longer"};
static_assert(kLinkLonger + 1 == kLinkNames.size());

using Place = std::pair<Nanos, uint64_t>;

bool IsBehind(const TraceQuery& query, const Place& place) {
  return !query.behind || place > *query.behind;
}

}  // namespace

Result<std::vector<TraceRecord>> CountTraces(TraceReader* reader, const CountQuestion& question,
                                             const std::function<bool()>& may_go_on,
                                             TraceReader::Missing* missing) {
  TraceQuery query = question.query;
  query.behind.reset();  // a step, and no trace
  const auto counts = reader->Count(query, question.step, may_go_on, missing);
  if (!counts.ok()) return counts.status();
  std::vector<TraceRecord> records;
  for (const auto& [begin, count] : *counts) {
    if (records.size() == query.limit) break;
    if (!IsBehind(question.query, {begin, 0})) continue;
    records.push_back({begin, 0, Json{{"traces", count.traces}, {"bytes", count.bytes}}.dump()});
  }
  return records;
}

Result<std::vector<TraceRecord>> CountLinks(TraceReader* reader, const CountQuestion& question,
                                            const SwitchBook& switches,
                                            TraceReader::Missing* missing) {
  const TraceQuery& query = question.query;
  const auto links = reader->Links(query.from, query.until, missing);
  if (!links.ok()) return links.status();
  std::map<Place, std::array<uint64_t, kLinkCounters>> sums;
  for (const LinkCounters& link : *links) {
    if (query.through && link.from != *query.through && link.to != *query.through) continue;
    const Place place{link.time / question.step * question.step,
                      uint64_t{link.from} << 16 | link.to};
    if (!IsBehind(query, place)) continue;
    auto& sum = sums[place];
    for (size_t i = 0; i < kLinkCounters; ++i) sum[i] += link.values[i];
  }
  std::vector<TraceRecord> records;
  for (const auto& [place, sum] : sums) {
    if (records.size() == query.limit) break;
    Json json = {{"from", switches.NameOf(static_cast<uint16_t>(place.second >> 16))},
                 {"to", switches.NameOf(static_cast<uint16_t>(place.second))}};
    for (size_t i = 0; i < kLinkCounters; ++i) json[kLinkNames[i]] = sum[i];
    records.push_back(
        {place.first, place.second, json.dump(-1, ' ', true, Json::error_handler_t::replace)});
  }
  return records;
}

}  // namespace trumpet
