// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The book, and what is made of it: answers and files.

#include "controller/analyzer/slice_book.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/packet_archive.h"
#include "controller/analyzer/path_simulation_test.h"
#include "controller/analyzer/run_answer.h"
#include "lib/model/slice_spec.h"
#include "lib/packet/pcap_reader.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Gre;
using test_frames::Ipv4;
using test_frames::Join;
using test_frames::Udp;

ExpectedSlice Slice(uint32_t tag) {
  ExpectedSlice slice;
  slice.tag = tag;
  slice.run = 7;
  slice.query = 2;
  slice.name = "web";
  slice.prefix = *ParsePrefix("10.0.0.0/8");
  slice.path = {"A", "B", "C", "D"};
  slice.locations = {"A", "B", "D"};
  slice.numbers = {11, 12, 14};
  return slice;
}

Bytes Inner(size_t bytes) {
  return Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 2, Bytes(bytes - 42, 7))));
}

Bytes GreCopy(uint16_t number, uint32_t tag, const Bytes& inner) {
  const Bytes gre = Gre(0x2000, 0x6558, Be32(SliceGreKey(number, tag)), inner);
  return Ethernet(0x0800, Ipv4({kProtocolGre}, gre));
}

Bytes Erspan2Copy(uint16_t number, uint32_t tag, const Bytes& inner) {
  const Bytes erspan = Join({Be32(0x10000000u | number), Be32(tag), inner});
  return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x1000, 0x88be, Be32(1), erspan)));
}

void Take(const Bytes& frame, Nanos time, SliceBook* book) {
  const auto length = static_cast<uint32_t>(frame.size());
  book->Take({frame.data(), length, length}, time);
}

std::string Shown(const std::vector<SliceTally>& tallies) {
  std::string text;
  for (const SliceTally& tally : tallies) {
    text += tally.switch_name + ":" + std::to_string(tally.packets) + "," +
            std::to_string(tally.bytes) + "," + std::to_string(tally.copy_bytes) + "@" +
            std::to_string(tally.first) + "-" + std::to_string(tally.last) + " ";
  }
  return text;
}

TEST(SliceBook, CountsCopiesByTagAndSwitch) {
  SliceBook book({});
  book.Expect(Slice(5));
  Take(GreCopy(11, 5, Inner(100)), 10, &book);
  Take(Erspan2Copy(14, 5, Inner(200)), 20, &book);
  Take(GreCopy(11, 5, Inner(60)), 30, &book);
  EXPECT_EQ(Shown(book.Tallies({5})), "A:2,160,244@10-30 D:1,200,250@20-20 ");
  EXPECT_EQ(Shown(book.Tallies({})), Shown(book.Tallies({5})));
  EXPECT_EQ(book.Tallies({6}).size(), 0u);
  EXPECT_EQ(book.counters().copies, 3u);
}

TEST(SliceBook, CountsWhatIsOfNoSlice) {
  SliceBook book({});
  book.Expect(Slice(5));
  Take(GreCopy(11, 6, Inner(100)), 1, &book);
  Take(GreCopy(13, 5, Inner(100)), 1, &book);
  Take(Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0, 0x6558, {}, Inner(100)))), 1, &book);
  Take(Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x4000, 0x6558, {}, Inner(100)))), 1, &book);
  Take(Ethernet(0x0800, Ipv4({kProtocolGre}, {1})), 1, &book);
  Take(Ethernet(0x0806, Bytes(46)), 1, &book);
  const SliceBookCounters& counters = book.counters();
  EXPECT_EQ(counters.unknown_tags, 1u);
  EXPECT_EQ(counters.unknown_switches, 1u);
  EXPECT_EQ(counters.untagged, 1u);
  EXPECT_EQ(counters.unsupported, 1u);
  EXPECT_EQ(counters.malformed, 1u);
  EXPECT_EQ(counters.other, 1u);
  EXPECT_EQ(counters.copies, 0u);
}

