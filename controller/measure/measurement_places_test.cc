// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/measurement_places.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;
using Ports = MeasurementPlaces::Ports;

MeasurementPlaces PlacesOf(const std::string& text) {
  MeasurementPlaces places;
  const Json json = Json::parse(text);
  for (const auto& [key, value] : json.items()) {
    const auto taken = ReadMeasurementPlace(key, value, /*is_stored=*/true, &places);
    EXPECT_TRUE(taken.ok() && *taken) << key;
  }
  return places;
}

std::string Error(const std::string& key, const std::string& value) {
  MeasurementPlaces places;
  const auto taken = ReadMeasurementPlace(key, Json::parse(value), /*is_stored=*/false, &places);
  return taken.ok() ? *taken ? "taken" : "no key of places" : taken.message();
}

TEST(MeasurementPlaces, SaysNothingOfEdgesUnlessToldSo) {
  const MeasurementPlace place = PlaceAt({}, {"id-1", "h1"});
  EXPECT_FALSE(place.edges.has_value());
  EXPECT_FALSE(place.switch_id.has_value());
  EXPECT_FALSE(place.is_lab);
}

TEST(MeasurementPlaces, GivesEveryHostTheSameEdges) {
  const auto places = PlacesOf(R"({"edges": ["vm*"], "lab": true})");
  EXPECT_EQ(PlaceAt(places, {"id-1", "h1"}).edges, Ports{"vm*"});
  EXPECT_TRUE(PlaceAt(places, {"id-1", "h1"}).is_lab);
}

TEST(MeasurementPlaces, FindsHostsByIdOrNameAndGivesOthersNoEdges) {
  const auto places = PlacesOf(R"({"edges": {"id-1": ["a"], "h2": ["b"]}, "switches": {"h2": 9}})");
  EXPECT_EQ(PlaceAt(places, {"id-1", "h1"}).edges, Ports{"a"});
  EXPECT_EQ(PlaceAt(places, {"id-2", "h2"}).edges, Ports{"b"});
  EXPECT_EQ(PlaceAt(places, {"id-2", "h2"}).switch_id, 9);
  EXPECT_EQ(PlaceAt(places, {"id-3", "h3"}).edges, Ports{});
  EXPECT_EQ(HostsNamed(places), (std::set<std::string>{"h2", "id-1"}));
}

TEST(MeasurementPlaces, NumbersHostsWithoutANumber) {
  auto places = PlacesOf(R"({"switches": {"h2": 1}})");
  ASSERT_TRUE(NumberHosts({{"id-1", "h1"}, {"id-2", "h2"}, {"id-3", "h3"}}, &places).ok());
  EXPECT_EQ(PlaceAt(places, {"id-1", "h1"}).switch_id, 2);
  EXPECT_EQ(PlaceAt(places, {"id-2", "h2"}).switch_id, 1);
  EXPECT_EQ(PlaceAt(places, {"id-3", "h3"}).switch_id, 3);
  std::vector<NamedHost> many(256);
  for (size_t i = 0; i < many.size(); ++i) many[i].id = "x" + std::to_string(i);
  EXPECT_FALSE(NumberHosts(many, &places).ok());
}

TEST(MeasurementPlaces, IsReadAsItWasStoredAndShownWithoutWhatWasDrawn) {
  for (const char* const text :
       {R"({"edges":["a","b"],"switches":{"h1":1},"drawn":{"h2":2},"lab":true})",
        R"({"endpoints":{"C":"udp:10.0.0.9:4729","D":"erspan:[2001:db8::9]"},"copy_rate":100000})",
        R"({"edges":{"h1":["a"],"h2":[]}})", "{}"}) {
    Json stored = Json::object();
    PrintMeasurementPlaces(PlacesOf(text), /*is_stored=*/true, &stored);
    EXPECT_EQ(stored.dump(), text);
    Json shown = Json::object();
    PrintMeasurementPlaces(PlacesOf(text), /*is_stored=*/false, &shown);
    EXPECT_FALSE(shown.contains("drawn"));
  }
}

TEST(MeasurementPlaces, TellsEveryHostWhereCopiesGo) {
  const auto places = PlacesOf(R"({"endpoints": {"C": "udp:10.0.0.9:4729"}, "copy_rate": 7})");
  const MeasurementPlace place = PlaceAt(places, {"id-1", "h1"});
  EXPECT_EQ(place.endpoints, (EndpointAddresses{{"C", "udp:10.0.0.9:4729"}}));
  EXPECT_EQ(place.copies_per_second, 7u);
  EXPECT_TRUE(place.tells_of_copies());
  EXPECT_FALSE(PlaceAt({}, {"id-1", "h1"}).tells_of_copies());
  EXPECT_FALSE(places.IsSameAs({}));
}

TEST(MeasurementPlaces, SaysWhatIsWrong) {
  EXPECT_EQ(Error("colour", "1"), "no key of places");
  EXPECT_EQ(Error("drawn", "{}"), "no key of places");
  EXPECT_EQ(Error("edges", "1"),
            "edges takes a list of at most 1024 ports, or such a list of each host");
  EXPECT_EQ(Error("edges", R"({"h1": "a"})"),
            "edges takes a list of at most 1024 ports, or such a list of each host");
  EXPECT_EQ(Error("edges", R"([""])"), "edges takes names of ports, or patterns of them");
  EXPECT_EQ(Error("switches", "[]"), "switches takes an object of hosts and their numbers");
  EXPECT_EQ(Error("switches", R"({"a": 256})"), "switches: 'a' takes a number up to 255");
  EXPECT_EQ(Error("switches", R"({"a": 1, "b": 1})"),
            "switches: 'b' has the number 1 of another one");
  EXPECT_EQ(Error("lab", "1"), "lab takes true or false");
  EXPECT_EQ(Error("endpoints", "[]"), "endpoints takes an object of endpoints and their addresses");
  EXPECT_EQ(Error("endpoints", R"({"C": 1})"), "endpoints: 'C' takes an address as text");
  EXPECT_EQ(Error("endpoints", R"({"C": "udp:collector:1"})"),
            "endpoints: 'C' is 'udp:collector:1'; copies go to 'udp:ADDRESS:PORT' or "
            "'erspan:ADDRESS', as udp:10.0.0.9:4729 or erspan:[2001:db8::9]");
  for (const char* const rate : {"0", "100001", "-1", "1.5", "\"1\"", "18446744073709551615"}) {
    EXPECT_EQ(Error("copy_rate", rate), "copy_rate takes 1 to 100000 copies a second") << rate;
  }
}

}  // namespace
}  // namespace trumpet
