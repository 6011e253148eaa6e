// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lib/wire/check.h"
#include "lib/wire/limits.h"
#include "lib/wire/random_message_test.h"
#include "lib/wire/same_message_test.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

std::string Encoded(const Message& message) {
  std::string frame;
  const Status status = EncodeMessage(message, kMaxFrameToAgent, &frame);
  EXPECT_TRUE(status.ok()) << status.message();
  return frame;
}

std::string DecodeError(const std::string& frame) {
  const Result<Message> message = DecodeMessage(frame);
  return message.ok() ? "" : message.message();
}

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

// What is done to a good message, and the error it must give.
struct BadCase {
  std::function<void(pb::Frame*)> spoil;
  std::string error;
};

pb::Trigger* TriggerOf(pb::Frame* frame) {
  pb::TriggerSet* set = frame->mutable_trigger_set();
  set->set_generation(5);
  pb::Trigger* trigger = set->add_changes()->mutable_put();
  trigger->set_mode(pb::Trigger::MODE_HOST);
  pb::Event* event = trigger->mutable_event();
  event->set_id(1);
  event->set_name("e");
  event->set_interval_ms(10);
  event->set_for_count(1);
  event->set_scope(pb::Event::SCOPE_HOST);
  event->set_observe(pb::Event::OBSERVE_SOURCE);
  event->mutable_filter()->set_op(pb::Filter::OP_TRUE);
  pb::Expr* predicate = event->mutable_predicate();
  predicate->set_op(pb::Expr::OP_AGGREGATE);
  predicate->set_aggregate(pb::Expr::AGGREGATE_SUM);
  pb::Expr* operand = predicate->add_args();
  operand->set_op(pb::Expr::OP_VARIABLE);
  operand->set_variable(pb::Expr::VARIABLE_BYTES);
  return trigger;
}

pb::Trigger* ThresholdOf(pb::Frame* frame) {
  pb::Trigger* trigger = TriggerOf(frame);
  trigger->set_mode(pb::Trigger::MODE_THRESHOLD);
  *trigger->mutable_local_predicate() = trigger->event().predicate();
  trigger->set_share_generation(1);
  return trigger;
}

pb::Event* EventOf(pb::Frame* frame) { return TriggerOf(frame)->mutable_event(); }

pb::FieldTest* TestOf(pb::Frame* frame, pb::FieldRef::Field field) {
  pb::Filter* filter = EventOf(frame)->mutable_filter();
  filter->set_op(pb::Filter::OP_TEST);
  filter->mutable_test()->mutable_ref()->set_field(field);
  return filter->mutable_test();
}

pb::Partials* PartialsOf(pb::Frame* frame) {
  pb::Partials* partials = frame->mutable_partials();
  partials->set_event_id(1);
  partials->set_end_ns(10);
  partials->set_words_per_bucket(1);
  partials->set_keys("ab");
  partials->add_key_sizes(2);
  partials->add_words(3);
  return partials;
}

constexpr char kEventPlace[] = "trigger_set.changes[0].put.event.";

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

