// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/copy_sender.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"
#include "lib/wire/copy_address.h"
#include "vswitchd-plugin/copy_receiver_test.h"

namespace trumpet {
namespace {

class CopySenderTest : public ::testing::Test {
 protected:
  CopySenderTest() {
    auto source = CompileMafia(
        "endpoint A, B;\npkts >> duplicate(a) >> duplicate(b);\na >> collect(A);\n"
        "b >> collect(B);\n",
        "two", MafiaOptions());
    EXPECT_TRUE(source.ok()) << source.message();
    auto loaded = LoadMeasureProgram(*source, MeasureLoadOptions());
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    program_ = std::move(*loaded);
  }

  Result<std::unique_ptr<CopySender>> Open(const EndpointAddresses& endpoints,
                                           uint32_t per_second = kDefaultCopiesPerSecond) {
    MeasurementPlace place;
    place.switch_id = 3;
    place.endpoints = endpoints;
    place.copies_per_second = per_second;
    return CopySender::Open("two", *program_, place);
  }
  static CollectedPacket CopyFor(uint32_t endpoint) {
    return {1700, uint64_t{1} << kIpv4Tos | uint64_t{1} << kPktSize, endpoint, {5, 60}};
  }

  std::unique_ptr<const CompiledProgram> program_;
};

TEST_F(CopySenderTest, TellsAllFieldsOfCopiesForEndpointsThatHaveAnAddress) {
  const CopyReceiver receiver;
  auto sender = Open({{"B", receiver.address()}});
  ASSERT_TRUE(sender.ok()) << sender.message();
  EXPECT_FALSE((*sender)->Send(CopyFor(0), 0)) << "it has no address";
  EXPECT_TRUE((*sender)->Send(CopyFor(1), 0));
  EXPECT_EQ(receiver.Take(),
            "{\"program\":\"two\",\"switch\":3,\"time_ns\":1700,\"endpoint\":\"B\",\"packet\":"
            "{\"ipv4.tos\":5,\"pkt.size\":60}}");
  EXPECT_EQ(receiver.Take(), "");
  const auto targets = (*sender)->Targets();
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].endpoint, "B");
  EXPECT_EQ(targets[0].address, receiver.address());
  EXPECT_EQ(targets[0].copies.sent, 1u);
  const std::vector<EndpointCopies> counts = {{0, 0, 0}, {1, 0, 0}};
  EXPECT_EQ((*sender)->Counts(), counts) << "in the program's order";
}

TEST_F(CopySenderTest, HasNoSenderWithoutAddresses) {
  auto sender = Open({});
  ASSERT_TRUE(sender.ok());
  EXPECT_EQ(*sender, nullptr);
}

TEST_F(CopySenderTest, BoundsItsRateAndCountsWhatItDrops) {
  const CopyReceiver receiver;
  auto sender = Open({{"A", receiver.address()}}, 1000);
  ASSERT_TRUE(sender.ok()) << sender.message();
  const auto passed = [&] {
    const EndpointCopies copies = (*sender)->Counts()[0];
    return copies.sent + copies.failed;
  };
  for (int i = 0; i < 100; ++i) (*sender)->Send(CopyFor(0), 7 * kNanosPerSecond);
  EXPECT_EQ(passed(), 21u) << "as many as in 20 ms, and the first";
  EXPECT_EQ((*sender)->Targets()[0].copies.over_rate, 79u);
  // Ten seconds, far more than the rate all the time.
  for (Nanos now = 0; now < 10 * kNanosPerSecond; now += kNanosPerMilli / 5) {
    (*sender)->Send(CopyFor(0), 8 * kNanosPerSecond + now);
  }
  EXPECT_NEAR(static_cast<double>(passed()), 21 + 10000, 30);
}

TEST_F(CopySenderTest, CountsWhatNobodyTakes) {
  std::string address;
  { address = CopyReceiver().address(); }
  auto sender = Open({{"A", address}});
  ASSERT_TRUE(sender.ok()) << sender.message();
  for (int i = 0; i < 4; ++i) (*sender)->Send(CopyFor(0), 1);  // the first answers come in between
  EXPECT_GE((*sender)->Counts()[0].failed, 1u);
}

TEST_F(CopySenderTest, SaysWhichEndpointIsWrong) {
  EXPECT_EQ(Open({{"C", "udp:10.0.0.9:1"}}).message(), "the program has no endpoint 'C'");
  EXPECT_EQ(Open({{"A", "udp:10.0.0.9"}}).message(),
            "A is 'udp:10.0.0.9'; copies go to 'udp:ADDRESS:PORT' or 'erspan:ADDRESS', as "
            "udp:10.0.0.9:4729 or erspan:[2001:db8::9]");
}

TEST(CopyAddress, IsAnAddressOfEitherKind) {
  for (const char* text : {"", "udp:", "erspan:", "udp:collector:1", "udp:10.0.0.9",
                           "udp:10.0.0.9:0", "udp:10.0.0.9:70000", "erspan:10.0.0.9:47",
                           "erspan:host", "gre:10.0.0.9", "10.0.0.9:1", "udp:::1:4"}) {
    EXPECT_FALSE(ParseCopyAddress(text).ok()) << text;
  }
  const auto udp = ParseCopyAddress("udp:[2001:db8::9]:4729");
  ASSERT_TRUE(udp.ok());
  EXPECT_EQ(udp->host, "2001:db8::9");
  EXPECT_EQ(udp->port, 4729);
  EXPECT_FALSE(udp->is_erspan);
  const auto erspan = ParseCopyAddress("erspan:10.0.0.9");
  ASSERT_TRUE(erspan.ok());
  EXPECT_TRUE(erspan->is_erspan);
  EXPECT_EQ(erspan->host, "10.0.0.9");
}

}  // namespace
}  // namespace trumpet
