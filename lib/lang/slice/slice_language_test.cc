// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/slice/slice_language.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

// The canonical form, or the error.
std::string Canonical(const std::string& text) {
  const auto campaign = ParseSlices(text, "f");
  return campaign ? PrintSlices(*campaign) : campaign.message();
}

constexpr char kDefaults[] = "USING 10 Mb/s DURING 500 ms EVERY 5 s\n";

TEST(SliceLanguage, ReadsBothSpellingsOfQueries) {
  const struct {
    const char* text;
    const char* query;
  } cases[] = {
      {"CONFINE { 1.2.3.0/24 } ON { [A -> D] }", "CONFINE { 1.2.3.0/24 } ON { [A -> D] }\n"},
      {"MIRROR 1.2.3.0/24 ON [A B C D]", "MIRROR { 1.2.3.0/24 } ON { [A B C D] }\n"},
      {"MIRROR 1.2.3.0/24, 2001:6a8:308f::/96 ON [A B C D], [->X]",
       "MIRROR { 1.2.3.0/24, 2001:6a8:308f::/96 } ON { [A B C D], [-> X] }\n"},
      {"MIRROR 1.2.3.4 ON [->]", "MIRROR { 1.2.3.4/32 } ON { [->] }\n"},
      {"MIRROR::ON[A->]", "MIRROR { ::/128 } ON { [A ->] }\n"},
      {"MIRROR dead:beef:: ON [DEAD -> -> BEEF]",
       "MIRROR { dead:beef::/128 } ON { [DEAD -> -> BEEF] }\n"},
      {"( name : adza_zadazd, weight:32 ) MIRROR 1.2.3.0/24 ON [A B]",
       "(name: adza_zadazd, weight: 32) MIRROR { 1.2.3.0/24 } ON { [A B] }\n"},
      {"(weight:0.5) MIRROR 1.2.3.0/24 ON [A B]",
       "(weight: 0.5) MIRROR { 1.2.3.0/24 } ON { [A B] }\n"},
      {"(name: \"to the \\\"web\\\"\") MIRROR 1.2.3.0/24 ON [\"r1.lon\" \"1\" \"A\" \"ON\" "
       "\"\\\\\"]",
       "(name: \"to the \\\"web\\\"\") MIRROR { 1.2.3.0/24 } ON { [\"r1.lon\" \"1\" A \"ON\" "
       "\"\\\\\"] }\n"},
      {"# c\nMIRROR 1.2.3.0/24 (* x *) ON [A (* -> *) B] # y\n",
       "MIRROR { 1.2.3.0/24 } ON { [A B] }\n"},
      {"MIRROR 1.2.3.0/24 ON [A]CONFINE 1.2.4.0/24 ON [B]",
       "MIRROR { 1.2.3.0/24 } ON { [A] }\nCONFINE { 1.2.4.0/24 } ON { [B] }\n"},
  };
  for (const auto& one : cases) EXPECT_EQ(Canonical(one.text), std::string(one.query) + kDefaults);
}

TEST(SliceLanguage, ReadsBothSpellingsOfBudgets) {
  const struct {
    const char* text;
    const char* budget;
  } cases[] = {
      {"USING 15 Mb/s DURING 450 ms EVERY 5 s", "USING 15 Mb/s DURING 450 ms EVERY 5 s\n"},
      {"USING 15 Mbps DURING 450 ms EVERY 5 s", "USING 15 Mb/s DURING 450 ms EVERY 5 s\n"},
      {"USING 5", "USING 5 Mb/s DURING 500 ms EVERY 5 s\n"},
      {"USING .5 G", "USING 500 Mb/s DURING 500 ms EVERY 5 s\n"},
      {"USING 2. k", "USING 2 kb/s DURING 500 ms EVERY 5 s\n"},
      {"USING 1GBPS", "USING 1 Gb/s DURING 500 ms EVERY 5 s\n"},
      {"USING 1GB", "USING 1 Gb/s DURING 500 ms EVERY 5 s\n"},
      {"USING 7 b/s", "USING 7 b/s DURING 500 ms EVERY 5 s\n"},
      {"USING 5 DURING 1 EVERY 2 min", "USING 5 Mb/s DURING 1 s EVERY 120 s\n"},
      {"DURING 1.5 ms EVERY 1 hour USING 5", "USING 5 Mb/s DURING 1.5 ms EVERY 3600 s\n"},
      {"DURING 0.000001 ms", "USING 10 Mb/s DURING 0.000001 ms EVERY 5 s\n"},
      {"USING 5 USING 6", "USING 6 Mb/s DURING 500 ms EVERY 5 s\n"},
      {"EVERY 1 d", "USING 10 Mb/s DURING 500 ms EVERY 86400 s\n"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Canonical(std::string("MIRROR 1.2.3.4 ON [A] ") + one.text),
              std::string("MIRROR { 1.2.3.4/32 } ON { [A] }\n") + one.budget)
        << one.text;
  }
}

