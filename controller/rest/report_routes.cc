// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/reports: what has happened, page by page.

#include <algorithm>
#include <ctime>
#include <utility>

#include "controller/rest/json_views.h"
#include "controller/rest/rest_call.h"
#include "lib/base/utc_time.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxPage = 1000;
constexpr uint64_t kDefaultPage = 100;

// Nanoseconds of Unix time, or "2027-01-31T12:00:00Z".
bool ReadInstant(const RestCall& call, const std::string& parameter, Nanos* instant) {
  const std::string text = call.query(parameter);
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  const bool is_read = !text.empty() && end != nullptr && *end == '\0';
  if (const auto seconds = is_read ? UtcSeconds(parts) : std::nullopt) {
    *instant = NanosOfSeconds(*seconds);
    return true;
  }
  uint64_t number = 0;
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) {
    if (!call.has(parameter)) return true;
    AnswerProblem(call.exchange.get(), 400,
                  "the parameter '" + parameter +
                      "' takes nanoseconds of Unix time, or an instant as 2027-01-31T12:00:00Z");
    return false;
  }
  if (!ReadNumber(call, parameter, INT64_MAX, &number)) return false;
  *instant = static_cast<Nanos>(number);
  return true;
}

// False, and answered, if a parameter is wrong.
bool ReadQuery(const RestCall& call, ReportQuery* query) {
  uint64_t limit = kDefaultPage;
  uint64_t cursor = UINT64_MAX;
  if (!ReadInstant(call, "from", &query->from_ns)) return false;
  if (!ReadInstant(call, "until", &query->until_ns)) return false;
  if (!ReadNumber(call, "limit", kMaxPage, &limit)) return false;
  if (!ReadNumber(call, "cursor", UINT64_MAX, &cursor)) return false;
  const std::string order = call.query("order");
  if (call.has("order") && order != "asc" && order != "desc") {
    AnswerProblem(call.exchange.get(), 400, "the parameter 'order' takes asc or desc");
    return false;
  }
  query->is_newest_first = order != "asc";
  if (call.has("cursor")) {
    (query->is_newest_first ? query->before_number : query->after_number) = cursor;
  }
  query->limit = limit;
  query->event = call.query("event");
  query->tenant = call.caller.tenant;
  query->bucket = call.query("bucket");
  return true;
}

// One more is asked for than is told: whether there is a next page.
void AnswerPage(HttpExchange* exchange, const ReportRows& rows, size_t limit) {
  const size_t count = std::min(rows.size(), limit);
  HttpReply answer;
  answer.body = "{\"reports\":[";
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) answer.body += ",";
    answer.body += ToJsonText(*rows[i]);
  }
  answer.body += "],\"next_cursor\":";
  answer.body +=
      rows.size() > limit && count > 0 ? std::to_string(rows[count - 1]->number) : "null";
  answer.body += "}\n";
  exchange->Answer(std::move(answer));
}

bool Fits(const ReportRow& row, const ReportQuery& query) {
  return row.end_ns >= query.from_ns && row.end_ns < query.until_ns &&
         (query.event.empty() || row.event == query.event) &&
         (query.tenant.empty() || row.tenant == query.tenant) &&
         (query.bucket.empty() || row.bucket == query.bucket) && row.number > query.after_number &&
         row.number < query.before_number;
}

// Without a store there is what the hub remembers.
ReportRows FindInMemory(const ReportHub& hub, const ReportQuery& query) {
  bool is_whole = false;
  ReportRows all = hub.After(0, ReportHub::kKept, &is_whole);
  if (query.is_newest_first) std::reverse(all.begin(), all.end());
  ReportRows found;
  for (const auto& row : all) {
    if (found.size() < query.limit && Fits(*row, query)) found.push_back(row);
  }
  return found;
}

}  // namespace

void ListReports(const RestCall& call) {
  ReportQuery query;
  if (!ReadQuery(call, &query)) return;
  const size_t limit = query.limit;
  ++query.limit;
  ReportHub* const hub = call.parts.reports;
  if (hub->store() == nullptr) {
    AnswerPage(call.exchange.get(), FindInMemory(*hub, query), limit);
    return;
  }
  hub->store()->Query(query, [exchange = call.exchange, limit](Result<ReportRows> rows) {
    if (rows.ok()) {
      AnswerPage(exchange.get(), *rows, limit);
    } else {
      AnswerProblem(exchange.get(), 503, rows.message());
    }
  });
}

}  // namespace trumpet
