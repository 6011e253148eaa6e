// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Copies of measurement programs on hosts with real agents: what arrives at the endpoints that a
// controller has bound, and what it is told of them.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/network/measurement_network_test.h"
#include "vswitchd-plugin/copy_receiver_test.h"

namespace trumpet::testing {
namespace {

using Json = nlohmann::json;

// A card of each packet to one endpoint, of large addresses to another; the third has no address.
constexpr char kCards[] =
    "endpoint CARDS, LARGE, NOWHERE;\n"
    "flow = Key(ipv4.dst);\n"
    "seen = HashMap(key=flow, size=256, type=Counter(width=32));\n"
    "pkts >> seen.set(seen + 1) >> duplicate(all)\n"
    "  >> match(ipv4.dst >= 0x0a009000) >> duplicate(large) >> duplicate(others);\n"
    "all >> collect(CARDS);\nlarge >> collect(LARGE);\nothers >> collect(NOWHERE);\n"
    "ctrl >> match(pkt.request == 7) >> tag(pkt.hh_volume, seen) >> duplicate(answer);\n"
    "answer >> collect(LARGE);\n";
constexpr uint32_t kSmall = 0x0a008001;
constexpr uint32_t kLarge = 0x0a009001;

class MeasurementCopies : public MeasurementNetwork {
 protected:
  std::string PutCards(const EndpointAddresses& endpoints,
                       std::optional<uint32_t> per_second = std::nullopt) {
    MeasurementPlaces places;
    places.endpoints = endpoints;
    places.copies_per_second = per_second;
    return Put(kCards, places);
  }
  void Send(size_t host, int count, uint32_t destination) {
    network_.host(host).Receive(network_.host(host).threads[0], count, destination);
  }
  // What has come, as far as hosts have handed it on.
  static std::vector<Json> TakeAll(const CopyReceiver& receiver) {
    std::vector<Json> copies;
    for (std::string text; !(text = receiver.Take()).empty();) copies.push_back(Json::parse(text));
    return copies;
  }
  // Copies by switch and destination.
  static std::map<std::pair<int, uint32_t>, int> Counts(const std::vector<Json>& copies) {
    std::map<std::pair<int, uint32_t>, int> counts;
    for (const Json& copy : copies) {
      ++counts[{copy["switch"].get<int>(), copy["packet"]["ipv4.dst"].get<uint32_t>()}];
    }
    return counts;
  }
  ProgramCopies CopiesOn(size_t host) const {
    return manager_->Find("hh")->hosts[host].copies.value_or(ProgramCopies());
  }
  // Of each of them, and what became of it.
  ::testing::AssertionResult IsToldOf(uint64_t collected) {
    return network_.RunUntil([&] {
      const ProgramCopies copies = manager_->Find("hh")->copies;
      const EndpointCopies sum = copies.Sum();
      return copies.collected == collected &&
             copies.unbound + sum.sent + sum.over_rate + sum.failed == collected;
    });
  }
};

TEST_F(MeasurementCopies, ComeFromAllHostsToTheEndpointsThatHaveAnAddress) {
  ASSERT_TRUE(Connect());
  const CopyReceiver cards;
  const CopyReceiver large;
  ASSERT_EQ(PutCards({{"CARDS", cards.address()}, {"LARGE", large.address()}}), "ok");
  const Nanos before = network_.now();
  Send(0, 3, kSmall);
  Send(0, 1, kLarge);
  Send(1, 2, kLarge);
  ASSERT_TRUE(IsToldOf(12));

  const std::vector<Json> came = TakeAll(cards);
  EXPECT_EQ(Counts(came), (std::map<std::pair<int, uint32_t>, int>{
                              {{1, kSmall}, 3}, {{1, kLarge}, 1}, {{2, kLarge}, 2}}));
  for (const Json& copy : came) {
    EXPECT_EQ(copy["program"], "hh");
    EXPECT_EQ(copy["endpoint"], "CARDS");
    EXPECT_GE(copy["time_ns"].get<Nanos>(), before);
    EXPECT_LE(copy["time_ns"].get<Nanos>(), network_.now());
    EXPECT_EQ(copy["packet"]["udp.dst"], 2000);
  }
  const std::vector<Json> large_ones = TakeAll(large);
  EXPECT_EQ(Counts(large_ones),
            (std::map<std::pair<int, uint32_t>, int>{{{1, kLarge}, 1}, {{2, kLarge}, 2}}));
  for (const Json& copy : large_ones) EXPECT_EQ(copy["endpoint"], "LARGE");

  EXPECT_EQ(CopiesOn(0), (ProgramCopies{6, 0, 1, {{4, 0, 0}, {1, 0, 0}, {}}}));
  EXPECT_EQ(CopiesOn(1), (ProgramCopies{6, 0, 2, {{2, 0, 0}, {2, 0, 0}, {}}}));
  EXPECT_EQ(manager_->Find("hh")->copies, (ProgramCopies{12, 0, 3, {{6, 0, 0}, {3, 0, 0}, {}}}));
}

// A host lets 20 ms of copies through at once, then one each millisecond.
TEST_F(MeasurementCopies, AreBoundedAtEachHostAndWhatIsDroppedIsTold) {
  ASSERT_TRUE(Connect());
  const CopyReceiver cards;
  ASSERT_EQ(PutCards({{"CARDS", cards.address()}}, 1000), "ok");
  Send(0, 50, kSmall);
  Send(1, 5, kSmall);
  ASSERT_TRUE(IsToldOf(55));
  network_.RunMs(100);
  Send(0, 1, kSmall);
  ASSERT_TRUE(IsToldOf(56));
  const auto sent = Counts(TakeAll(cards));
  const ProgramCopies first = CopiesOn(0);
  EXPECT_EQ(first.endpoints[0].sent, static_cast<uint64_t>(sent.at({1, kSmall})));
  EXPECT_EQ(first.endpoints[0].sent + first.endpoints[0].over_rate, 51u);
  EXPECT_GE(first.endpoints[0].sent, 20u);
  EXPECT_LE(first.endpoints[0].sent, 22u + 1u);
  EXPECT_EQ(CopiesOn(1), (ProgramCopies{5, 0, 0, {{5, 0, 0}, {}, {}}})) << "has a rate of its own";
  EXPECT_EQ(sent.at({2, kSmall}), 5);
}

TEST_F(MeasurementCopies, AreCountedWhereNobodyTakesThem) {
  ASSERT_TRUE(Connect());
  auto cards = std::make_unique<CopyReceiver>();
  ASSERT_EQ(PutCards({{"CARDS", cards->address()}}), "ok");
  Send(0, 1, kSmall);
  ASSERT_TRUE(IsToldOf(1));
  EXPECT_EQ(TakeAll(*cards).size(), 1u);
  cards.reset();
  Send(0, 1, kSmall);  // the machine says that nobody is there; the next one is told
  ASSERT_TRUE(IsToldOf(2));
  Send(0, 3, kSmall);
  ASSERT_TRUE(IsToldOf(5));
  const EndpointCopies copies = CopiesOn(0).endpoints.at(0);
  EXPECT_GE(copies.failed, 1u);
  EXPECT_EQ(copies.sent + copies.failed, 5u);
}

TEST_F(MeasurementCopies, OfHostsThatHaveGoneStayInTheSumAndNewHostsSendTheirs) {
  ASSERT_TRUE(Connect());
  const CopyReceiver cards;
  ASSERT_EQ(PutCards({{"CARDS", cards.address()}}), "ok");
  Send(1, 4, kSmall);
  ASSERT_TRUE(IsToldOf(4));
  network_.StopHost(1);
  ASSERT_TRUE(network_.RunUntil([&] { return network_.manager().connected_hosts() == 1; }));
  network_.StartHost(1);
  network_.AddHost();
  ASSERT_TRUE(network_.RunUntil(
      [&] { return States() == std::vector<MeasurementOnHost>(3, MeasurementOnHost::kRunning); }));
  Send(1, 2, kSmall);
  Send(2, 3, kSmall);
  ASSERT_TRUE(IsToldOf(9));
  EXPECT_EQ(Counts(TakeAll(cards)),
            (std::map<std::pair<int, uint32_t>, int>{{{2, kSmall}, 6}, {{0, kSmall}, 3}}))
      << "a host that comes later has no number";
  EXPECT_EQ(manager_->Find("hh")->copies.endpoints[0], (EndpointCopies{9, 0, 0}));
}

TEST_F(MeasurementCopies, EndWithTheMeasurement) {
  ASSERT_TRUE(Connect());
  const CopyReceiver cards;
  ASSERT_EQ(PutCards({{"CARDS", cards.address()}}), "ok");
  Send(0, 1, kSmall);
  ASSERT_TRUE(IsToldOf(1));
  Remove();
  EXPECT_EQ(TakeAll(cards).size(), 1u);
  Send(0, 1, kSmall);
  network_.RunMs(100);
  EXPECT_TRUE(TakeAll(cards).empty());
}

TEST_F(MeasurementCopies, AreWhatTasksOfCtrlAnswer) {
  ASSERT_TRUE(Connect());
  const CopyReceiver large;
  ASSERT_EQ(PutCards({{"LARGE", large.address()}}), "ok");
  Send(0, 3, kSmall);
  Send(1, 5, kSmall);
  ASSERT_TRUE(IsToldOf(8));
  std::optional<RequestAnswer> answer;
  ASSERT_TRUE(manager_
                  ->Ask("hh", "", {{kIpv4Dst, kSmall}, {kPktRequest, 7}},
                        [&](const RequestAnswer& told) { answer = told; })
                  .ok());
  ASSERT_TRUE(network_.RunUntil([&] { return answer.has_value(); }));
  EXPECT_TRUE(answer->silent.empty());
  ASSERT_EQ(answer->hosts.size(), 2u);
  for (const HostAnswer& host : answer->hosts) ASSERT_EQ(host.copies.size(), 1u) << host.host;
  std::map<int, int> volumes;
  for (const Json& copy : TakeAll(large)) {
    volumes[copy["switch"].get<int>()] = copy["packet"]["pkt.hh_volume"].get<int>();
  }
  EXPECT_EQ(volumes, (std::map<int, int>{{1, 3}, {2, 5}}));
}

}  // namespace
}  // namespace trumpet::testing