TEST(SliceLanguage, PointsAtWhatIsWrong) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"", "f:1:1: expected MIRROR or CONFINE, not the end of the text"},
      {"USING 5", "f:1:8: expected a prefix, ',' or ON, not the end of the text"},
      {"mirror 1.2.3.0/24 on [A B]", "f:1:1: expected MIRROR or CONFINE, not 'mirror'"},
      {"MIROR 1.2.3.0/24 ON [A]", "f:1:1: 'MIROR' is no action; did you mean 'MIRROR'?"},
      {"MIRROR ON [A B]", "f:1:8: expected a prefix such as 10.1.0.0/16 or 2001:db8::/32"},
      {"MIRROR 1.2.3.0/24 1.2.4.0/24 ON [A]", "f:1:19: expected a prefix, ',' or ON, not '1'"},
      {"MIRROR 300.1.1.1/99 ON [A]",
       "f:1:8: '300.1.1.1/99' is not a prefix; write 10.1.0.0/16 or 2001:db8::/32"},
      {"MIRROR 1.2.3.4/24 ON [A]", nullptr},  // the prefix's own words
      {"MIRROR 1.2.3.4 ON []", "f:1:19: this region names no router"},
      {"MIRROR 1.2.3.4 ON [ON B]",
       "f:1:20: 'ON' is a word of the language; a router of this name stands in quotes"},
      {"MIRROR 1.2.3.4 ON [r1.lon r2]",
       "f:1:22: expected a router, '->' or ']'; names of other letters stand in quotes: here, not "
       "'.'"},
      {"MIRROR 1.2.3.4 ON [A", nullptr},
      {"MIRROR 1.2.3.4 ON [\"a]", "f:1:20: this quote is not closed on its line"},
      {"MIRROR 1.2.3.4 ON [\"\"]", "f:1:20: a name is not empty"},
      {"MIRROR 1.2.3.4 ON [\"a\tb\"]", "f:1:22: a name holds no control characters and is UTF-8"},
      {"MIRROR 1.2.3.4 ON [\"a\\n\"]", "f:1:22: only \\\" and \\\\ are known behind a backslash"},
      {"MIRROR { 1.2.3.4 ON [A]", "f:1:18: expected ',' or '}', not 'ON'"},
      {"MIRROR 1.2.3.4 ON { [A]", "f:1:24: expected ',' or '}', not the end of the text"},
      {"MIRROR 1.2.3.4\nON [A] USING -5", "f:2:14: expected a number, not '-'"},
      {"MIRROR 1.2.3.4 ON [A] USING 0", nullptr},
      {"MIRROR 1.2.3.4 ON [A] USING 1e3", nullptr},
      {"MIRROR 1.2.3.4 ON [A] USING 15 MBps",
       "f:1:32: 'MBps' is no unit of rates; b, kb, Mb, Gb are, with ps or /s"},
      {"MIRROR 1.2.3.4 ON [A] USING 1001 G",
       "f:1:29: USING takes whole bits per second, from 1 to 1000 Gb/s, not '1001G'"},
      {"MIRROR 1.2.3.4 ON [A] USING 0.5 b",
       "f:1:29: USING takes whole bits per second, from 1 to 1000 Gb/s, not '0.5b'"},
      {"MIRROR 1.2.3.4 ON [A] USING 1.01 b",
       "f:1:29: USING takes whole bits per second, from 1 to 1000 Gb/s, not '1.01b'"},
      {"MIRROR 1.2.3.4 ON [A] DURING 1.00000001 ms",
       "f:1:30: DURING takes from 1 ns to 366 days, not '1.00000001ms'"},
      {"MIRROR 1.2.3.4 ON [A] DURING 3 weeks",
       "f:1:32: 'weeks' is no unit of time; ms, s, min, h and d are"},
      {"MIRROR 1.2.3.4 ON [A] DURING 6 s EVERY 5 s",
       "f:1:23: a campaign lasts longer (DURING) than the time until the next one (EVERY)"},
      {"MIRROR 1.2.3.4 ON [A] DURING 6 s EVERY 5 s USING 1",
       "f:1:23: a campaign lasts longer (DURING) than the time until the next one (EVERY)"},
      {"MIRROR 1.2.3.4 ON [A] EVERY 1 ms USING 1",
       "f:1:23: a campaign lasts longer (DURING) than the time until the next one (EVERY)"},
      {"MIRROR 1.2.3.4 ON [A] EVRY 5 s",
       "f:1:23: 'EVRY' is no part of a budget; did you mean 'EVERY'?"},
      {"MIRROR 1.2.3.4 ON [A] USING 5 MIRROR 1.2.3.4 ON [A]", nullptr},
      {"(nam: x) MIRROR 1.2.3.4 ON [A]",
       "f:1:2: 'nam' is no property of a query; did you mean 'name'?"},
      {"(weight: 0) MIRROR 1.2.3.4 ON [A]",
       "f:1:10: weight is '0'; it takes a number above 0, up to 1000000"},
      {"(name: x) MIRROR 1.2.3.4 ON [A] (name: x) MIRROR 1.2.3.4 ON [B]",
       "f:1:40: a second query is named 'x'"},
      {"(* MIRROR", "f:1:2: expected a property such as 'name: web', not '*'"},
  };
  for (const auto& one : cases) {
    const std::string error = Canonical(one.text);
    EXPECT_EQ(error.compare(0, 2, "f:"), 0) << error;
    if (one.error != nullptr) {
      EXPECT_EQ(error, one.error) << one.text;
    }
  }
}

