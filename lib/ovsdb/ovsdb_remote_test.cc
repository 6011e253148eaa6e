// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_remote.h"

#include <gtest/gtest.h>

#include <string>

namespace trumpet {
namespace {

std::string Show(const std::string& text) {
  const auto remotes = ParseOvsdbRemotes(text);
  if (!remotes.ok()) return remotes.message();
  std::string shown;
  for (const OvsdbRemote& remote : *remotes) {
    const char* const kinds[] = {"unix", "tcp", "ssl"};
    shown += (shown.empty() ? "" : " ") + std::string(kinds[static_cast<int>(remote.kind)]) + "|" +
             remote.host + "|" + std::to_string(remote.port);
  }
  return shown;
}

TEST(OvsdbRemote, ReadsEachKind) {
  EXPECT_EQ(Show("unix:/run/openvswitch/db.sock"), "unix|/run/openvswitch/db.sock|0");
  EXPECT_EQ(Show("tcp:127.0.0.1"), "tcp|127.0.0.1|6640");
  EXPECT_EQ(Show("ssl:[2001:db8::1]:6641"), "ssl|2001:db8::1|6641");
  EXPECT_EQ(Show("ssl:db1.example:1,ssl:db2.example:65535"),
            "ssl|db1.example|1 ssl|db2.example|65535");
}

TEST(OvsdbRemote, SaysWhatIsWrong) {
  const std::string forms = "; write unix:PATH, tcp:HOST[:PORT] or ssl:HOST[:PORT]";
  const auto wrong = [&](const std::string& text, const std::string& why) {
    EXPECT_EQ(Show(text), "'" + text + "' is no address of a database: " + why + forms);
  };
  wrong("", "of an unknown kind");
  wrong("punix:/x", "of an unknown kind");
  wrong("unix:", "there is no path");
  wrong("tcp::6640", "there is no host");
  wrong("ssl:h:0", "the port is not a number from 1 to 65535");
  wrong("ssl:h:65536", "the port is not a number from 1 to 65535");
  wrong("ssl:[::1", "the bracket is not closed");
  EXPECT_EQ(Show("ssl:h,"), "'' is no address of a database: of an unknown kind" + forms);
}

}  // namespace
}  // namespace trumpet
