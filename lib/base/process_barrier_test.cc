// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/process_barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "lib/base/cold_stores_test.h"

namespace trumpet {
namespace {

TEST(ProcessBarrier, FailsWhereThereIsNone) {
  const bool has_barrier = HasProcessBarrier();
  EXPECT_EQ(ProcessBarrier(), has_barrier);
}

// One thread comes and goes all the time; the other takes something away and looks whether it is
// inside, as if it wanted to free it.  Without a barrier the first one has to do more.
TEST(ProcessBarrier, WhoTakesAwaySeesWhoIsInside) {
  const bool has_barrier = HasProcessBarrier();
  alignas(64) std::atomic<uint64_t> visits{0};  // odd: inside
  alignas(64) std::atomic<bool> is_there{true};
  alignas(64) std::atomic<uint64_t> touched{0};  // the last visit that found it there
  std::atomic<bool> is_over{false};
  std::thread often([&] {
    testing::ColdStores store_cold;
    for (uint64_t i = 1; !is_over.load(std::memory_order_relaxed); i += 2) {
      store_cold();
      if (has_barrier) {
        visits.store(i, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
      } else {
        visits.store(i, std::memory_order_seq_cst);
      }
      if (is_there.load(std::memory_order_seq_cst)) touched.store(i, std::memory_order_relaxed);
      visits.store(i + 1, std::memory_order_release);
    }
  });
  while (touched.load() == 0) std::this_thread::yield();
  for (int round = 0; round < 20'000; ++round) {
    is_there.store(false, std::memory_order_seq_cst);
    ASSERT_EQ(ProcessBarrier(), has_barrier);
    const uint64_t seen = visits.load(std::memory_order_seq_cst);
    while (seen % 2 == 1 && visits.load(std::memory_order_seq_cst) == seen)
      std::this_thread::yield();
    const uint64_t last = touched.load();
    for (int i = 0; i < 10; ++i) ASSERT_EQ(touched.load(), last) << "round " << round;
    is_there.store(true, std::memory_order_seq_cst);
  }
  is_over = true;
  often.join();
}

}  // namespace
}  // namespace trumpet
