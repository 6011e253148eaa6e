// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sessions of BGP from copies: through the analysis of captures, the store and the application.

#include "controller/traces/bgp_sessions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/traces/app_program.h"
#include "controller/traces/bgp_story_test.h"
#include "controller/traces/program_kit_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;
using bgp_frames::Keepalive;
using bgp_frames::Notification;
using bgp_frames::Open;
using test_frames::Bytes;
using test_frames::Join;

class SessionApp : public ProgramTest {
 protected:
  SessionApp() : ProgramTest(RunAppProgram) {}

  Json Session(const BgpStory& story) {
    Analyze(story.network());
    const std::vector<Json> findings = Run({"sessions", store_});
    EXPECT_EQ(findings.size(), 1u);
    return findings.empty() ? Json() : findings[0];
  }
  static std::vector<std::string> Timeline(const Json& session) {
    std::vector<std::string> lines;
    for (const Json& one : session["timeline"]) {
      lines.push_back(one.value("peer", "") + " " + one["what"].get<std::string>());
    }
    return lines;
  }
};

Bytes Routes(uint32_t announced, uint32_t withdrawn) {
  std::vector<std::pair<uint32_t, uint8_t>> in;
  std::vector<std::pair<uint32_t, uint8_t>> out;
  for (uint32_t i = 0; i < announced; ++i) in.emplace_back(0x0b000000 + (i << 8), 24);
  for (uint32_t i = 0; i < withdrawn; ++i) out.emplace_back(0x0c000000 + (i << 8), 24);
  return bgp_frames::Update(bgp_frames::Prefixes(out),
                            announced > 0 ? bgp_frames::PathAttributes() : Bytes(),
                            bgp_frames::Prefixes(in));
}

TEST_F(SessionApp, TellsTheStoryOfASessionThatIsUp) {
  BgpStory story;
  story.Establish();
  story.Say(0, Join({Routes(3, 0), Routes(2, 1), bgp_frames::Update({}, {}, {})}));
  story.Keep(5);
  story.Say(1, Routes(0, 4));
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "established");
  EXPECT_EQ(session["explanation"],
            "10.0.1.1 (AS 65001) and 10.0.2.2 (AS 65002): established since "
            "2023-11-14T22:13:20.005Z");
  EXPECT_EQ(session["hold_seconds"], 9);
  EXPECT_EQ(Timeline(session),
            (std::vector<std::string>{
                "10.0.1.1 opens a connection (SYN)", "10.0.2.2 takes the connection (SYN, ACK)",
                "10.0.1.1 OPEN: AS 65001, hold time 9 s, id 10.0.1.1",
                "10.0.2.2 OPEN: AS 65002, hold time 180 s, id 10.0.2.2", "10.0.2.2 first KEEPALIVE",
                "10.0.1.1 first KEEPALIVE", " established", "10.0.1.1 first UPDATE",
                "10.0.1.1 has told all its routes (End-of-RIB)", "10.0.2.2 first UPDATE"}));
  const Json& first = session["sides"][0];
  EXPECT_EQ(first["updates"], 3);
  EXPECT_EQ(first["announced"], 5);
  EXPECT_EQ(first["withdrawn"], 1);
  EXPECT_EQ(first["keepalives"], 6);
  EXPECT_EQ(first["longest_gap_ms"], 1002);
  EXPECT_EQ(session["sides"][1]["withdrawn"], 4);
  EXPECT_EQ(session["seconds_with_updates"], 2);
  EXPECT_EQ(session["busiest_seconds"][0], Json({{"time_ns", trace_network::kBegin},
                                                 {"updates", 3},
                                                 {"announced", 5},
                                                 {"withdrawn", 1}}));
}

TEST_F(SessionApp, TellsTheSameOfIpv6) {
  BgpStory story(/*is_ipv6=*/true);
  story.Establish();
  story.Keep(2);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "established");
  EXPECT_EQ(session["peers"], Json({"fd00::1", "fd00::2"}));
}

TEST_F(SessionApp, TellsThatTheHoldTimerEndedIt) {
  BgpStory story;
  story.Establish();
  story.Keep(3);
  for (int i = 0; i < 10; ++i) {
    story.Wait(kNanosPerSecond);
    story.Say(0, Keepalive());
  }
  story.Say(0, Notification(4, 0));
  story.Close(0, kTcpFin | kTcpAck);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "hold_timer");
  EXPECT_EQ(session["notification"]["text"], "hold timer expired");
  EXPECT_EQ(session["closed_by"], "10.0.1.1");
  EXPECT_GE(session["sides"][1]["longest_gap_ms"], 10000);
  EXPECT_NE(
      session["explanation"].get<std::string>().find(
          "closed by the hold timer of 10.0.1.1: the last message of 10.0.2.2 was 10.0 s old"),
      std::string::npos)
      << session["explanation"];
}

TEST_F(SessionApp, TellsWhoRefusedAndWhy) {
  BgpStory story;
  for (uint16_t i = 0; i < 3; ++i) {
    story.Connect(static_cast<uint16_t>(40000 + i));
    story.Say(0, Open(65009, 9, 1));
    story.Say(1, Join({Open(65002, 9, 2), Notification(2, 2)}));
    story.Close(1, kTcpFin | kTcpAck);
    story.Wait(kNanosPerSecond);
  }
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "refused");
  EXPECT_EQ(session["explanation"],
            "10.0.1.1 (AS 65009) and 10.0.2.2 (AS 65002): refused by 10.0.2.2: OPEN message error: "
            "bad peer AS, 3 connections in all");
  EXPECT_EQ(session["notification"]["subcode"], 2);
}

