// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/probe_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lib/base/random_runs_test.h"
#include "lib/lang/probe/probe_language.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

TraceFindings::Found Told(const std::string& frame, const char* link = "ethernet") {
  TraceFindings::Found found;
  found.analyzer = "an1";
  found.record.text =
      R"({"id":"00000000000000ab","revision":2,"verdict":"dropped","confidence":0.9,)"
      R"("last_switch":"leaf1","path":[{"switch":"leaf1","tag":5,"ttl":64,"time_ns":70}],)"
      R"("evidence":{"expected_next":["spine1",7,"spine2"]},)"
      R"("frame":{"link":")" +
      std::string(link) + R"(","hex":")" + Hex(frame) + R"("}})";
  return found;
}

std::vector<std::string> Frames(const std::string& line, uint64_t probe, size_t count) {
  const auto packet = ParseProbePacket(line + " dstMAC=02:00:00:00:00:02", "t");
  EXPECT_TRUE(packet.ok()) << packet.message();
  std::vector<std::string> frames;
  for (size_t i = 0; i < count; ++i) {
    frames.push_back(MakeProbeFrame(*packet, {probe, static_cast<uint32_t>(i)}, 32));
  }
  return frames;
}

TEST(ProbeFindings, ATraceSaysWhoseItIs) {
  const auto frames = Frames("udp srcIP=10.0.0.1 dstIP=10.0.0.2", 5, 3);
  const auto trace = ReadProbeTrace(Told(frames[1]), frames);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->packet, 1u);
  EXPECT_EQ(trace->analyzer, "an1");
  EXPECT_EQ(trace->id, "00000000000000ab");
  EXPECT_EQ(trace->revision, 2u);
  EXPECT_EQ(trace->verdict, "dropped");
  EXPECT_EQ(trace->confidence, 0.9);
  EXPECT_EQ(trace->last_switch, "leaf1");
  EXPECT_EQ(trace->expected_next, (std::vector<std::string>{"spine1", "spine2"}));
  ASSERT_EQ(trace->path.size(), 1u);
  EXPECT_EQ(trace->path[0].switch_name, "leaf1");
  EXPECT_EQ(trace->path[0].ttl, 64u);
  EXPECT_EQ(trace->path[0].time, 70);
}

// Whatever a network does to it: copies are cut, begin with IP, and have another TTL, DSCP and
// VLAN.
TEST(ProbeFindings, EveryPacketIsKnownAgainAndNoOther) {
  const std::string kinds[] = {
      "udp srcIP=10.0.0.1 dstIP=10.0.0.2",      "tcp srcIP=10.0.0.1 dstIP=10.0.0.2",
      "icmp srcIP=10.0.0.1 dstIP=10.0.0.2",     "udp srcIP=fd00::1 dstIP=fd00::2",
      "tcp srcIP=fd00::1 dstIP=fd00::2 vlan=7", "icmp srcIP=fd00::1 dstIP=fd00::2"};
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(20); ++seed) {
    std::mt19937_64 random(seed);
    for (const std::string& kind : kinds) {
      const uint64_t probe = random();
      const auto frames = Frames(kind, probe, kMaxProbePackets);
      const auto others = Frames(kind, probe ^ (uint64_t{1} << random() % 64), 10);
      const size_t headers = 14 + (kind.find("vlan") != kind.npos ? 4 : 0) +
                             (kind.find("fd00") != kind.npos ? 40 : 20);
      for (size_t i = 0; i < frames.size(); ++i) {
        std::string copy = Frames(kind + " ttl=9 dscp=1", probe, i + 1).back();
        const size_t least = headers + 20;  // a header of TCP
        copy.resize(least + random() % (copy.size() - least + 1));
        const bool is_ip = random() % 2 == 0;
        if (is_ip) copy.erase(0, kind.find("vlan") != kind.npos ? 18 : 14);
        const auto trace = ReadProbeTrace(Told(copy, is_ip ? "ip" : "ethernet"), frames);
        ASSERT_TRUE(trace.has_value()) << "seed " << seed << ": " << kind << ", packet " << i;
        ASSERT_EQ(trace->packet, i) << "seed " << seed << ": " << kind;
      }
      for (const std::string& other : others) {
        EXPECT_FALSE(ReadProbeTrace(Told(other), frames).has_value()) << seed << ": " << kind;
      }
    }
  }
}

