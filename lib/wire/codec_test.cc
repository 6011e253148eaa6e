// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/codec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/wire/codec_kit_test.h"
#include "lib/wire/message_parts.h"
#include "lib/wire/random_message_test.h"
#include "lib/wire/same_message_test.h"

namespace trumpet {
namespace {

class CodecOfKind : public testing::TestWithParam<size_t> {};

TEST_P(CodecOfKind, ReturnsRandomMessagesUnchanged) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Message message = RandomMessages(seed).Of(static_cast<MessageKind>(GetParam()));
    const std::string frame = Encoded(message);
    const Result<Message> decoded = DecodeMessage(frame);
    ASSERT_TRUE(decoded.ok()) << decoded.message() << ", seed " << seed;
    ASSERT_TRUE(SameMessage(message, *decoded)) << "seed " << seed;
    ASSERT_EQ(Encoded(*decoded), frame) << "seed " << seed;
  }
}

TEST_P(CodecOfKind, TakesNoMessageCutShortForAnother) {
  RandomMessages random(7);
  for (int round = 0; round < 20; ++round) {
    const Message message = random.Of(static_cast<MessageKind>(GetParam()));
    const std::string frame = Encoded(message);
    for (size_t size = 0; size < frame.size(); size += 1 + size / 64) {
      const Result<Message> decoded = DecodeMessage(std::string_view(frame).substr(0, size));
      EXPECT_FALSE(decoded.ok()) << "cut at " << size << " of " << frame.size();
    }
  }
}

TEST_P(CodecOfKind, SurvivesFlippedBytes) {
  RandomMessages random(11);
  int survivors = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string frame = Encoded(random.Of(static_cast<MessageKind>(GetParam())));
    for (int flips = 0; flips < 3; ++flips) {
      frame[random.Below(frame.size())] = static_cast<char>(random.Below(256));
    }
    const Result<Message> decoded = DecodeMessage(frame);
    if (!decoded.ok()) {
      EXPECT_FALSE(decoded.message().empty());
      continue;
    }
    ++survivors;
    const Result<Message> again = DecodeMessage(Encoded(*decoded));
    ASSERT_TRUE(again.ok()) << again.message();
    EXPECT_TRUE(SameMessage(*decoded, *again));
  }
  EXPECT_GT(survivors, 0);  // or the flips are too wild to test anything
}

std::string KindName(const testing::TestParamInfo<size_t>& info) {
  return MessageKindName(static_cast<MessageKind>(info.param));
}
INSTANTIATE_TEST_SUITE_P(Codec, CodecOfKind, testing::Range(size_t{0}, kMessageKindCount),
                         KindName);

std::vector<BadCase> SessionCases() {
  return {
      {[](pb::Frame*) {}, "frame holds no message that is known"},
      {[](pb::Frame* f) {
         f->mutable_hello()->set_min_version(1);
         f->mutable_hello()->set_max_version(1);
       },
       "hello.host_id is missing"},
      {[](pb::Frame* f) { f->mutable_hello(); },
       "hello.min_version is 0; it takes 1 to 4294967295"},
      {[](pb::Frame* f) {
         f->mutable_hello()->set_min_version(3);
         f->mutable_hello()->set_max_version(2);
       },
       "hello.max_version is 2; it takes 3 to 4294967295"},
      {[](pb::Frame* f) {
         f->mutable_hello()->set_min_version(1);
         f->mutable_hello()->set_max_version(1);
         f->mutable_hello()->set_host_id(std::string(256, 'x'));
       },
       "hello.host_id has 256 bytes; at most 255 are allowed"},
      {[](pb::Frame* f) { f->mutable_hello_reply()->set_version(1); },
       "hello_reply.controller_id is 0; it takes 1 to 18446744073709551615"},
      {[](pb::Frame* f) { f->mutable_refusal()->set_reason(static_cast<pb::Refusal::Reason>(77)); },
       "refusal.reason is 77; it takes 1 to 5"},
      {[](pb::Frame* f) {
         f->mutable_bye()->set_reason(pb::Bye::REASON_PROTOCOL);
         f->mutable_bye()->set_text("a\nb");
       },
       "bye.text holds a control character"},
      {[](pb::Frame* f) { f->mutable_keep_alive()->set_asked_ns(-1); },
       "keep_alive.asked_ns is -1; it takes 0 to 4611686018427387904"},
      {[](pb::Frame* f) { f->mutable_trigger_set(); },
       "trigger_set.generation is 0; it takes 1 to 18446744073709551615"},
      {[](pb::Frame* f) {
         f->mutable_trigger_set()->set_generation(5);
         f->mutable_trigger_set()->set_base_generation(5);
       },
       "trigger_set.base_generation is 5; it takes 0 to 4"},
      {[](pb::Frame* f) {
         f->mutable_trigger_set()->set_generation(5);
         f->mutable_trigger_set()->add_changes();
       },
       "trigger_set.changes[0] changes nothing"},
      {[](pb::Frame* f) {
         f->mutable_trigger_set()->set_generation(5);
         f->mutable_trigger_set()->add_changes()->set_remove_event_id(3);
       },
       "trigger_set.changes[0].remove_event_id stands in changes to a base only"},
      {[](pb::Frame* f) { f->mutable_host_facts()->add_ports()->set_bridge("br0"); },
       "host_facts.ports[0].name is missing"},
      {[](pb::Frame* f) {
         pb::Port* port = f->mutable_host_facts()->add_ports();
         port->set_bridge("br0");
         port->set_name("p");
         port->add_macs(uint64_t{1} << 48);
       },
       "host_facts.ports[0].macs is 281474976710656; it takes 0 to 281474976710655"},
  };
}