TEST_F(SessionApp, TellsThatNobodyListens) {
  BgpStory story;
  story.Hide(1);
  story.Connect();
  story.Hide(-1);
  story.Close(1, kTcpRst | kTcpAck);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "refused");
  EXPECT_NE(session["explanation"].get<std::string>().find("nobody listens at port 179"),
            std::string::npos);
}

TEST_F(SessionApp, TellsHowOftenASessionFlaps) {
  BgpStory story;
  for (uint16_t i = 0; i < 12; ++i) {
    story.Establish(static_cast<uint16_t>(40000 + i));
    story.Keep(1);
    story.Say(1, Notification(6, 4));
    story.Close(1, kTcpFin | kTcpAck);
    story.Wait(kNanosPerSecond);
  }
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "flapping");
  EXPECT_EQ(session["ended"], 12);
  EXPECT_EQ(session["sides"][0]["keepalives"], 24);
  EXPECT_NE(session["explanation"].get<std::string>().find("flapping 12 times"), std::string::npos);
  EXPECT_NE(session["explanation"].get<std::string>().find("cease: administrative reset"),
            std::string::npos);
}

TEST_F(SessionApp, RemembersTheEndBehindManyAttempts) {
  BgpStory story;
  story.Establish();
  story.Keep(2);
  story.Close(1, kTcpFin | kTcpAck);
  for (uint16_t i = 0; i < 20; ++i) {
    story.Wait(kNanosPerSecond);
    story.Hide(1);
    story.Connect(static_cast<uint16_t>(41000 + i));
    story.Hide(-1);
    story.Close(1, kTcpRst | kTcpAck);
  }
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "closed");
  EXPECT_EQ(session["connections"], 21);
  const auto text = session["explanation"].get<std::string>();
  EXPECT_NE(text.find("closed by 10.0.2.2 without a NOTIFICATION (FIN)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("since then 20 connections came to nothing"), std::string::npos) << text;
}

TEST_F(SessionApp, DoesNotCallACollisionTheEnd) {
  BgpStory story;
  story.Connect(40001);
  story.Say(0, Open(65001, 9, 1));
  story.Say(1, Notification(6, 7));
  story.Close(1, kTcpFin | kTcpAck);
  story.Establish(40002);
  story.Keep(2);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "established");
  EXPECT_EQ(session["collided"], 1);
}

TEST_F(SessionApp, TellsThatOnlyOneSideWasSeen) {
  BgpStory story;
  story.Hide(1);
  story.Establish();
  story.Keep(3);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "one_way");
  EXPECT_NE(session["explanation"].get<std::string>().find("only packets of 10.0.1.1"),
            std::string::npos);
}

TEST_F(SessionApp, SaysThatItCouldNotRead) {
  BgpStory story;
  story.Truncate(60);  // 14 + 20 + 20, and six bytes of BGP
  story.Establish();
  story.Keep(3);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "not_read");
  EXPECT_GT(session["sides"][0]["not_read_bytes"], 0);
}

TEST_F(SessionApp, CountsUpdatesThatWereCutShort) {
  BgpStory story;
  story.Establish();
  story.Truncate(54 + 40);
  story.Say(0, Routes(100, 0));
  story.Keep(3);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "established");
  EXPECT_EQ(session["sides"][0]["updates"], 1);
  EXPECT_EQ(session["sides"][0]["announced"], 0);
  EXPECT_EQ(session["sides"][0]["not_read"], 1);
  EXPECT_EQ(session["sides"][0]["keepalives"], 4);
  EXPECT_NE(session["explanation"].get<std::string>().find("1 message could not be read"),
            std::string::npos);
}

TEST_F(SessionApp, ReadsUpdatesOfWholeFrames) {
  BgpStory story;
  story.Establish();
  for (int i = 0; i < 20; ++i) story.Say(0, Routes(350, 0));  // 1,449 bytes each
  story.Keep(1);
  const Json session = Session(story);
  EXPECT_EQ(session["sides"][0]["announced"], 7000);
  EXPECT_EQ(session["sides"][0]["not_read"], 0);
}

TEST_F(SessionApp, BeginsInTheMiddle) {
  BgpStory story;  // nothing of how it began
  story.Keep(3);
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "established");
  EXPECT_NE(session["explanation"].get<std::string>().find("established since before"),
            std::string::npos);
}

TEST_F(SessionApp, TellsThatOneSideIsSilent) {
  BgpStory story;
  story.Establish();
  story.Keep(2);
  for (int i = 0; i < 10; ++i) {
    story.Wait(kNanosPerSecond);
    story.Say(0, Keepalive());
  }
  const Json session = Session(story);
  EXPECT_EQ(session["verdict"], "silent");
  EXPECT_NE(session["explanation"].get<std::string>().find("10.0.2.2 has said nothing for 10.0 s"),
            std::string::npos)
      << session["explanation"];
}

TEST_F(SessionApp, SaysWherePacketsWereLost) {
  BgpStory story;
  story.Establish();
  story.Keep(2);
  story.LoseNext();
  story.Say(0, Keepalive());
  const Json session = Session(story);
  EXPECT_EQ(session["sides"][0]["lost_behind"], Json({{"leaf1", 1}}));
}

TEST_F(SessionApp, FindsNothingWithoutBgp) {
  Analyze(trace_network::WithADrop());
  EXPECT_TRUE(Run({"sessions", store_}).empty());
}

}  // namespace
}  // namespace trumpet
