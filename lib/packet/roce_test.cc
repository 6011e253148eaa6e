// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/roce.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/random_runs_test.h"
#include "lib/packet/random_roce.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Bytes;
using test_frames::ControlFrame;
using test_frames::Join;
using test_frames::PfcFrame;
using test_frames::RandomRoce;
using test_frames::RoceFrame;
using test_frames::Zeros;

Bytes FromHex(const std::string& text) {
  Bytes bytes;
  std::istringstream stream(text);
  for (std::string byte; stream >> byte;) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(byte, nullptr, 16)));
  }
  return bytes;
}

struct Read {
  RoceVerdict verdict = RoceVerdict::kOther;
  RocePacket roce;
  IcrcVerdict icrc = IcrcVerdict::kUnknown;
  std::optional<MacControl> control;
};

// Copied to the heap exactly, so that a sanitizer sees a read beyond the end.
Read ReadBytes(const Bytes& frame) {
  const Bytes exact(frame.begin(), frame.end());
  Layers layers;
  ReadLayers(exact.data(), static_cast<uint32_t>(exact.size()), LayerKind::kEthernet, {}, &layers);
  Read read;
  if (layers.count == 0) return read;
  read.verdict = ReadRoce(exact.data(), layers, 0, &read.roce);
  read.icrc = CheckIcrc(exact.data(), layers, 0);
  read.control = ReadMacControl(exact.data(), layers, 0);
  return read;
}

// --- a slow twin ---

// Names of the headers behind the first one, by opcode, as InfiniBand's table of opcodes lists them
// for each service.
const std::map<uint8_t, std::string>& HeaderNames() {
  static const std::map<uint8_t, std::string> names = [] {
    std::map<uint8_t, std::string> all;
    const auto add = [&all](int base, const std::string& before_request,
                            const std::string& before_response,
                            const std::vector<std::pair<int, std::string>>& list) {
      for (const auto& [operation, text] : list) {
        const bool is_response = operation >= 0x0d && operation <= 0x12;
        const std::string& before = is_response ? before_response : before_request;
        all[static_cast<uint8_t>(base + operation)] = before + text;
      }
    };
    const std::vector<std::pair<int, std::string>> sends = {
        {0x00, ""}, {0x01, ""}, {0x02, ""}, {0x03, "imm "}, {0x04, ""}, {0x05, "imm "}};
    const std::vector<std::pair<int, std::string>> writes = {{0x06, "reth "}, {0x07, ""},
                                                             {0x08, ""},      {0x09, "imm "},
                                                             {0x0a, "reth "}, {0x0b, "reth imm "}};
    const std::vector<std::pair<int, std::string>> others = {
        {0x0c, "reth "}, {0x0d, "aeth "},      {0x0e, ""},        {0x0f, "aeth "},  {0x10, "aeth "},
        {0x11, "aeth "}, {0x12, "aeth orig "}, {0x13, "atomic "}, {0x14, "atomic "}};
    for (const auto& list : {sends, writes, others}) {
      add(0x00, "", "", list);
      add(0x40, "4 deth ", "4 ", list);
      add(0xa0, "4 ", "", list);
    }
    add(0x20, "", "", sends);
    add(0x20, "", "", writes);
    add(0x40, "4 deth ", "", {{0x15, ""}});
    add(0x60, "deth ", "", {{0x04, ""}, {0x05, "imm "}});
    add(0x00, "", "", {{0x16, "4 "}, {0x17, "4 "}});
    add(0xa0, "4 ", "", {{0x16, "4 "}, {0x17, "4 "}});
    all[0x81] = "";
    return all;
  }();
  return names;
}

size_t BytesOf(const std::string& header) {
  static const std::map<std::string, size_t> bytes = {
      {"4", 4}, {"deth", 8}, {"reth", 16}, {"imm", 4}, {"atomic", 28}, {"aeth", 4}, {"orig", 8}};
  return bytes.at(header);
}

