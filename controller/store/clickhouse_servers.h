// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ClickHouseServers: SQL to one or several servers of ClickHouse, over HTTP.
//
// An answer that is not whole is an error: servers are told to answer when they are done.
//
// Threads: one at a time.  Calls wait for the servers.

#ifndef TRUMPET_CONTROLLER_STORE_CLICKHOUSE_SERVERS_H
#define TRUMPET_CONTROLLER_STORE_CLICKHOUSE_SERVERS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/store/clickhouse_place.h"
#include "controller/store/http_client.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

class ClickHouseServers {
 public:
  using MayGoOn = std::function<bool()>;

  // Reads the file of the password; asks no server.
  static Result<std::unique_ptr<ClickHouseServers>> Open(const ClickHousePlace& place,
                                                         Nanos timeout);

  size_t count() const { return place_.servers.size(); }
  const std::string& name(size_t server) const { return place_.servers[server]; }

  // The answer of one; errors begin with its name.  0: in the time that all have.
  Result<std::string> Ask(size_t server, const std::string& sql, Nanos timeout = 0);
  // Of several, which look at the same time; in their order.
  std::vector<Result<std::string>> AskSome(const std::vector<size_t>& servers,
                                           const std::string& sql, const MayGoOn& may_go_on = {});

  struct Rows {
    size_t server;
    const char* sql;  // INSERT
    const std::string* rows;
  };
  // To several at the same time; in their order.
  std::vector<Status> Insert(const std::vector<Rows>& all);

  // Makes database and tables where they are not there; refuses those of a later release.  Which
  // version they are of; below kClickHouseVersion what is in them has to be brought up to date.
  Result<uint64_t> MakeTables(size_t server, Nanos partition);
  // 0: nothing says.
  Result<uint64_t> VersionOf(size_t server);

 private:
  ClickHouseServers(ClickHousePlace place, HttpClientOptions options)
      : place_(std::move(place)), client_(std::move(options)) {}
  HttpCall ToCall(size_t server, const std::string& sql) const;
  Result<std::string> Check(size_t server, HttpReply reply) const;

  const ClickHousePlace place_;
  HttpClient client_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_CLICKHOUSE_SERVERS_H
