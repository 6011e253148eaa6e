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

// The cells of a key that is reset may be those of others.
TEST_F(MeasurementViewsTest, BoundsNoErrorOfSketchesWhoseKeysAreReset) {
  measurement_.definition.text += "pkts >> match(size.min() > 100) >> size.reset();\n";
  auto program = CompileMeasurement(measurement_.definition);
  ASSERT_TRUE(program.ok()) << program.message();
  measurement_.program = *program;
  Count(1, 50, 1);
  ASSERT_EQ(Read(10).size(), 1u);
  EXPECT_FALSE(Read(10)[0].contains("estimate"));
  const MeasurementQuestion question{"size", "0.0.0.1,10.0.0.1", "", 10};
  EXPECT_EQ(CellsFor(measurement_.program, question)->size(), 1u);
}

constexpr char kAsked[] =
    "endpoint C, D; flow = Key(ipv4.dst);\n"
    "size = HashMap(key=flow, size=64, type=Counter(width=32));\n"
    "pkts >> size.add(pkt.size); ctrl >> duplicate(asked);\n"
    "asked >> tag(pkt.hh_volume, size) >> collect(C);\n";

NetworkMeasurement Asked() {
  NetworkMeasurement measurement;
  measurement.record.name = "hh";
  measurement.definition = {"hh", kAsked, {}, {}, 7};
  measurement.definition.places.endpoints = {{"C", "udp:10.0.0.9:4729"}};
  measurement.program = *CompileMeasurement(measurement.definition);
  measurement.hosts = {{"h1", MeasurementOnHost::kRunning, "", 3}};
  return measurement;
}

std::string AskError(const std::string& body) {
  const auto fields = ReadAskedFields(Asked().program, body);
  return fields.ok() ? "" : fields.message();
}

TEST(MeasurementRequests, ReadsFieldsByTheirNames) {
  const auto fields =
      ReadAskedFields(Asked().program, R"({"fields": {"ipv4.dst": "10.0.0.1", "pkt.request": 7}})");
  ASSERT_TRUE(fields.ok()) << fields.message();
  ASSERT_EQ(fields->size(), 2u);
  EXPECT_EQ((*fields)[0].field, kIpv4Dst);
  EXPECT_EQ((*fields)[0].value, 0x0a000001u);
  EXPECT_EQ((*fields)[1].value, 7u);
  EXPECT_TRUE(ReadAskedFields(Asked().program, R"({"fields": {}})").ok());
}

TEST(MeasurementRequests, SaysWhatIsWrong) {
  EXPECT_EQ(AskError(""), "request:1:1: not valid JSON here");
  EXPECT_EQ(AskError(R"({"fields": {}, "fields": {}})"),
            "request:1:16: 'fields' stands twice here");
  for (const char* body : {"[]", "{}", R"({"fields": []})", R"({"fields": {}, "a": 1})"}) {
    EXPECT_EQ(AskError(body),
              "a request is {\"fields\": {FIELD: VALUE, ...}}, of at most 64 fields")
        << body;
  }
  EXPECT_EQ(AskError(R"({"fields": {"ip.v4": 1}})"), "the program 'hh' knows no field 'ip.v4'");
  EXPECT_EQ(AskError(R"({"fields": {"pkt.request": 65536}})"),
            "pkt.request is '65536'; it takes a number of 16 bits");
  EXPECT_EQ(AskError(R"({"fields": {"pkt.request": -1}})"),
            "pkt.request takes a number, or an address as text");
  EXPECT_EQ(ReadAskedFields(MeasureProgram(), R"({"fields": {}})").message(),
            "the program has no task of ctrl");
}

TEST(MeasurementRequests, ShowsTheAnswerOfEachHost) {
  RequestAnswer answer;
  answer.hosts = {
      {"h1", {{1700, 0, uint64_t{1} << kIpv4Dst | uint64_t{1} << kPktHhVolume, {1, 480}}}}};
  answer.silent = {{"h2", "it does not answer"}};
  const Json json = RequestAnswerJson(Asked(), answer);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["silent"][0]["id"], "h2");
  EXPECT_EQ(json["answers"][0]["switch"], 3);
  const Json& copy = json["answers"][0]["copies"][0];
  EXPECT_EQ(copy["endpoint"], "C");
  EXPECT_EQ(copy["packet"].size(), 2u);
  EXPECT_EQ(copy["packet"]["pkt.hh_volume"], kIpv4Dst < kPktHhVolume ? 480 : 1);
}

TEST(MeasurementRequests, ShowsWhatBecameOfCopiesOfAllEndpoints) {
  NetworkMeasurement measurement = Asked();
  measurement.copies = {20, 1, 2, {{9, 5, 3}}};
  measurement.hosts[0].copies = measurement.copies;
  const Json json = ToJson(measurement);
  EXPECT_EQ(json["copies"]["collected"], 20);
  EXPECT_EQ(json["copies"]["over_rate"], 5);
  EXPECT_EQ(json["copies"]["lost"], 1);
  EXPECT_EQ(json["copies"]["unbound"], 2);
  ASSERT_EQ(json["copies"]["endpoints"].size(), 2u);
  EXPECT_EQ(json["copies"]["endpoints"][0]["address"], "udp:10.0.0.9:4729");
  EXPECT_EQ(json["copies"]["endpoints"][0]["sent"], 9);
  EXPECT_FALSE(json["copies"]["endpoints"][1].contains("address"));
  EXPECT_EQ(json["hosts"][0]["copies"]["failed"], 3);
}

}  // namespace
}  // namespace trumpet
