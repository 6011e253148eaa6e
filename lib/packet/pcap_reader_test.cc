// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/pcap_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/packet/pcapng_fcs.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using namespace test_captures;  // NOLINT: the files read as sentences only without the prefix

struct Contents {
  std::vector<Nanos> times;
  std::vector<Bytes> frames;
  std::vector<uint32_t> wire_lengths;
  std::string error;  // empty if there was none
};

Contents ReadAll(Result<PcapReader> reader) {
  Contents contents;
  if (!reader.ok()) {
    contents.error = reader.message();
    return contents;
  }
  TimedFrame timed;
  for (;;) {
    const Result<bool> has_frame = reader->Next(&timed);
    if (!has_frame.ok()) contents.error = has_frame.message();
    if (!has_frame.ok() || !*has_frame) return contents;
    const Frame& frame = timed.frame;
    contents.times.push_back(timed.time);
    contents.frames.emplace_back(frame.data, frame.data + frame.captured_length);
    contents.wire_lengths.push_back(frame.wire_length);
  }
}

Contents ReadImage(const Bytes& image) {
  return ReadAll(PcapReader::OpenImage("x.pcap", image.data(), image.size()));
}

// 64 bytes that came from an interface.
Bytes PcapngPacketOf(uint32_t interface, const Bytes& options) {
  return PcapngBlock(
      6, Join({Le32(interface), Le32(0), Le32(1), Le32(64), Le32(64), Zeros(64), options}));
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PcapReader, MakesNanosecondsOfMicroseconds) {
  const Contents contents =
      ReadImage(Join({PcapHeader(), PcapPacket(1, 999999, {1, 2}), PcapPacket(2, 0, {3})}));
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.times, (std::vector<Nanos>{1999999000, 2000000000}));
  EXPECT_EQ(contents.frames, (std::vector<Bytes>{{1, 2}, {3}}));
}

TEST(PcapReader, KeepsNanosecondsExactly) {
  const Contents contents =
      ReadImage(Join({PcapHeader(kNanoMagic), PcapPacket(1700000000, 123456789, {1})}));
  EXPECT_EQ(contents.times, std::vector<Nanos>{1700000000123456789});
}

TEST(PcapReader, ReadsTheOtherByteOrder) {
  Bytes image = Join({PcapHeader(kNanoMagic), PcapPacket(7, 9, {})});
  const std::vector<std::pair<size_t, size_t>> numbers{{0, 4},  {4, 2},  {6, 2},  {8, 4},
                                                       {12, 4}, {16, 4}, {20, 4}, {24, 4},
                                                       {28, 4}, {32, 4}, {36, 4}};
  for (const auto& [offset, count] : numbers) {
    std::reverse(image.begin() + offset, image.begin() + offset + count);
  }
  EXPECT_EQ(ReadImage(image).times, std::vector<Nanos>{7000000009});
}

TEST(PcapReader, ReadsSecondsWithoutSign) {
  const Contents contents = ReadImage(Join({PcapHeader(), PcapPacket(0xffffffff, 1, {1})}));
  EXPECT_EQ(contents.times, std::vector<Nanos>{4294967295000001000});
}

TEST(PcapReader, KeepsTheLengthOnTheWireOfACutPacket) {
  const Contents contents =
      ReadImage(Join({PcapHeader(), PcapPacket(1, 0, Zeros(64), 1514), PcapPacket(1, 0, {})}));
  EXPECT_EQ(contents.frames[0].size(), 64u);
  EXPECT_EQ(contents.wire_lengths, (std::vector<uint32_t>{1514, 0}));
}

TEST(PcapReader, BelievesTheLengthOnTheWireWhenTheCaptureIsLonger) {
  const Contents contents = ReadImage(Join({PcapHeader(), PcapPacket(1, 0, Zeros(64), 60)}));
  EXPECT_EQ(contents.frames[0].size(), 60u);
  EXPECT_EQ(contents.wire_lengths[0], 60u);
}

TEST(PcapReader, CutsOffTheCheckSequenceThatAPcapStates) {
  const uint32_t two_words_of_fcs = 2u << 28 | 1u << 26 | kEthernetLink;
  const Contents contents =
      ReadImage(Join({PcapHeader(kMicroMagic, two_words_of_fcs), PcapPacket(1, 0, Zeros(64)),
                      PcapPacket(1, 0, Zeros(60), 64), PcapPacket(1, 0, Zeros(62), 64),
                      PcapPacket(1, 0, Zeros(40), 64), PcapPacket(1, 0, Zeros(3))}));
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.wire_lengths, (std::vector<uint32_t>{60, 60, 60, 60, 0}));
  EXPECT_EQ(contents.frames[0].size(), 60u);
  EXPECT_EQ(contents.frames[1].size(), 60u);
  EXPECT_EQ(contents.frames[2].size(), 60u);
  EXPECT_EQ(contents.frames[3].size(), 40u);
  EXPECT_EQ(contents.frames[4].size(), 0u);
}

