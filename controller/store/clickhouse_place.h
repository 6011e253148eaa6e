// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ClickHousePlace: where servers of ClickHouse are, as users write it:
//
//   clickhouse:http://a:8123,http://b:8123,database=trumpet,user=trumpet,password_file=/etc/x
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_STORE_CLICKHOUSE_PLACE_H
#define TRUMPET_CONTROLLER_STORE_CLICKHOUSE_PLACE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/status.h"

namespace trumpet {

struct ClickHousePlace {
  std::vector<std::string> servers;  // URLs without a path; traces are spread over them
  std::string database = "trumpet";  // made if it is not there
  std::string user = "default";
  std::string password_file;  // its first line; empty: no password
  std::string ca_file;        // for https
};

// Which of so many servers a trace is written to.
size_t ClickHouseServerOf(uint64_t trace_id, size_t servers);

constexpr char kClickHousePrefix[] = "clickhouse:";
constexpr size_t kMaxClickHouseServers = 64;

// A database for each analyzer: no two names have the same.
std::string DatabaseOfAnalyzer(const std::string& name);

// Does the text mean servers, and no folder?
bool IsClickHousePlace(const std::string& text);
Result<ClickHousePlace> ParseClickHousePlace(const std::string& text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_CLICKHOUSE_PLACE_H