TEST(SliceLanguage, TakesTheLastOfSeveralNamesAndAByteOrderMark) {
  const auto campaign = ParseSlices(
      "\xef\xbb\xbf(name: x, name: y) MIRROR 1.2.3.4 ON [A]\n"
      "(name: x, name: x) MIRROR 1.2.3.4 ON [B]",
      "f");
  ASSERT_TRUE(campaign.ok()) << campaign.message();
  EXPECT_EQ(campaign->queries[0].name, "y");
  EXPECT_EQ(campaign->queries[1].name, "x");
}

// What the grammar of the authors' program takes and what not, whatever it means; as run in their
// parser generator.  Ours takes the paper's spelling besides.
TEST(SliceLanguage, TakesWhatTheReleasedGrammarTakes) {
  const char* const taken[] = {
      "MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mbps DURING 450 ms EVERY 5 s",
      "MIRROR ON [A B]",
      "FOO 1.2.3.0/24 ON [A B]",
      "MIRROR 300.1.1.1/99 ON [A]",
      "MIRROR 1.2.3.0/24 ON [A B] USING .5 G",
      "MIRROR 1.2.3.0/24 ON [A -> -> B]",
      "MIRROR 1.2.3.0/24 ON [A] FOO 5",
  };
  const char* const refused[] = {
      "MIRROR 1.2.3.4 ON []",
      "mirror 1.2.3.0/24 on [A B]",
      "MIRROR 1.2.3.0/24 ON [1 2]",
      "MIRROR 1.2.3.0/24 ON [ON B]",
      "USING 5",
      "MIRROR 1.2.3.0/24 ON [A B] USING -5",
  };
  for (const char* text : taken) EXPECT_TRUE(CheckSliceGrammar(text, "f").ok()) << text;
  for (const char* text : refused) EXPECT_FALSE(CheckSliceGrammar(text, "f").ok()) << text;
}

TEST(SliceLanguage, LimitsWhatOneTextCanAskFor) {
  std::string text = "MIRROR 1.2.3.4";
  for (int i = 0; i < 100; ++i) text += ", 1.2.3.4";
  text += " ON [A]";
  for (int i = 0; i < 100; ++i) text += ", [A]";
  EXPECT_EQ(Canonical(text),
            "f:1:1: with this there are 10201 queries, prefixes times regions; at most 10000 are "
            "planned");
  EXPECT_EQ(Canonical(std::string(kMaxSliceTextBytes + 1, ' ')),
            "f: 1048577 bytes; at most 1048576 are read");
}

// Words of the language in random order: what is a campaign stays one, and the same, when printed.
TEST(SliceLanguage, ReadsBackWhatItPrints) {
  const char* const words[] = {
      "MIRROR",        "CONFINE",       "1.2.3.0/24", "ON",         "[A -> B]",
      "[\"x y\"]",     "USING 5",       "kb/s",       "DURING 1.5", "ms",
      "EVERY",         "7 min",         "{",          "}",          ",",
      "2001:db8::/32", "(weight: 0.1)", "(name: n)"};
  std::mt19937 random(1);
  int campaigns = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text = "MIRROR 1.2.3.0/24 ON [A]";
    for (uint32_t i = random() % 8; i > 0; --i) {
      text += std::string(" ") + words[random() % std::size(words)];
    }
    const auto campaign = ParseSlices(text, "f");
    if (!campaign) continue;
    ++campaigns;
    const std::string printed = PrintSlices(*campaign);
    ASSERT_EQ(Canonical(printed), printed) << text;
  }
  EXPECT_GT(campaigns, 1000);
}

TEST(SliceLanguage, PrintsTheSmallestWeightOfAll) {
  const std::string digits = "0." + std::string(323, '0') + "5";
  const auto campaign = ParseSlices("(weight: " + digits + ") MIRROR 1.2.3.4 ON [A]", "f");
  ASSERT_TRUE(campaign.ok()) << campaign.message();
  EXPECT_EQ(PrintSlices(*campaign).substr(0, digits.size() + 11), "(weight: " + digits + ") ");
}

}  // namespace
}  // namespace trumpet