std::vector<BadCase> EventCases() {
  const std::string at = kEventPlace;
  return {
      {[](pb::Frame* f) { EventOf(f)->set_id(0); }, at + "id is 0; it takes 1 to 4294967295"},
      {[](pb::Frame* f) { EventOf(f)->set_interval_ms(86400001); },
       at + "interval_ms is 86400001; it takes 1 to 86400000"},
      {[](pb::Frame* f) { EventOf(f)->set_scope(static_cast<pb::Event::Scope>(3)); },
       at + "scope is 3; it takes 1 to 2"},
      {[](pb::Frame* f) { TriggerOf(f)->set_mode(static_cast<pb::Trigger::Mode>(-1)); },
       "trigger_set.changes[0].put.mode is -1; it takes 1 to 3"},
      {[](pb::Frame* f) { TriggerOf(f)->set_mode(pb::Trigger::MODE_THRESHOLD); },
       "trigger_set.changes[0].put.local_predicate is missing"},
      {[](pb::Frame* f) { TriggerOf(f)->mutable_local_predicate(); },
       "trigger_set.changes[0].put.local_predicate stands with MODE_THRESHOLD only"},
      {[](pb::Frame* f) { TriggerOf(f)->set_share_generation(1); },
       "trigger_set.changes[0].put.share_generation is 1; it takes 0 to 0"},
      {[](pb::Frame* f) { TriggerOf(f)->set_share_from_ns(7); },
       "trigger_set.changes[0].put.share_from_ns is 7; it takes 0 to 0"},
      {[](pb::Frame* f) { ThresholdOf(f)->set_share_generation(0); },
       "trigger_set.changes[0].put.share_generation is 0; it takes 1 to 18446744073709551615"},
      {[](pb::Frame* f) { ThresholdOf(f)->set_share_from_ns(-1); },
       "trigger_set.changes[0].put.share_from_ns is -1; it takes 0 to 4611686018427387904"},
      {[](pb::Frame* f) { EventOf(f)->mutable_filter()->set_op(static_cast<pb::Filter::Op>(6)); },
       at + "filter.op is 6; it takes 1 to 5"},
      {[](pb::Frame* f) {
         pb::Filter* filter = EventOf(f)->mutable_filter();
         filter->set_op(pb::Filter::OP_AND);
         filter->add_args()->set_op(pb::Filter::OP_TRUE);
       },
       at + "filter.args is 1; it takes 2 to 65536"},
      {[](pb::Frame* f) {
         pb::Filter* filter = EventOf(f)->mutable_filter();
         filter->set_op(pb::Filter::OP_NOT);
         filter->add_args();
       },
       at + "filter.args[0].op is 0; it takes 1 to 5"},
      {[](pb::Frame* f) {
         pb::Filter* filter = EventOf(f)->mutable_filter();
         filter->set_op(pb::Filter::OP_OR);
         filter->add_args()->set_op(pb::Filter::OP_OR);
         filter->add_args()->set_op(pb::Filter::OP_TRUE);
       },
       at + "filter.args[0].op is that of the chain which it is part of"},
      {[](pb::Frame* f) { TestOf(f, pb::FieldRef::FIELD_DST_IP); },
       at + "filter.test tests nothing"},
      {[](pb::Frame* f) { TestOf(f, static_cast<pb::FieldRef::Field>(16)); },
       at + "filter.test.ref.field is 16; it takes 1 to 15"},
      {[](pb::Frame* f) {
         TestOf(f, pb::FieldRef::FIELD_TTL)
             ->mutable_ref()
             ->set_level(static_cast<pb::FieldRef::Level>(3));
       },
       at + "filter.test.ref.level is 3; it takes 0 to 2"},
      {[](pb::Frame* f) {
         TestOf(f, pb::FieldRef::FIELD_DST_PORT)
             ->mutable_ranges()
             ->add_ranges()
             ->set_kind(pb::ValueRange::KIND_IPV4);
       },
       at + "filter.test.ranges.ranges[0].kind is 3, which is no kind of value of field 4"},
      {[](pb::Frame* f) {
         pb::ValueRange* range =
             TestOf(f, pb::FieldRef::FIELD_VLAN)->mutable_ranges()->add_ranges();
         range->set_kind(pb::ValueRange::KIND_NUMBER);
         range->set_first_low(4000);
         range->set_span_low(96);
       },
       at + "filter.test.ranges.ranges[0] goes beyond the 12 bits of its field"},
      {[](pb::Frame* f) { TestOf(f, pb::FieldRef::FIELD_TTL)->mutable_masked()->set_mask(1); },
       at + "filter.test.masked stands with tcpFlags only"},
      {[](pb::Frame* f) {
         TestOf(f, pb::FieldRef::FIELD_TCP_FLAGS)->mutable_masked()->set_expected(2);
       },
       at + "filter.test.masked.expected has bits that the mask has not"},
      {[](pb::Frame* f) {
         pb::Granularity* granularity = EventOf(f)->mutable_granularity();
         for (int i = 0; i < 2; ++i) {
           granularity->add_fields()->mutable_ref()->set_field(pb::FieldRef::FIELD_TTL);
         }
       },
       at + "granularity.fields[1].ref is named twice"},
      {[](pb::Frame* f) {
         pb::GranularityField* field = EventOf(f)->mutable_granularity()->add_fields();
         field->mutable_ref()->set_field(pb::FieldRef::FIELD_SRC_IP);
         field->set_prefix_length(129);
       },
       at + "granularity.fields[0].prefix_length is 129; it takes 0 to 128"},
      {[](pb::Frame* f) {
         pb::Granularity* granularity = EventOf(f)->mutable_granularity();
         granularity->set_is_five_tuple(true);
         granularity->add_fields()->mutable_ref()->set_field(pb::FieldRef::FIELD_TTL);
       },
       at + "granularity.fields are named beside is_five_tuple"},
  };
}

