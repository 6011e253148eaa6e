// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What links carried and how many traces there are, in steps of time, as records that analyzers
// tell: the controller adds up those of the same step and id.
//
// Threads: any; calls wait for the disk.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_COUNTS_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_COUNTS_H

#include <functional>
#include <string>
#include <vector>

#include "controller/store/trace_reader.h"
#include "controller/store/trace_store.h"
#include "controller/traces/switch_book.h"
#include "lib/base/status.h"
#include "lib/wire/trace_message.h"

namespace trumpet {

struct CountQuestion {
  TraceQuery query;  // of links: its time and `through`, one end of the link; and where to go on
  Nanos step = 60 * kNanosPerSecond;
};

// By begin of the step and id, at most query.limit.
Result<std::vector<TraceRecord>> CountTraces(TraceReader* reader, const CountQuestion& question,
                                             const std::function<bool()>& may_go_on,
                                             TraceReader::Missing* missing);
Result<std::vector<TraceRecord>> CountLinks(TraceReader* reader, const CountQuestion& question,
                                            const SwitchBook& switches,
                                            TraceReader::Missing* missing);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_COUNTS_H
