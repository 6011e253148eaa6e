// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/sqlite_trace_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "controller/store/trace_summary.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMinFiles = 16;  // that `max_bytes` have room for

bool IsBefore(const StoredTrace& a, const StoredTrace& b) {
  return std::make_pair(a.start, static_cast<int64_t>(a.id)) <
         std::make_pair(b.start, static_cast<int64_t>(b.id));
}

}  // namespace

SqliteTraceStore::SqliteTraceStore(SqliteTraceStoreOptions options)
    : options_(std::move(options)) {}

SqliteTraceStore::~SqliteTraceStore() = default;

Result<std::unique_ptr<SqliteTraceStore>> SqliteTraceStore::Open(
    const SqliteTraceStoreOptions& options, Nanos now) {
  std::unique_ptr<SqliteTraceStore> store(new SqliteTraceStore(options));
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return Status::Error(options.folder + ": " + error.message());
  Status status = store->OpenOld();
  const bool has_open = !store->parts_.empty() && !store->parts_.back()->is_sealed();
  if (status.ok() && !has_open) status = store->Begin(now);
  if (!status.ok()) return status;
  return store;
}

Status SqliteTraceStore::OpenOld() {
  const auto paths = ListTraceParts(options_.folder);
  if (!paths.ok()) return paths.status();
  for (const auto& [number, path] : *paths) {
    next_number_ = number + 1;
    bool is_broken = false;
    auto part = TracePart::Open(path, number, 0, &is_broken);
    if (part.ok()) {
      parts_.push_back(std::move(*part));
    } else if (is_broken) {
      std::error_code error;
      fs::remove(SummaryPathOf(path), error);
      fs::rename(path, path + ".broken", error);
      if (error) return Status::Error(path + ": " + error.message());
    } else {
      return part.status();
    }
  }
  return Status::Ok();
}

Status SqliteTraceStore::Begin(Nanos now) {
  const uint64_t number = next_number_++;
  const std::string path =
      options_.folder + "/" + kTracePartPrefix + std::to_string(number) + kTracePartSuffix;
  bool is_broken = false;
  auto part = TracePart::Open(path, number, now, &is_broken);
  if (!part.ok()) return part.status();
  parts_.push_back(std::move(*part));
  return Status::Ok();
}

Status SqliteTraceStore::SealIfDue(Nanos now) {
  if (!parts_.empty() && !parts_.back()->is_sealed()) {
    const TracePart& newest = *parts_.back();
    // One that began as long after this is of a clock that was set back since.
    const bool is_due = std::abs(now - newest.begun()) >= options_.seal_after ||
                        newest.Bytes() >= options_.max_bytes / kMinFiles;
    if (!is_due) return Status::Ok();
    const Status status = parts_.back()->Seal();
    if (!status.ok()) return status;
  }
  return Begin(now);
}

Status SqliteTraceStore::Write(const std::function<Status(TracePart*)>& write, Nanos now) {
  Status status = SealIfDue(now);
  if (status.ok()) status = write(parts_.back().get());
  if (status.ok() || parts_.size() < 2 || !parts_.back()->is_full()) return status;
  RemoveOldest();
  status = SealIfDue(now);
  return status.ok() ? write(parts_.back().get()) : status;
}

void SqliteTraceStore::RemoveOldest() {
  parts_.front()->Remove();
  parts_.erase(parts_.begin());
  ++counters_.expired_files;
}

// What was told of a trace before may be in an older file, if that was still open when it began;
// the newest has replaced it by itself.
Status SqliteTraceStore::ForgetRevised(const std::vector<StoredTrace>& traces) {
  for (const StoredTrace& trace : traces) {
    if (trace.revision == 0) continue;
    for (size_t i = parts_.size() - 1; i-- > 0 && parts_[i + 1]->begun() >= trace.start;) {
      const Status status = parts_[i]->Forget(trace.id);
      if (!status.ok()) return status;
    }
  }
  return Status::Ok();
}

Status SqliteTraceStore::Append(const std::vector<StoredTrace>& traces, Nanos now) {
  Status status = Write([&](TracePart* part) { return part->Append(traces); }, now);
  if (status.ok()) status = ForgetRevised(traces);
  (status.ok() ? counters_.written : counters_.refused) += traces.size();
  return status;
}

Status SqliteTraceStore::AppendCounters(const std::vector<LinkCounters>& counters, Nanos now) {
  const Status status = Write([&](TracePart* part) { return part->AppendCounters(counters); }, now);
  (status.ok() ? counters_.written_links : counters_.refused_links) += counters.size();
  return status;
}

Result<std::vector<StoredTrace>> SqliteTraceStore::Find(const TraceQuery& query) {
  std::vector<StoredTrace> all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    // Nothing that began later is in a file that was sealed before.
    if (i + 1 < parts_.size() && parts_[i + 1]->begun() < query.from) continue;
    const Status status = parts_[i]->Find(query, &all);
    if (!status.ok()) return status;
  }
  std::sort(all.begin(), all.end(), IsBefore);
  if (all.size() > query.limit) all.resize(query.limit);
  return all;
}

Result<std::vector<LinkCounters>> SqliteTraceStore::FindCounters(uint16_t from_switch,
                                                                 uint16_t to_switch, Nanos from,
                                                                 Nanos until) {
  std::vector<LinkCounters> all;
  for (const auto& part : parts_) {
    const Status status = part->FindCounters(from_switch, to_switch, from, until, &all);
    if (!status.ok()) return status;
  }
  std::map<Nanos, LinkCounters> sums;
  for (const LinkCounters& link : all) {
    LinkCounters& sum =
        sums.emplace(link.time, LinkCounters{link.from, link.to, link.time, {}}).first->second;
    for (size_t i = 0; i < kLinkCounters; ++i) sum.values[i] += link.values[i];
  }
  std::vector<LinkCounters> in_order;
  for (const auto& [time, sum] : sums) in_order.push_back(sum);
  return in_order;
}

// A file is as old as what came last to it, which is when the next was begun; one that is said to
// have begun later than now tells nothing of that, for its clock was wrong.
Nanos SqliteTraceStore::EndOfOldest(Nanos now) const {
  for (size_t i = 1; i < parts_.size(); ++i) {
    if (parts_[i]->begun() <= now) return parts_[i]->begun();
  }
  return now;
}

Status SqliteTraceStore::Expire(Nanos now) {
  const Status status = SealIfDue(now);
  while (parts_.size() > 1 && now - EndOfOldest(now) > options_.max_age) RemoveOldest();
  while (parts_.size() > 1 && counters().stored_bytes > options_.max_bytes) RemoveOldest();
  return status;
}

TraceStoreCounters SqliteTraceStore::counters() const {
  TraceStoreCounters counters = counters_;
  for (const auto& part : parts_) counters.stored_bytes += part->Bytes();
  return counters;
}

}  // namespace trumpet