TEST(ProbeFindings, WhatIsNoTraceOfAProbeIsNone) {
  const auto frames = Frames("udp srcIP=10.0.0.1 dstIP=10.0.0.2", 5, 1);
  TraceFindings::Found found;
  for (const char* text :
       {"", "[]", "{}", R"({"frame":5})", R"({"frame":{}})", R"({"frame":{"hex":5}})",
        R"({"frame":{"hex":"00"}})", R"({"frame":{"link":"ip","hex":"zz"}})"}) {
    found.record.text = text;
    EXPECT_FALSE(ReadProbeTrace(found, frames).has_value()) << text;
  }
  EXPECT_FALSE(ReadProbeTrace(Told(frames[0].substr(0, 41)), frames).has_value()) << "7 bytes";
  EXPECT_FALSE(ReadProbeTrace(Told(frames[0]), {}).has_value());
}

TEST(ProbeFindings, WhatIsMissingOrOddInATraceIsLeftOut) {
  const auto frames = Frames("udp srcIP=10.0.0.1 dstIP=10.0.0.2", 5, 1);
  TraceFindings::Found found;
  found.record.text =
      R"({"verdict":7,"confidence":null,"path":[5,{"switch":"a"}],"frame":{"hex":")" +
      Hex(frames[0]) + R"("}})";
  const auto trace = ReadProbeTrace(found, frames);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->verdict, "not_known");
  EXPECT_EQ(trace->confidence, 0);
  ASSERT_EQ(trace->path.size(), 1u);
  EXPECT_EQ(trace->path[0].switch_name, "a");
}

TEST(ProbeFindings, CopiesThatCameInReverseAreTurnedRoundIfNothingElseSaysTheOrder) {
  const auto frames = Frames("udp srcIP=10.0.0.1 dstIP=10.0.0.2", 5, 1);
  const auto path = [&](const std::string& hops, const std::string& last) {
    TraceFindings::Found found;
    found.record.text = R"({"last_switch":")" + last + R"(","path":[)" + hops +
                        R"(],"frame":{"hex":")" + Hex(frames[0]) + R"("}})";
    const auto trace = ReadProbeTrace(found, frames);
    std::string names;
    for (const ProbeHop& hop : trace.value_or(ProbeTrace()).path) names += hop.switch_name;
    return names;
  };
  const std::string cba = R"({"switch":"c","ttl":9},{"switch":"b","ttl":9},{"switch":"a","ttl":9})";
  EXPECT_EQ(path(cba, "c"), "abc");
  EXPECT_EQ(path(cba, "a"), "cba");
  EXPECT_EQ(path(cba, "b"), "cba");
  EXPECT_EQ(path(R"({"switch":"c","ttl":9},{"switch":"a","ttl":8})", "c"), "ca");
  EXPECT_EQ(path(R"({"switch":"c"},{"switch":"a"},{"switch":"c"})", "c"), "cac");
  EXPECT_EQ(path(R"({"switch":"c"})", "c"), "c");
}

TEST(ProbeFindings, ATraceSaysHowItsPacketCameIn) {
  const auto frames = Frames("udp srcIP=10.0.0.1 dstIP=10.0.0.2 dstPort=53 bytes=300", 5, 1);
  const auto told = [&](const std::string& path, const std::string& link = "ethernet") {
    return R"({"last_switch":"b","bytes":300,"path":[)" + path + R"(],"frame":{"link":")" + link +
           R"(","hex":")" + Hex(frames[0].substr(0, 128)) + R"("}})";
  };
  const std::string a = R"({"switch":"a","ttl":9,"tag":)" + std::to_string(TraceTag(2, 7)) + "}";
  const std::string b = R"({"switch":"b","ttl":9,"tag":)" + std::to_string(TraceTag(2, 8)) + "}";
  for (const std::string& path : {a + "," + b, b + "," + a}) {
    const auto origin = ReadProbeOrigin(told(path));
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->switch_name, "a");
    EXPECT_EQ(origin->port, 7u);
    EXPECT_EQ(origin->packet.dst_port, 53);
    EXPECT_EQ(origin->packet.bytes, 300);
  }
  for (const std::string& text : {std::string(), std::string("[]"), told(""), told(a, "ip"),
                                  R"({"path":[)" + a + R"(],"frame":{"link":"ethernet"}})"}) {
    EXPECT_FALSE(ReadProbeOrigin(text).has_value()) << text;
  }
}

// ---- Together ----

