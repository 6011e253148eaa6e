// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/clickhouse_server_test.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace trumpet {
namespace {

constexpr char kServer[] = "/usr/sbin/clickhouse-server";

// Nobody listens there now; few others look for a port in the same moment.
uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  uint16_t port = 0;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port = ntohs(address.sin_port);
  }
  close(fd);
  return port;
}

}  // namespace

std::string WhyNoClickHouse() {
  return access(kServer, X_OK) == 0 ? ""
                                    : "no clickhouse-server; apt-get install clickhouse-server";
}

ClickHouseTestServer::ClickHouseTestServer(const std::string& password, const std::string& folder)
    : folder_(folder), password_(password) {
  if (folder_.empty()) folder_ = temporary_.emplace().File(".");
  WriteTestFile(File("users.xml"),
                "<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default>"
                "<password>" +
                    password +
                    "</password><networks><ip>127.0.0.1</ip></networks>"
                    "<profile>default</profile><quota>default</quota></default></users></yandex>");
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::string port = std::to_string(FreePort());
    url_ = "http://127.0.0.1:" + port;
    WriteTestFile(File("config.xml"),
                  "<yandex><logger><level>warning</level><log>" + File("log") + "</log><errorlog>" +
                      File("errors") + "</errorlog></logger><http_port>" + port +
                      "</http_port><listen_host>127.0.0.1</listen_host><path>" + File("data/") +
                      "</path><tmp_path>" + File("tmp/") + "</tmp_path><users_config>" +
                      File("users.xml") +
                      "</users_config><default_profile>default</default_profile>"
                      "<default_database>default</default_database>"
                      "<mark_cache_size>5368709</mark_cache_size></yandex>");
    Start();
    if (IsUp()) return;
    program_.reset();
  }
  ADD_FAILURE() << "clickhouse-server does not come up";
}

bool ClickHouseTestServer::IsUp() const { return Call("default", "SELECT 1").body == "1\n"; }

void ClickHouseTestServer::Start() {
  program_.emplace(std::vector<std::string>{"sh", "-c",
                                            "exec " + std::string(kServer) + " --config-file=" +
                                                File("config.xml") + " >" + File("out") + " 2>&1"});
  for (int i = 0; i < 2000 && !IsUp(); ++i) poll(nullptr, 0, 10);
}

void ClickHouseTestServer::Kill() {
  program_->Kill(SIGKILL);
  program_.reset();
}

HttpReply ClickHouseTestServer::Call(const std::string& database, const std::string& sql) const {
  HttpClientOptions options;
  options.timeout = 60 * kNanosPerSecond;
  if (!password_.empty()) {
    options.headers = {"X-ClickHouse-User: default", "X-ClickHouse-Key: " + password_};
  }
  HttpClient client(options);
  return client.Call({url_ + "/?database=" + database, sql});
}

std::string ClickHouseTestServer::Ask(const std::string& database, const std::string& sql) const {
  const HttpReply reply = Call(database, sql);
  EXPECT_EQ(reply.status, 200) << reply.error << reply.body;
  return reply.body;
}

}  // namespace trumpet
