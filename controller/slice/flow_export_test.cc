// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/flow_export.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "controller/slice/sampled_demand.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Join;
using test_frames::Zeros;

std::string Print(const std::vector<FlowSample>& samples) {
  std::string text;
  for (const FlowSample& one : samples) {
    text += PrintPrefix(one.destination) + " " + std::to_string(one.bytes) + "B " +
            std::to_string(one.packets) + "p " + std::to_string(one.sampled) + "s " +
            std::to_string(one.duration / kNanosPerMilli) + "ms\n";
  }
  return text;
}

// All datagrams by one decoder.
std::string Decode(const std::vector<Bytes>& datagrams,
                   FlowExportResult expected = FlowExportResult::kRead) {
  FlowExportDecoder decoder;
  std::vector<FlowSample> samples;
  FlowExportResult result = FlowExportResult::kUnknown;
  for (const Bytes& one : datagrams) result = decoder.Decode(one.data(), one.size(), &samples);
  EXPECT_EQ(result, expected);
  return Print(samples);
}

Bytes Ipv4Bytes(const char* text) {
  return Be32(static_cast<uint32_t>(ParsePrefix(text)->address));
}

Bytes Ipv6Bytes(const char* text) {
  const Uint128 address = ParsePrefix(text)->address;
  Bytes bytes;
  for (int shift = 120; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<uint8_t>(address >> shift));
  }
  return bytes;
}

Bytes WithSize(const Bytes& bytes) {
  return Join({Be32(static_cast<uint32_t>(bytes.size())), bytes});
}

// --- sFlow 5

Bytes SflowDatagram(const std::vector<Bytes>& samples, bool has_ipv6_agent = false) {
  Bytes all = Join({Be32(5), Be32(has_ipv6_agent ? 2 : 1), Zeros(has_ipv6_agent ? 16 : 4),
                    Zeros(12), Be32(static_cast<uint32_t>(samples.size()))});
  for (const Bytes& one : samples) all = Join({all, one});
  return all;
}

Bytes SflowSample(uint32_t sampling, const Bytes& record) {
  return Join({Be32(1), WithSize(Join({Zeros(8), Be32(sampling), Zeros(16), Be32(1), record}))});
}

Bytes RawHeader(const Bytes& frame, uint32_t frame_bytes) {
  return Join({Be32(1), WithSize(Join({Be32(1), Be32(frame_bytes), Be32(4), WithSize(frame)}))});
}

Bytes FrameTo(uint32_t destination) {
  test_frames::Ipv4Header header;
  header.dst = destination;
  return test_frames::Ethernet(0x0800, test_frames::Ipv4(header, Zeros(20)));
}

TEST(FlowExport, SflowTellsOfFramesByTheirFirstBytes) {
  const Bytes sample = SflowSample(64, RawHeader(FrameTo(0x01020304), 1004));
  EXPECT_EQ(Decode({SflowDatagram({sample, sample})}),
            "1.2.3.4/32 64000B 64p 1s 0ms\n1.2.3.4/32 64000B 64p 1s 0ms\n");
  EXPECT_EQ(Decode({SflowDatagram({sample}, true)}), "1.2.3.4/32 64000B 64p 1s 0ms\n");
}

TEST(FlowExport, SflowTellsOfPacketsByTheirAddresses) {
  const Bytes ipv4 = Join(
      {Be32(3), WithSize(Join({Be32(986), Be32(6), Zeros(4), Ipv4Bytes("1.2.3.4"), Zeros(16)}))});
  const Bytes ipv6 =
      Join({Be32(4),
            WithSize(Join({Be32(986), Be32(6), Zeros(16), Ipv6Bytes("2001:db8::5"), Zeros(16)}))});
  const Bytes expanded =
      Join({Be32(3), WithSize(Join({Zeros(12), Be32(2), Zeros(24), Be32(2),
                                    Join({Be32(77), WithSize(Zeros(8))}), ipv6}))});
  EXPECT_EQ(Decode({SflowDatagram({SflowSample(1, ipv4), expanded})}),
            "1.2.3.4/32 1000B 1p 1s 0ms\n2001:db8::5/128 2000B 2p 1s 0ms\n");
}