TEST(SliceBook, KeepsWithinItsMemoryAndCountsTheRest) {
  SliceBookOptions options;
  options.max_bytes = 100'000;
  SliceBook book(options);
  book.Expect(Slice(5));
  for (int i = 0; i < 1000; ++i) Take(GreCopy(11, 5, Inner(300)), i, &book);
  EXPECT_LE(book.used_bytes(), options.max_bytes);
  const SliceRecord* const slice = book.Find(5);
  EXPECT_GT(slice->packets.size(), 100u);
  EXPECT_EQ(slice->packets.size() + slice->not_kept, 1000u);
  EXPECT_EQ(book.counters().not_kept, slice->not_kept);
  EXPECT_EQ(book.Tallies({5})[0].packets, 1000u);
  EXPECT_EQ(slice->packets[0].kept_bytes, 256u);
  EXPECT_EQ(slice->packets[0].wire_bytes, 300u);
}

TEST(SliceBook, ForgetsFinishedRunsFirst) {
  SliceBookOptions options;
  options.max_bytes = 100'000;
  SliceBook book(options);
  for (uint32_t tag = 1; tag <= 20; ++tag) {
    ExpectedSlice slice = Slice(tag);
    slice.run = tag;
    book.Expect(slice);
    for (int i = 0; i < 100; ++i) Take(GreCopy(11, tag, Inner(300)), i, &book);
    ASSERT_EQ(book.Find(tag)->not_kept, 0u) << tag;
    book.MarkFinished(tag);
  }
  EXPECT_EQ(book.Find(1), nullptr);
  EXPECT_NE(book.Find(20), nullptr);
  EXPECT_GT(book.counters().slices_forgotten, 10u);
  book.Expect(Slice(20));
  EXPECT_EQ(book.Find(20)->packets.size(), 0u);
}

TEST(SliceBook, KeepsWhatItHasOfASliceThatIsToldAgain) {
  SliceBook book({});
  book.Expect(Slice(5));
  Take(GreCopy(11, 5, Inner(100)), 10, &book);
  book.Expect(Slice(5));
  EXPECT_EQ(book.Find(5)->packets.size(), 1u);
  EXPECT_EQ(Shown(book.Tallies({5})), "A:1,100,142@10-10 ");
  for (const bool is_later : {false, true}) {
    ExpectedSlice other = Slice(5);
    other.slot = is_later ? 0 : 1;
    other.start = is_later ? 1 : 0;
    book.Expect(other);
    EXPECT_EQ(book.Find(5)->packets.size(), 0u) << "another one of this tag";
    Take(GreCopy(11, 5, Inner(100)), 10, &book);
  }
}

TEST(SliceBook, TakesNoMoreSlicesThanThereIsRoomFor) {
  SliceBookOptions options;
  options.max_slices = 2;
  SliceBook book(options);
  for (uint32_t tag = 1; tag <= 3; ++tag) book.Expect(Slice(tag));
  EXPECT_EQ(book.slice_count(), 2u);
  EXPECT_EQ(book.counters().slices_refused, 1u);
  book.MarkFinished(7);
  book.Expect(Slice(3));
  EXPECT_NE(book.Find(3), nullptr);
  EXPECT_EQ(book.slice_count(), 2u);
}

// Its controller has crashed, say.
TEST(SliceBook, ForgetsRunsThatNobodyFinishes) {
  SliceBookOptions options;
  options.max_slices = 2;
  SliceBook book(options);
  for (uint32_t tag = 1; tag <= 2; ++tag) {
    ExpectedSlice slice = Slice(tag);
    slice.start = tag * kNanosPerSecond;
    slice.end = (tag + 1) * kNanosPerSecond;
    book.Expect(slice);
  }
  ExpectedSlice next = Slice(3);
  next.run = 8;
  next.start = 603 * kNanosPerSecond;
  book.Expect(next);
  EXPECT_EQ(book.counters().slices_refused, 1u) << "the other run had a slice ten minutes ago";
  next.start = 604 * kNanosPerSecond;
  next.end = 605 * kNanosPerSecond;
  book.Expect(next);
  EXPECT_NE(book.Find(3), nullptr);
  EXPECT_EQ(book.Find(1), nullptr) << "the oldest one";
  EXPECT_NE(book.Find(2), nullptr);
  EXPECT_EQ(book.counters().slices_forgotten, 1u);
}