ProbeTrace Trace(size_t packet, const char* verdict, double confidence, const char* last) {
  ProbeTrace trace;
  trace.packet = packet;
  trace.verdict = verdict;
  trace.confidence = confidence;
  trace.last_switch = last;
  return trace;
}

constexpr double kOneCopyLost = 0.909;  // what a judge says where one copy is missing

TEST(ProbeConclusion, OneMissingCopyIsTheCopysLossManyAreTheFault) {
  std::vector<ProbeTrace> traces = {Trace(0, "copies_lost", kOneCopyLost, "s2")};
  ProbeConclusion one = ConcludeProbe(traces, 1);
  EXPECT_EQ(one.verdict, "copies_lost");
  EXPECT_NEAR(one.confidence, kOneCopyLost, 1e-9) << "nothing new follows from one";
  EXPECT_EQ(one.explanation, "1 of 1 packet without copies, which got lost rather, behind s2");
  traces.push_back(Trace(1, "copies_lost", kOneCopyLost, "s2"));
  EXPECT_EQ(ConcludeProbe(traces, 2).verdict, "dropped");
  traces.push_back(Trace(2, "copies_lost", kOneCopyLost, "s2"));
  const ProbeConclusion three = ConcludeProbe(traces, 3);
  EXPECT_EQ(three.verdict, "dropped");
  EXPECT_EQ(three.last_switch, "s2");
  EXPECT_GT(three.confidence, 0.998);
  EXPECT_EQ(three.explanation, "3 of 3 packets dropped behind s2");
}

TEST(ProbeConclusion, SaysWhatAllPacketsDid) {
  const auto said = [](const std::vector<ProbeTrace>& traces, size_t sent) {
    const ProbeConclusion all = ConcludeProbe(traces, sent);
    return all.verdict + " " + all.last_switch + ": " + all.explanation;
  };
  EXPECT_EQ(said({}, 3), "no_copies : no copy of 3 of 3 packets is in a trace of any analyzer");
  EXPECT_EQ(said({Trace(0, "delivered", 1, "s3"), Trace(1, "delivered", 1, "s3")}, 2),
            "delivered s3: 2 of 2 packets left the network at s3");
  EXPECT_EQ(said({Trace(0, "delivered", 1, "s3")}, 3),
            "delivered s3: 1 of 3 packets left the network at s3; 2 without a trace");
  EXPECT_EQ(said({Trace(0, "delivered", 1, "s3"), Trace(1, "dropped", 0.99, "s1"),
                  Trace(2, "dropped", 0.99, "s1"), Trace(3, "dropped", 0.99, "s2")},
                 4),
            "some_delivered s1: 3 of 4 packets dropped behind s1, 1 delivered");
  EXPECT_EQ(said({Trace(0, "delivered", 1, "s3"), Trace(1, "copies_lost", 0.9, "s2")}, 2),
            "some_delivered s2: 1 of 2 packets without copies, which got lost rather, behind s2, "
            "1 delivered");
  EXPECT_EQ(said({Trace(0, "not_known", 0, "s2")}, 1),
            "not_known s2: last seen at s2; where such packets ought to go is not known");
  EXPECT_EQ(said({Trace(0, "delivered", 1, "s3"), Trace(1, "loop", 1, "s1")}, 2),
            "loop s1: a packet went in a loop, last seen at s1");
}

// As Bayes has it, over both stories and all packets, slowly.
TEST(ProbeConclusion, WeighsBothStoriesAsTheRuleOfBayesDoes) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(0.001, 0.999);
  for (int run = 0; run < 2000; ++run) {
    std::vector<ProbeTrace> traces;
    long double of_fault = 0.001L;
    long double of_copies = 1;
    const size_t count = 1 + random() % 8;
    for (size_t i = 0; i < count; ++i) {
      const double confidence = any(random);
      const bool is_dropped = random() % 2 == 0;
      traces.push_back(Trace(i, is_dropped ? "dropped" : "copies_lost", confidence, "s1"));
      const long double drop = is_dropped ? confidence : 1 - confidence;
      of_copies *= 0.001L * (1 - drop) / drop;  // the likelihood that the judge's odds stand for
    }
    const auto drop = static_cast<double>(of_fault / (of_fault + of_copies));
    const ProbeConclusion all = ConcludeProbe(traces, count);
    EXPECT_EQ(all.verdict, drop >= 0.5 ? "dropped" : "copies_lost") << run;
    EXPECT_NEAR(all.confidence, std::max(drop, 1 - drop), 1e-6) << run;
  }
}

}  // namespace
}  // namespace trumpet
