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

}  // namespace

Result<std::unique_ptr<ClickHouseTraceReader>> ClickHouseTraceReader::Open(
    const ClickHousePlace& place) {
  auto servers = ClickHouseServers::Open(place, kTimeout);
  if (!servers.ok()) return servers.status();
  return std::unique_ptr<ClickHouseTraceReader>(new ClickHouseTraceReader(std::move(*servers)));
}

template <typename Read, typename Take>
Status ClickHouseTraceReader::AskAll(const std::string& sql, const MayGoOn& may_go_on,
                                     Missing* missing, Read read, Take take) {
  const auto answers = servers_->AskAll(sql, may_go_on);
  if (may_go_on && !may_go_on()) return Status::Error("the question was taken back");
  Missing wrong;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].ok()) {
      wrong.push_back(answers[i].message());
      continue;
    }
    auto rows = read(*answers[i]);
    if (rows.ok()) {
      take(std::move(*rows));
    } else {
      wrong.push_back(servers_->name(i) + ": " + rows.message());
    }
  }
  if (wrong.empty()) return Status::Ok();
  if (missing == nullptr || wrong.size() == answers.size()) return Status::Error(wrong[0]);
  missing->insert(missing->end(), wrong.begin(), wrong.end());
  return Status::Ok();
}

Result<std::vector<StoredTrace>> ClickHouseTraceReader::Find(const TraceQuery& query,
                                                             const MayGoOn& may_go_on,
                                                             Missing* missing) {
  std::vector<StoredTrace> all;
  const auto ask = [&](const std::string& sql, Missing* wrong) {
    return AskAll(sql, may_go_on, wrong, ReadTraceRows, [&all](std::vector<StoredTrace> rows) {
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    });
  };
  Missing wrong;
  Status status = ask(query.id ? FindTraceSql(*query.id) : FindTracesSql(query), &wrong);
  if (!status.ok()) wrong = {status.message()};
  const bool has_old_tables = query.id && std::any_of(wrong.begin(), wrong.end(), SaysNoSuchTable);
  if (has_old_tables) {
    // Who has answered already answers once more, which changes nothing.
    wrong.clear();
    status = ask(FindOldTraceSql(*query.id), &wrong);
  }
  if (!status.ok()) return status;
  if (!wrong.empty() && missing == nullptr) return Status::Error(wrong[0]);
  if (missing != nullptr) missing->insert(missing->end(), wrong.begin(), wrong.end());
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
