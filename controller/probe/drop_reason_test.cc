// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_reason.h"

#include <gtest/gtest.h>

#include <functional>

namespace trumpet {
namespace {

OpenflowFlow Flow(const std::string& actions) {
  OpenflowFlow flow;
  flow.priority = 5;
  flow.match = "priority=5,udp";
  flow.actions = actions;
  flow.packets = 12;
  return flow;
}

WalkedPacket Packet(uint8_t ttl = 64) {
  return {*ComposeFrame("udp,tp_dst=9000", 0, {2, 0, 0, 0, 0, 1}), 1, ttl};
}

// A switch that forwards UDP out of port 2, through meter 7 that has dropped nothing.
SwitchState Sound() {
  SwitchState state;
  state.flows = {Flow("meter:7,dec_ttl,output:2")};
  OpenflowPort port;
  port.number = 2;
  port.name = "eth2";
  port.is_up = true;
  state.ports[2] = state.port_counts[2] = port;
  state.meters[7] = {7, 1000, 64000, 0, ""};
  return state;
}

TEST(DropReason, NamesEachCause) {
  const struct {
    std::string word, why;
    std::function<void(SwitchState*)> fault;
    bool is_long = false;
    uint8_t ttl = 64;
  } cases[] = {
      {"not_known",
       "its flows send it on out of port 2 (eth2), and no counter of the switch tells of it: look "
       "at the link",
       [](SwitchState*) {}},
      {"flow", "flow 'table=0,priority=5,udp actions=drop' drops it, as it did 12 packets",
       [](SwitchState* state) { state->flows = {Flow("drop")}; }},
      {"no_flow", "table 0 has no flow that takes it",
       [](SwitchState* state) { state->flows.clear(); }},
      {"ttl",
       "its TTL is used up there: flow 'table=0,priority=5,udp actions=meter:7,dec_ttl,output:2'",
       [](SwitchState*) {}, false, 1},
      {"meter",
       "meter 7 of flow 'table=0,priority=5,udp actions=meter:7,dec_ttl,output:2' has dropped 400 "
       "of 1000 packets",
       [](SwitchState* state) { state->meters[7].dropped = 400; }},
      {"no_port",
       "flow 'table=0,priority=5,udp actions=output:9' sends it to port 9, which is not there",
       [](SwitchState* state) { state->flows = {Flow("output:9")}; }},
      {"port_down", "port 2 (eth2) is down",
       [](SwitchState* state) { state->ports[2].is_up = false; }},
      {"mtu", "only shorter packets pass out of port 2 (eth2)", [](SwitchState*) {}, true},
      {"queue", "port 2 (eth2) has dropped 31 packets that it was to send",
       [](SwitchState* state) { state->port_counts[2].tx_dropped = 31; }},
      {"not_known",
       "flow 'table=0,priority=5,udp actions=something_new' does what cannot be followed from here",
       [](SwitchState* state) { state->flows = {Flow("something_new")}; }},
  };
  for (const auto& one : cases) {
    SwitchState state = Sound();
    one.fault(&state);
    const DropReason reason = ConcludeReason(state, Packet(one.ttl), one.is_long);
    EXPECT_EQ(reason.word, one.word);
    EXPECT_EQ(reason.why, one.why);
  }
}

TEST(DropReason, BlamesNoMeterThatThePacketDoesNotPass) {
  SwitchState state = Sound();
  state.meters[8] = {8, 1000, 64000, 400, ""};
  EXPECT_EQ(ConcludeReason(state, Packet(), false).word, "not_known");
}

TEST(DropReason, ReadsThePacketOfATraceWhereItCameToTheSwitchLast) {
  const std::string trace =
      R"({"id":"0a","bytes":100,"frame":{"link":"ethernet","hex":"020000000001020000000002080045"},)"
      R"("path":[{"switch":"leaf1","tag":524293,"ttl":64},{"switch":"leaf1","tag":524294,"ttl":63},)"
      R"({"switch":"spine1","tag":5,"ttl":62}]})";
  const auto at_leaf = ReadWalkedPacket(trace, "leaf1");
  ASSERT_TRUE(at_leaf);
  EXPECT_EQ(at_leaf->in_port, 6u);
  EXPECT_EQ(at_leaf->ttl, 63);
  EXPECT_EQ(at_leaf->frame.size(), 100u);
  const auto at_spine = ReadWalkedPacket(trace, "spine1");
  ASSERT_TRUE(at_spine);
  EXPECT_EQ(at_spine->in_port, 0u) << "that tag is of a slice";
  EXPECT_FALSE(ReadWalkedPacket(trace, "leaf2"));
  for (const char* wrong : {"", "{}", "[]", R"({"frame":{"hex":""},"path":[{"switch":"leaf1"}]})",
                            R"({"frame":7,"path":[{"switch":"leaf1"}]})"}) {
    EXPECT_FALSE(ReadWalkedPacket(wrong, "leaf1")) << wrong;
  }
  const auto ip = ReadWalkedPacket(
      R"({"bytes":9999999,"frame":{"link":"ip","hex":"45"},"path":[{"switch":"leaf1"}]})", "leaf1");
  ASSERT_TRUE(ip);
  EXPECT_EQ(ip->frame.size(), 65535u + 18) << "and not as long as somebody says";
  EXPECT_EQ(ip->frame.substr(12, 3), std::string("\x08\x00\x45", 3));
}

}  // namespace
}  // namespace trumpet
