// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_copy.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace trumpet {
namespace {

class OvsdbCopyTest : public testing::Test {
 protected:
  std::string Apply(const char* updates, size_t max_bytes = 10000) {
    changes_.clear();
    const Status status = ApplyUpdates(ParseJson(updates), max_bytes, &tables_, &bytes_, &changes_);
    return status.ok() ? "" : status.message();
  }

  OvsdbTables tables_ = {{"T", {}}};
  size_t bytes_ = 0;
  std::vector<OvsdbRowChange> changes_;
};

TEST_F(OvsdbCopyTest, AddsChangesAndRemovesRows) {
  EXPECT_EQ(Apply(R"({"T":{"u1":{"new":{"a":1}},"u2":{"new":{"a":2}}}})"), "");
  EXPECT_EQ(tables_["T"]["u2"], ParseJson(R"({"a":2})"));
  EXPECT_EQ(changes_.size(), 2u);
  EXPECT_TRUE(changes_[0].old_row.is_null());
  EXPECT_EQ(Apply(R"({"T":{"u2":{"old":{"a":2},"new":{"a":3}},"u1":{"old":{"a":1}}}})"), "");
  EXPECT_EQ(tables_["T"].size(), 1u);
  EXPECT_EQ(tables_["T"]["u2"], ParseJson(R"({"a":3})"));
  EXPECT_EQ(changes_[0].old_row, ParseJson(R"({"a":1})"));
}

TEST_F(OvsdbCopyTest, RefusesWhatIsMalformed) {
  EXPECT_EQ(Apply("[]"), "an update is no object of tables");
  EXPECT_EQ(Apply(R"({"U":{}})"), "an update of table U is malformed");
  EXPECT_EQ(Apply(R"({"T":[]})"), "an update of table T is malformed");
  EXPECT_EQ(Apply(R"({"T":{"u":7}})"), "the update of row u of T is malformed");
  EXPECT_EQ(Apply(R"({"T":{"u":{"new":7}}})"), "the update of row u of T is malformed");
}

TEST_F(OvsdbCopyTest, BoundsWhatItTakes) {
  EXPECT_EQ(Apply(R"({"T":{"u":{"new":{"a":"0123456789"}}}})", 10),
            "the tables take more than the 10 bytes that are allowed");
}

TEST_F(OvsdbCopyTest, CountsNamesOfMembers) {
  EXPECT_EQ(Apply(R"({"T":{"u":{"new":{"a":{"b":0,"c":0,"d":0,"e":0}}}}})", 200),
            "the tables take more than the 200 bytes that are allowed");
}

TEST_F(OvsdbCopyTest, CountsBytesOfWhatIsThere) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const std::string uuid = "u" + std::to_string(random() % 10);
    const std::string row = R"({"new":{"a":")" + std::string(random() % 30, 'x') + "\"}}";
    const std::string update = random() % 3 == 0 ? R"({"old":{}})" : row;
    ASSERT_EQ(Apply((R"({"T":{")" + uuid + "\":" + update + "}}").c_str()), "");
  }
  while (!tables_["T"].empty()) {
    ASSERT_EQ(Apply((R"({"T":{")" + tables_["T"].begin()->first + R"(":{}}})").c_str()), "");
  }
  EXPECT_EQ(bytes_, 0u);
}

}  // namespace
}  // namespace trumpet
