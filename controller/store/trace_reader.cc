// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_reader.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "controller/store/clickhouse_place.h"
#include "controller/store/clickhouse_trace_reader.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

class FolderReader final : public TraceReader {
 public:
  explicit FolderReader(std::string folder) : folder_(std::move(folder)) {}

  Result<std::vector<StoredTrace>> Find(const TraceQuery& query, const MayGoOn& may_go_on,
                                        Missing* /*missing*/) override {
    return FindInTraceFolder(folder_, query, may_go_on);
  }
  Result<TraceCost> Estimate(const TraceQuery& query, Missing* /*missing*/) override {
    return EstimateInTraceFolder(folder_, query);
  }
  Result<std::map<Nanos, TraceCount>> Count(const TraceQuery& query, Nanos step,
                                            const MayGoOn& may_go_on,
                                            Missing* /*missing*/) override {
    return CountInTraceFolder(folder_, query, step, may_go_on);
  }
  Result<std::vector<LinkCounters>> Links(Nanos from, Nanos until, Missing* /*missing*/) override {
    return LinksInTraceFolder(folder_, from, until);
  }
  Result<std::pair<Nanos, Nanos>> LinkTimes(Missing* /*missing*/) override {
    return LinkTimesInTraceFolder(folder_);
  }

 private:
  const std::string folder_;
};

std::string FileOf(const std::string& folder) { return folder + "/servers"; }

bool IsFiles(const std::string& place) { return place.rfind(kFilesPrefix, 0) == 0; }

}  // namespace

std::string FolderOfTracePlace(const std::string& place) {
  if (IsClickHousePlace(place)) return "";
  return IsFiles(place) ? place.substr(sizeof kFilesPrefix - 1) : place;
}

Result<std::unique_ptr<TraceReader>> OpenTraceReader(const std::string& place) {
  const std::string folder = FolderOfTracePlace(place);
  std::string servers = place;
  if (!IsClickHousePlace(place)) {
    auto loaded = IsFiles(place) ? Result<std::string>(std::string()) : LoadTraceServers(folder);
    if (!loaded.ok()) return loaded.status();
    servers = std::move(*loaded);
  }
  if (servers.empty()) return std::unique_ptr<TraceReader>(new FolderReader(folder));
  const auto parsed = ParseClickHousePlace(servers);
  if (!parsed.ok()) return parsed.status();
  auto reader = ClickHouseTraceReader::Open(*parsed);
  if (!reader.ok()) return reader.status();
  return std::unique_ptr<TraceReader>(std::move(*reader));
}

Status SaveTraceServers(const std::string& folder, const std::string& servers) {
  std::error_code error;
  if (servers.empty()) {
    fs::remove(FileOf(folder), error);
    return error ? Status::Error(FileOf(folder) + ": " + error.message()) : Status::Ok();
  }
  fs::create_directories(folder, error);
  const std::string fresh = FileOf(folder) + ".new";
  {
    std::ofstream file(fresh);
    file << servers << "\n";
    if (!file.flush()) return Status::Error(fresh + ": cannot be written");
  }
  fs::rename(fresh, FileOf(folder), error);
  return error ? Status::Error(FileOf(folder) + ": " + error.message()) : Status::Ok();
}

Result<std::string> LoadTraceServers(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(FileOf(folder), error)) return std::string();
  std::ifstream file(FileOf(folder));
  std::string line;
  if (!file || !std::getline(file, line) || !IsClickHousePlace(line)) {
    return Status::Error(FileOf(folder) + ": does not name servers");
  }
  return line;
}

}  // namespace trumpet
