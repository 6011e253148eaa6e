// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_start_fill.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "controller/store/row_binary.h"

namespace trumpet {
namespace {

constexpr uint64_t kMostSlices = uint64_t{1} << 20;
constexpr char kMakeNotes[] =
    "CREATE TABLE IF NOT EXISTS trace_start_filled (until Int64) ENGINE = TinyLog";
constexpr char kReadNotes[] = "SELECT DISTINCT until FROM trace_start_filled FORMAT RowBinary";
constexpr char kDropNotes[] = "DROP TABLE IF EXISTS trace_start_filled";

// That of what was told again: no stretch of time ends there.
Nanos NoteOf(const StartPiece& piece) { return piece.is_revised ? INT64_MIN : piece.until; }

Result<std::set<Nanos>> ReadNotes(std::string_view rows) {
  RowBinaryReader reader(rows);
  std::set<Nanos> notes;
  while (reader.ok() && !reader.is_at_end()) notes.insert(reader.Number<int64_t>());
  if (!reader.ok()) return reader.status();
  return notes;
}

}  // namespace

Status TraceStartFill::Plan(ClickHouseServers* servers, size_t server) {
  Status made = servers->Ask(server, kMakeNotes).status();
  if (!made.ok()) return made;
  const auto noted = servers->Ask(server, kReadNotes);
  if (!noted.ok()) return noted.status();
  const auto notes = ReadNotes(*noted);
  if (!notes.ok()) return Status::Error(servers->name(server) + ": " + notes.message());
  const auto answer = servers->Ask(server, kPartitionsSql);
  if (!answer.ok()) return answer.status();
  const auto partitions = ReadPartitionRows(*answer);
  if (!partitions.ok()) {
    return Status::Error(servers->name(server) + ": " + partitions.message());
  }
  std::map<Nanos, uint64_t> bytes;  // of traces, by the end of their time
  uint64_t sum = 0;
  for (const ClickHousePartition& partition : *partitions) {
    if (partition.table != "trace") continue;
    bytes[partition.end] += partition.bytes;
    sum += partition.bytes;
  }
  const auto slices_of = [this](uint64_t size) {
    return std::min(size / slice_bytes_ + 1, kMostSlices);
  };
  pieces_.clear();
  next_slice_ = 0;
  StartPiece piece;
  for (const auto& [end, size] : bytes) {
    piece.until = end;
    piece.slices = slices_of(size);
    if (notes->count(NoteOf(piece)) == 0) pieces_.push_back(piece);
    piece.from = end;
  }
  StartPiece revised;
  revised.is_revised = true;
  revised.slices = slices_of(sum / 16);  // few are
  if (sum > 0 && notes->count(NoteOf(revised)) == 0) pieces_.push_back(revised);
  has_plan_ = true;
  return Status::Ok();
}

Result<bool> TraceStartFill::Step(ClickHouseServers* servers, size_t server) {
  if (!has_plan_) {
    const Status planned = Plan(servers, server);
    if (!planned.ok()) return planned;
  }
  if (pieces_.empty()) {
    const std::string version = std::to_string(kClickHouseVersion);
    Status done =
        servers->Ask(server, "INSERT INTO store_version VALUES (" + version + ")").status();
    if (done.ok()) done = servers->Ask(server, kDropNotes).status();
    if (!done.ok()) return done;
    return true;
  }
  StartPiece& piece = pieces_.back();
  const Status filled = servers->Ask(server, FillStartsSql(piece, next_slice_), kTimeout).status();
  if (!filled.ok()) {
    // Begins where it did, or a little before: stretches are rounded down.
    next_slice_ *= 2;
    piece.slices *= 2;
    if (piece.slices > kMostSlices) has_plan_ = false;  // it was not its size: begin anew
    return filled;
  }
  if (++next_slice_ < piece.slices) return false;
  const std::string note = std::to_string(NoteOf(piece));
  Status noted =
      servers->Ask(server, "INSERT INTO trace_start_filled VALUES (" + note + ")").status();
  if (!noted.ok()) {
    --next_slice_;
    return noted;
  }
  pieces_.pop_back();
  next_slice_ = 0;
  return false;
}

}  // namespace trumpet
