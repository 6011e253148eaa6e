// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/pause_rate.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr uint64_t kLimit = 50;
constexpr uint64_t kSecond = 1000000;

TEST(PauseRate, IsPerTimeOutsideTheSteps) {
  PauseRate rate(kLimit, kSecond);
  rate.Note(0, 0, 51);
  // Two seconds, half of them in steps, with ten pauses.
  for (uint64_t i = 1; i < 10; i++) rate.Note(i * kSecond / 5, i * kSecond / 10, 51);
  EXPECT_NEAR(rate.PerTick(0, 2 * kSecond, kSecond) * kSecond, 10, 1e-6);
  EXPECT_NEAR(rate.ShareOfSteps(2 * kSecond, kSecond), 0.5, 1e-6);
}

TEST(PauseRate, IsThatOfPausesAsLong) {
  PauseRate rate(kLimit, kSecond);
  EXPECT_EQ(rate.LimitOf(0), kLimit);
  EXPECT_EQ(rate.LimitOf(1), 8 * kLimit);
  EXPECT_EQ(rate.LimitOf(2), 64 * kLimit);
  const uint64_t lengths[] = {kLimit, kLimit + 1, 8 * kLimit, 8 * kLimit + 1, 64 * kLimit + 1};
  for (const uint64_t length : lengths) rate.Note(0, 0, length);
  const double expected[] = {4, 2, 1};
  for (int i = 0; i < PauseRate::kClasses; i++) {
    EXPECT_NEAR(rate.PerTick(i, kSecond, 0) * kSecond, expected[i], 1e-6) << i;
  }
}

TEST(PauseRate, OfLongerPausesIsAtLeastAsTheirLengthsSuggest) {
  PauseRate rate(kLimit, kSecond);
  for (int i = 0; i < 640; i++) rate.Note(0, 0, 51);
  const double expected[] = {640, 80, 10};
  for (int i = 0; i < PauseRate::kClasses; i++) {
    EXPECT_NEAR(rate.PerTick(i, kSecond, 0) * kSecond, expected[i], 1e-6) << i;
  }
}

TEST(PauseRate, OfTheFirstPauseIsNoMoreThanOneInItsLength) {
  PauseRate rate(kLimit, kSecond);
  rate.Note(7, 0, 51);
  EXPECT_NEAR(rate.PerTick(0, 7, 0), 1.0 / kLimit, 1e-9);
  EXPECT_EQ(rate.ShareOfSteps(7, 0), 0);
}

TEST(PauseRate, RisesAtOnceAfterAQuietTime) {
  PauseRate rate(kLimit, kSecond);
  rate.Note(0, 0, 51);
  const uint64_t later = 3600 * kSecond;
  for (uint64_t i = 0; i < 10; i++) rate.Note(later + i, 0, 51);
  EXPECT_NEAR(rate.PerTick(0, later + 10, 0) * kSecond, 10.0 / PauseRate::kShortSeconds, 0.1);
}

TEST(PauseRate, IsRememberedForAMinuteWhenPausesAreRare) {
  PauseRate rate(kLimit, kSecond);
  rate.Note(0, 0, 51);
  EXPECT_GT(rate.PerTick(0, PauseRate::kLongSeconds * kSecond, 0), 0);
  EXPECT_EQ(rate.PerTick(0, 4 * PauseRate::kLongSeconds * kSecond, 0), 0);
}

TEST(PauseRate, ForgetsWhenReset) {
  PauseRate rate(kLimit, kSecond);
  rate.Note(5 * kSecond, 0, 51);
  rate.Reset();
  EXPECT_EQ(rate.PerTick(0, 6 * kSecond, 0), 0);
}

}  // namespace
}  // namespace trumpet
