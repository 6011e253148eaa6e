// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_migration.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/store/clickhouse_trace_store.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_reader.h"

namespace trumpet {
namespace {

constexpr Nanos kHour = 3600 * kNanosPerSecond;
constexpr uint64_t kMostRounds = 10;

// What is put into the other place, whichever it is.
class Target {
 public:
  static Result<std::unique_ptr<Target>> Open(const TraceMigrationOptions& options) {
    std::unique_ptr<Target> target(new Target);
    auto reader = OpenTraceReader(options.to);
    if (!reader.ok()) return reader.status();
    target->reader_ = std::move(*reader);
    for (const char letter : options.from)
      target->origin_ = target->origin_ * 31 + static_cast<unsigned char>(letter);
    std::string servers = options.to;
    if (!IsClickHousePlace(servers)) {
      const auto loaded = LoadTraceServers(FolderOfTracePlace(servers));
      if (!loaded.ok()) return loaded.status();
      servers = options.to.rfind(kFilesPrefix, 0) == 0 ? "" : *loaded;
    }
    const Status opened =
        servers.empty() ? target->OpenFiles(options) : target->OpenServers(servers, options);
    if (!opened.ok()) return opened;
    return target;
  }

  Status Append(const std::vector<StoredTrace>& traces, Nanos now) {
    return files_ ? files_->Append(traces, now) : servers_->Append(traces, now);
  }

  // Files add up: they are told what they have not.
  Status Put(const std::vector<LinkCounters>& links, Nanos from, Nanos until, Nanos now) {
    if (servers_) return servers_->PutCounters(links, origin_, now);
    const auto there = reader_->Links(from, until, nullptr);
    if (!there.ok()) return there.status();
    std::map<std::tuple<uint16_t, uint16_t, Nanos>, const LinkCounters*> known;
    for (const LinkCounters& link : *there) known[{link.from, link.to, link.time}] = &link;
    std::vector<LinkCounters> more;
    for (const LinkCounters& link : links) {
      const auto at = known.find({link.from, link.to, link.time});
      LinkCounters rest = link;
      for (size_t i = 0; at != known.end() && i < kLinkCounters; ++i) {
        rest.values[i] -= std::min(rest.values[i], at->second->values[i]);
      }
      if (rest.values != std::array<uint64_t, kLinkCounters>()) more.push_back(rest);
    }
    return more.empty() ? Status::Ok() : files_->AppendCounters(more, now);
  }

  TraceReader* reader() { return reader_.get(); }

 private:
  // Neither age nor size are limits here: those who write from then on have theirs.
  Status OpenFiles(const TraceMigrationOptions& options) {
    SqliteTraceStoreOptions files;
    files.folder = FolderOfTracePlace(options.to);
    files.max_bytes = UINT64_MAX / 2;
    auto store = SqliteTraceStore::Open(files, options.now());
    if (!store.ok()) return store.status();
    files_ = std::move(*store);
    return Status::Ok();
  }

  Status OpenServers(const std::string& place, const TraceMigrationOptions& options) {
    ClickHouseTraceStoreOptions servers;
    auto parsed = ParseClickHousePlace(place);
    if (!parsed.ok()) return parsed.status();
    servers.place = std::move(*parsed);
    auto store = ClickHouseTraceStore::Open(servers, options.now());
    if (!store.ok()) return store.status();
    servers_ = std::move(*store);
    return Status::Ok();
  }

  std::unique_ptr<TraceReader> reader_;
  std::unique_ptr<SqliteTraceStore> files_;
  std::unique_ptr<ClickHouseTraceStore> servers_;
  uint64_t origin_ = 17;
};

// How far it has come.
struct Progress {
  Nanos begun = 0;  // the first run
  Nanos start = INT64_MIN;
  uint64_t id = 0;
  Nanos links_until = INT64_MIN;
};

class Migration {
 public:
  Migration(const TraceMigrationOptions& options, std::unique_ptr<TraceReader> from,
            std::unique_ptr<Target> to)
      : options_(options), from_(std::move(from)), to_(std::move(to)) {}

  Result<TraceMigrationReport> Run() {
    const Nanos begin = options_.now();
    Status status = Load(begin);
    if (status.ok()) status = CopyTraces();
    if (status.ok()) status = CopyLinks(progress_.links_until, INT64_MAX, true);
    // What was told while it went by.
    const Nanos late = progress_.begun - options_.lateness;
    if (status.ok()) status = CopyStretch(late, INT64_MAX);
    if (status.ok()) status = CopyLinks(late, INT64_MAX, false);
    for (bool is_equal = false; status.ok() && !is_equal;) {
      if (++report_.rounds > kMostRounds) {
        status = Status::Error(missing_ + ", after all has been copied again " +
                               std::to_string(kMostRounds) + " times");
      } else {
        status = Compare(begin, &is_equal);
      }
    }
    if (!status.ok()) return status;
    std::error_code ignored;  // then the next run goes on behind all
    std::filesystem::remove(options_.progress_file, ignored);
    return report_;
  }

 private:
  Status Load(Nanos begin) {
    progress_.begun = begin;
    std::ifstream file(options_.progress_file);
    if (!file) return Status::Ok();
    std::string from;
    std::string to;
    Progress read;
    std::getline(file, from);
    std::getline(file, to);
    file >> read.begun >> read.start >> read.id >> read.links_until;
    if (!file || from != options_.from || to != options_.to) {
      return Status::Error(options_.progress_file +
                           ": is of another migration; remove it to begin anew");
    }
    progress_ = read;
    report_.has_gone_on = true;
    return Status::Ok();
  }