// A slice whose copies were simulated, as they come out of the tunnels.
void TakeSimulated(const PathSimulation& simulation, uint32_t tag, SliceBook* book) {
  const std::vector<uint16_t> numbers = {11, 12, 14};
  for (const SimulatedCopy& copy : simulation.copies) {
    Take(GreCopy(numbers[copy.location], tag, copy.bytes), copy.time, book);
  }
}

PathSimulation Simulated(const SimulatedPath& path, int packets, uint64_t seed) {
  PathSimulation simulation(path, seed);
  for (int i = 0; i < packets; ++i) {
    simulation.Send({false, static_cast<uint16_t>(i % 7), static_cast<uint16_t>(i), {1, 2, 3}});
  }
  return simulation;
}

nlohmann::json AnswerOf(const SliceBook& book) {
  RunAnswerMaker maker(7, "an1", {});
  for (const SliceRecord* slice : book.OfRun(7)) maker.AddConfine(*slice);
  for (const SliceRecord* slice : book.OfRun(7)) maker.AddMirror(*slice);
  return nlohmann::json::parse(maker.Finish(
      {{"A", 4 * kNanosPerMilli, 1000}, {"B", 0, 0}, {"D", 1 * kNanosPerMilli, 2000}}));
}

TEST(RunAnswer, TellsLossShareAndDelayOfAQuery) {
  SliceBook book({});
  book.Expect(Slice(5));
  ExpectedSlice later = Slice(6);
  later.slot = 3;
  book.Expect(later);
  SimulatedPath path;
  path.latency = {4 * kNanosPerMilli, 0, 1 * kNanosPerMilli};
  TakeSimulated(Simulated(path, 2000, 5), 5, &book);
  TakeSimulated(Simulated(path, 2000, 6), 6, &book);
  const nlohmann::json answer = AnswerOf(book);
  EXPECT_EQ(answer["run"], 7);
  EXPECT_EQ(answer["analyzer"], "an1");
  ASSERT_EQ(answer["queries"].size(), 1u);
  const nlohmann::json& query = answer["queries"][0];
  EXPECT_EQ(query["name"], "web");
  EXPECT_EQ(query["kind"], "mirror");
  EXPECT_EQ(query["prefix"], "10.0.0.0/8");
  EXPECT_EQ(query["slots"], nlohmann::json({0, 3}));
  EXPECT_EQ(query["copies"][1]["switch"], "B");
  const double loss = 1 - 0.99 * 0.99;
  EXPECT_LE(query["loss"]["low"], loss);
  EXPECT_GE(query["loss"]["high"], loss);
  EXPECT_LE(query["copy_loss"]["low"], 0.02);
  EXPECT_GE(query["copy_loss"]["high"], 0.02);
  EXPECT_GT(query["share"]["value"], 0.97);
  EXPECT_NEAR(query["delay"]["median_ns"].get<double>(), 15e6, 20e3);
  EXPECT_EQ(query["delay"]["error_ns"], 3000);
}

TEST(RunAnswer, TellsViolationsAndDoesNotTakeThemForLoss) {
  SliceBook book({});
  book.Expect(Slice(5));
  ExpectedSlice confine = Slice(6);
  confine.is_confine = true;
  confine.query = 1;
  confine.locations = {"P"};
  confine.numbers = {20};
  book.Expect(confine);
  SimulatedPath path;
  path.copy_loss = 0;
  const PathSimulation simulation = Simulated(path, 500, 3);
  TakeSimulated(simulation, 5, &book);
  size_t lost = 0;  // they turn up at P instead
  for (const SimulatedCopy& copy : simulation.copies) {
    if (copy.location != 0 || simulation.truth[copy.packet].is_delivered) continue;
    Take(GreCopy(20, 6, copy.bytes), copy.time, &book);
    ++lost;
  }
  const nlohmann::json answer = AnswerOf(book);
  ASSERT_GT(lost, 3u);
  EXPECT_EQ(answer["queries"][0]["kind"], "confine");
  EXPECT_EQ(answer["queries"][0]["violations"], lost);
  EXPECT_EQ(answer["queries"][1]["loss"]["value"], 0.0);
  EXPECT_EQ(answer["queries"][1]["packets"]["strayed"], lost);
}