TEST(FlowExport, SflowOfCountersAndOfOtherFramesTellsNothing) {
  const Bytes counters = Join({Be32(2), WithSize(Zeros(80))});
  const Bytes arp = SflowSample(1, RawHeader(test_frames::Ethernet(0x0806, Zeros(28)), 64));
  EXPECT_EQ(Decode({SflowDatagram({counters, arp})}), "");
}

// --- NetFlow 5

Bytes Netflow5(uint16_t sampling, const std::vector<Bytes>& records) {
  Bytes all = Join({Be16(5), Be16(records.size()), Zeros(18), Be16(0x4000u | sampling)});
  for (const Bytes& one : records) all = Join({all, one});
  return all;
}

Bytes Netflow5Record(const char* to, uint32_t packets, uint32_t bytes, uint32_t first_ms,
                     uint32_t last_ms) {
  return Join({Zeros(4), Ipv4Bytes(to), Zeros(8), Be32(packets), Be32(bytes), Be32(first_ms),
               Be32(last_ms), Zeros(16)});
}

TEST(FlowExport, Netflow5TellsOfFlows) {
  const Bytes record = Netflow5Record("9.8.7.6", 10, 1000, 5000, 7500);
  EXPECT_EQ(Decode({Netflow5(0, {record})}), "9.8.7.6/32 1140B 10p 10s 2500ms\n");
  EXPECT_EQ(Decode({Netflow5(100, {record, record})}),
            "9.8.7.6/32 114000B 1000p 10s 2500ms\n9.8.7.6/32 114000B 1000p 10s 2500ms\n");
}

// --- NetFlow 9 and IPFIX

Bytes Set(uint16_t number, const Bytes& bytes) {
  return Join({Be16(number), Be16(bytes.size() + 4), bytes});
}

Bytes TemplateOf(uint16_t number, const std::vector<std::pair<uint16_t, uint16_t>>& fields) {
  Bytes all = Join({Be16(number), Be16(fields.size())});
  for (const auto& [type, size] : fields) all = Join({all, Be16(type), Be16(size)});
  return all;
}

Bytes Netflow9(uint32_t domain, const Bytes& sets) {
  return Join({Be16(9), Be16(1), Zeros(12), Be32(domain), sets});
}

Bytes Ipfix(uint32_t domain, const Bytes& sets) {
  return Join({Be16(10), Be16(sets.size() + 16), Zeros(8), Be32(domain), sets});
}

const Bytes kFlowTemplate = TemplateOf(300, {{12, 4}, {1, 8}, {2, 4}, {22, 4}, {21, 4}});

Bytes Flow(const char* to, uint32_t bytes, uint32_t packets, uint32_t first, uint32_t last) {
  return Join({Ipv4Bytes(to), Zeros(4), Be32(bytes), Be32(packets), Be32(first), Be32(last)});
}

TEST(FlowExport, RecordsAreReadByTheTemplateOfTheirDomain) {
  const Bytes record = Set(300, Join({Flow("1.1.1.1", 86, 1, 10, 40), Zeros(2)}));
  EXPECT_EQ(Decode({Netflow9(1, Join({Set(0, kFlowTemplate), record})), Netflow9(1, record)}),
            "1.1.1.1/32 100B 1p 1s 30ms\n1.1.1.1/32 100B 1p 1s 30ms\n");
  EXPECT_EQ(Decode({Ipfix(1, Join({Set(2, kFlowTemplate), record}))}),
            "1.1.1.1/32 100B 1p 1s 30ms\n");
  FlowExportDecoder decoder;
  std::vector<FlowSample> samples;
  for (const Bytes& one : {Netflow9(1, Set(0, kFlowTemplate)), Netflow9(2, record)}) {
    EXPECT_EQ(decoder.Decode(one.data(), one.size(), &samples), FlowExportResult::kRead);
  }
  EXPECT_EQ(Print(samples), "");
  EXPECT_EQ(decoder.unknown_sets(), 1u);
}

