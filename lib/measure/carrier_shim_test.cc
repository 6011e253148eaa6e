// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/carrier_shim.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kKey = 0x1234;

// A frame with free bytes in front, as a packet buffer has them.
class Buffer {
 public:
  explicit Buffer(const Bytes& frame) : bytes_(kFree, 0xee), begin_(kFree) {
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
  }
  ShimFrame frame() { return {&bytes_[begin_], static_cast<uint32_t>(bytes_.size() - begin_)}; }
  Bytes bytes() const { return Bytes(bytes_.begin() + static_cast<long>(begin_), bytes_.end()); }

  ShimsPut Put(const CarriedValues& values, uint32_t room = kMaxShimBytes) {
    const ShimsPut put = PutShims(kKey, values, room, frame());
    begin_ -= put.vlan_bytes + put.option_bytes;
    return put;
  }
  CarriedValues Take(uint64_t key = kKey) {
    CarriedValues values;
    const bool has = HasShims(key, frame());
    const uint32_t taken = TakeShims(key, frame(), &values);
    EXPECT_EQ(has, taken != 0);
    begin_ += taken;
    return values;
  }

 private:
  static constexpr size_t kFree = 64;
  Bytes bytes_;
  size_t begin_;
};

void Add16(uint32_t value, Bytes* bytes) {
  bytes->push_back(static_cast<uint8_t>(value >> 8));
  bytes->push_back(static_cast<uint8_t>(value));
}

Bytes Joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// RFC 1071, over a copy, with a division.
uint16_t Checksum(Bytes bytes) {
  if (bytes.size() % 2 != 0) bytes.push_back(0);
  uint64_t sum = 0;
  for (size_t at = 0; at < bytes.size(); at += 2) sum += bytes[at] * 256u + bytes[at + 1];
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return static_cast<uint16_t>(65535 - sum);
}

// A packet in Geneve in its parts, from which a frame is made as a sender would make it.
struct GenevePacket {
  Bytes link;     // addresses and VLAN tags
  Bytes ip_rest;  // of IPv4: type of service ... options without lengths and checksum
  bool is_ipv6 = false;
  bool has_checksum = false;
  uint16_t port = 6081;
  Bytes base;     // of Geneve: 8 bytes, whose length is set
  Bytes options;  // whole words
  Bytes inner;
  Bytes padding;

  Bytes Udp() const {
    Bytes geneve = base;
    geneve[0] = static_cast<uint8_t>(options.size() / 4);
    Bytes udp;
    Add16(4711, &udp);
    Add16(port, &udp);
    Add16(static_cast<uint32_t>(8 + geneve.size() + options.size() + inner.size()), &udp);
    Add16(0, &udp);
    return Joined({udp, geneve, options, inner});
  }

  Bytes Frame() const {
    Bytes udp = Udp();
    const Bytes ip = is_ipv6 ? Ipv6(udp.size()) : Ipv4(udp.size());
    if (has_checksum) {
      Bytes pseudo(ip.begin() + (is_ipv6 ? 8 : 12), ip.begin() + (is_ipv6 ? 40 : 20));
      Add16(17, &pseudo);
      Add16(static_cast<uint32_t>(udp.size()), &pseudo);
      const uint16_t checksum = Checksum(Joined({pseudo, udp}));
      StoreBe16(&udp[6], checksum == 0 ? 0xffff : checksum);
    }
    Bytes type;
    Add16(is_ipv6 ? 0x86dd : 0x0800, &type);
    return Joined({link, type, ip, udp, padding});
  }

 private:
  Bytes Ipv4(size_t udp_bytes) const {
    Bytes ip = ip_rest;
    ip[0] = static_cast<uint8_t>(0x40 + ip.size() / 4);
    StoreBe16(&ip[2], static_cast<uint16_t>(ip.size() + udp_bytes));
    StoreBe16(&ip[6], 0x4000);
    ip[9] = 17;
    StoreBe16(&ip[10], 0);
    StoreBe16(&ip[10], Checksum(ip));
    return ip;
  }
  Bytes Ipv6(size_t udp_bytes) const {
    Bytes ip = ip_rest;
    ip[0] = 0x60;
    StoreBe16(&ip[4], static_cast<uint16_t>(udp_bytes));
    ip[6] = 17;
    return ip;
  }
};

