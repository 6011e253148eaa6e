// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measurement_definition.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr char kText[] = "total = Counter(width=32);\npkts >> total.set(total + 1);\n";

std::string Error(const std::string& json, bool is_stored = false) {
  const auto definition = ReadMeasurementDefinition(json, "hh", is_stored);
  return definition.ok() ? "" : definition.message();
}

TEST(MeasurementDefinition, IsReadAsItWasPrinted) {
  MeasurementDefinition definition{"hh", kText, {{"LIMIT", "10"}}, {"a", "b"}, 77};
  const auto again =
      ReadMeasurementDefinition(PrintMeasurementDefinition(definition), "", /*is_stored=*/true);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_TRUE(again->IsSameAs(definition));
  EXPECT_EQ(again->seed, 77u);
}

TEST(MeasurementDefinition, NamesEachHostOnce) {
  const auto definition =
      ReadMeasurementDefinition(R"({"program": "x", "hosts": ["b", "a", "b"]})", "hh", false);
  ASSERT_TRUE(definition.ok()) << definition.message();
  EXPECT_EQ(definition->hosts, (std::vector<std::string>{"a", "b"}));
}

TEST(MeasurementDefinition, SaysWhatIsWrong) {
  EXPECT_EQ(Error("["), "the measurement is no JSON object");
  EXPECT_EQ(Error("{}"), "program is missing: what shall be measured?");
  EXPECT_EQ(Error(R"({"program": 1})"), "program takes a text");
  EXPECT_EQ(Error(R"({"params": []})"), "params takes an object of texts");
  EXPECT_EQ(Error(R"({"params": {"A": 1}})"), "params takes texts: {\"WINDOW\": \"10ms\"}");
  EXPECT_EQ(Error(R"({"hosts": "a"})"), "hosts takes a list of at most 4096 hosts");
  EXPECT_EQ(Error(R"({"hosts": [""]})"), "hosts takes ids or names of hosts");
  EXPECT_EQ(Error(R"({"name": "other"})"),
            "the measurement's name is 'other', and it was to be 'hh'");
  EXPECT_EQ(Error(R"({"colour": 1})"),
            "a measurement has no 'colour'; it has name, program, params, hosts, edges, switches, "
            "lab, endpoints and copy_rate");
  EXPECT_EQ(
      Error(R"({"program": "x", "seed": 1})"),
      "a measurement has no 'seed'; it has name, program, params, hosts, edges, switches, lab, "
      "endpoints and copy_rate");
  for (const char* name : {"json", "-x", ".x", "a b"}) {
    EXPECT_FALSE(ReadMeasurementDefinition(R"({"program": "x"})", name, false).ok()) << name;
  }
}

TEST(MeasurementDefinition, CompilesWithItsParams) {
  MeasurementDefinition definition{
      "hh", "param LIMIT = 1;\n" + std::string(kText), {{"LIMIT", "10"}}, {}, 0};
  const auto program = CompileMeasurement(definition);
  ASSERT_TRUE(program.ok()) << program.message();
  EXPECT_EQ(program->name, "hh");
  EXPECT_EQ(program->params[0].value.numerator, 10u);
  definition.params.clear();
  definition.text = "pkts >> nothing.set(1);";
  EXPECT_EQ(CompileMeasurement(definition).message().substr(0, 12), "hh:1:9: E1: ");
}

TEST(MeasurementDefinition, BindsEndpointsThatTheProgramHas) {
  MeasurementDefinition definition{
      "hh", "endpoint A, B;\npkts >> duplicate(a);\na >> collect(A);\n", {}, {}, 0};
  definition.places.endpoints = {{"A", "udp:10.0.0.9:4729"}};
  const auto again =
      ReadMeasurementDefinition(PrintMeasurementDefinition(definition), "", /*is_stored=*/true);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_TRUE(again->IsSameAs(definition));
  EXPECT_TRUE(CompileMeasurement(*again).ok()) << "B stays without an address";
  definition.places.endpoints["C"] = "udp:10.0.0.9:4729";
  EXPECT_FALSE(again->IsSameAs(definition));
  EXPECT_EQ(CompileMeasurement(definition).message(),
            "endpoints: the program has no endpoint 'C'; it has A, B");
  definition.text = kText;
  EXPECT_EQ(CompileMeasurement(definition).message(),
            "endpoints: the program has no endpoint 'A'; it has none");
}

}  // namespace
}  // namespace trumpet
