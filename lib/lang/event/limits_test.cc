// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Hostile sizes: each is refused by a clear error, or read without trouble.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "lib/lang/event/event_language.h"
#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string WithPredicate(const std::string& predicate) { return "*, " + predicate + ", 1ms"; }

bool Mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Limits, RefusesTextBeyond64KiB) {
  const std::string line = "*, sum(bytes)>1, 1ms" + std::string(64 * 1024, ' ');
  EXPECT_EQ(Canonical(line), "event:1:1: this event is longer than 65536 bytes");
}

// What is kept of an event is its canonical form, which is read again.
TEST(Limits, RefusesWhatIsBeyond64KiBInItsCanonicalForm) {
  const auto with_types = [](int count) {
    return "ethType={1" + Repeat(",1", count - 1) + "}, 1, 1ms";
  };
  const std::string longest = Canonical(with_types(9359));
  EXPECT_EQ(longest.size(), 65530u);
  EXPECT_EQ(Canonical(longest), longest);
  EXPECT_EQ(Canonical(with_types(9360)),
            "event:1:1: this event is longer than 65536 bytes in its canonical form");
}

TEST(Limits, RefusesDeepParentheses) {
  for (int depth : {129, 30000}) {
    const std::string predicate = Repeat("(", depth) + "1" + Repeat(")", depth);
    EXPECT_TRUE(Mentions(Canonical(WithPredicate(predicate)), "nested too deep")) << depth;
    const std::string filter = Repeat("(", depth) + "*" + Repeat(")", depth);
    EXPECT_TRUE(Mentions(Canonical(filter + ", 1, 1ms"), "nested too deep")) << depth;
    const std::string granularity = Repeat("(", depth) + "vlan" + Repeat(")", depth);
    EXPECT_TRUE(Mentions(Canonical("*, 1, " + granularity + ", 1ms"), "nested too deep")) << depth;
  }
  EXPECT_EQ(Canonical(WithPredicate(Repeat("(", 64) + "1" + Repeat(")", 64))), "*, 1, 1ms");
}

TEST(Limits, RefusesPrefixOperatorsWithoutEnd) {
  EXPECT_TRUE(Mentions(Canonical(WithPredicate(Repeat("-", 60000) + "1")), "nested too deep"));
  EXPECT_TRUE(Mentions(Canonical(WithPredicate(Repeat("not ", 9000) + "1")), "nested too deep"));
  EXPECT_TRUE(Mentions(Canonical(Repeat("not ", 9000) + "*, 1, 1ms"), "nested too deep"));
}

TEST(Limits, BoundsTheHeightOfPredicates) {
  for (const char* more : {" + 1", " * 1", " and 1", " or 1"}) {
    EXPECT_FALSE(Mentions(Canonical(WithPredicate("1" + Repeat(more, 64))), "event:")) << more;
    for (int times : {65, 5000}) {
      EXPECT_TRUE(Mentions(Canonical(WithPredicate("1" + Repeat(more, times))),
                           "more than 64 operators nested or in a row"))
          << more << times;
    }
  }
}

TEST(Limits, PrintsTheHighestPredicateSoThatItIsReadAgain) {
  std::string predicate = "1";
  for (int i = 0; i < 32; ++i) predicate = "not (1 and " + predicate + ")";
  const std::string line = WithPredicate(predicate);
  const std::string canonical = Canonical(line);
  EXPECT_FALSE(Mentions(canonical, "event:")) << canonical;
  EXPECT_EQ(Canonical(canonical), canonical);
}

TEST(Limits, CountsWhatRatesAndPercentagesAdd) {
  // The sum is 62 high and the comparison 63; the rate's arithmetic adds two.
  const std::string sum = "sum(1" + Repeat(" + 1", 61) + ")";
  EXPECT_FALSE(Mentions(Canonical(WithPredicate(sum + " > 1")), "event:"));
  EXPECT_TRUE(Mentions(Canonical(WithPredicate(sum + " > 1bps")), "more than 64 operators"));
}

TEST(Limits, LetsFiltersBeLongChains) {
  const std::string filter = "vlan=1" + Repeat(" or vlan=2", 5000);
  EXPECT_EQ(Canonical(filter + ", 1, 1ms"), filter + ", 1, 1ms");
}

TEST(Limits, BoundsTheHeightOfFilters) {
  std::string filter = "vlan=1";
  for (int i = 0; i < 40; ++i) filter = "not (vlan=1 and " + filter + ")";
  EXPECT_TRUE(Mentions(Canonical(filter + ", 1, 1ms"), "nested more than 64 levels deep"));
  EXPECT_EQ(Canonical(Repeat("not ", 64) + "vlan=1, 1, 1ms"),
            Repeat("not ", 64) + "vlan=1, 1, 1ms");
  EXPECT_TRUE(Mentions(Canonical(Repeat("not ", 65) + "vlan=1, 1, 1ms"),
                       "nested more than 64 levels deep"));
}

TEST(Limits, RefusesGranularitiesThatNoBucketKeyHolds) {
  std::string fields;
  for (const char* level : {"", "outer.", "inner."}) {
    for (int i = 0; i < kFieldCount; ++i) {
      fields += (fields.empty() ? "" : ",") + std::string(level) +
                std::string(FieldName(static_cast<Field>(i)));
    }
  }
  EXPECT_TRUE(
      Mentions(Canonical("*, 1, " + fields + ", 1ms"), "take more than 256 bytes together"));
}

TEST(Limits, ShortensWhatItQuotes) {
  EXPECT_EQ(Canonical(WithPredicate(Repeat("x", 50000))),
            "event:1:4: '" + Repeat("x", 60) + "...' is not a packet variable");
}

TEST(Limits, CountsManyWrongEventsQuickly) {
  std::string yaml;
  for (int i = 0; i < 200000; ++i) yaml += "- x\n";
  const auto start = std::chrono::steady_clock::now();
  const auto events = ParseEventsYaml(yaml, "events.yaml");
  const auto spent = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(events.ok());
  EXPECT_TRUE(Mentions(events.message(), "events.yaml: 199980 more errors"));
  EXPECT_LT(spent, std::chrono::seconds(60));
}

TEST(Limits, ReadsFourThousandEventsQuickly) {
  std::string yaml = "events:\n";
  for (int i = 0; i < 4096; ++i) {
    yaml += "  - name: e" + std::to_string(i) +
            "\n    filter: dstIP=10.0.128.0/24 and dstPort={80,443,8000-8099}\n"
            "    predicate: sum(volume) > 125KB and count(is_lost) > 10\n"
            "    flow_granularity: 5-tuple\n    time_interval: 10ms\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const auto events = ParseEventsYaml(yaml, "events.yaml");
  const auto spent = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(events.ok()) << events.message();
  EXPECT_EQ(events->size(), 4096u);
  // Generous for sanitizers and slow machines; quadratic work takes minutes.
  EXPECT_LT(spent, std::chrono::seconds(20));
}

}  // namespace
}  // namespace trumpet::event_lang
