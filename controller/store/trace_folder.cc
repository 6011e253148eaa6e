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
#include "controller/store/trace_summary.h"

namespace trumpet {
namespace {

struct PartFile {
  std::string path;
  uint64_t number = 0;
  Nanos first = INT64_MIN;  // none of its traces begins before
};

Result<std::vector<PartFile>> ListParts(const std::string& folder) {
  const auto paths = ListTraceParts(folder);
  if (!paths.ok()) return paths.status();
  std::vector<PartFile> parts;
  for (const auto& [number, path] : *paths) parts.push_back({path, number});
  return parts;
}

// Those that may have what is asked for, by when their first traces begin.
Result<std::vector<PartFile>> ListPartsFor(const std::string& folder, const TraceQuery& query) {
  auto parts = ListParts(folder);
  if (!parts.ok()) return parts.status();
  const auto has_none = [&](PartFile& part) {
    const auto summary = TraceSummary::Open(SummaryPathOf(part.path));
    if (summary == nullptr) return false;
    part.first = summary->first();
    return !summary->MayHave(query);
  };
  parts->erase(std::remove_if(parts->begin(), parts->end(), has_none), parts->end());
  std::stable_sort(parts->begin(), parts->end(),
                   [](const PartFile& a, const PartFile& b) { return a.first < b.first; });
  return parts;
}

using UsePart = std::function<Status(TracePart*)>;

// `*has_gone` if it was removed meanwhile, which is no error.
Status ReadPart(const PartFile& file, const UsePart& use, bool* has_gone) {
  auto part = TracePart::OpenForReading(file.path, file.number);
  Status status = part.ok() ? use(part->get()) : part.status();
  std::error_code error;
  *has_gone = !status.ok() && !std::filesystem::exists(file.path, error);
  return *has_gone ? Status::Ok() : status;
}

Status ForEachPart(const Result<std::vector<PartFile>>& parts, const UsePart& use) {
  if (!parts.ok()) return parts.status();
  for (const PartFile& part : *parts) {
    bool has_gone = false;
    const Status status = ReadPart(part, use, &has_gone);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

// By start and id, at most so many.  A revision may have been written while what was told before
// was still there: the later one holds.
void PutInOrder(std::vector<StoredTrace>* traces, size_t limit) {
  const auto place = [](const StoredTrace& trace) {
    return std::make_tuple(trace.start, static_cast<int64_t>(trace.id));
  };
  std::sort(traces->begin(), traces->end(), [&](const StoredTrace& a, const StoredTrace& b) {
    return place(a) != place(b) ? place(a) < place(b) : a.revision > b.revision;
  });
  const auto is_same = [](const StoredTrace& a, const StoredTrace& b) { return a.id == b.id; };
  traces->erase(std::unique(traces->begin(), traces->end(), is_same), traces->end());
  if (traces->size() > limit) traces->resize(limit);
}

}  // namespace

Result<std::vector<StoredTrace>> FindInTraceFolder(const std::string& folder,
                                                   const TraceQuery& query,
                                                   std::function<bool()> may_go_on) {
  const auto parts = ListPartsFor(folder, query);
  if (!parts.ok()) return parts.status();
  std::vector<StoredTrace> all;
  for (const PartFile& part : *parts) {
    // A page is full, and all that is left begins later.
    if (all.size() >= query.limit) PutInOrder(&all, query.limit);
    if (all.size() >= query.limit && (all.empty() || part.first > all.back().start)) break;
    const size_t before = all.size();
    bool has_gone = false;
    const auto find = [&](TracePart* open) {
      if (may_go_on) open->AskWhetherToGoOn(&may_go_on);
      return open->Find(query, &all);
    };
    const Status status = ReadPart(part, find, &has_gone);
    if (!status.ok()) return status;
    if (has_gone) all.resize(before);
  }
  PutInOrder(&all, query.limit);
  return all;
}

Result<TraceCost> EstimateInTraceFolder(const std::string& folder, const TraceQuery& query) {
  TraceCost cost;
  const Status status = ForEachPart(ListPartsFor(folder, query), [&](TracePart* part) {
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
  const Status status = ForEachPart(ListPartsFor(folder, query), [&](TracePart* part) {
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
      ListParts(folder), [&](TracePart* part) { return part->FindAllCounters(from, until, &all); });
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
  const Status status = ForEachPart(ListParts(folder), [&](TracePart* part) {
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
