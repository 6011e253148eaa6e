// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Windows over what packet threads share, and over clocks that are set back.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/program_set.h"
#include "lib/measure/read_state.h"

namespace trumpet {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kStart = 1000 * kMs;

// `total` is of all threads, as a condition looks back at it; each has its own part of `sum`.
const char* const kText =
    "total = Counter(width=64); sum = Counter(width=64); window(10ms);\n"
    "pkts >> sum.add(1) >> total.set(total + 1) >> match(total > 1000000) >> sum.add(1)\n";

// The same behind a map that takes some packets to clear.
const char* const kLongText =
    "k = Key(ipv4.src); m = HashMap(key=k, size=512, type=Counter(width=64));\n"
    "total = Counter(width=64); window(10ms);\n"
    "pkts >> m.add(1) >> total.set(total + 1) >> match(total > 1000000) >> m.add(1)\n";

class Threads {
 public:
  explicit Threads(size_t count, const ProgramState::Options& options = {},
                   const char* text = kText) {
    MeasureLoadOptions load;
    load.thread_count = kManyThreads;
    program_ = std::move(*LoadMeasureProgram(*CompileMafia(text, "x.mafia"), load));
    EXPECT_TRUE(shared_.Init(*program_));
    for (size_t i = 0; i < count; ++i) {
      owned_.push_back(ProgramState::Create(program_.get(), &shared_, options));
      sets_.push_back(std::make_unique<ProgramSet>(std::vector<ProgramState*>{owned_[i].get()},
                                                   std::vector<std::string>{}));
      states_.push_back(owned_[i].get());
    }
  }

  void Bring(size_t thread, uint64_t now) {
    PacketValues values;
    MeasuredPacket packet;
    packet.values = &values;
    packet.now = now;
    sets_[thread]->Run(&packet, 1);
  }

  // One packet of each thread every millisecond from `from` to `to`.
  void BringAll(uint64_t from, uint64_t to) {
    for (uint64_t ms = from; ms <= to; ++ms) {
      for (size_t i = 0; i < sets_.size(); ++i) Bring(i, kStart + ms * kMs);
    }
  }

  uint64_t total(MeasureIndex variable = 0) const { return ReadMergedCell(states_, variable, 0); }
  uint64_t sum() const { return ReadMergedCell(states_, 1, 0); }

