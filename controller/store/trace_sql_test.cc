// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which way SQLite goes to what a query is for, in a file that is sealed.

#include "controller/store/trace_sql.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "controller/store/trace_part.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

Prefix Ipv4(uint32_t address, uint8_t length) { return {false, address, length}; }

class TraceSql : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.File("traces-1.db");
    bool is_broken = false;
    auto part = TracePart::Open(path, 1, 0, &is_broken);
    ASSERT_TRUE(part.ok()) << part.message();
    ASSERT_TRUE((*part)->Seal().ok());
    auto file = SqliteFile::Open(path, SqliteFile::Mode::kCreate);
    ASSERT_TRUE(file.ok()) << file.message();
    file_ = std::make_unique<SqliteFile>(std::move(*file));
  }

  std::string PlanOf(const std::string& sql) {
    auto plan = SqliteStatement::Prepare(file_.get(), "EXPLAIN QUERY PLAN " + sql);
    if (!plan.ok()) return plan.message();
    std::string text;
    for (auto row = plan->Step(); row.ok() && *row; row = plan->Step()) {
      text += plan->Text(3) + "; ";
    }
    return text;
  }
  void ExpectIndex(const TraceQuery& query, const std::string& index) {
    for (const std::string& sql : {TraceSearchSql(query), TraceCountSql(query)}) {
      EXPECT_NE(PlanOf(sql).find(" INDEX " + index + " ("), std::string::npos) << sql << "\n"
                                                                               << PlanOf(sql);
    }
  }

  OvsdbTestFolder folder_;
  std::unique_ptr<SqliteFile> file_;
};

TEST_F(TraceSql, FindsFlowsBySender) {
  TraceQuery query;
  query.src = Ipv4(0x0a000105, 32);
  ExpectIndex(query, "trace_of_flow");
  query.src_port = 1000;
  query.from = 5;
  ExpectIndex(query, "trace_of_flow");
  query.behind = {7, 1};
  query.dst = Ipv4(0x0a000200, 24);
  ExpectIndex(query, "trace_of_flow");
  query.dst.reset();
  query.src = Ipv4(0x0a000100, 24);
  ExpectIndex(query, "trace_of_flow");
  query.fault = 1;
  ExpectIndex(query, "trace_of_flow");
}

TEST_F(TraceSql, FindsFlowsByReceiver) {
  TraceQuery query;
  query.dst = Ipv4(0x0a000105, 32);
  ExpectIndex(query, "trace_of_receiver");
  query.dst_port = 80;
  query.fault = 1;
  ExpectIndex(query, "trace_of_receiver");
}

TEST_F(TraceSql, FindsVerdictsAndSpansOfTime) {
  TraceQuery query;
  query.from = 5;
  query.until = 10;
  ExpectIndex(query, "trace_of_time");
  query.src = Ipv4(0x0a000000, 8);
  ExpectIndex(query, "trace_of_time");
  query.src.reset();
  query.fault = 1;
  ExpectIndex(query, "trace_of_fault");
}

TEST_F(TraceSql, CountsVerdictsWithoutReadingTheTraces) {
  TraceQuery query;
  query.fault = 1;
  const std::string plan = PlanOf(TraceCountSql(query));
  EXPECT_NE(plan.find(" COVERING INDEX trace_of_fault ("), std::string::npos) << plan;
}

}  // namespace
}  // namespace trumpet
