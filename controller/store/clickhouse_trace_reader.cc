// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/clickhouse_trace_reader.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "controller/store/clickhouse_rows.h"

namespace trumpet {
namespace {

constexpr Nanos kTimeout = 60 * kNanosPerSecond;

auto PlaceOf(const StoredTrace& trace) {
  return std::make_tuple(trace.start, static_cast<int64_t>(trace.id));
}

// By start and id, of each id the last.  Servers have each trace once, unless others had it before
// servers were added.
void PutInOrder(std::vector<StoredTrace>* traces) {
  std::map<uint64_t, uint32_t> last;
  for (const StoredTrace& trace : *traces) {
    uint32_t& revision = last[trace.id];
    revision = std::max(revision, trace.revision);
  }
  const auto is_old = [&](const StoredTrace& trace) { return trace.revision < last[trace.id]; };
  traces->erase(std::remove_if(traces->begin(), traces->end(), is_old), traces->end());
  std::sort(traces->begin(), traces->end(),
            [](const StoredTrace& a, const StoredTrace& b) { return PlaceOf(a) < PlaceOf(b); });
  traces->erase(
      std::unique(traces->begin(), traces->end(),
                  [](const StoredTrace& a, const StoredTrace& b) { return a.id == b.id; }),
      traces->end());
}

// Is the answer of those that have answered one?
Status Judge(TraceReader::Missing wrong, size_t asked, const TraceReader::MayGoOn& may_go_on,
             TraceReader::Missing* missing) {
  if (may_go_on && !may_go_on()) return Status::Error("the question was taken back");
  if (wrong.empty()) return Status::Ok();
  if (missing == nullptr || wrong.size() == asked) return Status::Error(wrong[0]);
  missing->insert(missing->end(), wrong.begin(), wrong.end());
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<ClickHouseTraceReader>> ClickHouseTraceReader::Open(
    const ClickHousePlace& place) {
  auto servers = ClickHouseServers::Open(place, kTimeout);
  if (!servers.ok()) return servers.status();
  return std::unique_ptr<ClickHouseTraceReader>(new ClickHouseTraceReader(std::move(*servers)));
}

ClickHouseTraceReader::ClickHouseTraceReader(std::unique_ptr<ClickHouseServers> servers)
    : servers_(std::move(servers)), has_all_starts_(servers_->count()) {
  for (size_t i = 0; i < servers_->count(); ++i) all_.push_back(i);
}

// `take` is given what each has; those that have not answered, and why, come to `wrong`.
template <typename Read, typename Take>
void ClickHouseTraceReader::AskSome(const std::vector<size_t>& servers, const std::string& sql,
                                    const MayGoOn& may_go_on, Missing* wrong, Read read,
                                    Take take) {
  const auto answers = servers_->AskSome(servers, sql, may_go_on);
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].ok()) {
      wrong->push_back(answers[i].message());
      continue;
    }
    auto rows = read(*answers[i]);
    if (rows.ok()) {
      take(servers[i], std::move(*rows));
    } else {
      wrong->push_back(servers_->name(servers[i]) + ": " + rows.message());
    }
  }
}

template <typename Read, typename Take>
Status ClickHouseTraceReader::AskAll(const std::string& sql, const MayGoOn& may_go_on,
                                     Missing* missing, Read read, Take take) {
  Missing wrong;
  AskSome(all_, sql, may_go_on, &wrong, read,
          [&](size_t /*server*/, auto rows) { take(std::move(rows)); });
  return Judge(std::move(wrong), all_.size(), may_go_on, missing);
}

// Once it has them it keeps them: then it is not asked again.
bool ClickHouseTraceReader::HasAllStarts(size_t server) {
  if (has_all_starts_[server]) return true;
  const auto version = servers_->VersionOf(server);
  has_all_starts_[server] = version.ok() && *version >= kClickHouseVersion;
  return has_all_starts_[server];
}

Status ClickHouseTraceReader::FindById(uint64_t id, const MayGoOn& may_go_on, Missing* missing,
                                       std::vector<StoredTrace>* found) {
  const size_t home = ClickHouseServerOf(id, all_.size());
  std::vector<size_t> others;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(others),
               [home](size_t server) { return server != home; });
  Missing wrong;
  // The others may have it from before servers were added or put into another order.
  for (const std::vector<size_t>& servers : {std::vector<size_t>{home}, others}) {
    std::vector<size_t> old;
    const auto take = [&](size_t server, std::vector<StoredTrace> rows) {
      if (rows.empty()) old.push_back(server);
      std::move(rows.begin(), rows.end(), std::back_inserter(*found));
    };
    Missing refused;
    AskSome(servers, FindTraceSql(id), may_go_on, &refused, ReadTraceRows, take);
    if (!found->empty()) return Status::Ok();
    // Nothing where the table of starts is not there, or not filled yet, need not be nothing.
    const bool has_no_table = std::any_of(refused.begin(), refused.end(), SaysNoSuchTable);
    if (has_no_table) {
      old = servers;
      refused.clear();
    } else {
      const auto is_up_to_date = [this](size_t server) { return HasAllStarts(server); };
      old.erase(std::remove_if(old.begin(), old.end(), is_up_to_date), old.end());
    }
    if (!old.empty()) {
      AskSome(old, FindOldTraceSql(id), may_go_on, &refused, ReadTraceRows, take);
    }
    wrong.insert(wrong.end(), refused.begin(), refused.end());
    if (!found->empty()) break;
  }
  return Judge(std::move(wrong), all_.size(), may_go_on, missing);
}

