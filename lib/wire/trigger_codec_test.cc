// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/wire/check.h"
#include "lib/wire/codec_kit_test.h"
#include "lib/wire/message_parts.h"
#include "lib/wire/random_message_test.h"
#include "lib/wire/same_message_test.h"

namespace trumpet {
namespace {

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

constexpr char kEventPlace[] = "trigger_set.changes[0].put.event.";

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

TEST(Codec, NamesThePlaceOfWhatIsWrongInEvents) { ExpectErrors(EventCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongInPredicates) { ExpectErrors(PredicateCases()); }

TEST(Codec, TakesTheEventOfTheErrorCasesWhenNothingIsSpoiled) {
  pb::Frame frame;
  TriggerOf(&frame);
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
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

}  // namespace
}  // namespace trumpet
