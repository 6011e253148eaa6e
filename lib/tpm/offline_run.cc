// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/offline_run.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {
namespace {

constexpr uint64_t kMinOfflineFlows = 1u << 12;
constexpr uint64_t kMaxStatMegabytes = 4096;
constexpr uint64_t kFlowOverheadBytes = 512;  // field values and rounding of a flow's block
constexpr uint64_t kHistoryPerFlow = 4;
constexpr size_t kReportsAtATime = 1024;  // bounds what an always-true event can pile up

uint64_t RoundUpToPowerOfTwo(uint64_t value) {
  uint64_t power = 1;
  while (power < value) power <<= 1;
  return power;
}

// A capture cannot have more flows than frames, nor more records of sent segments.
MonitorOptions SizesFor(const HostVerdicts::Plans& plans, const OfflineOptions& options) {
  const uint64_t flows =
      RoundUpToPowerOfTwo(std::clamp(2 * options.frame_count, kMinOfflineFlows, kMaxOfflineFlows));
  uint64_t words = 0;
  for (const auto& plan : plans) words += plan->word_count;
  const uint64_t stat_bytes = flows * (2 * sizeof(uint64_t) * words + kFlowOverheadBytes);

  MonitorOptions sizes;
  sizes.max_flows = static_cast<uint32_t>(flows);
  sizes.stat_megabytes =
      static_cast<uint32_t>(std::clamp<uint64_t>(stat_bytes >> 20, 32, kMaxStatMegabytes));
  sizes.sweeps_unbounded = true;
  sizes.connections.max_connections = static_cast<uint32_t>(flows);
  sizes.connections.max_history_records = static_cast<uint32_t>(kHistoryPerFlow * flows);
  sizes.connections.flow_timeout_ns = options.flow_timeout_ns;
  sizes.connections.burst_gap_ns = options.burst_gap_ns;
  sizes.connections.hash_seed = 0;  // fixed: two runs do the same
  sizes.parse = options.parse;
  return sizes;
}

class VerdictSink : public DeliverySink {
 public:
  explicit VerdictSink(HostVerdicts* verdicts) : verdicts_(verdicts) {}
  void OnPartial(const PartialView& partial) override { verdicts_->Add(partial); }
  void OnFlowState(const FlowStateUpdate& update) override { verdicts_->Add(update); }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    verdicts_->AddIncomplete(start, end, reasons);
  }

 private:
  HostVerdicts* verdicts_;
};

class OfflineRun {
 public:
  OfflineRun(std::unique_ptr<PacketMonitor> monitor, Nanos flow_timeout_ns,
             const ReportSink& take_report)
      : monitor_(std::move(monitor)), verdicts_(flow_timeout_ns), take_report_(take_report) {}

  Status Start(const HostVerdicts::Plans& plans, Nanos first_packet) {
    const auto program = TriggerProgram::Make(plans, 1, first_packet);
    epoch_ns_ = program->epoch_ns();
    verdicts_.Apply(plans, first_packet, true);
    BeginEpoch(first_packet);
    return monitor_->Publish(program);
  }

  Status OnFrame(Nanos time, const Frame& frame) {
    if (time >= epoch_end_) {
      Deliver(time);
      const Status status = Decide(CellOf(time, epoch_ns_) * epoch_ns_);
      if (!status.ok()) return status;
      BeginEpoch(time);
    }
    monitor_->OnBatch(&frame, 1, false, 0, 0, time);
    last_packet_ = time;
    return Status::Ok();
  }

  Status Finish() {
    monitor_->CloseEpoch(last_packet_);
    Deliver(last_packet_);
    verdicts_.EndAfter(last_packet_);
    return Decide(INT64_MAX);
  }

  OfflineSummary Summary() const { return {monitor_->counters(), verdicts_.counters()}; }

 private:
  void BeginEpoch(Nanos now) {
    const Nanos start = CellOf(now, epoch_ns_) * epoch_ns_;
    epoch_end_ = start > INT64_MAX - epoch_ns_ ? INT64_MAX : start + epoch_ns_;
  }

  // Everything that was counted before `now` goes to the verdicts.
  void Deliver(Nanos now) {
    VerdictSink sink(&verdicts_);
    bool has_more = true;
    while (has_more) {
      has_more = monitor_->OnIdle(now);  // until the ring is full
      monitor_->Drain(&sink);
    }
  }

  Status Decide(Nanos until) {
    for (bool is_done = false; !is_done;) {
      reports_.clear();
      is_done = verdicts_.AdvanceSome(until, kReportsAtATime, &reports_);
      for (const Report& report : reports_) {
        Status status = take_report_(report);
        if (!status.ok()) return status;
      }
    }
    return Status::Ok();
  }

  std::unique_ptr<PacketMonitor> monitor_;
  HostVerdicts verdicts_;
  const ReportSink& take_report_;
  Nanos epoch_ns_ = 1;
  Nanos epoch_end_ = INT64_MAX;
  Nanos last_packet_ = 0;
  std::vector<Report> reports_;
};

}  // namespace

Result<OfflineSummary> RunOffline(const HostVerdicts::Plans& plans, const OfflineOptions& options,
                                  const FrameSource& next_frame, const ReportSink& take_report) {
  if (Status status = TriggerProgram::Check(plans); !status.ok()) return status;
  auto monitor = PacketMonitor::Create(SizesFor(plans, options));
  if (!monitor.ok()) return monitor.status();
  OfflineRun run(std::move(*monitor), options.flow_timeout_ns, take_report);
  bool has_started = false;
  for (;;) {
    Nanos time = 0;
    Frame frame;
    const Result<bool> has_frame = next_frame(&time, &frame);
    if (!has_frame.ok()) return has_frame.status();
    if (!*has_frame) break;
    Status status = has_started ? Status::Ok() : run.Start(plans, time);
    has_started = true;
    if (status.ok()) status = run.OnFrame(time, frame);
    if (!status.ok()) return status;
  }
  if (has_started) {
    Status status = run.Finish();
    if (!status.ok()) return status;
  }
  return run.Summary();
}

}  // namespace trumpet