  Status Save() {
    const std::string fresh = options_.progress_file + ".new";
    {
      std::ofstream file(fresh);
      file << options_.from << "\n"
           << options_.to << "\n"
           << progress_.begun << " " << progress_.start << " " << progress_.id << " "
           << progress_.links_until << "\n";
      if (!file.flush()) return Status::Error(fresh + ": cannot be written");
    }
    std::error_code error;
    std::filesystem::rename(fresh, options_.progress_file, error);
    return error ? Status::Error(options_.progress_file + ": " + error.message()) : Status::Ok();
  }

  // One page of what is asked for; no more: `*is_end`.
  Status CopyPage(TraceQuery* query, bool* is_end) {
    if (options_.may_go_on && !options_.may_go_on())
      return Status::Error("it was ended; the same command goes on");
    query->limit = options_.batch;
    const auto page = from_->Find(*query, {}, nullptr);
    if (!page.ok()) return page.status();
    *is_end = page->empty();
    if (*is_end) return Status::Ok();
    const Status status = to_->Append(*page, options_.now());
    if (!status.ok()) return status;
    report_.traces_copied += page->size();
    query->behind = {page->back().start, page->back().id};
    return Status::Ok();
  }

  Status CopyTraces() {
    TraceQuery query;
    if (progress_.start != INT64_MIN) query.behind = {progress_.start, progress_.id};
    for (bool is_end = false; !is_end;) {
      Status status = CopyPage(&query, &is_end);
      if (status.ok() && !is_end) {
        std::tie(progress_.start, progress_.id) = *query.behind;
        status = Save();
      }
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

  Status CopyStretch(Nanos from, Nanos until) {
    TraceQuery query;
    query.from = from;
    query.until = until;
    for (bool is_end = false; !is_end;) {
      const Status status = CopyPage(&query, &is_end);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

  // Calls `use` for each hour that has links from `from` to `until`.
  Status ForEachHour(Nanos from, Nanos until, const std::function<Status(Nanos, Nanos)>& use) {
    const auto times = from_->LinkTimes(nullptr);
    if (!times.ok()) return times.status();
    if (times->first > times->second) return Status::Ok();
    const Nanos last = std::min(times->second + 1, until);
    for (Nanos at = std::max(from, times->first); at < last;) {
      const Nanos next = std::min(last, at / kHour * kHour + kHour);
      const Status status = use(at, next);
      if (!status.ok()) return status;
      at = next;
    }
    return Status::Ok();
  }

  Status CopyLinks(Nanos from, Nanos until, bool notes_progress) {
    return ForEachHour(from, until, [&](Nanos begin, Nanos end) {
      if (options_.may_go_on && !options_.may_go_on())
        return Status::Error("it was ended; the same command goes on");
      const auto links = from_->Links(begin, end, nullptr);
      if (!links.ok()) return links.status();
      Status status = to_->Put(*links, begin, end, options_.now());
      if (!status.ok()) return status;
      report_.links_copied += links->size();
      if (!notes_progress) return status;
      progress_.links_until = end;
      return Save();
    });
  }

  // Hour by hour, of what began before this run.  The place that is copied to may have more.
  Status Compare(Nanos begin, bool* is_equal) {
    *is_equal = true;
    TraceQuery query;
    query.until = begin;
    const auto here = from_->Count(query, kHour, {}, nullptr);
    if (!here.ok()) return here.status();
    const auto there = to_->reader()->Count(query, kHour, {}, nullptr);
    if (!there.ok()) return there.status();
    report_.traces_there = 0;
    for (const auto& [hour, count] : *here) {
      report_.traces_there += count.traces;
      const auto at = there->find(hour);
      const uint64_t copied = at == there->end() ? 0 : at->second.traces;
      if (copied >= count.traces) continue;
      *is_equal = false;
      missing_ = "of the hour from " + std::to_string(hour) + " there are " +
                 std::to_string(copied) + " of " + std::to_string(count.traces) + " traces";
      const Status status = CopyStretch(hour, hour + kHour);
      if (!status.ok()) return status;
    }
    return ForEachHour(INT64_MIN, begin, [&](Nanos from, Nanos until) {
      return CompareLinks(from, until, is_equal);
    });
  }

  Status CompareLinks(Nanos from, Nanos until, bool* is_equal) {
    const auto here = from_->Links(from, until, nullptr);
    if (!here.ok()) return here.status();
    const auto there = to_->reader()->Links(from, until, nullptr);
    if (!there.ok()) return there.status();
    const auto sum = [](const std::vector<LinkCounters>& links) {
      uint64_t all = 0;
      for (const LinkCounters& link : links) {
        for (const uint64_t value : link.values) all += value;
      }
      return all;
    };
    if (sum(*there) >= sum(*here)) return Status::Ok();
    *is_equal = false;
    missing_ = "counters from " + std::to_string(from) + " to " + std::to_string(until) +
               " are not all there";
    return to_->Put(*here, from, until, options_.now());
  }

  const TraceMigrationOptions& options_;
  const std::unique_ptr<TraceReader> from_;
  const std::unique_ptr<Target> to_;
  Progress progress_;
  TraceMigrationReport report_;
  std::string missing_;
};

}  // namespace

Result<TraceMigrationReport> MigrateTraces(const TraceMigrationOptions& options) {
  if (options.from == options.to) return Status::Error("both places are the same");
  auto from = OpenTraceReader(options.from);
  if (!from.ok()) return from.status();
  auto to = Target::Open(options);
  if (!to.ok()) return to.status();
  return Migration(options, std::move(*from), std::move(*to)).Run();
}

}  // namespace trumpet