TEST(Codec, NamesThePlaceOfWhatIsWrongInSessions) { ExpectErrors(SessionCases()); }

TEST(Codec, SkipsFieldsItDoesNotKnow) {
  pb::Frame frame;
  frame.mutable_keep_alive()->set_number(3);
  std::string bytes = frame.SerializeAsString();
  bytes += std::string("\xf8\x3f\x01", 3);  // field 1023, a varint
  const Result<Message> message = DecodeMessage(bytes);
  ASSERT_TRUE(message.ok()) << message.message();
  EXPECT_EQ(std::get<KeepAlive>(*message).number, 3u);
}

TEST(Codec, RefusesToEncodeWhatItWouldNotDecode) {
  std::string frame = "before";
  Hello hello;
  hello.host_id = "two\nlines";
  EXPECT_EQ(EncodeMessage(hello, kMaxFrameToAgent, &frame).message(),
            "hello.host_id holds a control character");
  hello.host_id = "\xff";
  EXPECT_EQ(EncodeMessage(hello, kMaxFrameToAgent, &frame).message(), "hello.host_id is not UTF-8");
  hello.host_id = std::string(200, 'x');
  EXPECT_EQ(EncodeMessage(hello, 100, &frame).message(),
            "hello takes 210 bytes; at most 100 are allowed");
  EXPECT_EQ(frame, "before");
}

TEST(WireText, IsWhatTheProtocolTakes) {
  EXPECT_EQ(ToWireText("plain", 255), "plain");
  EXPECT_EQ(ToWireText("two\nlines\x7f", 255), "two lines ");
  EXPECT_EQ(ToWireText("bad \xff\xc3", 255), "bad ??");
  EXPECT_EQ(ToWireText("caf\xc3\xa9", 4), "caf");  // no half characters
}

TEST(SplitHostFacts, SendsAllPortsInFramesOfTheGivenSize) {
  HostFacts facts;
  facts.external_ids.push_back({"system-id", "h1"});
  facts.bridges.push_back({"br0", 1, {}, "netdev"});
  for (int i = 0; i < 5000; ++i) {
    Port& port = facts.ports.emplace_back();
    port.bridge = "br0";
    port.name = "vhu" + std::to_string(i);
    port.of_port = static_cast<uint32_t>(i);
    port.type = "dpdkvhostuserclient";
    port.macs = {0x020000000000u + i};
  }
  HostFacts joined;
  uint32_t part_count = 0;
  const Status status = SplitHostFacts(facts, kMaxFrameToController / 8, [&](Message&& message) {
    std::string frame;
    ASSERT_TRUE(EncodeMessage(message, kMaxFrameToController / 8, &frame).ok());
    auto& part = std::get<HostFacts>(message);
    EXPECT_EQ(part.part, part_count++);
    joined.is_last = part.is_last;
    for (KeyValue& pair : part.external_ids) joined.external_ids.push_back(std::move(pair));
    for (Bridge& bridge : part.bridges) joined.bridges.push_back(std::move(bridge));
    for (Port& port : part.ports) joined.ports.push_back(std::move(port));
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_GT(part_count, 3u);
  EXPECT_TRUE(SameMessage(joined, facts));
}

}  // namespace
}  // namespace trumpet
