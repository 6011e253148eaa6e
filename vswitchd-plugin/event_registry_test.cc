// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/event_registry.h"

#include <gtest/gtest.h>

#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

EventSpec Named(const std::string& name) {
  EventSpec spec = *ParseEventLine("*, sum(packets) > 1, 10ms", "test");
  spec.name = name;
  return spec;
}

// sum(bytes%FIRST) + sum(bytes%(FIRST+1)) + ..., bracketed by halves to keep the tree low.
std::string SumOfModulos(int first, int count) {
  if (count == 1) return "sum(bytes%" + std::to_string(first) + ")";
  const int half = count / 2;
  return "(" + SumOfModulos(first, half) + "+" + SumOfModulos(first + half, count - half) + ")";
}

TEST(EventRegistry, RefusesEventsThatCannotBeCompiledTogether) {
  EventRegistry registry;
  const auto add = [&registry](int number, int operands) {
    const std::string name = "e" + std::to_string(number);
    auto spec =
        ParseEventLine("*, " + SumOfModulos(1 + number * 2000, operands) + " > 1, 10ms", name);
    EXPECT_TRUE(spec.ok()) << spec.message();
    spec->name = name;
    return registry.Add({*spec}, {1000, 100}, 0);
  };
  const auto wide = add(0, 2800);
  ASSERT_FALSE(wide.ok());
  EXPECT_NE(wide.message().find("\"e0\" keeps 8401 words"), std::string::npos) << wide.message();
  for (int number = 1; number <= 32; number++) ASSERT_TRUE(add(number, 2000).ok()) << number;
  EXPECT_FALSE(add(33, 2000).ok());
  EXPECT_EQ(registry.count(), 32u);
  EXPECT_TRUE(add(33, 1000).ok());
}

TEST(EventRegistry, NeverGivesAnIdTwice) {
  EventRegistry registry;
  ASSERT_TRUE(registry.Add({Named("a"), Named("b")}, {10, 100}, 0).ok());
  ASSERT_TRUE(registry.Remove("b").ok());
  const auto added = registry.Add({Named("b")}, {10, 100}, 0);
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->at(0).spec().id, 3u);
}

TEST(EventRegistry, LimitsTheBucketsOfEventsThatSayNothingThemselves) {
  EventRegistry registry;
  EventSpec frugal = Named("frugal");
  frugal.max_buckets = 7;
  const auto added = registry.Add({Named("silent"), frugal}, {10, 100}, 0);
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->at(0).spec().max_buckets, 100u);
  EXPECT_EQ(added->at(1).spec().max_buckets, 7u);
}

TEST(EventRegistry, InstallsAllOrNothing) {
  EventRegistry registry;
  ASSERT_TRUE(registry.Add({Named("a")}, {3, 100}, 0).ok());
  const uint64_t version = registry.version();
  EXPECT_FALSE(registry.Add({Named("b"), Named("a")}, {3, 100}, 0).ok());
  EXPECT_FALSE(registry.Add({Named("b"), Named("c"), Named("d")}, {3, 100}, 0).ok());
  EXPECT_FALSE(registry.Add({}, {3, 100}, 0).ok());
  EXPECT_EQ(registry.count(), 1u);
  EXPECT_EQ(registry.version(), version);
}

TEST(EventRegistry, SaysHowManyEventsAreAllowed) {
  EventRegistry registry;
  const auto added = registry.Add({Named("a"), Named("b")}, {1, 100}, 0);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.message(), "installing 2 more events beside 0; trumpet-max-triggers allows 1");
}

// As many that fit take their turns; one that does not fit alone would never be counted.
TEST(EventRegistry, RefusesAnEventThatTakesMoreOfAPacketThanIsAllowed) {
  EventRegistry registry;
  const auto spec = ParseEventLine("*, " + SumOfModulos(1, 300) + " > 1, 10ms", "dear");
  ASSERT_TRUE(spec.ok()) << spec.message();
  EventSpec dear = *spec;
  dear.name = "dear";
  const auto added = registry.Add({Named("a"), dear}, {10, 100, 5 * kNanosPerMicro}, 0);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.message(),
            "event \"dear\" has aggregates that take about 7200 ns of every packet; "
            "trumpet-packet-budget-us allows 5000 ns");
  EXPECT_EQ(registry.count(), 0u);
  EXPECT_TRUE(registry.Add({Named("a"), dear}, {10, 100, 8 * kNanosPerMicro}, 0).ok());
}

TEST(EventRegistry, FindsByNameBeforeId) {
  EventRegistry registry;
  ASSERT_TRUE(registry.Add({Named("a"), Named("1")}, {10, 100}, 0).ok());
  EXPECT_EQ(registry.Find("1")->spec().id, 2u);
  EXPECT_EQ(registry.Find("2")->spec().name, "1");
  EXPECT_FALSE(registry.Find("3").ok());
}

TEST(EventRegistry, RemembersWhenAnEventWasFirstPublished) {
  EventRegistry registry;
  ASSERT_TRUE(registry.Add({Named("a")}, {10, 100}, 0).ok());
  const uint64_t first = registry.version();
  ASSERT_TRUE(registry.Add({Named("b")}, {10, 100}, 0).ok());
  registry.MarkPublished(first, 5, 1000);
  EXPECT_EQ(registry.Find("a")->generation, 5u);
  EXPECT_EQ(registry.Find("b")->generation, 0u);
  registry.MarkPublished(registry.version(), 6, 2000);
  EXPECT_EQ(registry.Find("a")->effective_from_ns, 1000);
  EXPECT_EQ(registry.Find("b")->effective_from_ns, 2000);
  registry.MarkWithdrawn();
  EXPECT_EQ(registry.Find("a")->generation, 0u);
}

// min(bytes) and max(bytes) have a word of the same operand each, which means something else.
TEST(EventRegistry, AnEventOfTheControllerThatCountsOtherwiseIsAnother) {
  EventRegistry registry;
  const auto id_of = [&registry](const std::string& predicate) {
    Trigger trigger;
    trigger.mode = TriggerMode::kHost;
    trigger.event = *ParseEventLine("*, " + predicate + ", 10ms", "sizes");
    const EventLimits limits{100, 100, 1'000'000};
    EXPECT_TRUE(registry.SetControllerEvents(5, {{7, trigger}}, limits, 0).empty());
    return registry.Set().plans.at(0)->spec.id;
  };
  const uint32_t least = id_of("min(bytes) > 10");
  EXPECT_EQ(id_of("min(bytes) > 20"), least);
  EXPECT_NE(id_of("max(bytes) > 20"), least);
}

// What is reported under the id here must not be the other verdict of the interval that is open.
TEST(EventRegistry, AnEventOfAnotherControllerGoesOnOnlyIfItIsTheSame) {
  EventRegistry registry;
  const auto id_of = [&registry](const std::string& predicate, uint64_t controller_id) {
    Trigger trigger;
    trigger.mode = TriggerMode::kHost;
    trigger.event = *ParseEventLine("*, " + predicate + ", 10ms", "sizes");
    const EventLimits limits{100, 100, 1'000'000};
    EXPECT_TRUE(registry.SetControllerEvents(controller_id, {{7, trigger}}, limits, 0).empty());
    EXPECT_EQ(registry.Set().controller_id, controller_id);
    return registry.Set().plans.at(0)->spec.id;
  };
  const uint32_t ours = id_of("min(bytes) > 10", 5);
  EXPECT_EQ(id_of("min(bytes) > 10", 6), ours);
  EXPECT_NE(id_of("min(bytes) > 20", 5), ours);
}

}  // namespace
}  // namespace trumpet
