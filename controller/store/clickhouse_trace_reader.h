// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ClickHouseTraceReader: traces on servers of ClickHouse, all of which are asked at the same time;
// for one by its id, that which it is written to, and the others only if it has none.
//
// Threads: one at a time.

#ifndef TRUMPET_CONTROLLER_STORE_CLICKHOUSE_TRACE_READER_H
#define TRUMPET_CONTROLLER_STORE_CLICKHOUSE_TRACE_READER_H

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/clickhouse_servers.h"
#include "controller/store/trace_reader.h"

namespace trumpet {

class ClickHouseTraceReader final : public TraceReader {
 public:
  static Result<std::unique_ptr<ClickHouseTraceReader>> Open(const ClickHousePlace& place);

  Result<std::vector<StoredTrace>> Find(const TraceQuery& query, const MayGoOn& may_go_on,
                                        Missing* missing) override;
  Result<TraceCost> Estimate(const TraceQuery& query, Missing* missing) override;
  Result<std::map<Nanos, TraceCount>> Count(const TraceQuery& query, Nanos step,
                                            const MayGoOn& may_go_on, Missing* missing) override;
  Result<std::vector<LinkCounters>> Links(Nanos from, Nanos until, Missing* missing) override;
  Result<std::pair<Nanos, Nanos>> LinkTimes(Missing* missing) override;
  // Of one link, by time.
  Result<std::vector<LinkCounters>> LinksOf(uint16_t from_switch, uint16_t to_switch, Nanos from,
                                            Nanos until);

 private:
  explicit ClickHouseTraceReader(std::unique_ptr<ClickHouseServers> servers);
  template <typename Read, typename Take>
  Status AskAll(const std::string& sql, const MayGoOn& may_go_on, Missing* missing, Read read,
                Take take);
  template <typename Read, typename Take>
  void AskSome(const std::vector<size_t>& servers, const std::string& sql, const MayGoOn& may_go_on,
               Missing* wrong, Read read, Take take);
  Status FindById(uint64_t id, const MayGoOn& may_go_on, Missing* missing,
                  std::vector<StoredTrace>* found);
  bool HasAllStarts(size_t server);
  Result<std::vector<LinkCounters>> AskForLinks(const std::string& sql, Missing* missing);

  const std::unique_ptr<ClickHouseServers> servers_;
  std::vector<size_t> all_;           // their numbers
  std::vector<bool> has_all_starts_;  // of a server, as far as it was asked
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_CLICKHOUSE_TRACE_READER_H