// Bits of a frame as a text of zeroes and ones, so that nothing is shifted or masked.
class Bits {
 public:
  Bits(const Bytes& bytes, size_t at) {
    for (size_t i = at; i < bytes.size(); ++i) {
      for (int bit = 7; bit >= 0; --bit) text_ += (bytes[i] >> bit & 1) != 0 ? '1' : '0';
    }
  }
  bool Has(size_t bits) const { return text_.size() - at_ >= bits; }
  uint64_t Take(size_t bits) {
    const std::string part = text_.substr(at_, bits);
    at_ += bits;
    return part.empty() ? 0 : std::stoull(part, nullptr, 2);
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

// What the twin says, as a text; empty: not RoCE.
std::string Twin(const Bytes& frame) {
  const bool is_ipv6 = frame.size() > 13 && frame[12] == 0x86;
  const size_t udp = is_ipv6 ? 54 : 34;
  const size_t stated = udp + frame.at(udp + 4) * 256u + frame.at(udp + 5);
  Bytes captured(frame.begin(), frame.begin() + static_cast<long>(std::min(stated, frame.size())));
  Bits bits(captured, udp + 8);
  if (stated < udp + 8 + 12 + 4) return "malformed";
  if (!bits.Has(96)) return "cut";
  std::ostringstream text;
  const auto opcode = static_cast<uint8_t>(bits.Take(8));
  text << int{opcode} << " se" << bits.Take(1) << " m" << bits.Take(1);
  const uint64_t pad = bits.Take(2);
  text << " pad" << pad;
  if (bits.Take(4) != 0) return "malformed";
  text << " key" << bits.Take(16) << " f" << bits.Take(1) << " b" << bits.Take(1);
  bits.Take(6);
  text << " qp" << bits.Take(24) << " a" << bits.Take(1);
  bits.Take(7);
  text << " psn" << bits.Take(24);
  size_t at = udp + 8 + 12;
  const auto found = HeaderNames().find(opcode);
  if (found == HeaderNames().end()) {
    text << " payload" << stated - 4 - at;
    return text.str();
  }
  std::istringstream names(found->second);
  for (std::string name; names >> name;) {
    at += BytesOf(name);
    if (stated < at + 4) return "malformed";
    if (captured.size() < at) return "cut";
    if (name == "aeth") {
      const uint64_t syndrome = bits.Take(8);
      text << " ack" << syndrome / 32 % 4 << "," << syndrome % 32 << "," << bits.Take(24);
    } else if (name == "reth") {
      text << " reth" << bits.Take(64);
      text << "," << bits.Take(32);
      text << "," << bits.Take(32);
    } else if (name == "imm") {
      text << " imm" << bits.Take(32);
    } else if (name == "deth") {
      bits.Take(40);
      text << " src" << bits.Take(24);
    } else {
      if (name != "4") text << " " << name;
      for (size_t i = 0; i < BytesOf(name); ++i) bits.Take(8);
    }
  }
  if (stated - 4 - at < pad) return "malformed";
  text << " payload" << stated - 4 - at - pad;
  return text.str();
}

std::string TextOf(const Read& read) {
  if (read.verdict == RoceVerdict::kOther) return "other";
  if (read.verdict == RoceVerdict::kCut) return "cut";
  if (read.verdict == RoceVerdict::kMalformed) return "malformed";
  const RocePacket& roce = read.roce;
  std::ostringstream text;
  text << int{roce.opcode} << " se" << roce.is_solicited << " m" << roce.is_migrated << " pad"
       << int{roce.pad_bytes} << " key" << roce.partition << " f" << roce.has_fecn << " b"
       << roce.has_becn << " qp" << roce.queue_pair << " a" << roce.wants_acknowledgement << " psn"
       << roce.sequence;
  if (roce.source_queue_pair) text << " src" << *roce.source_queue_pair;
  if (roce.memory) {
    text << " reth" << roce.memory->address << "," << roce.memory->key << "," << roce.memory->bytes;
  }
  if (roce.has_atomic) text << " atomic";
  if (roce.ack) {
    text << " ack" << static_cast<int>(roce.ack->kind) << "," << int{roce.ack->value} << ","
         << roce.ack->messages;
  }
  if (roce.has_original) text << " orig";
  if (roce.immediate) text << " imm" << *roce.immediate;
  text << " payload" << roce.payload_bytes;
  return text.str();
}

// Bit by bit, the highest power first, as polynomials are divided by hand.
uint32_t SlowCrc(const Bytes& bytes) {
  uint32_t rest = 0xffffffff;
  for (const uint8_t byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (rest >> 31 != 0) != ((byte >> bit & 1) != 0);
      rest = rest << 1 ^ (carry ? 0x04c11db7u : 0u);
    }
  }
  uint32_t reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (~rest >> bit & 1) << (31 - bit);
  return reversed;
}

bool IsIcrcRight(const Bytes& frame) {
  const bool is_ipv6 = frame[12] == 0x86;
  Bytes all(8, 0xff);
  const Bytes ip(frame.begin() + 14, frame.end() - 4);
  all.insert(all.end(), ip.begin(), ip.end());
  const std::vector<size_t> masked = is_ipv6 ? std::vector<size_t>{1, 2, 3, 7, 46, 47, 52}
                                             : std::vector<size_t>{1, 8, 10, 11, 26, 27, 32};
  for (const size_t at : masked) all[8 + at] = 0xff;
  if (is_ipv6) all[8] = 0x6f;
  const uint32_t crc = SlowCrc(all);
  for (unsigned i = 0; i < 4; ++i) {
    if (frame[frame.size() - 4 + i] != static_cast<uint8_t>(crc >> 8 * i)) return false;
  }
  return true;
}

TEST(Roce, ReadsWhatASlowTwinReads) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(20000); ++seed) {
    SCOPED_TRACE(seed);
    RandomRoce random(seed);
    const Bytes frame =
        random.Below(8) == 0 ? random.FrameOf(static_cast<uint8_t>(seed)) : random.Frame();
    const Read read = ReadBytes(frame);
    ASSERT_EQ(TextOf(read), Twin(frame));
    EXPECT_TRUE(IsIcrcRight(frame));
    EXPECT_EQ(read.icrc, IcrcVerdict::kRight);
    ++seen[TextOf(read).substr(0, 9)];
    // One bit of the transport that is not one of those that routers change.
    Bytes wrong = frame;
    const size_t bth = (frame[12] == 0x86 ? 54u : 34u) + 8;
    const size_t at = bth + random.Below(static_cast<uint32_t>(frame.size() - bth));
    wrong[at] ^= static_cast<uint8_t>(1u << random.Below(8));
    EXPECT_EQ(ReadBytes(wrong).icrc, at == bth + 4 ? IcrcVerdict::kRight : IcrcVerdict::kWrong);
    // What was captured of it.
    const size_t cut = bth + random.Below(static_cast<uint32_t>(frame.size() - bth));
    const Bytes part(frame.begin(), frame.begin() + static_cast<long>(cut));
    ASSERT_EQ(TextOf(ReadBytes(part)), Twin(part));
    EXPECT_EQ(ReadBytes(part).icrc, IcrcVerdict::kUnknown);
  }
  if (testing::LastSeed(20000) >= 20000) {
    EXPECT_GT(seen["malformed"], 100u);
  }
}

