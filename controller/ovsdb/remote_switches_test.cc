// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/remote_switches.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "controller/ovsdb/switch_kit_test.h"
#include "lib/wire/test_certificates_test.h"
#include "lib/wire/tls_context.h"

namespace trumpet {
namespace {

RemoteSwitchOptions Options() {
  RemoteSwitchOptions options;
  options.owner = "c1";
  options.first_backoff = 10 * kNanosPerMilli;
  options.longest_backoff = 100 * kNanosPerMilli;
  return options;
}

TEST(RemoteSwitches, SpeakTls) {
  OvsdbTestLoop loop;
  const SystemWireClock clock;
  const TempFolder folder;
  TestAuthority authority(&folder, "ca");
  const TlsFiles server = authority.Issue("server", "switch", authority);
  TestVswitch one;
  one.AddBridge("br0");
  one.database().Kill(SIGTERM);
  one.database().Start({"--remote=pssl:0:127.0.0.1", "--private-key=" + server.private_key,
                        "--certificate=" + server.certificate,
                        "--ca-cert=" + server.ca_certificate});
  const auto tls = TlsContext::Load(authority.Issue("client", "controller", authority));
  ASSERT_TRUE(tls.ok()) << tls.message();
  RemoteSwitchOptions options = Options();
  options.new_tls_connection = [&] { return (*tls)->NewConnection(); };
  RemoteSwitches switches(loop.base(), clock, options, nullptr);
  const std::string said = "listening on port ";
  std::string log;
  size_t at = 0;
  ASSERT_TRUE(loop.RunUntil([&] {
    log = one.database().Log();
    at = log.find(said);
    return at != log.npos && log.find('\n', at) != log.npos;
  })) << log;
  const std::string port = std::to_string(std::atoi(log.c_str() + at + said.size()));
  ASSERT_TRUE(switches.Add("s1", "ssl:127.0.0.1:" + port).ok());
  EXPECT_TRUE(loop.RunUntil([&] { return switches.Find("s1")->view().bridges.size() == 1; }))
      << switches.Find("s1")->state();
}

TEST(RemoteSwitches, SayWhichOneIsWrong) {
  OvsdbTestLoop loop;
  const SystemWireClock clock;
  RemoteSwitches switches(loop.base(), clock, Options(), nullptr);
  EXPECT_EQ(switches.Add("s1", "ssl:127.0.0.1:6640").message(),
            "switch 's1': ssl:127.0.0.1:6640 needs keys and certificates");
  EXPECT_EQ(switches.Add("s1", "x").message().find("switch 's1': "), 0u);
  ASSERT_TRUE(switches.Add("s1", "tcp:127.0.0.1:1").ok());
  EXPECT_EQ(switches.Add("s1", "tcp:127.0.0.1:1").message(),
            "switch 's1': another one has this name");
}

}  // namespace
}  // namespace trumpet
