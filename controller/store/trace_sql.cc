// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_sql.h"

namespace trumpet {
namespace {

// The number of the first parameter for `within`.
constexpr int kFirstWithin = 19;

// So long that its index finds fewer rows than that of time does.
bool IsNarrow(const Prefix& prefix) { return prefix.length >= (prefix.is_ipv6 ? 48 : 16); }

// The numbers are those of the parameters with its first and last address.
std::string AddressCondition(const Prefix& prefix, const std::string& column, int first, int last) {
  const std::string begin = (IsNarrow(prefix) ? " AND " : " AND +") + column;
  const bool is_one = prefix.length == (prefix.is_ipv6 ? 128 : 32);
  if (is_one) return begin + " = ?" + std::to_string(first);
  return begin + " BETWEEN ?" + std::to_string(first) + " AND ?" + std::to_string(last);
}

// Without statistics, SQLite takes a span of time for as good as a prefix, and prefers it for the
// order that it gives.  A plus before a column says that its index is not to be used.
std::string Conditions(const TraceQuery& query) {
  const bool is_by_address =
      (query.src && IsNarrow(*query.src)) || (query.dst && IsNarrow(*query.dst));
  const std::string start = is_by_address ? "+start" : "start";
  std::string sql = " WHERE " + start + " >= ?1 AND " + start + " < ?2 AND hops >= ?3";
  if (query.src) sql += AddressCondition(*query.src, "src", 4, 14);
  if (query.dst) sql += AddressCondition(*query.dst, "dst", 5, 15);
  if (query.marks != 0) sql += " AND marks & ?16";
  if (query.protocol) sql += " AND protocol = ?6";
  if (query.src_port) sql += " AND src_port = ?7";
  if (query.dst_port) sql += " AND dst_port = ?8";
  if (query.fault) sql += is_by_address ? " AND +fault = ?9" : " AND fault = ?9";
  if (query.through) sql += " AND id IN (SELECT trace FROM hop WHERE switch = ?10)";
  if (query.id) sql += " AND id = ?17";
  for (size_t i = 0; i < query.within.size(); ++i) {
    const std::string first = "?" + std::to_string(kFirstWithin + 2 * static_cast<int>(i));
    const std::string last = "?" + std::to_string(kFirstWithin + 2 * static_cast<int>(i) + 1);
    const std::string between = " BETWEEN " + first + " AND " + last;
    sql.append(i == 0 ? " AND (" : " OR ").append("src").append(between);
    sql.append(" OR dst").append(between);
  }
  if (!query.within.empty()) sql += ")";
  if (query.behind) sql += " AND (" + start + ", id) > (?11, ?12)";
  return sql;
}

}  // namespace

std::string TraceSearchSql(const TraceQuery& query) {
  return "SELECT * FROM trace" + Conditions(query) + " ORDER BY start, id LIMIT ?13";
}

std::string TraceCountSql(const TraceQuery& query) {
  const std::string step = "?" + std::to_string(kTraceCountStep);
  return "SELECT start / " + step + " * " + step + ", count(*), sum(bytes) FROM trace" +
         Conditions(query) + " GROUP BY 1";
}

void BindTraceQuery(const TraceQuery& query, TraceQueryTexts* texts, SqliteStatement* find) {
  if (query.src) texts->src = StoredRange(*query.src);
  if (query.dst) texts->dst = StoredRange(*query.dst);
  find->Bind(4, std::string_view(texts->src.first));
  find->Bind(14, std::string_view(texts->src.second));
  find->Bind(5, std::string_view(texts->dst.first));
  find->Bind(15, std::string_view(texts->dst.second));
  find->Bind(1, query.from);
  find->Bind(2, query.until);
  find->Bind(3, static_cast<int64_t>(query.min_hops));
  find->Bind(16, int64_t{query.marks});
  find->Bind(6, int64_t{query.protocol.value_or(0)});
  find->Bind(7, int64_t{query.src_port.value_or(0)});
  find->Bind(8, int64_t{query.dst_port.value_or(0)});
  find->Bind(9, int64_t{query.fault.value_or(0)});
  find->Bind(10, int64_t{query.through.value_or(0)});
  find->Bind(17, ToSqlite(query.id.value_or(0)));
  if (query.behind) {
    find->Bind(11, query.behind->first);
    find->Bind(12, ToSqlite(query.behind->second));
  }
  find->Bind(13, static_cast<int64_t>(query.limit));
  for (const Prefix& prefix : query.within) texts->within.push_back(StoredRange(prefix));
  int at = kFirstWithin;
  for (const auto& [first, last] : texts->within) {
    find->Bind(at++, std::string_view(first));
    find->Bind(at++, std::string_view(last));
  }
}

}  // namespace trumpet