TEST(FlowExport, SamplingIsToldByTheRecordOrByOptions) {
  const Bytes record = Set(300, Flow("1.1.1.1", 86, 1, 10, 40));
  const Bytes options9 =
      Set(1, Join({Be16(400), Be16(4), Be16(4), Be16(1), Be16(4), Be16(34), Be16(4)}));
  const Bytes told9 = Set(400, Join({Be32(0), Be32(100)}));
  EXPECT_EQ(Decode({Netflow9(1, Join({Set(0, kFlowTemplate), options9, told9, record}))}),
            "1.1.1.1/32 10000B 100p 1s 30ms\n");
  const Bytes options10 = Set(3, Join({Be16(400), Be16(3), Be16(1), Be16(149), Be16(4), Be16(305),
                                       Be16(4), Be16(306), Be16(4)}));
  const Bytes told10 = Set(400, Join({Be32(1), Be32(2), Be32(18)}));
  EXPECT_EQ(Decode({Ipfix(1, Join({Set(2, kFlowTemplate), options10, told10, record}))}),
            "1.1.1.1/32 1000B 10p 1s 30ms\n");
  const Bytes own = Set(0, TemplateOf(301, {{28, 16}, {1, 4}, {2, 4}, {34, 4}}));
  const Bytes ipv6 = Set(301, Join({Ipv6Bytes("2001:db8::1"), Be32(86), Be32(1), Be32(5)}));
  EXPECT_EQ(Decode({Netflow9(1, Join({own, ipv6}))}), "2001:db8::1/128 500B 5p 1s 0ms\n");
}

TEST(FlowExport, IpfixMayHaveFieldsOfEnterprisesAndOfAnyLength) {
  const Bytes fields = Join({Be16(300), Be16(4), Be16(0x8000 | 1), Be16(4), Be32(9999), Be16(82),
                             Be16(65535), Be16(12), Be16(4), Be16(2), Be16(1)});
  const Bytes record = Join({Be32(123456), {3, 'a', 'b', 'c'}, Ipv4Bytes("1.2.3.4"), {7}});
  const Bytes longer = Join({Be32(123456), {255, 1, 0}, Zeros(256), Ipv4Bytes("1.2.3.5"), {7}});
  EXPECT_EQ(Decode({Ipfix(1, Join({Set(2, fields), Set(300, Join({record, longer}))}))}),
            "1.2.3.4/32 98B 7p 7s 0ms\n1.2.3.5/32 98B 7p 7s 0ms\n");
}

TEST(FlowExport, FieldsWithoutBytesSayNothing) {
  std::vector<std::pair<uint16_t, uint16_t>> fields = {{12, 4}, {2, 4}, {2, 0}};
  fields.resize(FlowExportDecoder::kMaxFields, {34, 0});
  const Bytes record = Set(300, Join({Ipv4Bytes("5.5.5.5"), Be32(3)}));
  const std::string told = "5.5.5.5/32 42B 3p 3s 0ms\n";
  EXPECT_EQ(Decode({Netflow9(1, Join({Set(0, TemplateOf(300, fields)), record}))}), told);
  EXPECT_EQ(Decode({Ipfix(1, Join({Set(2, TemplateOf(300, fields)), record}))}), told);
}

TEST(FlowExport, ATemplateMayBeReplacedAndWithdrawn) {
  const Bytes other = Set(2, TemplateOf(300, {{2, 4}, {12, 4}}));
  const Bytes withdrawal = Set(2, Join({Be16(300), Be16(0)}));
  const Bytes record = Set(300, Join({Be32(1), Ipv4Bytes("5.5.5.5")}));
  EXPECT_EQ(Decode({Ipfix(1, Set(2, kFlowTemplate)), Ipfix(1, other), Ipfix(1, record),
                    Ipfix(1, withdrawal), Ipfix(1, record)}),
            "5.5.5.5/32 14B 1p 1s 0ms\n");
}

