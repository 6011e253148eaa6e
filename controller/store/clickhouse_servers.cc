// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/clickhouse_servers.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "controller/store/clickhouse_rows.h"
#include "controller/store/row_binary.h"

namespace trumpet {
namespace {

constexpr size_t kMaxErrorBytes = 400;

// The first line, without what would be another header.
std::string LineOf(const std::string& text) {
  return text.substr(0, std::min(text.find_first_of("\r\n"), kMaxErrorBytes));
}

Result<std::string> ReadPassword(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return Status::Error(path + ": no password can be read there");
  }
  return LineOf(line);
}

}  // namespace

Result<std::unique_ptr<ClickHouseServers>> ClickHouseServers::Open(const ClickHousePlace& place,
                                                                   Nanos timeout) {
  const auto password = ReadPassword(place.password_file);
  if (!password.ok()) return password.status();
  HttpClientOptions options;
  options.headers = {"X-ClickHouse-User: " + place.user};
  if (!password->empty()) options.headers.push_back("X-ClickHouse-Key: " + *password);
  options.ca_file = place.ca_file;
  options.timeout = timeout;
  return std::unique_ptr<ClickHouseServers>(new ClickHouseServers(place, std::move(options)));
}

HttpCall ClickHouseServers::ToCall(size_t server, const std::string& sql) const {
  return {place_.servers[server] + "/?wait_end_of_query=1&database=" + place_.database, sql};
}

Result<std::string> ClickHouseServers::Check(size_t server, HttpReply reply) const {
  if (reply.status == 200) return std::move(reply.body);
  const std::string why = reply.status == 0
                              ? reply.error
                              : "HTTP " + std::to_string(reply.status) + ": " + LineOf(reply.body);
  return Status::Error(name(server) + ": " + why);
}

Result<std::string> ClickHouseServers::Ask(size_t server, const std::string& sql, Nanos timeout) {
  HttpCall call = ToCall(server, sql);
  call.timeout = timeout;
  return Check(server, client_.Call(call));
}

std::vector<Result<std::string>> ClickHouseServers::AskSome(const std::vector<size_t>& servers,
                                                            const std::string& sql,
                                                            const MayGoOn& may_go_on) {
  std::vector<HttpCall> calls;
  for (const size_t server : servers) calls.push_back(ToCall(server, sql));
  std::vector<HttpReply> replies = client_.CallAll(calls, may_go_on);
  std::vector<Result<std::string>> answers;
  for (size_t i = 0; i < servers.size(); ++i) {
    answers.push_back(Check(servers[i], std::move(replies[i])));
  }
  return answers;
}

std::vector<Status> ClickHouseServers::Insert(const std::vector<Rows>& all) {
  std::vector<HttpCall> calls;
  for (const Rows& one : all) {
    HttpCall call = ToCall(one.server, *one.rows);
    call.url += "&query=" + EncodeForUrl(one.sql);
    calls.push_back(std::move(call));
  }
  std::vector<HttpReply> replies = client_.CallAll(calls);
  std::vector<Status> statuses;
  for (size_t i = 0; i < all.size(); ++i) {
    statuses.push_back(Check(all[i].server, std::move(replies[i])).status());
  }
  return statuses;
}

Result<uint64_t> ClickHouseServers::VersionOf(size_t server) {
  const auto answer = Ask(server, "SELECT max(version) FROM store_version FORMAT RowBinary");
  if (!answer.ok()) return answer.status();
  RowBinaryReader reader(*answer);
  const auto version = reader.Number<uint64_t>();
  if (!reader.ok()) return Status::Error(name(server) + ": " + reader.status().message());
  return version;
}

Result<uint64_t> ClickHouseServers::MakeTables(size_t server, Nanos partition) {
  // That of the server itself is there before ours is.
  const std::string make = "CREATE DATABASE IF NOT EXISTS " + place_.database;
  Status made =
      Check(server, client_.Call({place_.servers[server] + "/?wait_end_of_query=1", make}))
          .status();
  for (const std::string& table : ClickHouseTables(partition)) {
    if (made.ok()) made = Ask(server, table).status();
  }
  if (!made.ok()) return made;
  auto version = VersionOf(server);
  if (version.ok() && *version > kClickHouseVersion) {
    return Status::Error(name(server) + ": database " + place_.database + " is of a later release");
  }
  return version;
}

}  // namespace trumpet