std::vector<BadCase> PredicateCases() {
  const std::string at = std::string(kEventPlace) + "predicate";
  return {
      {[](pb::Frame* f) { EventOf(f)->mutable_predicate()->set_op(static_cast<pb::Expr::Op>(77)); },
       at + ".op is 77; it takes 1 to 18"},
      {[](pb::Frame* f) { EventOf(f)->mutable_predicate()->clear_args(); },
       at + ".args has 0 elements; op 3 takes 1"},
      {[](pb::Frame* f) {
         EventOf(f)->mutable_predicate()->mutable_args(0)->set_op(pb::Expr::OP_AGGREGATE);
         EventOf(f)->mutable_predicate();
       },
       at + ".args[0].args has 0 elements; op 3 takes 1"},
      {[](pb::Frame* f) {
         pb::Expr* outer = EventOf(f)->mutable_predicate();
         const pb::Expr inner = *outer;
         *outer->mutable_args(0) = inner;
       },
       at + ".args[0] is an aggregate inside another one"},
      {[](pb::Frame* f) {
         EventOf(f)->mutable_predicate()->mutable_args(0)->set_variable(
             pb::Expr::VARIABLE_ACK_LAST_EPOCH);
       },
       at + ".args[0].variable stands only outside aggregates"},
      {[](pb::Frame* f) {
         pb::Expr* predicate = EventOf(f)->mutable_predicate();
         predicate->clear_args();
         predicate->set_op(pb::Expr::OP_VARIABLE);
         predicate->set_variable(pb::Expr::VARIABLE_BYTES);
       },
       at + ".variable is a value of one packet, outside an aggregate"},
      {[](pb::Frame* f) {
         pb::Expr* predicate = EventOf(f)->mutable_predicate();
         predicate->clear_args();
         predicate->set_op(pb::Expr::OP_VARIABLE);
         predicate->set_variable(pb::Expr::VARIABLE_ACK);
       },
       at + ".variable outside an aggregate needs the granularity 5-tuple"},
      {[](pb::Frame* f) {
         pb::Expr* predicate = EventOf(f)->mutable_predicate();
         predicate->clear_args();
         predicate->set_op(pb::Expr::OP_NUMBER);
       },
       at + ".number is missing"},
      {[](pb::Frame* f) {
         pb::Expr* predicate = EventOf(f)->mutable_predicate();
         predicate->clear_args();
         predicate->set_op(pb::Expr::OP_NUMBER);
         predicate->mutable_number()->set_real(std::numeric_limits<double>::infinity());
       },
       at + ".number.real is not finite"},
      {[](pb::Frame* f) {
         pb::Event* event = EventOf(f);
         event->mutable_predicate()->mutable_args(0)->set_variable(pb::Expr::VARIABLE_RTT);
         event->mutable_granularity()->add_fields()->mutable_ref()->set_field(
             pb::FieldRef::FIELD_DSCP);
       },
       std::string(kEventPlace, sizeof kEventPlace - 2) +
           " uses rtt beside a field in which data and its ACK may differ"},
  };
}

