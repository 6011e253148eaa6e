// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/trace_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr char kTrace[] =
    R"({"analyzer": "an1", "id": "ab52e7c09ef66e1a", "start_ns": 1700000000100000000,
        "packet": {"src": "10.0.1.1", "dst": "10.0.2.2", "protocol": 6, "src_port": 1000,
                   "dst_port": 80},
        "verdict": "dropped", "confidence": 0.998, "last_switch": "spine1",
        "path": [{"switch": "leaf1", "tag": 5, "ttl": 64, "time_ns": 1700000000100000000},
                 {"switch": "spine1", "tag": 5, "ttl": 63, "time_ns": 1700000000100010000}],
        "evidence": {"expected_next": ["leaf2"]}})";

TEST(TraceTables, ShowThePacketItsWayAndWhatBecameOfIt) {
  const std::string text = TraceText(ApiJson::parse(kTrace));
  for (const char* const part :
       {"ab52e7c09ef66e1a  tcp 10.0.1.1:1000 > 10.0.2.2:80  dropped  leaf1>spine1  an1",
        "verdict: dropped with confidence 0.998, last seen at spine1\n",
        "evidence: {\"expected_next\":[\"leaf2\"]}\n", "spine1  63   5    +10.0 us"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(TraceTables, TakePacketsWithoutPortsAndOfOtherKinds) {
  EXPECT_NE(TraceLine(ApiJson::parse(R"({"packet": null})")).find("not IP"), std::string::npos);
  const std::string ping = TraceLine(ApiJson::parse(
      R"({"packet": {"src": "2001:db8::1", "dst": "2001:db8::2", "protocol": 58}})"));
  EXPECT_NE(ping.find("58 2001:db8::1 > 2001:db8::2"), std::string::npos) << ping;
  const std::string dns = TraceLine(ApiJson::parse(
      R"({"packet": {"src": "::1", "dst": "::2", "protocol": 17, "src_port": 9, "dst_port": 53}})"));
  EXPECT_NE(dns.find("udp [::1]:9 > [::2]:53"), std::string::npos) << dns;
  EXPECT_EQ(TraceTable(ApiJson::array()), "no traces\n");
}

TEST(TraceTables, ShowCountersByTheirKeys) {
  const std::string text = TraceCounterTable(ApiJson::parse(
      R"([{"start_ns": 1700000000000000000, "from": "leaf1", "to": "spine1", "packets": 7}])"));
  EXPECT_EQ(text.rfind("start ", 0), 0u) << text;
  EXPECT_NE(text.find("leaf1  spine1  7"), std::string::npos) << text;
  EXPECT_EQ(TraceCounterTable(ApiJson::array()), "nothing was counted\n");
}

TEST(TraceTables, AddUpWhatAQuestionCosts) {
  const std::string text = TraceEstimateText(ApiJson::parse(
      R"({"files": 3, "traces": 30, "bytes": 4096,
          "analyzers": [{"analyzer": "an1", "files": 3, "traces": 30, "bytes": 4096}]})"));
  EXPECT_NE(text.find("an1       3      30      4096"), std::string::npos) << text;
  EXPECT_NE(text.find("all       3      30      4096"), std::string::npos) << text;
}

}  // namespace
}  // namespace trumpet