TEST(FlowExport, KeepsSoManyTemplatesAndNoMore) {
  FlowExportDecoder decoder;
  std::vector<FlowSample> samples;
  const auto decode = [&](const Bytes& one) {
    EXPECT_EQ(decoder.Decode(one.data(), one.size(), &samples), FlowExportResult::kRead);
  };
  for (uint32_t i = 0; i <= FlowExportDecoder::kMaxTemplates; ++i) {
    decode(Netflow9(i, Set(0, kFlowTemplate)));
  }
  const Bytes record = Set(300, Flow("1.1.1.1", 86, 1, 10, 40));
  decode(Netflow9(0, record));
  EXPECT_EQ(samples.size(), 1u);
  decode(Netflow9(FlowExportDecoder::kMaxTemplates, record));
  EXPECT_EQ(samples.size(), 1u);
  EXPECT_EQ(decoder.unknown_sets(), 1u);
}

TEST(FlowExport, WhatIsCutShortIsReadAsFarAsItGoes) {
  const std::vector<Bytes> whole = {
      SflowDatagram({SflowSample(64, RawHeader(FrameTo(0x01020304), 1004))}),
      Netflow5(7, {Netflow5Record("9.8.7.6", 10, 1000, 5000, 7500)}),
      Netflow9(1, Join({Set(0, kFlowTemplate), Set(300, Flow("1.1.1.1", 86, 1, 10, 40))})),
      Ipfix(1, Join({Set(2, kFlowTemplate), Set(300, Flow("1.1.1.1", 86, 1, 10, 40))})),
  };
  for (const Bytes& datagram : whole) {
    for (size_t size = 0; size < datagram.size(); ++size) {
      const Bytes cut(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(size));
      FlowExportDecoder decoder;
      std::vector<FlowSample> samples;
      decoder.Decode(cut.data(), cut.size(), &samples);
      EXPECT_EQ(Print(samples), "") << size;
    }
  }
  EXPECT_EQ(Decode({Be32(0x00070000)}, FlowExportResult::kUnknown), "");
  EXPECT_EQ(Decode({Netflow5(0, {Zeros(47)})}, FlowExportResult::kMalformed), "");
  EXPECT_EQ(Decode({Netflow9(1, Set(0, TemplateOf(300, {})))}), "");
  const Bytes empty = Set(0, TemplateOf(300, {{12, 0}, {2, 0}}));
  EXPECT_EQ(Decode({Netflow9(1, Join({empty, Set(300, Zeros(8))}))}, FlowExportResult::kMalformed),
            "");
  EXPECT_EQ(Decode({Netflow9(1, Join({Be16(0), Be16(3), Zeros(8)}))}, FlowExportResult::kMalformed),
            "");
}

// --- rates

FlowSample SampleTo(const char* to, uint64_t bytes, uint64_t packets, Nanos duration = 0) {
  FlowSample sample;
  sample.destination = *ParsePrefix(to);
  sample.bytes = bytes;
  sample.packets = packets;
  sample.sampled = packets;
  sample.duration = duration;
  return sample;
}

constexpr Nanos kSecond = kNanosPerSecond;

TEST(SampledDemand, IsThePeakAtTheRouterThatSawMost) {
  SampledDemand demand(300 * kSecond, 50);
  for (int i = 0; i < 40; ++i) demand.Add(0, SampleTo("10.0.0.1", 950, 1), (100 + i) * kSecond);
  for (int i = 0; i < 60; ++i) demand.Add(1, SampleTo("10.0.0.2", 950, 1), (100 + i / 6) * kSecond);
  EXPECT_EQ(demand.RateOf(*ParsePrefix("10.0.0.1"), 150 * kSecond), 8000);
  EXPECT_EQ(demand.RateOf(*ParsePrefix("10.0.0.0/8"), 150 * kSecond), 48000);
  EXPECT_FALSE(demand.RateOf(*ParsePrefix("11.0.0.0/8"), 150 * kSecond));
  EXPECT_FALSE(demand.RateOf(*ParsePrefix("::/0"), 150 * kSecond));
}

