// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/event_rows.h"

#include <gtest/gtest.h>

#include <string>

namespace trumpet {
namespace {

EventRecord OneRecord() {
  EventRecord record;
  record.id = 7;
  record.name = "heavy";
  record.tenant = "red";
  record.definition = R"({"name":"heavy"})";
  record.is_enabled = false;
  record.created_ns = 1700000000123456789;
  record.changed_ns = 1700000000987654321;
  record.changed_by = "ann";
  return record;
}

// What a server would send of the row that was inserted.
Json RowOf(const EventRecord& record) { return InsertEvent(record)["row"]; }

TEST(EventRows, ReadWhatTheyWrite) {
  EventRow row;
  ASSERT_TRUE(ReadEventRow("u", RowOf(OneRecord()), &row));
  EXPECT_EQ(row.uuid, "u");
  EXPECT_EQ(row.record.id, 7u);
  EXPECT_EQ(row.record.name, "heavy");
  EXPECT_EQ(row.record.tenant, "red");
  EXPECT_EQ(row.record.definition, R"({"name":"heavy"})");
  EXPECT_FALSE(row.record.is_enabled);
  EXPECT_EQ(row.record.created_ns, 1700000000123456789);
  EXPECT_EQ(row.record.changed_ns, 1700000000987654321);
  EXPECT_EQ(row.record.changed_by, "ann");
  EXPECT_TRUE(row.has_own_id());
}

TEST(EventRows, IdBelongsToNameAndDefinition) {
  EventRow row;
  for (const char* column : {"name", "definition"}) {
    Json columns = RowOf(OneRecord());
    columns[column] = "other";
    ASSERT_TRUE(ReadEventRow("u", columns, &row));
    EXPECT_FALSE(row.has_own_id()) << column;
  }
  Json columns = RowOf(OneRecord());
  columns["enabled"] = true;
  ASSERT_TRUE(ReadEventRow("u", columns, &row));
  EXPECT_TRUE(row.has_own_id());
}

TEST(EventRows, MalformedOnesAreNotRead) {
  EventRow row;
  const auto reads_with = [&](const char* column, const Json& value) {
    Json columns = RowOf(OneRecord());
    columns[column] = value;
    return ReadEventRow("u", columns, &row);
  };
  EXPECT_FALSE(reads_with("name", ""));
  EXPECT_FALSE(reads_with("name", std::string(kMaxEventNameBytes + 1, 'x')));
  EXPECT_FALSE(reads_with("definition", ""));
  EXPECT_FALSE(reads_with("definition", std::string(kMaxDefinitionBytes + 1, 'x')));
  EXPECT_FALSE(reads_with("event_id", -1));
  EXPECT_FALSE(reads_with("event_id", int64_t{1} << 32));
  EXPECT_FALSE(reads_with("enabled", 1));
  EXPECT_FALSE(ReadEventRow("u", Json::object(), &row));
  EXPECT_FALSE(ReadEventRow("u", Json(7), &row));
}

// The digest is stored, so another one would give every event a new id at the next release.
TEST(EventRows, DigestStaysAsItIs) { EXPECT_EQ(EventDigest(OneRecord()), "f80a142cb413783b"); }

}  // namespace
}  // namespace trumpet