TEST(PcapReader, CutsNothingOffWhenTheLengthIsNotStated) {
  const uint32_t length_without_flag = 2u << 28 | kEthernetLink;
  const Contents contents =
      ReadImage(Join({PcapHeader(kMicroMagic, length_without_flag), PcapPacket(1, 0, Zeros(64))}));
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.wire_lengths, std::vector<uint32_t>{64});
}

TEST(PcapReader, ReadsPcapngInItsOwnResolution) {
  const Bytes nanos = PcapngOption(9, {9});
  const Contents fine = ReadImage(Join({PcapngSection(), PcapngInterface(nanos),
                                        PcapngPacket(1700000000123456789, Zeros(60), 1514)}));
  EXPECT_EQ(fine.error, "");
  EXPECT_EQ(fine.times, std::vector<Nanos>{1700000000123456789});
  EXPECT_EQ(fine.wire_lengths, std::vector<uint32_t>{1514});
  const Contents coarse = ReadImage(
      Join({PcapngSection(), PcapngInterface({}), PcapngPacket(1700000000123456, Zeros(60))}));
  EXPECT_EQ(coarse.times, std::vector<Nanos>{1700000000123456000});
  const Contents binary = ReadImage(Join(
      {PcapngSection(), PcapngInterface(PcapngOption(9, {0x81})), PcapngPacket(3, Zeros(60))}));
  EXPECT_EQ(binary.times, std::vector<Nanos>{1500000000});
}

TEST(PcapReader, CutsOffTheCheckSequenceThatAPcapngStates) {
  for (const uint8_t stated : {4, 32}) {
    const Bytes options = Join({PcapngOption(2, {'e', 't', 'h', '0', '1'}),
                                PcapngOption(13, {stated}), PcapngOption(0, {})});
    const Contents contents =
        ReadImage(Join({PcapngSection(), PcapngInterface(options), PcapngPacket(1, Zeros(64))}));
    EXPECT_EQ(contents.wire_lengths, std::vector<uint32_t>{60}) << int{stated};
  }
}

TEST(PcapReader, CutsOffTheCheckSequenceThatThePacketsInterfaceStates) {
  const Contents contents = ReadImage(Join(
      {PcapngSection(), PcapngInterface(PcapngOption(13, {32})), PcapngInterface({}),
       PcapngPacket(1, Zeros(64)), PcapngPacketOf(1, {}), PcapngInterface(PcapngOption(13, {16})),
       PcapngPacketOf(2, {}), PcapngBlock(3, Join({Le32(64), Zeros(64)})), PcapngSection(),
       PcapngInterface({}), PcapngPacketOf(0, {})}));
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.wire_lengths, (std::vector<uint32_t>{60, 64, 62, 60, 64}));
}

// epb_flags: bits 5 to 8 are the length in bytes, the others the direction and errors.
TEST(PcapReader, CutsOffTheCheckSequenceThatAPacketStates) {
  const auto flags = [](uint32_t value) { return PcapngOption(2, Le32(value)); };
  const Bytes comment = PcapngOption(1, {'f', 'c', 's'});
  const Contents contents =
      ReadImage(Join({PcapngSection(), PcapngInterface({}), PcapngInterface(PcapngOption(13, {32})),
                      PcapngPacketOf(0, flags(4 << 5 | 1)), PcapngPacketOf(0, flags(2)),
                      PcapngPacketOf(0, Join({comment, flags(0xff00021e | 4 << 5)})),
                      PcapngPacketOf(1, flags(2 << 5)), PcapngPacketOf(1, flags(1)),
                      PcapngPacketOf(0, Join({PcapngOption(0, {}), flags(4 << 5)}))}));
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.wire_lengths, (std::vector<uint32_t>{60, 64, 60, 62, 60, 64}));
  EXPECT_EQ(contents.frames[0].size(), 60u);
}

TEST(PcapReader, RefusesATimeBeyondItsClock) {
  const Contents contents = ReadImage(Join({PcapngSection(), PcapngInterface(PcapngOption(9, {0})),
                                            PcapngPacket(10000000000, Zeros(60))}));
  EXPECT_TRUE(Contains(contents.error, "x.pcap: packet 1: its time stamp")) << contents.error;
}

