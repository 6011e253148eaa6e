// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The words by which traces are asked for: "src" = "10.0.0.0/8", "verdict" = "dropped", ...
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_QUERY_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_QUERY_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controller/store/trace_store.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

constexpr size_t kMaxTracesAsked = 1000000;

const std::vector<std::string_view>& TraceQueryWords();
// One of the words.  Errors begin with `name`.
Status SetTraceQuery(const std::string& name, const std::string& value, const SwitchBook& switches,
                     TraceQuery* query);
// What "after" takes to go on behind the trace.
std::string TraceCursor(const StoredTrace& trace);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_QUERY_H
