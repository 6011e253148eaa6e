// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/measurement_views.h"

#include <gtest/gtest.h>

#include "lib/measure/program_loader.h"
#include "lib/measure/read_state.h"

namespace trumpet {
namespace {

constexpr uint32_t kHost = 0x0a000001;

class MeasurementViewsTest : public ::testing::Test {
 protected:
  MeasurementViewsTest() {
    measurement_.record.name = "hh";
    measurement_.definition = {"hh",
                               "flow = Key(ipv4.src, ipv4.dst);\n"
                               "size = Sketch(alg=\"count-min\", key=flow, nhash=4, size=256);\n"
                               "pkts >> size.set(size + pkt.size);\n",
                               {},
                               {},
                               7};
    auto program = CompileMeasurement(measurement_.definition);
    EXPECT_TRUE(program.ok()) << program.message();
    measurement_.program = *program;
    reading_.cells = {std::vector<uint64_t>(4 * 256), {}};
  }
  // Counted by some host, and collected by as many as said.
  void Count(uint32_t source, uint64_t bytes, int collectors) {
    MeasureLoadOptions options;
    options.seed = measurement_.definition.seed;
    const auto loaded = LoadMeasureProgram(measurement_.program, options);
    PacketValues packet;
    packet.Set(kIpv4Src, source);
    packet.Set(kIpv4Dst, kHost);
    for (const uint32_t cell : CellsOfKey(**loaded, 0, packet)) reading_.cells[0][cell] += bytes;
    for (int i = 0; i < collectors; ++i) {
      reading_.cells[1].insert(reading_.cells[1].end(), {source, kHost});
    }
  }
  Json Read(size_t top) {
    const MeasurementQuestion question{"size", "", "", top};
    const auto cells = CellsFor(measurement_.program, question);
    EXPECT_TRUE(cells.ok()) << cells.message();
    return ReadingJson(measurement_, question, *cells, reading_)["variables"][0]["top_keys"];
  }

  NetworkMeasurement measurement_;
  CellReading reading_;
};

TEST_F(MeasurementViewsTest, TellsTheLargestOfTheKeysThatHostsHaveCollected) {
  Count(1, 1000, 1);
  Count(2, 5000, 2);  // at two hosts: told once
  Count(3, 9000, 0);  // nobody knows its key
  Count(4, 10, 1);
  const Json keys = Read(2);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0]["key"], "0.0.0.2,10.0.0.1");
  EXPECT_GE(keys[0]["value"], 5000);
  EXPECT_LE(keys[0]["estimate"]["low"], 5000);
  EXPECT_GT(keys[0]["estimate"]["confidence"], 0.98);
  EXPECT_EQ(keys[1]["key"], "0.0.0.1,10.0.0.1");
}

TEST_F(MeasurementViewsTest, TakesNoPartOfAKeyAndNoValueTooLarge) {
  Count(1, 1000, 1);
  reading_.cells[1].insert(reading_.cells[1].end(), {UINT64_MAX, UINT64_MAX, 3});
  EXPECT_EQ(Read(10).size(), 1u);
}

}  // namespace
}  // namespace trumpet