TEST(RunAnswer, SaysNothingOfWhatWasNotSeen) {
  SliceBook book({});
  ExpectedSlice slice = Slice(5);
  slice.locations = {"A", "D"};
  slice.numbers = {11, 14};
  book.Expect(slice);
  const nlohmann::json answer = AnswerOf(book);
  EXPECT_TRUE(answer["queries"][0]["loss"].is_null());
  EXPECT_TRUE(answer["queries"][0]["copy_loss"].is_null());
  EXPECT_TRUE(answer["queries"][0]["share"].is_null());
  EXPECT_TRUE(answer["queries"][0]["delay"].is_null());
}

class PacketArchiveTest : public testing::Test {
 protected:
  PacketArchiveTest() {
    std::string folder = testing::TempDir() + "trumpet-XXXXXX";
    if (mkdtemp(folder.data()) != nullptr) folder_ = folder;
    options_.directory = folder + "/packets";
  }
  ~PacketArchiveTest() override { fs::remove_all(folder_); }

  void Fill(uint64_t run) {
    ExpectedSlice slice = Slice(5);
    slice.run = run;
    book_.Expect(slice);
    Take(GreCopy(11, 5, Inner(100)), 1, &book_);
    Take(GreCopy(14, 5, Inner(100)), 2, &book_);
  }
  std::string Path(uint64_t run) const {
    return folder_.string() + "/packets/run-" + std::to_string(run) + "/slot-0-query-2.pcapng";
  }

  fs::path folder_;
  SliceBook book_{{}};
  PacketArchiveOptions options_;
};

TEST_F(PacketArchiveTest, WritesAFileForEachSlice) {
  Fill(7);
  PacketArchive archive(options_);
  const Status written = archive.Write(*book_.Find(5));
  ASSERT_TRUE(written.ok()) << written.message();
  Result<PcapReader> reader = PcapReader::OpenFile(Path(7));
  ASSERT_TRUE(reader.ok()) << reader.message();
  TimedFrame timed;
  size_t count = 0;
  while (*reader->Next(&timed)) ++count;
  EXPECT_EQ(count, 2u);
  std::ifstream file(Path(7), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(all.find("run 7, slot 0, query 2 'web': MIRROR 10.0.0.0/8 ON [ A B C D ]"),
            std::string::npos);
}

TEST_F(PacketArchiveTest, RemovesOldRunsWhenTheyAreTooMuchOrTooOld) {
  options_.max_bytes = 1500;
  PacketArchive archive(options_);
  const auto start = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (uint64_t run = 1; run <= 4; ++run) {
    Fill(run);
    ASSERT_TRUE(archive.Write(*book_.Find(5)).ok());
    fs::last_write_time(fs::path(Path(run)).parent_path(), start + std::chrono::minutes(run));
  }
  const auto bytes = fs::file_size(Path(4));
  ASSERT_GT(4 * bytes, options_.max_bytes);
  ASSERT_LT(2 * bytes, options_.max_bytes);
  const Nanos now = time(nullptr) * kNanosPerSecond;
  ASSERT_TRUE(archive.RemoveOld(now).ok());
  EXPECT_FALSE(fs::exists(Path(1)));
  EXPECT_TRUE(fs::exists(Path(4)));
  ASSERT_TRUE(archive.RemoveOld(now + 8 * 86400 * kNanosPerSecond).ok());
  EXPECT_FALSE(fs::exists(Path(4)));
}

TEST_F(PacketArchiveTest, SaysWhatItCannotWrite) {
  Fill(7);
  PacketArchive nowhere({"/nowhere/packets"});
  const Status written = nowhere.Write(*book_.Find(5));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.message(), "cannot make /nowhere/packets: No such file or directory");
  EXPECT_TRUE(PacketArchive({}).Write(*book_.Find(5)).ok());  // off
}

}  // namespace
}  // namespace trumpet
