// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/suggest.h"

#include <gtest/gtest.h>

namespace trumpet::event_lang {
namespace {

TEST(DidYouMean, FindsTheNearestWord) {
  EXPECT_EQ(DidYouMean("bytez", {"packets", "bytes", "dup"}), "; did you mean 'bytes'?");
  EXPECT_EQ(DidYouMean("voluem", {"volume", "ttl"}), "; did you mean 'volume'?");
}

TEST(DidYouMean, IgnoresLetterCase) {
  EXPECT_EQ(DidYouMean("SRCIP", {"dstIP", "srcIP"}), "; did you mean 'srcIP'?");
}

TEST(DidYouMean, KeepsSilentWhenNothingIsNear) {
  EXPECT_EQ(DidYouMean("zebra", {"bytes", "ttl"}), "");
  EXPECT_EQ(DidYouMean("", {"ttl"}), "");
}

TEST(DidYouMeanShort, TakesNoLetterForAnother) {
  const std::vector<std::string> units = {"KB", "MB", "GB", "ms", "s", "us", "bps", "Mbps", "Gbps"};
  EXPECT_EQ(DidYouMeanShort("kb", units), "; did you mean 'KB'?");
  EXPECT_EQ(DidYouMeanShort("MBPS", units), "; did you mean 'Mbps'?");
  EXPECT_EQ(DidYouMeanShort("Gpbs", units), "; did you mean 'Gbps'?");
  for (const char* word : {"TB", "m", "h", "Tbps", "mbs", "min", ""}) {
    EXPECT_EQ(DidYouMeanShort(word, units), "") << word;
  }
}

TEST(DidYouMean, DoesNotMeasureEndlessWords) {
  EXPECT_EQ(DidYouMean(std::string(100000, 'x'), {std::string(100000, 'x')}), "");
}

}  // namespace
}  // namespace trumpet::event_lang
