// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/address_pairs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace trumpet {
namespace {

using Bytes = std::vector<uint8_t>;

uint16_t Checksum(const Bytes& bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] * 256u : bytes[i];
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void Put(Bytes* bytes, size_t at, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) {
    (*bytes)[at + static_cast<size_t>(i)] = static_cast<uint8_t>(value >> (8 * (size - 1 - i)));
  }
}

// What a host would send, with its checksums from scratch.
struct Packet {
  bool is_ipv6 = false;
  uint8_t protocol = 17;
  Bytes source = {10, 1, 0, 1};
  Bytes target = {10, 9, 0, 2};
  Bytes segment;  // its checksum is of no account
  bool has_checksum = true;
  uint8_t ttl = 64;

  Bytes Make() const {
    Bytes ip(is_ipv6 ? 40 : 20);
    Bytes body = segment;
    const size_t at = protocol == 6 ? 16 : protocol == 17 ? 6 : 2;
    Put(&body, at, 0, 2);
    Bytes covered = source;
    covered.insert(covered.end(), target.begin(), target.end());
    const auto size = static_cast<uint8_t>(body.size());
    for (const uint8_t byte : {uint8_t{0}, protocol, uint8_t{0}, size}) covered.push_back(byte);
    covered.insert(covered.end(), body.begin(), body.end());
    uint16_t sum = Checksum(covered);
    if (sum == 0 && protocol == 17) sum = 0xffff;
    Put(&body, at, has_checksum ? sum : 0, 2);
    if (is_ipv6) {
      ip[0] = 0x60;
      Put(&ip, 4, size, 2);
      ip[6] = protocol;
      ip[7] = ttl;
    } else {
      ip[0] = 0x45;
      Put(&ip, 2, 20u + size, 2);
      Put(&ip, 4, 0x1234, 2);
      ip[8] = ttl;
      ip[9] = protocol;
    }
    const size_t addresses = is_ipv6 ? 8 : 12;
    std::memcpy(ip.data() + addresses, source.data(), source.size());
    std::memcpy(ip.data() + addresses + source.size(), target.data(), target.size());
    ip.insert(ip.end(), body.begin(), body.end());
    return ip;
  }
};

AddressPairs Pairs() {
  AddressPairs pairs;
  for (const char* text : {"10.9.0.2=10.3.0.1", "10.4.0.7=10.1.0.1", "2001:db8::9=2001:db8::3"}) {
    EXPECT_TRUE(pairs.Add(text).ok());
  }
  return pairs;
}

PacketIdentity Of(const AddressPairs& pairs, const Bytes& ip, size_t captured = SIZE_MAX) {
  const auto identity =
      pairs.Identify(ip.data(), static_cast<uint32_t>(std::min(captured, ip.size())), 1);
  EXPECT_TRUE(identity.has_value());
  return identity.value_or(PacketIdentity());
}

TEST(AddressPairs, APacketIsTheSameBeforeAndBehindTheMiddlebox) {
  const AddressPairs pairs = Pairs();
  std::mt19937 random(7);
  const Bytes outside6 = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
  for (int i = 0; i < 200000; ++i) {
    Packet before;
    before.is_ipv6 = i % 3 == 0;
    const uint8_t protocols[] = {6, 17, static_cast<uint8_t>(before.is_ipv6 ? 58 : 17)};
    before.protocol = protocols[random() % 3];
    before.has_checksum = before.protocol != 17 || before.is_ipv6 || random() % 8 != 0;
    before.segment.resize(20 + random() % 80);
    for (uint8_t& byte : before.segment) byte = static_cast<uint8_t>(random());
    Packet behind = before;
    behind.ttl = 63;
    if (before.is_ipv6) {
      before.source = Bytes(16, 5);
      before.target = outside6;
      behind.source = before.source;
      behind.target = outside6;
      behind.target[15] = 3;
    } else {
      behind.source = {10, 4, 0, 7};
      behind.target = {10, 3, 0, 1};
    }
    const Bytes one = before.Make(), other = behind.Make();
    const size_t captured = random() % 4 == 0 ? (before.is_ipv6 ? 48 : 28) : SIZE_MAX;
    const PacketIdentity first = Of(pairs, one, captured), second = Of(pairs, other, captured);
    ASSERT_TRUE(first.hash == second.hash) << "packet " << i;
    ASSERT_EQ(first.flow, second.flow);
    ASSERT_EQ(second.ttl, 63);
    Packet another = behind;
    another.segment.back() ^= 1;
    ASSERT_FALSE(before.has_checksum && captured == SIZE_MAX &&
                 Of(pairs, another.Make()).hash == first.hash)
        << "what differs in its last byte is another packet";
  }
}

