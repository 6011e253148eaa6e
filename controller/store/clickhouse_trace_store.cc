// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/clickhouse_trace_store.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "controller/store/clickhouse_rows.h"

namespace trumpet {
namespace {

constexpr Nanos kHour = 3600 * kNanosPerSecond;
constexpr Nanos kFirstBackoff = kNanosPerSecond;
constexpr Nanos kExpireEvery = 60 * kNanosPerSecond;
// Batches of the spool in one call: those that come must not wait for long.
constexpr int kReplaysWithAppend = 4;
constexpr int kReplaysWithExpire = 64;

const char* InsertOf(const SpooledBatch& batch) {
  return batch.is_links ? kInsertLinks : kInsertTraces;
}

uint64_t ByChance() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

Nanos PartitionOf(const ClickHouseTraceStoreOptions& options) {
  if (options.partition > 0) return options.partition;
  return std::max<Nanos>(1, (options.max_age / 32 + kHour - 1) / kHour) * kHour;
}

}  // namespace

ClickHouseTraceStore::ClickHouseTraceStore(const ClickHouseTraceStoreOptions& options)
    : options_(options),
      servers_(options.place.servers.size()),
      writer_(options.writer != 0 ? options.writer : ByChance()) {}

Result<std::unique_ptr<ClickHouseTraceStore>> ClickHouseTraceStore::Open(
    const ClickHouseTraceStoreOptions& options, Nanos now) {
  std::unique_ptr<ClickHouseTraceStore> store(new ClickHouseTraceStore(options));
  auto link = ClickHouseServers::Open(options.place, kTimeout);
  if (!link.ok()) return link.status();
  auto reader = ClickHouseTraceReader::Open(options.place);
  if (!reader.ok()) return reader.status();
  store->link_ = std::move(*link);
  store->reader_ = std::move(*reader);
  if (!options.spool_folder.empty()) {
    auto spool =
        RowSpool::Open(options.spool_folder, options.place.servers, options.max_spool_bytes);
    if (!spool.ok()) return spool.status();
    store->spool_ = std::move(*spool);
  }
  for (size_t i = 0; i < store->servers_.size(); ++i) store->IsReady(i, now);
  return store;
}

bool ClickHouseTraceStore::IsReady(size_t server, Nanos now) {
  Server& state = servers_[server];
  if (state.is_away && now < state.retry_at) return false;
  if (state.has_tables) return true;
  const auto version = link_->MakeTables(server, PartitionOf(options_));
  Status made = version.status();
  if (version.ok() && *version < kClickHouseVersion) {
    if (!state.fill) state.fill.emplace();
    made = Fill(server);  // of tables without traces that is all
  }
  state.has_tables = made.ok();
  state.is_away = false;
  if (!made.ok()) NoteAway(server, made, now);
  return made.ok();
}

void ClickHouseTraceStore::NoteAway(size_t server, const Status& why, Nanos now) {
  Server& state = servers_[server];
  state.backoff = std::clamp(2 * state.backoff, kFirstBackoff, kLongestBackoff);
  state.retry_at = now + state.backoff;
  state.is_away = true;
  state.has_tables = false;  // it may come back empty
  state.trouble = why.message();
}

Status ClickHouseTraceStore::Spool(size_t server, const SpooledBatch& batch) {
  const Status status =
      spool_ == nullptr ? Status::Error(servers_[server].trouble) : spool_->Put(server, batch);
  uint64_t& written = batch.is_links ? counters_.written_links : counters_.written;
  uint64_t& refused = batch.is_links ? counters_.refused_links : counters_.refused;
  (status.ok() ? written : refused) += batch.row_count;
  if (status.ok()) counters_.spooled += batch.row_count;
  return status;
}

// One batch for each server; those without rows are left out.
Status ClickHouseTraceStore::Send(std::vector<SpooledBatch> batches, Nanos now) {
  std::vector<ClickHouseServers::Rows> inserts;
  std::vector<size_t> for_spool;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].row_count == 0) continue;
    if (IsReady(i, now)) {
      inserts.push_back({i, InsertOf(batches[i]), &batches[i].rows});
    } else {
      for_spool.push_back(i);
    }
  }
  const std::vector<Status> statuses = link_->Insert(inserts);
  for (size_t k = 0; k < inserts.size(); ++k) {
    const size_t server = inserts[k].server;
    if (statuses[k].ok()) {
      servers_[server].is_away = false;
      servers_[server].backoff = 0;
      const SpooledBatch& batch = batches[server];
      (batch.is_links ? counters_.written_links : counters_.written) += batch.row_count;
      Replay(server, kReplaysWithAppend, now);
    } else {
      NoteAway(server, statuses[k], now);
      for_spool.push_back(server);
    }
  }
  Status status = Status::Ok();
  for (const size_t server : for_spool) {
    Status spooled = Spool(server, batches[server]);
    if (!spooled.ok()) status = std::move(spooled);
  }
  return status;
}

void ClickHouseTraceStore::Replay(size_t server, int files, Nanos now) {
  if (spool_ == nullptr) return;
  for (; files > 0 && !spool_->is_empty(server); --files) {
    const auto batch = spool_->First(server);
    if (!batch.ok()) {
      servers_[server].trouble = batch.message();
      continue;
    }
    const Status sent = link_->Insert({{server, InsertOf(*batch), &batch->rows}})[0];
    if (!sent.ok()) return NoteAway(server, sent, now);
    servers_[server].is_away = false;
    servers_[server].backoff = 0;
    counters_.replayed += batch->row_count;
    spool_->RemoveFirst(server);
  }
}

