// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
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

// Files that are looked into at the same time.  What is not in memory is read from many places of
// each, and a disk has most to do when it is asked for several; more would take processors from
// those who receive packets.
constexpr size_t kTogether = 4;

// What several threads may ask.
class SharedMayGoOn {
 public:
  explicit SharedMayGoOn(std::function<bool()> may_go_on) : may_go_on_(std::move(may_go_on)) {}

  void Limit(TracePart* part) {
    if (!may_go_on_) return;
    part->AskWhetherToGoOn(&locked_);
  }

 private:
  const std::function<bool()> may_go_on_;
  std::mutex mutex_;
  std::function<bool()> locked_ = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return may_go_on_();
  };
};

// What each of some files has, in their order; of those that have gone nothing.  The first error.
template <typename Found>
Status ReadTogether(const PartFile* files, size_t count,
                    const std::function<Status(TracePart*, Found*)>& read,
                    std::vector<Found>* found) {
  found->assign(count, Found());
  std::vector<Status> statuses(count, Status::Ok());
  const auto read_one = [&](size_t i) {
    bool has_gone = false;
    const auto use = [&](TracePart* part) { return read(part, &(*found)[i]); };
    statuses[i] = ReadPart(files[i], use, &has_gone);
    if (has_gone) (*found)[i] = Found();
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < count; ++i) others.emplace_back(read_one, i);
  read_one(0);
  for (std::thread& other : others) other.join();
  for (const Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return Status::Ok();
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
  SharedMayGoOn shared(std::move(may_go_on));
  const auto find = [&](TracePart* part, std::vector<StoredTrace>* found) {
    shared.Limit(part);
    return part->Find(query, found);
  };
  std::vector<StoredTrace> all;
  // The first alone: it may have as many as are asked for.
  size_t together = 1;
  for (size_t at = 0; at < parts->size(); at += together, together = kTogether) {
    // A page is full, and all that is left begins later.
    if (all.size() >= query.limit) PutInOrder(&all, query.limit);
    const bool is_full = all.size() >= query.limit;
    if (is_full && (all.empty() || (*parts)[at].first > all.back().start)) break;
    std::vector<std::vector<StoredTrace>> found;
    const Status status = ReadTogether<std::vector<StoredTrace>>(
        &(*parts)[at], std::min(together, parts->size() - at), find, &found);
    if (!status.ok()) return status;
    for (auto& traces : found) std::move(traces.begin(), traces.end(), std::back_inserter(all));
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
  const auto parts = ListPartsFor(folder, query);
  if (!parts.ok()) return parts.status();
  using Counts = std::map<Nanos, TraceCount>;
  SharedMayGoOn shared(std::move(may_go_on));
  const auto count = [&](TracePart* part, Counts* counts) {
    shared.Limit(part);
    return part->Count(query, step, [&](Nanos begin, uint64_t traces, uint64_t bytes) {
      (*counts)[begin].traces += traces;
      (*counts)[begin].bytes += bytes;
    });
  };
  Counts sums;
  for (size_t at = 0; at < parts->size(); at += kTogether) {
    std::vector<Counts> found;
    const Status status =
        ReadTogether<Counts>(&(*parts)[at], std::min(kTogether, parts->size() - at), count, &found);
    if (!status.ok()) return status;
    for (const Counts& counts : found) {
      for (const auto& [begin, some] : counts) {
        sums[begin].traces += some.traces;
        sums[begin].bytes += some.bytes;
      }
    }
  }
  return sums;
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