Result<std::vector<StoredTrace>> ClickHouseTraceReader::Find(const TraceQuery& query,
                                                             const MayGoOn& may_go_on,
                                                             Missing* missing) {
  std::vector<StoredTrace> all;
  const auto take = [&all](std::vector<StoredTrace> rows) {
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  };
  const Status status = query.id
                            ? FindById(*query.id, may_go_on, missing, &all)
                            : AskAll(FindTracesSql(query), may_go_on, missing, ReadTraceRows, take);
  if (!status.ok()) return status;
  PutInOrder(&all);
  const auto is_other = [&](const StoredTrace& trace) { return !IsAskedFor(trace, query); };
  if (query.id) all.erase(std::remove_if(all.begin(), all.end(), is_other), all.end());
  if (all.size() > query.limit) all.resize(query.limit);
  return all;
}

Result<TraceCost> ClickHouseTraceReader::Estimate(const TraceQuery& query, Missing* missing) {
  TraceCost cost;
  const auto add_parts = [&](const std::vector<ClickHousePartition>& partitions) {
    for (const ClickHousePartition& partition : partitions) {
      if (partition.table != "trace" || partition.end <= query.from) continue;
      ++cost.files;
      cost.bytes += partition.bytes;
    }
  };
  Status status = AskAll(kPartitionsSql, {}, missing, ReadPartitionRows, add_parts);
  if (!status.ok()) return status;
  const auto add_traces = [&](const std::vector<TraceCountRow>& rows) {
    for (const TraceCountRow& row : rows) cost.traces += row.traces;
  };
  Missing again;  // the same as before
  status = AskAll(EstimateTracesSql(query), {}, missing == nullptr ? nullptr : &again,
                  ReadCountRows, add_traces);
  if (!status.ok()) return status;
  return cost;
}

Result<std::map<Nanos, TraceCount>> ClickHouseTraceReader::Count(const TraceQuery& query,
                                                                 Nanos step,
                                                                 const MayGoOn& may_go_on,
                                                                 Missing* missing) {
  std::map<Nanos, TraceCount> counts;
  const Status status = AskAll(CountTracesSql(query, step), may_go_on, missing, ReadCountRows,
                               [&](const std::vector<TraceCountRow>& rows) {
                                 for (const TraceCountRow& row : rows) {
                                   counts[row.begin].traces += row.traces;
                                   counts[row.begin].bytes += row.bytes;
                                 }
                               });
  if (!status.ok()) return status;
  return counts;
}

Result<std::vector<LinkCounters>> ClickHouseTraceReader::AskForLinks(const std::string& sql,
                                                                     Missing* missing) {
  std::map<std::tuple<uint16_t, uint16_t, Nanos>, LinkCounters> sums;
  const Status status =
      AskAll(sql, {}, missing, ReadLinkRows, [&](const std::vector<LinkCounters>& rows) {
        for (const LinkCounters& link : rows) {
          LinkCounters& sum = sums.emplace(std::make_tuple(link.from, link.to, link.time),
                                           LinkCounters{link.from, link.to, link.time, {}})
                                  .first->second;
          for (size_t i = 0; i < kLinkCounters; ++i) sum.values[i] += link.values[i];
        }
      });
  if (!status.ok()) return status;
  std::vector<LinkCounters> in_order;
  for (const auto& [key, sum] : sums) in_order.push_back(sum);
  return in_order;
}

Result<std::vector<LinkCounters>> ClickHouseTraceReader::Links(Nanos from, Nanos until,
                                                               Missing* missing) {
  return AskForLinks(FindLinksSql(from, until), missing);
}

Result<std::pair<Nanos, Nanos>> ClickHouseTraceReader::LinkTimes(Missing* missing) {
  std::pair<Nanos, Nanos> times = {INT64_MAX, INT64_MIN};
  const Status status = AskAll(
      kLinkTimesSql, {}, missing, ReadCountRows, [&](const std::vector<TraceCountRow>& rows) {
        for (const TraceCountRow& row : rows) {
          if (row.traces == 0) continue;
          times.first = std::min(times.first, row.begin);
          times.second = std::max(times.second, static_cast<Nanos>(row.bytes));
        }
      });
  if (!status.ok()) return status;
  return times;
}

Result<std::vector<LinkCounters>> ClickHouseTraceReader::LinksOf(uint16_t from_switch,
                                                                 uint16_t to_switch, Nanos from,
                                                                 Nanos until) {
  return AskForLinks(FindLinkSql(from_switch, to_switch, from, until), nullptr);
}

}  // namespace trumpet
