// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/number.h"

#include <gtest/gtest.h>

namespace trumpet::event_lang {
namespace {

Number Scaled(std::string_view digits, int64_t multiplier) {
  const Result<Number> number = ScaledNumber(digits, multiplier);
  EXPECT_TRUE(number.ok()) << number.message();
  return number.ok() ? *number : Number();
}

TEST(ScaledNumber, IsAnIntegerWheneverTheProductIsWhole) {
  EXPECT_EQ(Scaled("1.5", 1000), Number::Integer(1500));
  EXPECT_EQ(Scaled("0.000000001", 1000000000), Number::Integer(1));
  EXPECT_EQ(Scaled("0.5", 1024), Number::Integer(512));
  EXPECT_EQ(Scaled("1.000", 1), Number::Integer(1));
}

TEST(ScaledNumber, IsTheNearestDoubleElsewhere) {
  EXPECT_EQ(Scaled("0.1", 1), Number::Real(0.1));
  EXPECT_EQ(Scaled("0.0001", 1000), Number::Real(0.1));
  EXPECT_EQ(Scaled("1.1", 1024), Number::Real(1126.4));
}

TEST(ScaledNumber, StaysExactUpTo63Bits) {
  EXPECT_EQ(Scaled("9223372036854775807", 1), Number::Integer(INT64_MAX));
  EXPECT_EQ(Scaled("9007199254740993", 1), Number::Integer(9007199254740993));
  EXPECT_FALSE(ScaledNumber("9223372036854775808", 1).ok());
  EXPECT_FALSE(ScaledNumber("9223372036854775807", 1000).ok());
}

TEST(Percentage, IsARealEvenWhenWhole) {
  EXPECT_EQ(*Percentage("10"), Number::Real(0.1));
  EXPECT_EQ(*Percentage("0.7"), Number::Real(0.007));
  EXPECT_FALSE(Percentage("100")->is_integer());
}

TEST(FormatNumber, ReadsBackAsTheSameNumber) {
  for (const char* digits : {"0", "7", "0.1", "1126.4", "0.000000000000000000000000000001",
                             "123456789012345.67", "9223372036854775807"}) {
    EXPECT_EQ(FormatNumber(Scaled(digits, 1)), digits);
  }
  EXPECT_EQ(FormatNumber(*Percentage("100")), "100%");
  EXPECT_EQ(FormatNumber(*Percentage("0")), "0%");
  EXPECT_EQ(FormatNumber(*Percentage("12.5")), "0.125");
}

TEST(UnitByName, TellsThousandsFrom1024) {
  EXPECT_EQ(UnitByName("KB")->multiplier, 1000);
  EXPECT_EQ(UnitByName("KiB")->multiplier, 1024);
  EXPECT_EQ(UnitByName("Gbps")->unit, Unit::kBitRate);
  EXPECT_EQ(UnitByName("kpps")->unit, Unit::kPacketRate);
  EXPECT_FALSE(UnitByName("kb").has_value());
}

}  // namespace
}  // namespace trumpet::event_lang