Status ClickHouseTraceStore::Append(const std::vector<StoredTrace>& traces, Nanos now) {
  std::vector<SpooledBatch> batches(servers_.size());
  for (const StoredTrace& trace : traces) {
    SpooledBatch& batch = batches[ClickHouseServerOf(trace.id, servers_.size())];
    AppendRow(trace, &batch.rows);
    ++batch.row_count;
  }
  return Send(std::move(batches), now);
}

Status ClickHouseTraceStore::WriteCounters(const std::vector<LinkCounters>& counters,
                                           uint64_t writer, uint64_t batch_number, Nanos now) {
  // One row for each link and time: rows of a batch are told apart by nothing else.
  std::map<std::tuple<uint16_t, uint16_t, Nanos>, LinkCounters> sums;
  for (const LinkCounters& link : counters) {
    LinkCounters& sum = sums.emplace(std::make_tuple(link.from, link.to, link.time),
                                     LinkCounters{link.from, link.to, link.time, {}})
                            .first->second;
    for (size_t i = 0; i < kLinkCounters; ++i) sum.values[i] += link.values[i];
  }
  std::vector<SpooledBatch> batches(servers_.size());
  for (SpooledBatch& batch : batches) batch.is_links = true;
  for (const auto& [key, link] : sums) {
    const uint64_t number = uint64_t{link.from} << 16 | link.to;
    SpooledBatch& batch = batches[ClickHouseServerOf(number, servers_.size())];
    AppendRow(link, writer, batch_number, &batch.rows);
    ++batch.row_count;
  }
  return Send(std::move(batches), now);
}

Status ClickHouseTraceStore::AppendCounters(const std::vector<LinkCounters>& counters, Nanos now) {
  return WriteCounters(counters, writer_, next_batch_++, now);
}

Status ClickHouseTraceStore::PutCounters(const std::vector<LinkCounters>& counters, uint64_t origin,
                                         Nanos now) {
  return WriteCounters(counters, origin, 0, now);
}

Result<std::vector<StoredTrace>> ClickHouseTraceStore::Find(const TraceQuery& query) {
  return reader_->Find(query, {}, nullptr);
}

Result<std::vector<LinkCounters>> ClickHouseTraceStore::FindCounters(uint16_t from_switch,
                                                                     uint16_t to_switch, Nanos from,
                                                                     Nanos until) {
  return reader_->LinksOf(from_switch, to_switch, from, until);
}

Status ClickHouseTraceStore::Fill(size_t server) {
  std::optional<TraceStartFill>& fill = servers_[server].fill;
  const auto is_done = fill->Step(link_.get(), server);
  if (is_done.ok() && *is_done) fill.reset();
  return is_done.status();
}

Status ClickHouseTraceStore::Expire(Nanos now) {
  Status status = Status::Ok();
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!IsReady(i, now)) continue;
    Replay(i, kReplaysWithExpire, now);
    Server& state = servers_[i];
    if (state.fill && !state.is_away) {
      Status filled = Fill(i);
      if (!filled.ok()) {
        NoteAway(i, filled, now);
        status = std::move(filled);
      }
    }
    if (state.is_away || now < state.expire_at) continue;
    state.expire_at = now + std::min(kExpireEvery, PartitionOf(options_) / 4);
    Status expired = Expire(i, now);
    if (!expired.ok()) {
      NoteAway(i, expired, now);
      status = std::move(expired);
    }
  }
  return status;
}

Status ClickHouseTraceStore::Expire(size_t server, Nanos now) {
  const auto answer = link_->Ask(server, kPartitionsSql);
  if (!answer.ok()) return answer.status();
  auto partitions = ReadPartitionRows(*answer);
  if (!partitions.ok()) return Status::Error(link_->name(server) + ": " + partitions.message());
  std::sort(partitions->begin(), partitions->end(), GoesBefore);
  uint64_t bytes = 0;
  for (const ClickHousePartition& partition : *partitions) bytes += partition.bytes;
  const uint64_t most = options_.max_bytes / servers_.size();
  for (const ClickHousePartition& partition : *partitions) {
    const bool is_old = partition.end <= now && now - partition.end > options_.max_age;
    if (!is_old && bytes <= most) break;
    const auto dropped = link_->Ask(server, DropSql(partition));
    if (!dropped.ok()) return dropped.status();
    bytes -= partition.bytes;
    counters_.expired_files += partition.table == "trace_start" ? 0 : 1;
  }
  servers_[server].stored_bytes = bytes;
  return Status::Ok();
}

TraceStoreCounters ClickHouseTraceStore::counters() const {
  TraceStoreCounters counters = counters_;
  for (const Server& server : servers_) {
    counters.stored_bytes += server.stored_bytes;
    counters.servers_away += server.is_away;
    if (server.is_away) counters.trouble = server.trouble;
  }
  if (spool_ != nullptr) {
    counters.spool_bytes = spool_->bytes();
    counters.spool_lost = spool_->lost_rows();
  }
  return counters;
}

}  // namespace trumpet
