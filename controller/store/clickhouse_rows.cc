// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/clickhouse_rows.h"

#include <cinttypes>
#include <cstdio>
#include <tuple>
#include <utility>

#include "controller/store/row_binary.h"

namespace trumpet {
namespace {

#define TRACE_COLUMNS                                                              \
  "id, revision, start, src, dst, protocol, src_port, dst_port, fault, drop_ppm, " \
  "last_switch, marks, bytes, evidence, packet, hop_time, hop_tag, hop_switch, hop_ttl"

// Partitions of trace_start are so many times as long as those of traces: fewer files to look into.
constexpr Nanos kStartsOfPartitions = 8;

// The least number is no literal.
std::string Signed(int64_t value) { return "toInt64('" + std::to_string(value) + "')"; }
std::string Id(uint64_t id) { return Signed(static_cast<int64_t>(id)); }

std::string Between(const char* column, const Prefix& prefix) {
  const auto range = StoredRange(prefix);  // hexadecimal digits
  return std::string(column) + " BETWEEN '" + range.first + "' AND '" + range.second + "'";
}

std::string BehindOf(const TraceQuery& query) {
  const std::string start = Signed(query.behind->first);
  return "(start > " + start + " OR (start = " + start + " AND id > " + Id(query.behind->second) +
         "))";
}

std::string Conditions(const TraceQuery& query) {
  std::vector<std::string> all = {"start >= " + Signed(query.from),
                                  "start < " + Signed(query.until)};
  const auto number = [](const char* text, uint64_t value) { return text + std::to_string(value); };
  if (query.min_hops > 0) all.push_back(number("length(hop_switch) >= ", query.min_hops));
  if (query.src) all.push_back(Between("src", *query.src));
  if (query.dst) all.push_back(Between("dst", *query.dst));
  if (query.marks != 0) all.push_back("bitAnd(marks, " + std::to_string(query.marks) + ") != 0");
  if (query.protocol) all.push_back(number("protocol = ", *query.protocol));
  if (query.src_port) all.push_back(number("src_port = ", *query.src_port));
  if (query.dst_port) all.push_back(number("dst_port = ", *query.dst_port));
  if (query.fault) all.push_back(number("fault = ", *query.fault));
  if (query.through) all.push_back("has(hop_switch, " + std::to_string(*query.through) + ")");
  if (query.behind) all.push_back(BehindOf(query));
  if (query.id) all.push_back("id = " + Id(*query.id));
  std::string within;
  for (const Prefix& prefix : query.within) {
    within +=
        (within.empty() ? "(" : " OR ") + Between("src", prefix) + " OR " + Between("dst", prefix);
  }
  if (!within.empty()) all.push_back(within + ")");
  std::string sql;
  for (const std::string& one : all) sql += (sql.empty() ? " WHERE " : " AND ") + one;
  return sql;
}

// Of what was told again only the last.  Those subqueries read the partitions of revised traces.
std::string IsLatest(const TraceQuery& query) {
  std::string revised = " FROM trace WHERE revision > 0";
  if (query.id) revised += " AND id = " + Id(*query.id);
  return " AND (id NOT IN (SELECT id" + revised +
         ") OR (id, revision) IN (SELECT id, max(revision)" + revised + " GROUP BY id))";
}

std::string LinkSql(const std::string& where) {
  std::string largest;
  std::string sums;
  for (size_t i = 0; i < kLinkCounters; ++i) {
    const std::string name = std::to_string(i);
    largest.append(", max(c").append(name).append(") AS m").append(name);
    sums.append(", sum(m").append(name).append(")");
  }
  return "SELECT a, b, time" + sums + " FROM (SELECT a, b, time, writer, batch" + largest +
         " FROM link WHERE " + where +
         " GROUP BY a, b, time, writer, batch) GROUP BY a, b, time ORDER BY a, b, time"
         " FORMAT RowBinary";
}

std::string TimeOf(Nanos from, Nanos until) {
  return "time >= " + Signed(from) + " AND time < " + Signed(until);
}

template <typename T, typename Get>
void WriteArray(const std::vector<StoredHop>& hops, Get get, RowBinaryWriter* row) {
  row->Length(hops.size());
  for (const StoredHop& hop : hops) row->Number<T>(get(hop));
}

template <typename T, typename Set>
void ReadArray(RowBinaryReader* reader, std::vector<StoredHop>* hops, Set set) {
  if (reader->Length() != hops->size()) reader->Refuse("arrays of hops have different lengths");
  for (StoredHop& hop : *hops) set(&hop, reader->Number<T>());
}

void ReadHops(RowBinaryReader* reader, std::vector<StoredHop>* hops) {
  hops->resize(reader->Length());
  for (StoredHop& hop : *hops) hop.time = reader->Number<int64_t>();
  ReadArray<uint32_t>(reader, hops, [](StoredHop* hop, uint32_t tag) { hop->tag = tag; });
  ReadArray<uint16_t>(reader, hops,
                      [](StoredHop* hop, uint16_t number) { hop->switch_number = number; });
  ReadArray<uint8_t>(reader, hops, [](StoredHop* hop, uint8_t ttl) { hop->ttl = ttl; });
}

StoredTrace ReadTrace(RowBinaryReader* reader) {
  StoredTrace trace;
  trace.id = reader->Number<uint64_t>();
  trace.revision = reader->Number<uint32_t>();
  trace.start = reader->Number<int64_t>();
  FlowKey& flow = trace.flow;
  uint8_t dst_family = 0;
  const std::string src = reader->Text();
  const std::string dst = reader->Text();
  const bool is_address = ReadStoredAddress(src, &flow.src_ip, &flow.ip_family) &&
                          ReadStoredAddress(dst, &flow.dst_ip, &dst_family);
  if (!is_address || flow.ip_family != dst_family) reader->Refuse("there is no address");
  flow.protocol = reader->Number<uint8_t>();
  flow.src_port = reader->Number<uint16_t>();
  flow.dst_port = reader->Number<uint16_t>();
  trace.fault = reader->Number<uint8_t>();
  trace.drop_ppm = reader->Number<uint32_t>();
  trace.last_switch = reader->Number<uint16_t>();
  trace.marks = reader->Number<uint8_t>();
  trace.wire_bytes = reader->Number<uint32_t>();
  trace.evidence = reader->Text();
  trace.packet = reader->Text();
  ReadHops(reader, &trace.hops);
  return trace;
}

LinkCounters ReadLink(RowBinaryReader* reader) {
  LinkCounters link;
  link.from = reader->Number<uint16_t>();
  link.to = reader->Number<uint16_t>();
  link.time = reader->Number<int64_t>();
  for (uint64_t& value : link.values) value = reader->Number<uint64_t>();
  return link;
}

TraceCountRow ReadCount(RowBinaryReader* reader) {
  TraceCountRow row;
  row.begin = reader->Number<int64_t>();
  row.traces = reader->Number<uint64_t>();
  row.bytes = reader->Number<uint64_t>();
  return row;
}

// "(1700003600000000000,0)" of traces, "1700003600000000000" of others.
ClickHousePartition ReadPartition(RowBinaryReader* reader) {
  ClickHousePartition partition;
  partition.table = reader->Text();
  partition.id = reader->Text();
  const std::string name = reader->Text();
  partition.bytes = reader->Number<uint64_t>();
  constexpr char kLetters[] = "0123456789abcdefghijklmnopqrstuvwxyz-_";
  const bool is_ours =
      (partition.table == "trace" || partition.table == "trace_start" ||
       partition.table == "link") &&
      partition.id.find_first_not_of(kLetters) == partition.id.npos &&
      std::sscanf(name.c_str(), partition.table == "trace" ? "(%" SCNd64 "," : "%" SCNd64,
                  &partition.end) == 1;
  if (!is_ours) reader->Refuse("there is no partition of ours");
  return partition;
}

template <typename T>
Result<std::vector<T>> ReadAll(std::string_view rows, T (*read)(RowBinaryReader*)) {
  RowBinaryReader reader(rows);
  std::vector<T> all;
  while (reader.ok() && !reader.is_at_end()) all.push_back(read(&reader));
  if (!reader.ok()) return reader.status();
  return all;
}

}  // namespace

std::vector<std::string> ClickHouseTables(Nanos partition) {
  const auto end_of = [](const std::string& column, Nanos stretch) {
    const std::string length = std::to_string(stretch);
    return "intDiv(" + column + ", " + length + ") * " + length + " + " + length;
  };
  std::string counters;
  for (size_t i = 0; i < kLinkCounters; ++i) counters += ", c" + std::to_string(i) + " UInt64";
  return {
      "CREATE TABLE IF NOT EXISTS store_version (version UInt64) ENGINE = TinyLog",
      "CREATE TABLE IF NOT EXISTS trace (id Int64, revision UInt32, start Int64, src String,"
      " dst String, protocol UInt8, src_port UInt16, dst_port UInt16, fault UInt8,"
      " drop_ppm UInt32, last_switch UInt16, marks UInt8, bytes UInt32, evidence String,"
      " packet String, hop_time Array(Int64), hop_tag Array(UInt32), hop_switch Array(UInt16),"
      " hop_ttl Array(UInt8)) ENGINE = ReplacingMergeTree(revision)"
      " PARTITION BY (" +
          end_of("start", partition) +
          ", least(revision, 1)) ORDER BY id"
          " SETTINGS index_granularity = 1024",
      "CREATE TABLE IF NOT EXISTS link (a UInt16, b UInt16, time Int64, writer UInt64,"
      " batch UInt64" +
          counters +
          ") ENGINE = ReplacingMergeTree"
          " PARTITION BY " +
          end_of("time", partition) + " ORDER BY (a, b, time, writer, batch)",
      "CREATE TABLE IF NOT EXISTS trace_start (id Int64, revision UInt32, start Int64)"
      " ENGINE = ReplacingMergeTree(revision) PARTITION BY " +
          end_of("start", kStartsOfPartitions * partition) +
          " ORDER BY id SETTINGS index_granularity = 256",
      "CREATE MATERIALIZED VIEW IF NOT EXISTS write_trace_start TO trace_start"
      " AS SELECT id, revision, start FROM trace",
  };
}

std::string FillStartsSql(const StartPiece& piece, uint64_t slice) {
  // Ids are hashes, so that equal stretches of them have as many traces.
  const uint64_t stretch = UINT64_MAX / piece.slices;
  constexpr uint64_t kLeast = uint64_t{1} << 63;
  std::string sql = "INSERT INTO trace_start SELECT id, revision, start FROM trace WHERE id >= " +
                    Id(kLeast + slice * stretch);
  if (slice + 1 < piece.slices) sql += " AND id < " + Id(kLeast + (slice + 1) * stretch);
  if (piece.is_revised) return sql + " AND revision > 0";
  return sql + " AND start >= " + Signed(piece.from) + " AND start < " + Signed(piece.until);
}

const char kInsertTraces[] = "INSERT INTO trace (" TRACE_COLUMNS ") FORMAT RowBinary";
const char kInsertLinks[] =
    "INSERT INTO link (a, b, time, writer, batch, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9)"
    " FORMAT RowBinary";
static_assert(kLinkCounters == 10);

void AppendRow(const StoredTrace& trace, std::string* rows) {
  const FlowKey& flow = trace.flow;
  RowBinaryWriter row;
  row.Number(trace.id);
  row.Number(trace.revision);
  row.Number(trace.start);
  row.Text(StoredAddress(flow.src_ip, flow.ip_family));
  row.Text(StoredAddress(flow.dst_ip, flow.ip_family));
  row.Number<uint8_t>(flow.protocol);
  row.Number<uint16_t>(flow.src_port);
  row.Number<uint16_t>(flow.dst_port);
  row.Number<uint8_t>(trace.fault);
  row.Number<uint32_t>(trace.drop_ppm);
  row.Number<uint16_t>(trace.last_switch);
  row.Number<uint8_t>(trace.marks);
  row.Number<uint32_t>(trace.wire_bytes);
  row.Text(trace.evidence);
  row.Text(trace.packet);
  WriteArray<int64_t>(
      trace.hops, [](const StoredHop& hop) { return hop.time; }, &row);
  WriteArray<uint32_t>(
      trace.hops, [](const StoredHop& hop) { return hop.tag; }, &row);
  WriteArray<uint16_t>(
      trace.hops, [](const StoredHop& hop) { return hop.switch_number; }, &row);
  WriteArray<uint8_t>(
      trace.hops, [](const StoredHop& hop) { return hop.ttl; }, &row);
  *rows += row.Take();
}

void AppendRow(const LinkCounters& link, uint64_t writer, uint64_t batch, std::string* rows) {
  RowBinaryWriter row;
  row.Number<uint16_t>(link.from);
  row.Number<uint16_t>(link.to);
  row.Number(link.time);
  row.Number(writer);
  row.Number(batch);
  for (const uint64_t value : link.values) row.Number(value);
  *rows += row.Take();
}

// The inner one looks into a few files for the id and, where it is, for the start; the outer one
// into those of one partition: a scalar subquery is a literal by the time that partitions are
// chosen.  PREWHERE, because an optimizer leaves a column of the order where it is, and then all
// others are read of each granule that may have the id.
std::string FindTraceSql(uint64_t id) {
  return "SELECT " TRACE_COLUMNS " FROM trace PREWHERE id = " + Id(id) +
         " WHERE start = (SELECT argMax(start, revision) FROM trace_start PREWHERE id = " + Id(id) +
         ") ORDER BY revision DESC LIMIT 1 FORMAT RowBinary";
}

std::string FindOldTraceSql(uint64_t id) {
  return "SELECT " TRACE_COLUMNS " FROM trace PREWHERE id = " + Id(id) +
         " WHERE start = (SELECT argMax(start, revision) FROM trace PREWHERE id = " + Id(id) +
         ") ORDER BY revision DESC LIMIT 1 FORMAT RowBinary";
}

bool SaysNoSuchTable(const std::string& error) {
  constexpr std::string_view kCode = "Code: 60";
  const size_t at = error.find(kCode);
  if (at == error.npos) return false;
  const size_t behind = at + kCode.size();
  return behind == error.size() || error[behind] < '0' || error[behind] > '9';
}

std::string FindTracesSql(const TraceQuery& query) {
  return "SELECT " TRACE_COLUMNS " FROM trace" + Conditions(query) + IsLatest(query) +
         " ORDER BY start, id LIMIT 1 BY id LIMIT " + std::to_string(query.limit) +
         " FORMAT RowBinary";
}

std::string CountTracesSql(const TraceQuery& query, Nanos step) {
  const std::string length = std::to_string(step);
  return "SELECT begin, count(), sum(size) FROM (SELECT id, any(intDiv(start, " + length + ") * " +
         length + ") AS begin, any(toUInt64(bytes)) AS size FROM trace" + Conditions(query) +
         IsLatest(query) + " GROUP BY id) GROUP BY begin ORDER BY begin FORMAT RowBinary";
}

std::string EstimateTracesSql(const TraceQuery& query) {
  return "SELECT toInt64(0), count(), toUInt64(0) FROM trace WHERE start >= " + Signed(query.from) +
         " AND start < " + Signed(query.until) + " FORMAT RowBinary";
}

std::string FindLinksSql(Nanos from, Nanos until) { return LinkSql(TimeOf(from, until)); }

const char kLinkTimesSql[] =
    "SELECT min(time), count(), toUInt64(max(time)) FROM link FORMAT RowBinary";

std::string FindLinkSql(uint16_t from_switch, uint16_t to_switch, Nanos from, Nanos until) {
  return LinkSql("a = " + std::to_string(from_switch) + " AND b = " + std::to_string(to_switch) +
                 " AND " + TimeOf(from, until));
}

Result<std::vector<StoredTrace>> ReadTraceRows(std::string_view rows) {
  return ReadAll(rows, ReadTrace);
}

Result<std::vector<LinkCounters>> ReadLinkRows(std::string_view rows) {
  return ReadAll(rows, ReadLink);
}

Result<std::vector<TraceCountRow>> ReadCountRows(std::string_view rows) {
  return ReadAll(rows, ReadCount);
}

const char kPartitionsSql[] =
    "SELECT table, partition_id, any(partition), sum(toUInt64(bytes_on_disk)) FROM system.parts"
    " WHERE active AND database = currentDatabase() AND table IN ('trace', 'trace_start', 'link')"
    " GROUP BY table, partition_id ORDER BY table, partition_id FORMAT RowBinary";

Result<std::vector<ClickHousePartition>> ReadPartitionRows(std::string_view rows) {
  return ReadAll(rows, ReadPartition);
}

std::string DropSql(const ClickHousePartition& partition) {
  return "ALTER TABLE " + partition.table + " DROP PARTITION ID '" + partition.id + "'";
}

bool GoesBefore(const ClickHousePartition& a, const ClickHousePartition& b) {
  const auto place = [](const ClickHousePartition& partition) {
    return std::make_tuple(partition.end, partition.table == "trace_start");
  };
  return place(a) < place(b);
}

}  // namespace trumpet