std::vector<BadCase> CountCases() {
  return {
      {[](pb::Frame* f) { PartialsOf(f)->set_words_per_bucket(0); },
       "partials.words_per_bucket is 0; it takes 1 to 16384"},
      {[](pb::Frame* f) { PartialsOf(f)->add_words(1); },
       "partials.words has 2 elements; its buckets take 1"},
      {[](pb::Frame* f) { PartialsOf(f)->set_keys("abc"); },
       "partials.keys has 3 bytes; key_sizes say 2"},
      {[](pb::Frame* f) { PartialsOf(f)->add_key_sizes(257); },
       "partials.key_sizes is 257; it takes 0 to 256"},
      {[](pb::Frame* f) { PartialsOf(f)->add_unscaled(1); },
       "partials.unscaled holds 1; it takes positions of buckets, rising"},
      {[](pb::Frame* f) { PartialsOf(f)->set_start_ns(10); },
       "partials.end_ns is 0 ns after start_ns; it takes 1 to 86400000000000"},
      {[](pb::Frame* f) {
         f->mutable_report()->set_event_id(1);
         f->mutable_report()->set_bucket_key(std::string(257, 'k'));
       },
       "report.bucket_key has 257 bytes; at most 256 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_report()->set_event_id(1);
         f->mutable_report()->set_end_ns(1);
         f->mutable_report()->set_incomplete_reasons(kAllIncompleteReasons + 1);
       },
       "report.incomplete_reasons is 256; it takes 0 to 255"},
      {[](pb::Frame* f) {
         f->mutable_report()->set_event_id(1);
         f->mutable_report()->set_end_ns(1);
         f->mutable_report()->mutable_value()->set_real(std::nan(""));
       },
       "report.value.real is not finite"},
      {[](pb::Frame* f) {
         f->mutable_poll_reply()->add_answers()->set_status(pb::PollAnswer::STATUS_VALUES);
       },
       "poll_reply.answers[0].words is 0; it takes 1 to 16384"},
      {[](pb::Frame* f) {
         pb::PollAnswer* answer = f->mutable_poll_reply()->add_answers();
         answer->set_status(pb::PollAnswer::STATUS_NO_PACKETS);
         answer->add_words(1);
       },
       "poll_reply.answers[0].words is 1; it takes 0 to 0"},
      {[](pb::Frame* f) { f->mutable_poll()->add_questions(); },
       "poll.questions[0].event_id is 0; it takes 1 to 4294967295"},
      {[](pb::Frame* f) {
         for (size_t i = 0; i <= kMaxPollQuestions; ++i) f->mutable_poll()->add_questions();
       },
       "poll.questions has 4097 elements; at most 4096 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_flow_states()->set_end_ns(1);
         f->mutable_flow_states()->add_states()->set_src_ip("12345");
       },
       "flow_states.states[0].src_ip has 5 bytes; it takes 4 or 16"},
      {[](pb::Frame* f) {
         f->mutable_flow_states()->set_end_ns(1);
         pb::FlowState* state = f->mutable_flow_states()->add_states();
         state->set_src_ip("1234");
         state->set_dst_ip("1234");
         state->set_flags(64);
       },
       "flow_states.states[0].flags is 64; it takes 0 to 63"},
      {[](pb::Frame* f) {
         pb::IncompleteRange* range = f->mutable_interval_end()->add_incomplete();
         range->set_start_ns(2);
         range->set_end_ns(1);
         range->set_reasons(1);
       },
       "interval_end.incomplete[0].end_ns is before start_ns"},
  };
}

void ExpectErrors(const std::vector<BadCase>& cases) {
  for (const BadCase& bad : cases) {
    pb::Frame frame;
    bad.spoil(&frame);
    EXPECT_EQ(DecodeError(frame.SerializeAsString()), bad.error);
  }
}