TEST(Roce, NeverReadsBeyondWhatWasCaptured) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(20000); ++seed) {
    RandomRoce random(seed);
    ReadBytes(random.Spoilt(random.AnyFrame()));
  }
}

// Bytes that others have published with their checksums.
TEST(Roce, TakesPacketsThatOthersMade) {
  const Read send = ReadBytes(FromHex(
      "24 8a 07 a8 fa 22 24 8a 07 a8 fa 22 08 00 45 01 00 40 04 78 40 00 40 11 b4 d5 c0 a8 00 07 "
      "c0 a8 00 07 c0 00 12 b7 00 2c ac a2 24 60 ff ff 00 00 00 d3 00 cf 17 10 46 30 81 8b e2 89 "
      "35 d9 0e 9a 95 50 54 01 be 88 5e 50 00 00 78 f3 53 f3"));
  EXPECT_EQ(send.icrc, IcrcVerdict::kRight);
  EXPECT_EQ(RoceOpcodeName(send.roce.opcode), "UC SEND only");
  EXPECT_EQ(send.roce.queue_pair, 211u);
  EXPECT_EQ(send.roce.sequence, 13571856u);
  EXPECT_EQ(send.roce.payload_bytes, 18u);
  EXPECT_TRUE(send.roce.is_migrated);
  // Of a card.
  const Read cnp = ReadBytes(FromHex(
      "e4 1d 2d ab 2b c2 7c fe 90 64 3b 32 08 00 45 c2 00 3c 71 8c 40 00 40 11 91 61 0a 00 11 01 "
      "0a 00 12 01 00 00 12 b7 00 28 00 00 81 00 ff ff 40 00 01 18 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 82 fd 00 2a"));
  EXPECT_EQ(cnp.icrc, IcrcVerdict::kRight);
  EXPECT_EQ(cnp.roce.kind, RoceKind::kCnp);
  EXPECT_TRUE(cnp.roce.has_becn);
  EXPECT_FALSE(cnp.roce.has_fecn);
  EXPECT_EQ(cnp.roce.queue_pair, 0x118u);
}