TEST(SampledDemand, FewerThanThirtyPacketsTellNothing) {
  SampledDemand demand(300 * kSecond, 50);
  for (int i = 0; i < 29; ++i) demand.Add(0, SampleTo("10.0.0.1", 950, 1), 100 * kSecond);
  EXPECT_FALSE(demand.RateOf(*ParsePrefix("10.0.0.0/8"), 101 * kSecond));
  demand.Add(1, SampleTo("10.0.0.1", 950, 1), 100 * kSecond);
  EXPECT_FALSE(demand.RateOf(*ParsePrefix("10.0.0.0/8"), 101 * kSecond));
  demand.Add(0, SampleTo("10.0.0.1", 950, 1), 100 * kSecond);
  EXPECT_EQ(demand.RateOf(*ParsePrefix("10.0.0.0/8"), 101 * kSecond), 24000);
  EXPECT_FALSE(demand.RateOf(*ParsePrefix("10.0.0.0/8"), 400 * kSecond));
}

TEST(SampledDemand, AFlowOfAMinuteIsNoPeakOfASecond) {
  SampledDemand demand(300 * kSecond, 0);
  demand.Add(0, SampleTo("10.0.0.1", 600'000, 600, 60 * kSecond), 200 * kSecond);
  EXPECT_NEAR(static_cast<double>(*demand.RateOf(*ParsePrefix("10.0.0.0/8"), 201 * kSecond)),
              80'000, 1);
}

// Routers tell of a flow that lasts every half an hour, as they come.
TEST(SampledDemand, AFlowThatLastsLongerThanTheMemoryHasTheRateThatItHad) {
  const Prefix all = *ParsePrefix("10.0.0.0/8");
  for (const Nanos now : {Nanos{2000}, Nanos{200}, Nanos{7}}) {
    SampledDemand demand(300 * kSecond, 0);
    demand.Add(0, SampleTo("10.0.0.1", 18'000'000, 18'000, 1800 * kSecond), now * kSecond);
    const double bits = static_cast<double>(*demand.RateOf(all, now * kSecond));
    EXPECT_NEAR(bits, now == 7 ? 56'000 : 80'000, 1) << now;  // seven seconds of ten
  }
}

TEST(SampledDemand, KeepsTheLastSamplesOnly) {
  SampledDemand demand(300 * kSecond, 0);
  for (size_t i = 0; i < SampledDemand::kMaxSamples + 100; ++i) {
    demand.Add(0, SampleTo(i < 100 ? "10.0.0.1" : "10.0.0.2", 100, 1), 100 * kSecond);
  }
  EXPECT_EQ(demand.sample_count(), SampledDemand::kMaxSamples);
  EXPECT_FALSE(demand.RateOf(*ParsePrefix("10.0.0.1"), 100 * kSecond));
}

// Random traffic by all four formats: what the demand says is the rate, as far as sampling lets it.
TEST(SampledDemand, OfRandomTrafficIsItsRate) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    const uint32_t one_of = 1 + random() % 20;
    const uint32_t bytes = 100 + random() % 1300;
    const uint32_t per_second = 2000 + random() % 3000;
    SampledDemand demand(300 * kSecond, 50);
    FlowExportDecoder decoder;
    std::vector<FlowSample> samples;
    for (uint32_t i = 0; i < per_second * 20; ++i) {
      if (random() % one_of != 0) continue;
      const uint32_t to = 0x0a000000 | random() % 1000;
      samples.clear();
      const Bytes datagram =
          seed % 2 == 0
              ? SflowDatagram({SflowSample(one_of, RawHeader(FrameTo(to), bytes + 4))})
              : Netflow5(
                    static_cast<uint16_t>(one_of),
                    {Join({Zeros(4), Be32(to), Zeros(8), Be32(1), Be32(bytes - 14), Zeros(24)})});
      ASSERT_EQ(decoder.Decode(datagram.data(), datagram.size(), &samples),
                FlowExportResult::kRead);
      ASSERT_EQ(samples.size(), 1u);
      demand.Add(0, samples[0], 100 * kSecond + i * (kSecond / per_second));
    }
    const double truth = per_second * (bytes + 50.0) * 8;
    const auto told = demand.RateOf(*ParsePrefix("10.0.0.0/16"), 125 * kSecond);
    ASSERT_TRUE(told);
    EXPECT_NEAR(static_cast<double>(*told) / truth, 1.0, 0.12) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet
