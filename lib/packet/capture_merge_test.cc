// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/capture_merge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using namespace test_captures;  // NOLINT: the files read as sentences only without the prefix

// A capture of one-byte frames: {seconds, byte}.
using Stamped = std::vector<std::pair<uint32_t, uint8_t>>;

Bytes Capture(const Stamped& frames) {
  Bytes image = PcapHeader();
  for (const auto& [seconds, byte] : frames) {
    image = Join({image, PcapPacket(seconds, 0, {byte}, 100)});
  }
  return image;
}

// What comes out, as {seconds, byte}; what goes wrong fails the test.
template <typename Captures>
Stamped Drain(Result<Captures> captures) {
  Stamped frames;
  if (!captures.ok()) {
    ADD_FAILURE() << captures.message();
    return frames;
  }
  TimedFrame timed;
  for (;;) {
    const Result<bool> has_frame = captures->Next(&timed);
    if (!has_frame.ok()) {
      ADD_FAILURE() << has_frame.message();
      return frames;
    }
    if (!*has_frame) break;
    EXPECT_EQ(timed.frame.captured_length, 1u);
    EXPECT_EQ(timed.frame.wire_length, 100u);
    frames.emplace_back(static_cast<uint32_t>(timed.time / kNanosPerSecond), timed.frame.data[0]);
  }
  EXPECT_FALSE(*captures->Next(&timed)) << "the end is the end";
  EXPECT_EQ(captures->frame_count(), frames.size());
  return frames;
}

Stamped Merged(const std::vector<Stamped>& captures) {
  std::vector<std::unique_ptr<TemporaryFile>> files;
  std::vector<std::string> paths;
  for (const Stamped& capture : captures) {
    files.push_back(std::make_unique<TemporaryFile>(Capture(capture)));
    paths.push_back(files.back()->path());
  }
  return Drain(CaptureMerge::Open(paths));
}

TEST(CaptureMerge, InterleavesByTime) {
  EXPECT_EQ(Merged({{{1, 10}, {4, 11}, {6, 12}}, {{2, 20}, {3, 21}, {7, 22}}}),
            (Stamped{{1, 10}, {2, 20}, {3, 21}, {4, 11}, {6, 12}, {7, 22}}));
}

TEST(CaptureMerge, TellsTheCaptureOfEachFrame) {
  const TemporaryFile first(Capture({{2, 10}}));
  const TemporaryFile empty(Capture({}));
  const TemporaryFile last(Capture({{1, 30}, {3, 31}}));
  auto merge = CaptureMerge::Open({first.path(), empty.path(), last.path()});
  ASSERT_TRUE(merge.ok());
  std::vector<size_t> captures;
  TimedFrame timed;
  while (*merge->Next(&timed)) captures.push_back(merge->capture());
  EXPECT_EQ(captures, (std::vector<size_t>{2, 0, 2}));
}

TEST(CaptureMerge, BreaksTiesByTheOrderOfTheArguments) {
  EXPECT_EQ(Merged({{{1, 10}, {5, 11}, {5, 12}}, {{1, 20}, {5, 21}}, {{0, 30}, {5, 31}}}),
            (Stamped{{0, 30}, {1, 10}, {1, 20}, {5, 11}, {5, 12}, {5, 21}, {5, 31}}));
}

TEST(CaptureMerge, SortsACaptureThatIsOutOfOrderAndKeepsEqualStampsInPlace) {
  EXPECT_EQ(Merged({{{5, 10}, {3, 11}, {5, 12}, {3, 13}, {4, 14}}}),
            (Stamped{{3, 11}, {3, 13}, {4, 14}, {5, 10}, {5, 12}}));
}

TEST(CaptureSource, KeepsTheOrderOfTheFileIfAsked) {
  const TemporaryFile file(Capture({{2, 1}, {1, 2}, {3, 3}}));
  EXPECT_EQ(Drain(CaptureSource::Open(file.path(), CaptureOrder::kOfFile)),
            (Stamped{{2, 1}, {1, 2}, {3, 3}}));
  EXPECT_EQ(Drain(CaptureSource::Open(file.path())), (Stamped{{1, 2}, {2, 1}, {3, 3}}));
}

TEST(CaptureMerge, MixesSortedAndStreamedCaptures) {
  EXPECT_EQ(Merged({{{2, 10}, {1, 11}}, {{1, 20}, {2, 21}, {9, 22}}, {}}),
            (Stamped{{1, 11}, {1, 20}, {2, 10}, {2, 21}, {9, 22}}));
}

TEST(CaptureMerge, IsEmptyWithoutFrames) {
  EXPECT_EQ(Merged({{}, {}}), Stamped{});
  EXPECT_EQ(Merged({}), Stamped{});
}

TEST(CaptureMerge, EqualsAStableSortOfEverything) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<Stamped> captures(1 + random() % 6);
    Stamped expected;
    for (Stamped& capture : captures) {
      const bool is_in_order = random() % 2 == 0;
      uint32_t time = 0;
      for (uint32_t i = random() % 20; i > 0; --i) {
        time = is_in_order ? time + random() % 3 : random() % 20;
        capture.emplace_back(time, static_cast<uint8_t>(random()));
      }
      expected.insert(expected.end(), capture.begin(), capture.end());
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    ASSERT_EQ(Merged(captures), expected) << "seed " << seed;
  }
}

TEST(CaptureMerge, KnowsTheFirstAndTheLastTimeBeforehand) {
  const TemporaryFile a(Capture({{5, 1}, {4, 2}}));
  const TemporaryFile b(Capture({{3, 1}, {6, 2}, {9, 3}}));
  const Result<CaptureMerge> merge = CaptureMerge::Open({a.path(), b.path()});
  EXPECT_EQ(merge->first_time(), 3 * kNanosPerSecond);
  EXPECT_EQ(merge->last_time(), 9 * kNanosPerSecond);
  EXPECT_EQ(merge->frame_count(), 5u);
}

TEST(CaptureMerge, ReportsDamageBeforeTheFirstFrame) {
  const TemporaryFile sound(Capture({{1, 1}}));
  Bytes image = Capture({{1, 1}, {2, 2}, {3, 3}});
  image.pop_back();
  const TemporaryFile damaged(image);
  const Result<CaptureMerge> merge = CaptureMerge::Open({sound.path(), damaged.path()});
  ASSERT_FALSE(merge.ok());
  EXPECT_EQ(merge.message().find(damaged.path() + ": packet 3: truncated dump file"), 0u)
      << merge.message();
}

TEST(CaptureMerge, SaysWhenAFileHasChangedSinceItWasOpened) {
  const TemporaryFile file(Capture({{1, 1}, {2, 2}}));
  Result<CaptureMerge> merge = CaptureMerge::Open({file.path()});
  ASSERT_TRUE(merge.ok());
  ASSERT_EQ(truncate(file.path().c_str(), 30), 0);
  TimedFrame frame;
  EXPECT_FALSE(merge->Next(&frame).ok());
}

TEST(CaptureMerge, HoldsOnlyTheFilesOpenWhoseTurnItIs) {
  std::vector<Stamped> captures;
  Stamped expected;
  for (uint32_t i = 0; i < 100; ++i) {
    captures.push_back({{i, 1}, {i, 2}});
    expected.insert(expected.end(), {{i, 1}, {i, 2}});
  }
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Stamped frames = Merged(captures);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(frames, expected);
}

TEST(CaptureMerge, ReadsAPipeOnce) {
  const std::string path = testing::TempDir() + "trumpet-pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Bytes image = Capture({{2, 1}, {1, 2}, {3, 3}});
  std::thread writer([&] {
    const int descriptor = open(path.c_str(), O_WRONLY);
    EXPECT_EQ(write(descriptor, image.data(), image.size()), static_cast<ssize_t>(image.size()));
    close(descriptor);
  });
  const Stamped frames = Drain(CaptureMerge::Open({path}));
  writer.join();
  unlink(path.c_str());
  EXPECT_EQ(frames, (Stamped{{1, 2}, {2, 1}, {3, 3}}));
}

TEST(CaptureMerge, ReadsStandardInput) {
  const TemporaryFile file(Capture({{1, 1}, {2, 2}}));
  const StandardInput input(file.path());
  EXPECT_EQ(Drain(CaptureMerge::Open({"-"})), (Stamped{{1, 1}, {2, 2}}));
  const Result<CaptureMerge> again = CaptureMerge::Open({"-"});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.message(), "standard input: not a readable capture: it is empty");
}

TEST(CaptureMerge, RefusesStandardInputTwice) {
  const Result<CaptureMerge> merge = CaptureMerge::Open({"-", "-"});
  ASSERT_FALSE(merge.ok());
  EXPECT_NE(merge.message().find("given twice"), std::string::npos);
}

TEST(CaptureMerge, NamesAFileThatIsNotThere) {
  const Result<CaptureMerge> merge = CaptureMerge::Open({"no/such.pcap"});
  ASSERT_FALSE(merge.ok());
  EXPECT_EQ(merge.message(), "no/such.pcap: cannot be read: No such file or directory");
}

TEST(CaptureMerge, RefusesADirectory) {
  const Result<CaptureMerge> merge = CaptureMerge::Open({testing::TempDir()});
  ASSERT_FALSE(merge.ok());
  EXPECT_NE(merge.message().find("Is a directory"), std::string::npos) << merge.message();
}

}  // namespace
}  // namespace trumpet
