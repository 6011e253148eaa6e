// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RunOffline: the monitor of one packet thread and the verdicts of one host, driven by the
// clock of a capture.
//
// The intervals decided run from that of the first frame to that of the last, for each event.
// Everything is fixed by the input, hash seeds included: the same input gives the same reports.
//
// Threads: the caller's.  Memory: tables sized by the number of frames, up to kMaxOfflineFlows;
// what does not fit is counted and marks reports incomplete.

#ifndef TRUMPET_LIB_TPM_OFFLINE_RUN_H
#define TRUMPET_LIB_TPM_OFFLINE_RUN_H

#include <cstdint>
#include <functional>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/model/report.h"
#include "lib/packet/parse.h"
#include "lib/tpm/host_verdicts.h"
#include "lib/tpm/monitor_counters.h"

namespace trumpet {

constexpr uint64_t kMaxOfflineFlows = 1u << 22;

struct OfflineOptions {
  Nanos flow_timeout_ns = 10 * kNanosPerSecond;
  Nanos burst_gap_ns = 10 * kNanosPerMicro;
  ParseOptions parse;
  uint64_t frame_count = 0;  // about as many as there will be; sizes the tables
};

struct OfflineSummary {
  MonitorCounters monitor;
  VerdictCounters verdicts;
};

// Gives the next frame in time order, valid until the next call; false at the end.
using FrameSource = std::function<Result<bool>(Nanos* time, Frame* frame)>;

// Takes reports in their final order; an error ends the run.
using ReportSink = std::function<Status(const Report& report)>;

// Installs `plans` (with distinct ids) and runs all frames through them.
Result<OfflineSummary> RunOffline(const HostVerdicts::Plans& plans, const OfflineOptions& options,
                                  const FrameSource& next_frame, const ReportSink& take_report);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_OFFLINE_RUN_H
