// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/address.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

namespace trumpet {
namespace {

std::string Shown(const Result<Address>& address) {
  if (!address.ok()) return address.message();
  return std::string(address->is_tls ? "tls " : "plain ") + address->host + " " +
         std::to_string(address->port);
}

constexpr char kActive[] = " is no address; write ssl:HOST[:PORT] or tcp:127.0.0.1[:PORT]";
constexpr char kPlain[] =
    " would be a connection without encryption; only loopback addresses may have one, as "
    "127.0.0.1 or [::1]";

TEST(ActiveAddress, IsReadOrRefused) {
  EXPECT_EQ(Shown(ParseActiveAddress("ssl:tem.example.net")), "tls tem.example.net 6650");
  EXPECT_EQ(Shown(ParseActiveAddress("ssl:10.0.0.1:7000")), "tls 10.0.0.1 7000");
  EXPECT_EQ(Shown(ParseActiveAddress("ssl:[2001:db8::1]:7000")), "tls 2001:db8::1 7000");
  EXPECT_EQ(Shown(ParseActiveAddress("ssl:[::1]")), "tls ::1 6650");
  EXPECT_EQ(Shown(ParseActiveAddress("tcp:127.0.0.1:6650")), "plain 127.0.0.1 6650");
  EXPECT_EQ(Shown(ParseActiveAddress("tcp:[::1]:6650")), "plain ::1 6650");
  EXPECT_EQ(Shown(ParseActiveAddress("ssl:host:0")), "'0' is no port; 1 to 65535 are allowed");
  EXPECT_EQ(Shown(ParseActiveAddress("ssl:host:65536")),
            "'65536' is no port; 1 to 65535 are allowed");
  for (const std::string bad : {"", "host", "ssl:", "ssl::6650", "unix:/run/x", "ssl:[::1:6650",
                                "ssl:[host]:1", "SSL:host"}) {
    EXPECT_EQ(Shown(ParseActiveAddress(bad)), "'" + bad + "'" + kActive);
  }
}

TEST(ActiveAddress, WithoutTlsIsOnLoopbackOnly) {
  for (const std::string bad : {"tcp:10.0.0.1:6650", "tcp:localhost:6650", "tcp:0.0.0.0",
                                "tcp:[::]:1", "tcp:[::ffff:10.0.0.1]", "tcp:128.0.0.1"}) {
    EXPECT_EQ(Shown(ParseActiveAddress(bad)), "'" + bad + "'" + kPlain);
  }
}

TEST(ActiveAddresses, AreReadInOrderOrRefused) {
  const auto two = ParseActiveAddresses("ssl:a, ssl:[::1]:7000 ");
  ASSERT_TRUE(two.ok()) << two.message();
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ(Shown((*two)[0]), "tls a 6650");
  EXPECT_EQ(Shown((*two)[1]), "tls ::1 7000");
  const auto error = [](const std::string& text) {
    const auto addresses = ParseActiveAddresses(text);
    return addresses.ok() ? "ok" : addresses.message();
  };
  EXPECT_EQ(error("ssl:a,"), std::string("''") + kActive);
  EXPECT_EQ(error(""), std::string("''") + kActive);
  EXPECT_EQ(error("ssl:a,tcp:127.0.0.1"), "some addresses are with TLS and some without");
  EXPECT_EQ(error("ssl:1,ssl:2,ssl:3,ssl:4,ssl:5,ssl:6,ssl:7,ssl:8"), "ok");
  EXPECT_EQ(error("ssl:1,ssl:2,ssl:3,ssl:4,ssl:5,ssl:6,ssl:7,ssl:8,ssl:9"),
            "there are more than 8 addresses");
}

TEST(PassiveAddress, IsReadOrRefused) {
  EXPECT_EQ(Shown(ParsePassiveAddress("pssl:")), "tls  6650");
  EXPECT_EQ(Shown(ParsePassiveAddress("pssl:0:127.0.0.1")), "tls 127.0.0.1 0");
  EXPECT_EQ(Shown(ParsePassiveAddress("pssl:7000:[::]")), "tls :: 7000");
  EXPECT_EQ(Shown(ParsePassiveAddress("ptcp:6650:127.0.0.1")), "plain 127.0.0.1 6650");
  EXPECT_EQ(Shown(ParsePassiveAddress("ptcp::[::1]")), "plain ::1 6650");
  EXPECT_EQ(Shown(ParsePassiveAddress("ptcp:6650")), std::string("'ptcp:6650'") + kPlain);
  EXPECT_EQ(Shown(ParsePassiveAddress("pssl:1:host")), "'host' is no address of an interface");
  EXPECT_EQ(Shown(ParsePassiveAddress("pssl:-1")), "'-1' is no port; 0 to 65535 are allowed");
  EXPECT_EQ(Shown(ParsePassiveAddress("ssl:host")),
            "'ssl:host' is no address; write pssl:[PORT][:ADDRESS] or ptcp:[PORT]:127.0.0.1");
}

TEST(SocketAddress, IsPrintedAsItWasRead) {
  sockaddr_storage address;
  ASSERT_NE(ToSocketAddress("10.1.2.3", 5, &address), 0);
  EXPECT_EQ(ToText(address), "10.1.2.3:5");
  ASSERT_NE(ToSocketAddress("2001:db8::1", 6650, &address), 0);
  EXPECT_EQ(ToText(address), "[2001:db8::1]:6650");
  EXPECT_EQ(ToSocketAddress("host", 1, &address), 0);
}

}  // namespace
}  // namespace trumpet