TEST(Roce, HasTheSameChecksumBehindRouters) {
  for (const bool is_ipv6 : {false, true}) {
    Bytes frame = RoceFrame({}, Zeros(64), is_ipv6);
    frame[is_ipv6 ? 21 : 22] = 3;      // TTL
    frame[is_ipv6 ? 14 : 15] ^= 0x03;  // traffic class
    if (is_ipv6) frame[17] ^= 0x55;    // flow label
    if (!is_ipv6) frame[24] ^= 0x55;   // checksum of IP
    EXPECT_EQ(ReadBytes(frame).icrc, IcrcVerdict::kRight);
    frame[is_ipv6 ? 30 : 27] ^= 1;  // an address
    EXPECT_EQ(ReadBytes(frame).icrc, IcrcVerdict::kWrong);
  }
}

TEST(Roce, SaysWhyAPacketWasNotTaken) {
  test_frames::BaseHeader header;
  header.opcode = 0x11;
  const struct {
    uint8_t syndrome;
    RoceAckKind kind;
    std::string text;
  } cases[] = {{0x60, RoceAckKind::kNak, "PSN sequence error"},
               {0x61, RoceAckKind::kNak, "invalid request"},
               {0x62, RoceAckKind::kNak, "remote access error"},
               {0x63, RoceAckKind::kNak, "remote operational error"},
               {0x64, RoceAckKind::kNak, "invalid RD request"},
               {0x7f, RoceAckKind::kNak, "code 31"},
               {0x1f, RoceAckKind::kAck, ""},
               {0x2e, RoceAckKind::kNotReady, ""},
               {0x40, RoceAckKind::kReserved, ""}};
  for (const auto& one : cases) {
    const Read read = ReadBytes(RoceFrame(header, {one.syndrome, 0, 1, 2}));
    ASSERT_TRUE(read.roce.ack) << int{one.syndrome};
    EXPECT_EQ(read.roce.ack->kind, one.kind);
    EXPECT_EQ(read.roce.ack->messages, 0x102u);
    if (!one.text.empty()) {
      EXPECT_EQ(NakReason(read.roce.ack->value), one.text);
    }
  }
  EXPECT_EQ(NotReadyDelay(0), 655360 * kNanosPerMicro);
  EXPECT_EQ(NotReadyDelay(1), 10 * kNanosPerMicro);
  EXPECT_EQ(NotReadyDelay(14), 1280 * kNanosPerMicro);
  EXPECT_EQ(NotReadyDelay(31), 491520 * kNanosPerMicro);
  EXPECT_EQ(RoceOpcodeName(0x81), "CNP");
  EXPECT_EQ(RoceOpcodeName(0xa4), "XRC SEND only");
  EXPECT_EQ(RoceOpcodeName(0xc3), "opcode 0xc3");
  EXPECT_EQ(RoceOpcodeName(0x80), "opcode 0x80");
}

TEST(Roce, IsWhatIsSentToItsPort) {
  Bytes frame = RoceFrame({}, Zeros(8));
  frame[37] ^= 1;
  EXPECT_EQ(ReadBytes(frame).verdict, RoceVerdict::kOther);
  EXPECT_EQ(ReadBytes(ControlFrame(1, Be16(9))).verdict, RoceVerdict::kOther);
}

TEST(MacControl, SaysForHowLongAndForWhichPriorities) {
  const auto pause = ReadBytes(ControlFrame(1, Be16(0x1234))).control;
  ASSERT_TRUE(pause);
  EXPECT_FALSE(pause->has_priorities);
  EXPECT_EQ(pause->priorities, 0xff);
  EXPECT_EQ(pause->quanta[5], 0x1234);
  const Bytes frame = PfcFrame(0x18, {1, 2, 3, 9, 0, 6, 7, 8});
  const auto pfc = ReadBytes(frame).control;
  ASSERT_TRUE(pfc);
  EXPECT_TRUE(pfc->has_priorities);
  EXPECT_EQ(pfc->priorities, 0x18);
  EXPECT_EQ(pfc->quanta, (std::array<uint16_t, 8>{0, 0, 0, 9, 0, 0, 0, 0}));
  for (size_t size = 0; size < 34; ++size) {
    const Bytes cut(frame.begin(), frame.begin() + static_cast<long>(size));
    EXPECT_FALSE(ReadBytes(cut).control) << size;
  }
  EXPECT_FALSE(ReadBytes(ControlFrame(2, Be16(9))).control);
}

}  // namespace
}  // namespace trumpet
