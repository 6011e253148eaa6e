// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Reports for tests and benchmarks of their stores.

#ifndef TRUMPET_CONTROLLER_STORE_REPORT_KIT_TEST_H
#define TRUMPET_CONTROLLER_STORE_REPORT_KIT_TEST_H

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "controller/store/report_store.h"

namespace trumpet {

constexpr Nanos kFirstReportEnd = 1700000000 * kNanosPerSecond;

// `count` reports after `last_number`, an interval of 10 ms every 100 of them, of `event_count`
// events of three tenants.
inline ReportRows SomeReports(uint64_t last_number, size_t count, unsigned event_count,
                              std::mt19937* random) {
  ReportRows rows;
  for (size_t i = 0; i < count; ++i) {
    auto row = std::make_shared<ReportRow>();
    row->number = ++last_number;
    const unsigned event = static_cast<unsigned>((*random)()) % event_count;
    row->event = "event-" + std::to_string(event);
    row->tenant = std::string(event % 3, 't');  // one has none
    row->bucket = R"({"dstIP":"10.0.0.)" + std::to_string((*random)() % 5) + "\"}";
    // Late ones come among the others.  Numbers may be drawn from the clock, and large.
    const auto interval =
        static_cast<Nanos>(last_number / 100 % 1'000'000) - static_cast<Nanos>((*random)() % 3);
    row->end_ns = kFirstReportEnd + interval * 10 * kNanosPerMilli;
    row->start_ns = row->end_ns - 10 * kNanosPerMilli;
    row->is_clear = (*random)() % 4 == 0;
    row->is_complete = (*random)() % 4 != 0;
    row->json = R"({"event":")" + row->event + R"(","bucket":)" + row->bucket +
                R"-(,"values":{"sum(volume)":1234567},"hosts":["h1","h2"],"complete":true})-";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_REPORT_KIT_TEST_H