TEST(PcapReader, NamesALinkTypeThatItCannotRead) {
  const struct {
    uint32_t link_type;
    const char* name;
  } kCases[] = {{105, "IEEE802_11"}, {9, "PPP"}, {249, "USBPCAP"}, {65000, "65000"}};
  for (const auto& c : kCases) {
    const std::string error = ReadImage(PcapHeader(kMicroMagic, c.link_type)).error;
    EXPECT_TRUE(Contains(error, "x.pcap: link type")) << error;
    EXPECT_TRUE(Contains(error, c.name)) << error;
    EXPECT_TRUE(Contains(error, "known are Ethernet (EN10MB), raw IP")) << error;
  }
}

TEST(PcapReader, SaysWhereATruncatedFileEnds) {
  const Bytes whole =
      Join({PcapHeader(), PcapPacket(1, 0, Zeros(60)), PcapPacket(2, 0, Zeros(60))});
  for (size_t length = 24 + 76 + 1; length < whole.size(); ++length) {
    const Contents contents = ReadImage(Bytes(whole.begin(), whole.begin() + length));
    EXPECT_EQ(contents.frames.size(), 1u);
    EXPECT_TRUE(Contains(contents.error, "x.pcap: packet 2: truncated dump file"))
        << contents.error;
  }
  for (size_t length = 1; length < 24; ++length) {
    const std::string error = ReadImage(Bytes(whole.begin(), whole.begin() + length)).error;
    EXPECT_TRUE(Contains(error, "x.pcap: not a readable capture: ")) << error;
  }
}

TEST(PcapReader, RefusesWhatIsNoCapture) {
  for (const Bytes& image : {Bytes{}, Bytes{'h', 'e', 'l', 'l', 'o'}, Zeros(100)}) {
    const std::string error = ReadImage(image).error;
    EXPECT_TRUE(Contains(error, "x.pcap: not a readable capture: ")) << error;
  }
}

TEST(PcapReader, SaysHowACaptureIsCompressed) {
  const struct {
    Bytes begin;
    const char* with;
  } kKinds[] = {{{0x1f, 0x8b}, "gzip"},
                {{0xfd, '7', 'z', 'X', 'Z', 0}, "xz"},
                {{0x28, 0xb5, 0x2f, 0xfd}, "zstd"},
                {{'B', 'Z', 'h'}, "bzip2"}};
  for (const auto& [begin, with] : kKinds) {
    EXPECT_EQ(
        ReadImage(Join({begin, Zeros(100)})).error,
        std::string("x.pcap: not a readable capture: it is compressed; decompress it first (") +
            with + " -dc)");
  }
}

TEST(PcapReader, TakesACaptureWithoutPackets) {
  EXPECT_EQ(ReadImage(PcapHeader()).error, "");
  EXPECT_TRUE(ReadImage(PcapHeader()).frames.empty());
}

TEST(PcapReader, ReadsAFileLikeAnImage) {
  const TemporaryFile file(Join({PcapHeader(), PcapPacket(3, 4, {5, 6})}));
  const Contents contents = ReadAll(PcapReader::OpenFile(file.path()));
  EXPECT_EQ(contents.error, "");
  EXPECT_EQ(contents.times, std::vector<Nanos>{3000004000});
  EXPECT_EQ(contents.frames, std::vector<Bytes>({{5, 6}}));
}

TEST(PcapReader, NamesAFileThatCannotBeOpened) {
  EXPECT_EQ(ReadAll(PcapReader::OpenFile("no/such.pcap")).error,
            "no/such.pcap: cannot be read: No such file or directory");
  EXPECT_EQ(ReadAll(PcapReader::OpenFile(".")).error, ".: is not a regular file");
}

TEST(PcapngFcs, ReadsNothingBeyondAnyCut) {
  const Bytes whole = Join({PcapngSection(), PcapngInterface(PcapngOption(13, {32})),
                            PcapngPacketOf(0, PcapngOption(2, Le32(2 << 5)))});
  const auto of_cut = [&whole](size_t length) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const TemporaryFile file(cut);
    return PcapngFcs(CaptureFile(std::fopen(file.path().c_str(), "rb"))).OfNextPacket();
  };
  for (size_t length = 0; length < whole.size(); ++length) EXPECT_EQ(of_cut(length), 0u) << length;
  EXPECT_EQ(of_cut(whole.size()), 2u);
}

TEST(PcapngFcs, IsZeroForWhatIsNotPcapng) {
  const TemporaryFile file(Join({PcapHeader(), PcapPacket(1, 0, Zeros(64))}));
  EXPECT_EQ(PcapngFcs(CaptureFile(std::fopen(file.path().c_str(), "rb"))).OfNextPacket(), 0u);
}

}  // namespace
}  // namespace trumpet