 private:
  std::unique_ptr<const CompiledProgram> program_;
  SharedCells shared_;
  std::vector<std::unique_ptr<ProgramState>> owned_;
  std::vector<std::unique_ptr<ProgramSet>> sets_;
  std::vector<const ProgramState*> states_;
};

TEST(SharedWindows, AreClearedOnceForAllThreads) {
  Threads threads(2);
  for (uint64_t ms = 0; ms < 5; ++ms) threads.Bring(0, kStart + ms * kMs);
  threads.BringAll(5, 9);  // the second one comes in the middle of the interval
  EXPECT_EQ(threads.total(), 15u);
  EXPECT_EQ(threads.sum(), 15u);
  threads.BringAll(10, 10);  // spent on clearing
  EXPECT_EQ(threads.total(), 0u);
  EXPECT_EQ(threads.sum(), 0u);
  for (uint64_t interval = 1; interval < 20; ++interval) {
    threads.BringAll(10 * interval + 1, 10 * interval + 9);
    ASSERT_EQ(threads.total(), 18u) << interval;
    ASSERT_EQ(threads.sum(), 18u) << interval;
    threads.BringAll(10 * interval + 10, 10 * interval + 10);
  }
}

TEST(SharedWindows, AreLeftAloneByAThreadThatComesLate) {
  Threads threads(2);
  threads.BringAll(0, 20);
  for (uint64_t ms = 21; ms <= 55; ++ms) threads.Bring(0, kStart + ms * kMs);
  EXPECT_EQ(threads.total(), 5u);
  threads.Bring(1, kStart + 55 * kMs);
  EXPECT_EQ(threads.total(), 5u);
  EXPECT_EQ(threads.sum(), 5u);
  threads.BringAll(56, 59);  // and is in the same interval
  EXPECT_EQ(threads.total(), 13u);
  EXPECT_EQ(threads.sum(), 13u);
  threads.BringAll(60, 60);
  EXPECT_EQ(threads.total(), 0u);
}

// It has begun to clear, and goes on in the middle of an interval of others.
TEST(SharedWindows, AreNotClearedByAThreadThatWasHeldUp) {
  Threads threads(2, {}, kLongText);
  threads.BringAll(0, 9);
  for (uint64_t i = 0; i < 3; ++i) threads.Bring(0, kStart + 10 * kMs + i);
  for (uint64_t ms = 11; ms <= 45; ++ms) {
    for (uint64_t i = 0; i < 20; ++i) threads.Bring(1, kStart + ms * kMs + i);
  }
  const uint64_t before = threads.total(1);
  EXPECT_GT(before, 20u);
  for (uint64_t i = 0; i < 9; ++i) threads.Bring(0, kStart + 45 * kMs + 100 + i);
  EXPECT_GE(threads.total(1), before);
}

// It finds a number that is new, and must not find the start of the interval before it.
TEST(SharedWindows, AreNotClearedOnceMoreByAThreadThatComesMeanwhile) {
  Threads threads(2, {}, kLongText);
  for (uint64_t ms = 0; ms < 10; ++ms) threads.Bring(0, kStart + ms * kMs);
  for (uint64_t i = 0; i < 3; ++i) threads.Bring(0, kStart + 10 * kMs + i);
  threads.Bring(1, kStart + 10 * kMs + 3);
  for (uint64_t i = 4; i < 20; ++i) threads.Bring(0, kStart + 10 * kMs + i);
  const uint64_t before = threads.total(1);
  EXPECT_GT(before, 5u);
  for (uint64_t i = 20; i < 40; ++i) threads.Bring(1, kStart + 10 * kMs + i);
  EXPECT_EQ(threads.total(1), before + 20);
}

TEST(SharedWindows, BeginAnewWhereTheClockWasSetBackByMore) {
  for (const bool follows_clock : {true, false}) {
    ProgramState::Options options;
    if (follows_clock) options.most_back_ns = 100 * kMs;
    Threads threads(1, options);
    threads.BringAll(900, 904);
    threads.Bring(0, kStart + 801 * kMs);  // within what is made up for
    EXPECT_EQ(threads.total(), 6u);
    threads.BringAll(0, 5);
    EXPECT_EQ(threads.total(), follows_clock ? 5u : 12u);
    threads.BringAll(10, 15);
    EXPECT_EQ(threads.total(), follows_clock ? 5u : 18u);
  }
}

TEST(SharedWindows, AreNotFlippedByEachThread) {
  std::string text = kText;
  text.replace(text.find("10ms"), 4, "10ms, mode=flip");
  const auto program = CompileMafia(text, "x.mafia");
  ASSERT_TRUE(program.ok()) << program.message();
  MeasureLoadOptions load;
  EXPECT_TRUE(LoadMeasureProgram(*program, load).ok());
  load.thread_count = kManyThreads;
  const auto loaded = LoadMeasureProgram(*program, load);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.message(),
            "packet threads share 'total', and a window that flips has cells of each thread; "
            "mode=reset clears what they share");
}

// Behind two intervals without other packets nothing is left.
TEST(SharedWindows, AreClearedWhileOthersCount) {
  constexpr uint64_t kPackets = 50'000;
  Threads threads(3);
  std::atomic<uint64_t> clock{kStart};
  std::vector<std::thread> running;
  for (size_t i = 0; i < 3; ++i) {
    running.emplace_back([&threads, &clock, i] {
      for (uint64_t packet = 0; packet < kPackets; ++packet) {
        threads.Bring(i, clock += 10'000);  // 1,000 packets an interval
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (uint64_t i = 1; i <= 2; ++i) {
    clock += 10 * kMs;
    for (size_t thread = 0; thread < 3; ++thread) threads.Bring(thread, clock);
  }
  EXPECT_EQ(threads.total(), 0u);
  EXPECT_EQ(threads.sum(), 0u);
}

}  // namespace
}  // namespace trumpet