TEST(Codec, NamesThePlaceOfWhatIsWrongInSessions) { ExpectErrors(SessionCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongInEvents) { ExpectErrors(EventCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongInPredicates) { ExpectErrors(PredicateCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongInCounts) { ExpectErrors(CountCases()); }

TEST(Codec, TakesTheEventOfTheErrorCasesWhenNothingIsSpoiled) {
  pb::Frame frame;
  TriggerOf(&frame);
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
}

TEST(Codec, SkipsFieldsItDoesNotKnow) {
  pb::Frame frame;
  frame.mutable_keep_alive()->set_number(3);
  std::string bytes = frame.SerializeAsString();
  bytes += std::string("\xf8\x3f\x01", 3);  // field 1023, a varint
  const Result<Message> message = DecodeMessage(bytes);
  ASSERT_TRUE(message.ok()) << message.message();
  EXPECT_EQ(std::get<KeepAlive>(*message).number, 3u);
}

Expr NotTower(int height) {
  Expr expr;
  expr.op = ExprOp::kNumber;
  expr.number = Number::Integer(Int128{1} << 100);
  for (int i = 1; i < height; ++i) {
    Expr parent;
    parent.op = ExprOp::kNot;
    parent.args.push_back(std::move(expr));
    expr = std::move(parent);
  }
  return expr;
}

FilterExpr NotFilterTower(int height) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref.field = Field::kDstIp;
  filter.test.ranges.push_back({ValueKind::kIpv6, 0, ~Uint128{0}});
  for (int i = 1; i < height; ++i) {
    FilterExpr parent;
    parent.op = FilterOp::kNot;
    parent.args.push_back(std::move(filter));
    filter = std::move(parent);
  }
  return filter;
}

TriggerSet SetWithTowers(int height) {
  TriggerSet set;
  set.generation = 1;
  Trigger& trigger = set.changes.emplace_back().put.emplace();
  trigger.event.id = 1;
  trigger.event.name = "tower";
  trigger.event.interval_ms = 1;
  trigger.event.predicate = NotTower(height);
  trigger.event.filter = NotFilterTower(height);
  return set;
}

TEST(Codec, TakesTreesUpToTheirHeightAndNoHigher) {
  const TriggerSet highest = SetWithTowers(kMaxTreeHeight);
  const Result<Message> decoded = DecodeMessage(Encoded(highest));
  ASSERT_TRUE(decoded.ok()) << decoded.message();
  EXPECT_TRUE(SameMessage(highest, *decoded));
  std::string frame;
  const Status status = EncodeMessage(SetWithTowers(kMaxTreeHeight + 1), kMaxFrameToAgent, &frame);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("is too deep; 90 levels are allowed"), std::string::npos);
  EXPECT_TRUE(frame.empty());
}

TEST(Codec, RefusesATreeDeeperThanAnyStack) {
  std::string tower;  // Expr in Expr in Expr, by hand: protobuf would not write it, either
  for (int i = 0; i < 15000; ++i) {
    std::string length;
    for (size_t rest = tower.size(); rest > 0 || length.empty(); rest >>= 7) {
      length += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    tower.insert(0, "\x2a" + length);
  }
  pb::Frame frame;
  TriggerOf(&frame)->mutable_event()->mutable_predicate()->MergeFromString(tower);
  std::string bytes;
  // Frame.trigger_set.changes.put.event.predicate, each field with its length.
  bytes = tower;
  for (const char tag : {'\x2a', '\x0a', '\x0a', '\x2a', '\x32'}) {
    std::string length;
    for (size_t rest = bytes.size(); rest > 0; rest >>= 7) {
      length += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    bytes.insert(0, length);
    bytes.insert(bytes.begin(), tag);
  }
  EXPECT_NE(DecodeError(bytes), "");
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

TEST(SplitTriggerSet, SendsAllChangesInOrderInFramesOfTheGivenSize) {
  RandomMessages random(3);
  TriggerSet set;
  set.generation = 9;
  set.base_generation = 4;
  for (int i = 0; i < 300; ++i) {
    if (random.Below(3) == 0) {
      set.changes.push_back({std::nullopt, static_cast<uint32_t>(1 + i)});
    } else {
      TriggerChange& change = set.changes.emplace_back();
      change.put.emplace().event = random.Event();
    }
  }
  constexpr size_t kFrame = 16384;
  TriggerSet joined;
  uint32_t part_count = 0;
  const Status status = SplitTriggerSet(set, kFrame, [&](Message&& message) {
    std::string frame;
    ASSERT_TRUE(EncodeMessage(message, kFrame, &frame).ok());
    auto& part = std::get<TriggerSet>(message);
    EXPECT_EQ(part.part, part_count++);
    EXPECT_FALSE(joined.is_last && part.part > 0);
    joined.is_last = part.is_last;
    joined.generation = part.generation;
    joined.base_generation = part.base_generation;
    for (TriggerChange& change : part.changes) joined.changes.push_back(std::move(change));
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_GT(part_count, 3u);
  EXPECT_TRUE(SameMessage(joined, set));
}

// Changes that were encoded once for all hosts stand behind those of this one.
TEST(EncodeTriggerChange, StandsInSetsAsIfItHadBeenEncodedThere) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomMessages random(seed);
    auto set = std::get<TriggerSet>(random.Of(MessageKind::kTriggerSet));
    TriggerSet wanted = set;
    wanted.changes.clear();
    TriggerSet sent = wanted;
    for (const TriggerChange& change : set.changes) {
      if (random.Below(2) == 0) sent.changes.push_back(change);
    }
    wanted.changes = sent.changes;
    size_t taken = 0;
    for (const TriggerChange& change : set.changes) {
      if (taken < sent.changes.size() && same::Same(change, sent.changes[taken])) {
        ++taken;
        continue;
      }
      auto encoded = EncodeTriggerChange(change);
      ASSERT_TRUE(encoded.ok()) << encoded.message();
      sent.encoded_changes.push_back(std::make_shared<const std::string>(std::move(*encoded)));
      wanted.changes.push_back(change);
    }
    const Result<Message> decoded = DecodeMessage(Encoded(sent));
    ASSERT_TRUE(decoded.ok()) << decoded.message();
    ASSERT_TRUE(SameMessage(wanted, *decoded)) << "seed " << seed;
    std::string frame;
    if (sent.encoded_changes.empty()) continue;
    EXPECT_FALSE(EncodeMessage(sent, sent.encoded_changes[0]->size(), &frame).ok());
    EXPECT_TRUE(frame.empty());
  }
}

TEST(SplitTriggerSet, NamesAnEventThatFitsNoFrame) {
  TriggerSet set;
  set.generation = 1;
  Trigger& trigger = set.changes.emplace_back().put.emplace();
  trigger.event.name = "wide";
  trigger.event.filter.op = FilterOp::kTest;
  trigger.event.filter.test.ranges.resize(1000, {ValueKind::kIpv4, 0x0a000001, 0x0a000001});
  int sent = 0;
  const Status status = SplitTriggerSet(set, 4096, [&](Message&&) { ++sent; });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message().substr(0, 18), "event 'wide' takes");
  EXPECT_EQ(sent, 0);
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

TEST(MaxBucketsInPartials, FitEvenWithTheLargestWords) {
  for (const uint32_t words : {1u, 4u, 100u, kMaxWordsPerBucket}) {
    Partials partials;
    partials.event_id = UINT32_MAX;
    partials.end_ns = 1;
    partials.words_per_bucket = words;
    const size_t count = MaxBucketsInPartials(words, 40, kMaxFrameToController);
    const std::vector<uint64_t> largest(words, UINT64_MAX);
    for (size_t i = 0; i < count; ++i) partials.Add(std::string(40, 'k'), largest.data(), true);
    std::string frame;
    EXPECT_TRUE(EncodeMessage(partials, kMaxFrameToController, &frame).ok()) << words;
    EXPECT_GT(frame.size(), kMaxFrameToController / 2) << words;
  }
}

// The tracker says "never" by the earliest instant there is.
TEST(FlowStates, OfConnectionsOfWhichOneDirectionWasSeenAreSent) {
  FlowStates states;
  states.end_ns = 1;
  states.states.resize(1);
  states.states[0].first.ip_family = 4;
  states.states[0].second.receiver_ns = INT64_MIN;
  std::string frame;
  const Status status = EncodeMessage(states, kMaxFrameToController, &frame);
  ASSERT_TRUE(status.ok()) << status.message();
  const Result<Message> message = DecodeMessage(frame);
  ASSERT_TRUE(message.ok()) << message.message();
  EXPECT_EQ(std::get<FlowStates>(*message).states[0].second.receiver_ns, 0);
}

TEST(Partials, VisitsBucketsAsTheyWereAdded) {
  Partials partials;
  partials.words_per_bucket = 2;
  const uint64_t first[] = {1, 2};
  const uint64_t second[] = {3, 4};
  partials.Add("a", first, false);
  partials.Add("", second, true);
  std::string seen;
  partials.Visit([&](std::string_view key, const uint64_t* words, bool is_unscaled) {
    seen += std::string(key) + ":" + std::to_string(words[0]) + "," + std::to_string(words[1]) +
            (is_unscaled ? "*" : "") + " ";
  });
  EXPECT_EQ(seen, "a:1,2 :3,4* ");
}

}  // namespace
}  // namespace trumpet
