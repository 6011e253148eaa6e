// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

#include "controller/store/trace_part.h"

namespace trumpet {
namespace {

Status ForEachPart(const std::string& folder, const std::function<Status(TracePart*)>& use) {
  const auto paths = ListTraceParts(folder);
  if (!paths.ok()) return paths.status();
  for (const auto& [number, path] : *paths) {
    auto part = TracePart::OpenForReading(path, number);
    const Status status = part.ok() ? use(part->get()) : part.status();
    std::error_code error;
    const bool has_gone = !std::filesystem::exists(path, error);
    if (!status.ok() && !has_gone) return status;
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<StoredTrace>> FindInTraceFolder(const std::string& folder,
                                                   const TraceQuery& query,
                                                   std::function<bool()> may_go_on) {
  std::vector<StoredTrace> all;
  const Status status = ForEachPart(folder, [&](TracePart* part) {
    if (may_go_on) part->AskWhetherToGoOn(&may_go_on);
    return part->Find(query, &all);
  });
  if (!status.ok()) return status;
  // A revision may have been written while what was told before was still there.
  const auto place = [](const StoredTrace& trace) {
    return std::make_tuple(trace.start, static_cast<int64_t>(trace.id));
  };
  std::sort(all.begin(), all.end(), [&](const StoredTrace& a, const StoredTrace& b) {
    return place(a) != place(b) ? place(a) < place(b) : a.revision > b.revision;
  });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const StoredTrace& a, const StoredTrace& b) { return a.id == b.id; }),
            all.end());
  if (all.size() > query.limit) all.resize(query.limit);
  return all;
}

Result<TraceCost> EstimateInTraceFolder(const std::string& folder, const TraceQuery& query) {
  TraceCost cost;
  const Status status = ForEachPart(folder, [&](TracePart* part) {
    const Result<uint64_t> traces = part->CountTraces(query.from, query.until);
    if (!traces.ok()) return traces.status();
    if (*traces == 0) return Status::Ok();
    ++cost.files;
    cost.traces += *traces;
    cost.bytes += part->Bytes();
    return Status::Ok();
  });
  if (!status.ok()) return status;
  return cost;
}

Result<std::map<Nanos, TraceCount>> CountInTraceFolder(const std::string& folder,
                                                       const TraceQuery& query, Nanos step,
                                                       std::function<bool()> may_go_on) {
  std::map<Nanos, TraceCount> counts;
  const Status status = ForEachPart(folder, [&](TracePart* part) {
    if (may_go_on) part->AskWhetherToGoOn(&may_go_on);
    return part->Count(query, step, [&](Nanos begin, uint64_t traces, uint64_t bytes) {
      counts[begin].traces += traces;
      counts[begin].bytes += bytes;
    });
  });
  if (!status.ok()) return status;
  return counts;
}

Result<std::vector<LinkCounters>> LinksInTraceFolder(const std::string& folder, Nanos from,
                                                     Nanos until) {
  std::vector<LinkCounters> all;
  const Status status = ForEachPart(
      folder, [&](TracePart* part) { return part->FindAllCounters(from, until, &all); });
  if (!status.ok()) return status;
  std::map<std::tuple<uint16_t, uint16_t, Nanos>, LinkCounters> sums;
  for (const LinkCounters& link : all) {
    LinkCounters& sum = sums.emplace(std::make_tuple(link.from, link.to, link.time),
                                     LinkCounters{link.from, link.to, link.time, {}})
                            .first->second;
    for (size_t i = 0; i < kLinkCounters; ++i) sum.values[i] += link.values[i];
  }
  std::vector<LinkCounters> in_order;
  for (const auto& [key, sum] : sums) in_order.push_back(sum);
  return in_order;
}

Result<std::pair<Nanos, Nanos>> LinkTimesInTraceFolder(const std::string& folder) {
  std::pair<Nanos, Nanos> times = {INT64_MAX, INT64_MIN};
  const Status status = ForEachPart(folder, [&](TracePart* part) {
    const auto of_part = part->LinkTimes();
    if (!of_part.ok()) return of_part.status();
    times.first = std::min(times.first, of_part->first);
    times.second = std::max(times.second, of_part->second);
    return Status::Ok();
  });
  if (!status.ok()) return status;
  return times;
}

}  // namespace trumpet
