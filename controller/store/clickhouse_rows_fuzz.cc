// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the answer of a server: no read out of bounds, no memory without end, and what is
// read of traces is written as it was.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "controller/store/clickhouse_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string rows(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'l') (void)trumpet::ReadLinkRows(rows).ok();
  if (data[0] == 'c') (void)trumpet::ReadCountRows(rows).ok();
  if (data[0] == 'p') (void)trumpet::ReadPartitionRows(rows).ok();
  const auto traces = trumpet::ReadTraceRows(rows);
  if (!traces.ok()) return 0;
  std::string again;
  for (const trumpet::StoredTrace& trace : *traces) AppendRow(trace, &again);
  const auto read = trumpet::ReadTraceRows(again);
  if (!read.ok() || read->size() != traces->size() || again.size() > rows.size()) std::abort();
  return 0;
}
