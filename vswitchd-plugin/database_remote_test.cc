// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/database_remote.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

std::string Of(const std::vector<std::string>& arguments) {
  return DatabaseRemote(arguments, "unix:/run/openvswitch/db.sock");
}

TEST(DatabaseRemote, IsTheArgumentThatIsNoOption) {
  EXPECT_EQ(Of({"unix:/tmp/other.sock", "-vconsole:emer", "--detach"}), "unix:/tmp/other.sock");
  EXPECT_EQ(Of({"--unixctl", "/tmp/ctl", "--", "tcp:127.0.0.1:6640"}), "tcp:127.0.0.1:6640");
  EXPECT_EQ(Of({"--pidfile=/tmp/pid", "ssl:db1:6641,ssl:db2:6641"}), "ssl:db1:6641,ssl:db2:6641");
}

TEST(DatabaseRemote, IsInTheRunDirectoryIfNobodySaysOtherwise) {
  EXPECT_EQ(Of({}), "unix:/run/openvswitch/db.sock");
  EXPECT_EQ(Of({"--detach", "-vsyslog:info", "--unixctl=/tmp/unix:ctl", "unix:", "fd:3"}),
            "unix:/run/openvswitch/db.sock");
}

TEST(DatabaseRemote, LiesInTheRunDirectoryWhereItsPathIsRelative) {
  EXPECT_EQ(Of({"unix:other.sock"}), "unix:/run/openvswitch/other.sock");
  EXPECT_EQ(Of({"unix:a/b.sock,tcp:10.0.0.1:6640"}),
            "unix:/run/openvswitch/a/b.sock,tcp:10.0.0.1:6640");
}

TEST(DatabaseRemote, KnowsTheArgumentsOfThisProcess) {
  const std::vector<std::string> arguments = testing::internal::GetArgvs();
  EXPECT_EQ(ProcessArguments(), std::vector<std::string>(arguments.begin() + 1, arguments.end()));
}

}  // namespace
}  // namespace trumpet
