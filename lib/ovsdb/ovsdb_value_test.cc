// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_value.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trumpet {
namespace {

template <typename T>
std::optional<T> Read(const char* text) {
  T value{};
  if (!ReadOvsdb(ParseJson(text), &value)) return std::nullopt;
  return value;
}

TEST(OvsdbValue, ReadsAtomsAndSetsOfOne) {
  EXPECT_EQ(Read<std::string>(R"("a")"), "a");
  EXPECT_EQ(Read<std::string>(R"(["set",["a"]])"), "a");
  EXPECT_EQ(Read<int64_t>("-7"), -7);
  EXPECT_EQ(Read<int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(Read<bool>("true"), true);
}

TEST(OvsdbValue, ReadsNothingFromOtherShapes) {
  EXPECT_EQ(Read<std::string>("1"), std::nullopt);
  EXPECT_EQ(Read<std::string>(R"(["set",["a","b"]])"), std::nullopt);
  EXPECT_EQ(Read<std::string>(R"(["set",[]])"), std::nullopt);
  EXPECT_EQ(Read<int64_t>("1.5"), std::nullopt);
  EXPECT_EQ(Read<int64_t>("18446744073709551615"), std::nullopt);
  EXPECT_EQ(Read<bool>(R"("true")"), std::nullopt);
  EXPECT_EQ((Read<std::map<std::string, std::string>>(R"(["map",[["a"]]])")), std::nullopt);
  EXPECT_EQ((Read<std::map<std::string, std::string>>(R"(["map",{"a":"b"}])")), std::nullopt);
  EXPECT_EQ(Read<std::vector<std::string>>(R"(["set",[1]])"), std::nullopt);
  EXPECT_EQ(Read<std::vector<std::string>>(R"(["set","a"])"), std::nullopt);
}

TEST(OvsdbValue, ReadsSetsAndMaps) {
  EXPECT_EQ(Read<std::vector<std::string>>(R"(["set",["a","b"]])"),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Read<std::vector<std::string>>(R"("a")"), std::vector<std::string>{"a"});
  EXPECT_EQ(Read<std::vector<int64_t>>(R"(["set",[]])"), std::vector<int64_t>());
  EXPECT_EQ((Read<std::map<std::string, std::string>>(R"(["map",[["a","b"],["c",""]]])")),
            (std::map<std::string, std::string>{{"a", "b"}, {"c", ""}}));
}

TEST(OvsdbValue, ReadsUuids) {
  std::string uuid;
  EXPECT_TRUE(ReadOvsdbUuid(ParseJson(R"(["uuid","1-2"])"), &uuid));
  EXPECT_EQ(uuid, "1-2");
  EXPECT_FALSE(ReadOvsdbUuid(ParseJson(R"("1-2")"), &uuid));
  std::vector<std::string> uuids;
  EXPECT_TRUE(ReadOvsdbUuids(ParseJson(R"(["set",[["uuid","1"],["uuid","2"]]])"), &uuids));
  EXPECT_EQ(uuids, (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(ReadOvsdbUuids(ParseJson(R"(["uuid","1"])"), &uuids));
  EXPECT_EQ(uuids, std::vector<std::string>{"1"});
}

TEST(OvsdbValue, WritesWhatItReads) {
  const std::map<std::string, std::string> map = {{"a", "b"}, {"c", "d"}};
  std::map<std::string, std::string> read_map;
  EXPECT_TRUE(ReadOvsdb(OvsdbMap(map), &read_map));
  EXPECT_EQ(read_map, map);
  std::string uuid;
  EXPECT_TRUE(ReadOvsdbUuid(OvsdbUuid("1-2"), &uuid));
  EXPECT_EQ(uuid, "1-2");
  EXPECT_EQ(PrintJson(OvsdbEquals("name", "x")), R"(["name","==","x"])");
  EXPECT_EQ(PrintJson(OvsdbSet({1, 2})), R"(["set",[1,2]])");
  EXPECT_EQ(PrintJson(OvsdbNamedUuid("row")), R"(["named-uuid","row"])");
}

TEST(OvsdbValue, NeitherParsingNorPrintingThrows) {
  EXPECT_TRUE(ParseJson("{\"a\":").is_discarded());
  EXPECT_TRUE(ParseJson("\"\xff\"").is_discarded());
  EXPECT_EQ(PrintJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace trumpet
