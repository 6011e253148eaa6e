// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Real servers of ClickHouse for tests, in temporary folders and on ports of the loopback; Debian
// has them in clickhouse-server.  What goes wrong fails the test.

#ifndef TRUMPET_CONTROLLER_STORE_CLICKHOUSE_SERVER_TEST_H
#define TRUMPET_CONTROLLER_STORE_CLICKHOUSE_SERVER_TEST_H

#include <cstdint>
#include <optional>
#include <string>

#include "controller/store/http_client.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {

// Why there are none; empty: there are.
std::string WhyNoClickHouse();

class ClickHouseTestServer {
 public:
  // Returns when it answers.  What it has goes with it, unless it is in a folder that is named.
  explicit ClickHouseTestServer(const std::string& password = "", const std::string& folder = "");

  const std::string& url() const { return url_; }
  void Kill();   // -9, and waits for the end
  void Start();  // again, where it was, with what it had
  // What it answers as text.
  std::string Ask(const std::string& database, const std::string& sql) const;

 private:
  bool IsUp() const;
  HttpReply Call(const std::string& database, const std::string& sql) const;

  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  std::optional<OvsdbTestFolder> temporary_;
  std::string folder_;
  const std::string password_;
  std::string url_;
  std::optional<TestProgram> program_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_CLICKHOUSE_SERVER_TEST_H
