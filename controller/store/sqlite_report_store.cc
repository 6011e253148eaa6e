// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/sqlite_report_store.h"

#include <utility>

#include "controller/store/report_threads.h"

namespace trumpet {

SqliteReportStore::SqliteReportStore(event_base* base, SqliteReportStoreOptions options)
    : threads_(std::make_unique<Threads>(base, std::move(options))) {
  threads_->Start();
}

SqliteReportStore::~SqliteReportStore() = default;

uint64_t SqliteReportStore::last_number() const { return threads_->last_number(); }

void SqliteReportStore::Append(const ReportRows& rows) { threads_->Append(rows); }

void SqliteReportStore::Query(const ReportQuery& query, Done done) {
  threads_->Query(query, std::move(done));
}

ReportStoreCounters SqliteReportStore::counters() const { return threads_->counters(); }

}  // namespace trumpet