class CarrierShimTest : public ::testing::TestWithParam<int> {
 protected:
  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  Bytes DrawBytes(size_t count) {
    Bytes bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }
  Bytes DrawLink() {
    Bytes link = DrawBytes(12);
    for (uint32_t tags = Draw(3); tags > 0; --tags) {
      Add16(Draw(2) == 0 ? 0x8100 : 0x88a8, &link);
      Add16(Draw(65536), &link);
    }
    return link;
  }
  GenevePacket DrawGeneve() {
    GenevePacket packet;
    packet.link = DrawLink();
    packet.is_ipv6 = Draw(3) == 0;
    packet.ip_rest = DrawBytes(packet.is_ipv6 ? 40 : 20 + 4 * Draw(11));
    packet.has_checksum = Draw(2) == 0;
    packet.base = DrawBytes(8);
    packet.options = DrawBytes(4 * Draw(61));
    packet.inner = DrawBytes(14 + Draw(1500));
    if (Draw(4) == 0) packet.padding = DrawBytes(Draw(20));
    return packet;
  }
  // Any frame, with headers that make the code look further.
  Bytes DrawFrame() {
    if (Draw(3) == 0) return DrawGeneve().Frame();
    Bytes frame = Joined({DrawLink(), DrawBytes(Draw(200))});
    if (Draw(2) == 0 && frame.size() > 20) {
      StoreBe16(&frame[12], 0x88a8);
      StoreBe16(&frame[16], 0x8100);
    }
    return frame;
  }
  CarriedValues DrawValues() {
    CarriedValues values;
    values.has_vid = Draw(2) == 0;
    values.has_option = Draw(2) == 0;
    if (values.has_vid) values.vid = static_cast<uint16_t>(Draw(4096));
    if (values.has_option) values.option = static_cast<uint32_t>(random_());
    return values;
  }

  std::mt19937_64 random_{static_cast<uint64_t>(GetParam())};
};

TEST_P(CarrierShimTest, WhatIsPutInIsTakenOutAndTheFrameIsAsBefore) {
  for (int round = 0; round < 2000; ++round) {
    const Bytes frame = DrawFrame();
    const CarriedValues values = DrawValues();
    const uint32_t room = Draw(2) == 0 ? kMaxShimBytes : Draw(kMaxShimBytes + 1);
    Buffer buffer(frame);
    const ShimsPut put = buffer.Put(values, room);
    ASSERT_LE(put.vlan_bytes + put.option_bytes, room);
    ASSERT_EQ(buffer.bytes().size(), frame.size() + put.vlan_bytes + put.option_bytes);
    const bool are_all_put =
        values.has_vid == (put.vlan_bytes != 0) && values.has_option == (put.option_bytes != 0);
    ASSERT_EQ(put.is_lost, !are_all_put) << "seed " << GetParam();
    ASSERT_FALSE(put.is_escaped || put.is_exposed);
    const CarriedValues taken = buffer.Take();
    ASSERT_EQ(buffer.bytes(), frame) << "seed " << GetParam() << " round " << round;
    ASSERT_EQ(taken.has_vid, put.vlan_bytes != 0);
    ASSERT_EQ(taken.has_option, put.option_bytes != 0);
    ASSERT_EQ(taken.vid, taken.has_vid ? values.vid : 0);
    ASSERT_EQ(taken.option, taken.has_option ? values.option : 0u);
  }
}

TEST_P(CarrierShimTest, TheOptionIsOneThatASenderOfThePacketWouldHaveMade) {
  for (int round = 0; round < 500; ++round) {
    GenevePacket packet = DrawGeneve();
    Buffer buffer(packet.Frame());
    CarriedValues values;
    values.has_option = true;
    values.option = static_cast<uint32_t>(random_());
    const bool has_place = CanCarryOption(buffer.frame());
    ASSERT_TRUE(IsInGeneve(buffer.frame()));
    ASSERT_EQ(buffer.Put(values).option_bytes, has_place ? 12u : 0u);
    if (!has_place) continue;
    const size_t at = packet.link.size() + 2 + packet.ip_rest.size() + 16;
    const Bytes made = buffer.bytes();
    Bytes option = {0xff, 0x54, 0x54, 0x02};
    Add16(values.option >> 16, &option);
    Add16(values.option, &option);
    option.insert(option.end(), made.begin() + static_cast<long>(at) + 8,  // the check
                  made.begin() + static_cast<long>(at) + 12);
    packet.options.insert(packet.options.begin(), option.begin(), option.end());
    ASSERT_EQ(made, packet.Frame()) << "seed " << GetParam() << " round " << round;
  }
}

