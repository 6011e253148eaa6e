// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_growth_bench.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "controller/store/bench_traces.h"
#include "controller/store/clickhouse_server_test.h"
#include "controller/store/clickhouse_trace_store.h"
#include "controller/store/growth_questions.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_reader.h"

namespace trumpet::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kGigabyte = 1e9;
constexpr int kColdRuns = 3;             // of questions that are short
constexpr uint64_t kWritten = 1u << 18;  // traces whose writing is measured at each size

// What differs between files and servers.  Traces are so far apart that seven days of them take
// somewhat more than 10 GB; batches are what an analyzer writes in some seconds then.
struct Kind {
  const char* name;
  Nanos step;
  uint64_t batch;
};
constexpr Kind kFiles = {"files", 45 * kNanosPerMilli, 4096};
constexpr Kind kServers = {"server", 8 * kNanosPerMilli, 32768};

uint64_t BytesBelow(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code gone;
  for (auto at = fs::recursive_directory_iterator(folder, gone);
       at != fs::recursive_directory_iterator(); at.increment(gone)) {
    if (!at->is_regular_file(gone)) continue;
    const uint64_t size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

// Of the files below, and of no others.  In a process of its own: whoever closes a file of SQLite's
// gives up the locks that its process has of it.
void DropFromCache(const std::string& folder) {
  const pid_t child = fork();
  Check(child >= 0, "no process can be made");
  if (child == 0) {
    std::error_code gone;
    for (auto at = fs::recursive_directory_iterator(folder, gone);
         at != fs::recursive_directory_iterator(); at.increment(gone)) {
      const int fd = at->is_regular_file(gone) ? open(at->path().c_str(), O_RDONLY) : -1;
      if (fd < 0) continue;
      fdatasync(fd);  // what is not written yet stays
      posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
      close(fd);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

// A store in a folder, with a note of how many traces it has.
class GrowingStore {
 public:
  GrowingStore(const Kind& kind, std::string folder) : kind_(kind), folder_(std::move(folder)) {
    std::ifstream(folder_ + "/count") >> count_;
    fs::create_directories(data());
    if (&kind == &kServers) server_.emplace("", data());
    place_ = server_ ? "clickhouse:" + server_->url() + ",database=grown" : data();
  }

  uint64_t count() const { return count_; }
  const Kind& kind() const { return kind_; }
  std::string data() const { return folder_ + "/data"; }
  const std::string& place() const { return place_; }
  const ClickHouseTestServer* server() const { return server_ ? &*server_ : nullptr; }

  // Without what was merged, which a server leaves there for some minutes.
  double Gigabytes() const {
    if (!server_) return static_cast<double>(BytesBelow(data())) / kGigabyte;
    const std::string bytes = server_->Ask("default",
                                           "SELECT sum(bytes_on_disk) FROM system.parts"
                                           " WHERE active AND database = 'grown'");
    return std::strtod(bytes.c_str(), nullptr) / kGigabyte;
  }

  void Open() {
    const Nanos now = kBegin + static_cast<Nanos>(count_) * kind_.step;
    if (server_) {
      ClickHouseTraceStoreOptions options;
      options.place = *ParseClickHousePlace(place_);
      options.max_bytes = uint64_t{64} << 30;
      auto store = ClickHouseTraceStore::Open(options, now);
      Check(store.status());
      store_ = std::move(*store);
    } else {
      SqliteTraceStoreOptions options;
      options.folder = data();
      options.max_bytes = uint64_t{64} << 30;
      auto store = SqliteTraceStore::Open(options, now);
      Check(store.status());
      store_ = std::move(*store);
    }
  }

  void Write(uint64_t traces) {
    for (const uint64_t end = count_ + traces; count_ < end;) {
      const uint64_t until = std::min(count_ + kind_.batch, end);
      const auto batch = TracesOf(count_, until, kind_.step);
      Append(batch);
      count_ = until;
    }
  }

  // A server that is busy with merging may not answer in time; then it is sent again.
  void Append(const std::vector<StoredTrace>& batch) {
    Nanos now = batch.back().start;
    Status status = store_->Append(batch, now);
    for (int i = 0; !status.ok() && i < 20; ++i) {
      now += ClickHouseTraceStore::kLongestBackoff;
      status = store_->Append(batch, now);
    }
    Check(status);
  }

  void Close() {
    store_.reset();
    std::ofstream(folder_ + "/count") << count_ << "\n";
  }

 private:
  const Kind& kind_;
  const std::string folder_;
  uint64_t count_ = 0;
  std::optional<ClickHouseTestServer> server_;
  std::string place_;
  std::unique_ptr<TraceStore> store_;
};

// Until a server has no more to merge: what is asked is asked of a store at rest.
void Settle(const GrowingStore& store) {
  if (store.server() == nullptr) return;
  int idle = 0;
  for (int i = 0; idle < 20 && i < 6000; ++i) {
    const bool is_idle = store.server()->Ask("grown", "SELECT count() FROM system.merges") == "0\n";
    idle = is_idle ? idle + 1 : 0;
    poll(nullptr, 0, 100);
  }
}

void Fill(GrowingStore* store, double gigabytes) {
  constexpr uint64_t kStretch = 1u << 17;
  store->Open();
  while (store->Gigabytes() < gigabytes) store->Write(kStretch);
  store->Close();
  Settle(*store);
}

Json AskOne(const GrowthQuestion& question, const GrowingStore& store) {
  const auto once = [&](TraceReader* reader, uint64_t run) {
    const TraceQuery query = question.query(run, store.count(), store.kind().step);
    uint64_t found = 0;
    const double seconds = SecondsOf([&] { found = AskToTheEnd(reader, question, query); });
    const uint64_t expected = ExpectedOf(query, store.count(), store.kind().step);
    Check(found == expected, std::string(question.name) + ": " + std::to_string(found) +
                                 " traces instead of " + std::to_string(expected));
    return std::make_pair(seconds, found);
  };
  auto reader = OpenTraceReader(store.place());
  Check(reader.status());
  std::vector<double> cold;
  uint64_t found = 0;
  for (int run = 0; run < (question.warm_runs == 1 ? 1 : kColdRuns); ++run) {
    DropFromCache(store.data());
    const auto [seconds, traces] = once(reader->get(), run);
    cold.push_back(seconds);
    found = traces;
  }
  std::vector<double> warm;
  for (int run = 0; run < question.warm_runs; ++run) {
    // Of many, each asks for something else, and so the first asks are not counted.
    warm.push_back(once(reader->get(), question.warm_runs == 1 ? 0 : run % 10).first);
  }
  const double cold_ms = MedianOf(std::move(cold)) * 1000;
  const double warm_ms = MedianOf(std::move(warm)) * 1000;
  std::printf("  %-30s %10llu found %10.1f ms cold %10.1f ms warm\n", question.name,
              static_cast<unsigned long long>(found), cold_ms, warm_ms);
  std::fflush(stdout);
  return {{"name", question.name}, {"found", found}, {"cold_ms", cold_ms}, {"warm_ms", warm_ms}};
}

Json Ask(GrowingStore* store) {
  store->Open();
  const double seconds = SecondsOf([&] { store->Write(kWritten); });
  store->Close();
  if (store->server() != nullptr) store->server()->Ask("grown", "SYSTEM STOP MERGES");
  const double gigabytes = store->Gigabytes();
  std::printf("%s: %.2f GB, %llu traces, %.0f traces a second written\n", store->kind().name,
              gigabytes, static_cast<unsigned long long>(store->count()),
              static_cast<double>(kWritten) / seconds);
  Json json = {{"store", store->kind().name},
               {"gigabytes", gigabytes},
               {"traces", store->count()},
               {"written_per_s", static_cast<double>(kWritten) / seconds}};
  for (const GrowthQuestion& question : GrowthQuestions()) {
    json["questions"].push_back(AskOne(question, *store));
  }
  return json;
}

// With what merges and write-ahead logs take for a while.
void CheckRoom(const std::string& folder, double gigabytes) {
  struct statvfs disk {};
  Check(statvfs(folder.c_str(), &disk) == 0, folder + ": is no folder");
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  const double needed =
      std::max(0.0, 1.3 * gigabytes + 1 - static_cast<double>(BytesBelow(folder)) / kGigabyte);
  Check(free >= needed * kGigabyte, folder + ": has " + std::to_string(free / kGigabyte) +
                                        " GB of room; " + std::to_string(needed) + " are needed");
}

}  // namespace

void MeasureGrowth(const GrowthOptions& options) {
  std::optional<OvsdbTestFolder> temporary;
  std::string folder = options.folder;
  if (folder.empty()) folder = temporary.emplace().File("");
  fs::create_directories(folder);
  std::vector<double> sizes = options.gigabytes;
  std::sort(sizes.begin(), sizes.end());
  CheckRoom(folder, sizes.empty() ? 0 : sizes.back());
  GrowingStore store(options.is_servers ? kServers : kFiles, folder);
  if (!options.is_filled) sizes = {0};
  for (const double size : sizes) {
    if (options.is_filled) Fill(&store, size);
    if (!options.is_asked) continue;
    const Json line = Ask(&store);
    if (options.json.empty()) continue;
    std::ofstream file(options.json, std::ios::app);
    file << line.dump() << "\n";
    Check(bool(file.flush()), options.json + ": cannot be written");
  }
}

}  // namespace trumpet::bench
