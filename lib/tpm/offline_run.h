// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RunOffline: the monitors of a host's packet threads and its verdicts, driven by the clock of a
// capture.
//
// The intervals decided run from that of the first frame to that of the last, for each event.
// Events may come and go in between, as under an agent: cut in at their instant, and the interval
// in which one came is marked.  With several threads each has a monitor of its own, and the
// verdicts merge what they counted; no thread is started.
// Everything is fixed by the input, hash seeds included: the same input gives the same reports.
//
// Threads: the caller's.  Memory: tables sized by the number of frames, up to kMaxOfflineFlows, or
// as told; what does not fit is counted and marks reports incomplete.

#ifndef TRUMPET_LIB_TPM_OFFLINE_RUN_H
#define TRUMPET_LIB_TPM_OFFLINE_RUN_H

#include <cstdint>
#include <functional>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/model/report.h"
#include "lib/packet/parse.h"
#include "lib/tpm/monitor_counters.h"
#include "lib/verdict/host_verdicts.h"

namespace trumpet {

constexpr uint64_t kMaxOfflineFlows = 1u << 22;

// What the frames of one thread have in common, when there are several.
enum class OfflineSplit : uint8_t { kConnection, kDirection, kPacket };

// From the instant `at` on, these events (with distinct ids) are installed, and no others.
struct OfflineChange {
  Nanos at = 0;
  HostVerdicts::Plans plans;
};

struct OfflineOptions {
  Nanos flow_timeout_ns = 10 * kNanosPerSecond;
  Nanos burst_gap_ns = 10 * kNanosPerMicro;
  ParseOptions parse;
  uint64_t frame_count = 0;  // about as many as there will be; sizes the tables
  uint32_t max_flows = 0;    // of each thread's tables; 0: by frame_count
  uint32_t thread_count = 1;
  OfflineSplit split = OfflineSplit::kConnection;
  std::vector<OfflineChange> changes;  // by time; those up to the first frame come before it
};

struct OfflineSummary {
  MonitorCounters monitor;  // of all threads together
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