TEST_P(CarrierShimTest, TheTagsStandBehindTheAddressesAndNothingElseIsDifferent) {
  for (int round = 0; round < 200; ++round) {
    const Bytes frame = DrawBytes(60 + Draw(1400));
    Buffer buffer(frame);
    CarriedValues values;
    values.has_vid = true;
    values.vid = static_cast<uint16_t>(Draw(4096));
    ASSERT_EQ(buffer.Put(values).vlan_bytes, 8u);
    Bytes made = buffer.bytes();
    EXPECT_EQ(LoadBe16(&made[12]), 0x88a8);
    EXPECT_EQ(LoadBe16(&made[14]), values.vid);
    EXPECT_EQ(LoadBe16(&made[16]), 0x8100);
    EXPECT_EQ(LoadBe16(&made[18]) & 0x1000, 0);
    made.erase(made.begin() + 12, made.begin() + 20);
    ASSERT_EQ(made, frame);
  }
}

TEST_P(CarrierShimTest, AFrameThatLooksLikeOneWithShimsIsEscaped) {
  int exposed = 0;
  for (int round = 0; round < 500; ++round) {
    Buffer forger(DrawGeneve().Frame());
    forger.Put(DrawValues());
    const Bytes frame = forger.bytes();
    Buffer buffer(frame);
    const bool is_alike = HasShims(kKey, buffer.frame());
    const ShimsPut escape = buffer.Put({});
    ASSERT_EQ(escape.is_escaped || escape.is_exposed, is_alike);
    ASSERT_FALSE(escape.is_lost);
    exposed += escape.is_exposed ? 1 : 0;  // 63 words of options are the most
    if (escape.is_exposed) continue;
    const CarriedValues taken = buffer.Take();
    ASSERT_EQ(buffer.bytes(), frame) << "seed " << GetParam() << " round " << round;
    ASSERT_FALSE(taken.has_any());
    Buffer cramped(frame);
    ASSERT_EQ(cramped.Put({}, 7).is_exposed, is_alike);
    ASSERT_EQ(cramped.bytes(), frame);
  }
  EXPECT_LT(exposed, 50);
}

TEST_P(CarrierShimTest, WhatWasNotPutInWithTheKeyStays) {
  int believed = 0;
  for (int round = 0; round < 2000; ++round) {
    Bytes frame = DrawFrame();
    Buffer buffer(frame);
    buffer.Take();
    ASSERT_EQ(buffer.bytes(), frame) << "seed " << GetParam() << " round " << round;
    buffer.Put(DrawValues());
    frame = buffer.bytes();
    buffer.Take(kKey + 1);
    believed += buffer.bytes() != frame ? 1 : 0;
  }
  EXPECT_LE(believed, 2) << "one in 65,536 is expected";
}

TEST_P(CarrierShimTest, ChangedBytesThatAreCheckedMakeAShimUnbelievable) {
  int believed = 0;
  for (int round = 0; round < 1000; ++round) {
    Buffer buffer(Joined({DrawBytes(12), {0x08, 0x06}, DrawBytes(50)}));
    CarriedValues values;
    values.has_vid = true;
    buffer.Put(values);
    Bytes bytes = buffer.bytes();
    const uint32_t bit = Draw(68 * 8);
    const bool is_dei = bit / 8 == 14 && bit % 8 == 4;
    const bool is_inner_dei = bit / 8 == 18 && bit % 8 == 4;
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << bit % 8));
    Buffer changed(bytes);
    const bool is_taken = changed.Take().has_vid;
    if (is_dei || is_inner_dei) {
      EXPECT_TRUE(is_taken) << "switches clear it";
    } else {
      believed += is_taken ? 1 : 0;
    }
  }
  EXPECT_LE(believed, 1);
}

TEST(CarrierShim, ShortFramesCarryNothing) {
  for (uint32_t length = 0; length < 60; ++length) {
    Buffer buffer(Bytes(length, 1));
    CarriedValues values;
    values.has_vid = true;
    EXPECT_FALSE(CanCarryVid(buffer.frame()));
    EXPECT_TRUE(buffer.Put(values).is_lost);
    EXPECT_EQ(buffer.bytes(), Bytes(length, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CarrierShimTest, ::testing::Range(1, 9));

}  // namespace
}  // namespace trumpet