TEST(AddressPairs, OtherPacketsAreWhatTheyWere) {
  Packet packet;
  packet.segment = Bytes(40, 3);
  packet.target = {10, 9, 0, 3};
  packet.source = {10, 1, 0, 2};
  const Bytes ip = packet.Make();
  const auto plain = IdentifyPacket(ip.data(), static_cast<uint32_t>(ip.size()), false, 1);
  ASSERT_TRUE(plain.has_value());
  EXPECT_TRUE(Of(Pairs(), ip).hash == plain->hash);
  EXPECT_TRUE(Of(AddressPairs(), ip).hash == plain->hash);
}

TEST(AddressPairs, LaterFragmentsHaveNoChecksumToCorrect) {
  Packet packet;
  packet.segment = Bytes(40, 3);
  Bytes before = packet.Make(), behind = before;
  before[7] = behind[7] = 9;  // offset
  const uint8_t inside[] = {10, 3, 0, 1};
  std::memcpy(behind.data() + 16, inside, 4);
  EXPECT_TRUE(Of(Pairs(), before).hash == Of(Pairs(), behind).hash);
}

TEST(AddressPairs, AnythingElseIsNoPacketAndDoesNoHarm) {
  std::mt19937 random(3);
  const AddressPairs pairs = Pairs();
  for (int i = 0; i < 100000; ++i) {
    Bytes bytes(random() % 80);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (!bytes.empty())
      bytes[0] = static_cast<uint8_t>((random() % 2 == 0 ? 0x40 : 0x60) | bytes[0] % 16);
    if (bytes.size() >= 20 && bytes[0] >> 4 == 4) {
      const uint8_t outside[] = {10, 9, 0, 2};
      std::memcpy(bytes.data() + 16, outside, 4);
    }
    const auto identity = pairs.Identify(bytes.data(), static_cast<uint32_t>(bytes.size()), 1);
    const auto plain = IdentifyPacket(bytes.data(), static_cast<uint32_t>(bytes.size()), false, 1);
    ASSERT_EQ(identity.has_value(), plain.has_value());
  }
}

TEST(AddressPairs, SaysWhatIsNoPair) {
  AddressPairs pairs;
  for (const char* text : {"", "10.0.0.1", "10.0.0.1=", "10.0.0.1=10.0.0.1", "10.0.0.0/24=10.0.1.1",
                           "10.0.0.1=2001:db8::1", "10.0.0.1=10.0.0.2=10.0.0.3", "a=b"}) {
    const Status added = pairs.Add(text);
    EXPECT_EQ(added.message(),
              "'" + std::string(text) + "' is no OUTSIDE=INSIDE, two addresses of one family");
  }
  EXPECT_TRUE(pairs.Add("10.0.0.1=10.0.0.2").ok());
  EXPECT_EQ(pairs.Add("10.0.0.1=10.0.0.3").message(),
            "'10.0.0.1=10.0.0.3': that address outside has another inside");
  EXPECT_EQ(pairs.Add("10.0.0.2=10.0.0.3").message(),
            "'10.0.0.2=10.0.0.3': an address is outside and inside");
  EXPECT_TRUE(pairs.Add("10.0.0.9=10.0.0.2").ok()) << "two may become one";
}

}  // namespace
}  // namespace trumpet
