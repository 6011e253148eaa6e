// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/probe_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr char kProbe[] = R"({"id": "00000000000000ab", "state": "done", "begun_by": "alice",
  "begun_ns": 1700000000000000000, "switch": "leaf1", "port": 3,
  "packet": {"Protocol": "UDP", "srcIP": "10.0.1.1", "dstIP": "10.0.2.2", "ttl": "64"},
  "count": 3, "sent": 2, "traced": 1, "verdict": "dropped", "confidence": 0.998, "last_switch": "s1",
  "explanation": "1 of 2 packets dropped behind s1; 1 without a trace",
  "notes": ["switch 'leaf1' went away after 2 packets"], "complete": true, "silent": [],
  "packets": [{"sent_ns": 1700000000000000000, "trace": "00000000000000cd", "analyzer": "an1",
    "verdict": "dropped", "last_switch": "s1", "path": [
      {"switch": "leaf1", "ttl": 64, "time_ns": 1000}, {"switch": "s1", "ttl": 63, "time_ns": 22400}]},
    {"sent_ns": 1700000000100000000}]})";

TEST(ProbeTables, OneShowsTheWayOfEachPacket) {
  EXPECT_EQ(ProbeText(ApiJson::parse(kProbe)),
            "probe 00000000000000ab at switch leaf1, port 3\n"
            "Protocol=UDP srcIP=10.0.1.1 dstIP=10.0.2.2 ttl=64\n"
            "packet  verdict   trace             path\n"
            "     1  dropped   00000000000000cd  leaf1 +0.0 us > s1 +21.4 us\n"
            "     2  no trace\n"
            "note: switch 'leaf1' went away after 2 packets\n"
            "dropped: 1 of 2 packets dropped behind s1; 1 without a trace (confidence 0.9980)\n");
}

TEST(ProbeTables, OneThatIsUnderWaySaysSo) {
  const ApiJson probe = {{"id", "1"}, {"state", "sending"}, {"switch", "a"}, {"port", 1}};
  EXPECT_EQ(ProbeText(probe), "probe 1 at switch a, port 1\n\nsending\n");
}

TEST(ProbeTables, ManyAreALineEach) {
  EXPECT_EQ(ProbeTable(ApiJson::array()), "no probes\n");
  EXPECT_EQ(ProbeTable(ApiJson::array({ApiJson::parse(kProbe)})),
            "begun                     id                at       packet                   sent"
            "  traced  outcome\n"
            "2023-11-14T22:13:20.000Z  00000000000000ab  leaf1:3  UDP 10.0.1.1 > 10.0.2.2     2"
            "       1  dropped\n");
}

TEST(ProbeTables, TakeAnyAnswer) {
  for (const char* json :
       {"null", "[]", "{}", "1", R"({"begun_ns": "x", "packet": 1, "packets": [1, {"path": [1]}]})",
        R"({"packets": [{"path": [{"time_ns": "x"}]}], "confidence": []})"}) {
    const ApiJson answer = ApiJson::parse(json);
    EXPECT_NO_THROW(ProbeText(answer)) << json;
    EXPECT_NO_THROW(ProbeTable(ApiJson::array({answer}))) << json;
  }
}

}  // namespace
}  // namespace trumpet
