// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of all kinds that switches send, spoiled where they are structured: lengths, types,
// counts, ends of lists.  In place of a fuzz target, which would need Open vSwitch's library built
// with the fuzzer (docs/testing.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "controller/openflow/openflow_message.h"
#include "controller/openflow/switch_messages_test.h"

namespace trumpet {
namespace {

constexpr size_t kHeaderBytes = TRUMPET_OF_HEADER_BYTES;

std::string FromHex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

size_t Read16(const std::string& bytes, size_t at) {
  return size_t{static_cast<uint8_t>(bytes[at])} << 8 | static_cast<uint8_t>(bytes[at + 1]);
}

void Write16(size_t value, size_t at, std::string* bytes) {
  (*bytes)[at] = static_cast<char>(value >> 8);
  (*bytes)[at + 1] = static_cast<char>(value);
}

// What a switch has told, and what two sides say alike.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const char* text : kSwitchMessages) seeds.push_back(FromHex(text));
  for (const uint8_t version : {TRUMPET_OF_13, TRUMPET_OF_14, TRUMPET_OF_15}) {
    seeds.push_back(EncodeSimple(version, TRUMPET_OF_ECHO_REQUEST, 5));
    seeds.push_back(EncodeEchoReply(seeds.back()));
    seeds.push_back(EncodeRoleRequest(version, 2, 9, 1));
    seeds.back()[1] = 25;  // the reply looks the same
    seeds.push_back(*EncodeRule(
        version, TRUMPET_OF_ADD,
        {OpenflowRule::Kind::kMeter, "meter=7,pktps,burst,band=type=drop,rate=5,burst_size=9"}, 1));
    seeds.push_back(EncodeBundleControl(version, 3, TRUMPET_OF_BUNDLE_OPEN, 1));
    std::string tables = EncodeSimple(version, TRUMPET_OF_TABLE_STATS_REQUEST, 1);
    tables[1] = 19;
    tables += std::string(2 * 24, '\0');
    tables[16 + 24] = 1;  // the number of the second one
    Write16(tables.size(), 2, &tables);
    seeds.push_back(tables);
  }
  return seeds;
}

class Spoiler {
 public:
  Spoiler(const std::vector<std::string>& seeds, unsigned seed) : seeds_(seeds), random_(seed) {}

  std::string Next() {
    std::string bytes = seeds_[Below(seeds_.size())];
    for (size_t i = 1 + Below(3); i > 0; --i) SpoilOnce(&bytes);
    if (bytes.size() < kHeaderBytes) bytes.resize(kHeaderBytes);
    if (bytes.size() > UINT16_MAX) bytes.resize(UINT16_MAX);
    if (Below(16) != 0) Write16(bytes.size(), 2, &bytes);
    return bytes;
  }

 private:
  size_t Below(size_t limit) { return random_() % limit; }

  void SpoilOnce(std::string* bytes) {
    if (bytes->size() <= kHeaderBytes) return bytes->append(1 + Below(40), '\0'), void();
    switch (Below(7)) {
      case 0:
        (*bytes)[Below(bytes->size())] = static_cast<char>(random_());
        return;
      case 1:
        return SpoilLength(bytes);
      case 2:
        return bytes->resize(kHeaderBytes + Below(bytes->size() - kHeaderBytes));
      case 3: {  // an element once more
        const size_t from = kHeaderBytes + Below(bytes->size() - kHeaderBytes) / 8 * 8;
        const size_t size = 8 * (1 + Below(8));
        return bytes->insert(from, bytes->substr(from, size)), void();
      }
      case 4: {  // one head, another body
        const std::string& other = seeds_[Below(seeds_.size())];
        return bytes->replace(kHeaderBytes, std::string::npos, other, kHeaderBytes), void();
      }
      case 5:
        (*bytes)[1] = static_cast<char>(Below(36));
        return;
      default:  // a number at the edge
        const size_t at = kHeaderBytes + Below(bytes->size() - kHeaderBytes) / 4 * 4;
        for (size_t i = at; i < std::min(at + 4, bytes->size()); ++i) {
          (*bytes)[i] = static_cast<char>(Below(2) * 0xff);
        }
    }
  }

  // What may be the length of something within: no more than what is left.
  void SpoilLength(std::string* bytes) {
    std::vector<size_t> places;
    for (size_t at = kHeaderBytes; at + 2 <= bytes->size(); at += 2) {
      const size_t value = Read16(*bytes, at);
      if (value >= 4 && value <= bytes->size()) places.push_back(at);
    }
    if (places.empty()) return;
    const size_t at = places[Below(places.size())];
    const size_t value = Read16(*bytes, at);
    const size_t lengths[] = {
        0, 1, 3, 4, 7, 8, value - 1, value + 1, value - 4, value + 8, bytes->size(), UINT16_MAX};
    Write16(lengths[Below(std::size(lengths))], at, bytes);
  }

  const std::vector<std::string>& seeds_;
  std::mt19937 random_;
};

using KindCounts = std::array<int, TRUMPET_OF_OTHER + 1>;

void Count(const std::string& bytes, KindCounts* counts) {
  const Result<OpenflowMessage> message = DecodeOpenflow(bytes);
  if (!message.ok()) {
    EXPECT_FALSE(message.message().empty());
    return;
  }
  ++(*counts)[message->head.kind];
  EXPECT_LE(message->packet.size(), bytes.size());
}

TEST(OpenflowMutation, SeedsAreGoodAndOfAllKinds) {
  KindCounts counts{};
  for (const std::string& bytes : Seeds()) {
    const Result<OpenflowMessage> message = DecodeOpenflow(bytes);
    ASSERT_TRUE(message.ok()) << message.message() << ": " << PrintOpenflow(bytes);
    ++counts[message->head.kind];
  }
  for (size_t kind = 0; kind < counts.size(); ++kind) EXPECT_GT(counts[kind], 0) << kind;
}

TEST(OpenflowMutation, SpoiledMessagesAreMessagesOrErrors) {
  const std::vector<std::string> seeds = Seeds();
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    std::printf("seed %u\n", seed);  // should it crash
    Spoiler spoiler(seeds, seed);
    KindCounts counts{};
    for (int round = 0; round < 20000; ++round) Count(spoiler.Next(), &counts);
    for (size_t kind = 0; kind < counts.size(); ++kind) EXPECT_GT(counts[kind], 0) << kind;
  }
}

// What a switch tells of its flows is put back as it was told, or refused: a text that we have
// printed ourselves must not be poison.
TEST(OpenflowMutation, FlowsOfSpoiledMessagesAreReadAgainOrRefused) {
  const std::vector<std::string> seeds = Seeds();
  Spoiler spoiler(seeds, 5);
  int again = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string bytes = spoiler.Next();
    const Result<OpenflowMessage> message = DecodeOpenflow(bytes);
    if (!message.ok()) continue;
    for (const OpenflowFlow& flow : message->flows) {
      const Result<std::string> encoded =
          EncodeRule(message->head.version, TRUMPET_OF_DELETE,
                     {OpenflowRule::Kind::kFlow, flow.Text(), flow.cookie}, 1);
      again += encoded.ok() && DecodeOpenflow(*encoded).ok() ? 1 : 0;
    }
  }
  EXPECT_GT(again, 100);
}

}  // namespace
}  // namespace trumpet
