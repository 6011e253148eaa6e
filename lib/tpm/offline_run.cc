// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/offline_run.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lib/base/hash.h"
#include "lib/packet/flow_key.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/peer_exchange.h"
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

uint64_t WordsOf(const HostVerdicts::Plans& plans) {
  uint64_t words = 0;
  for (const auto& plan : plans) words += plan->word_count;
  return words;
}

// A capture cannot have more flows than frames, nor more records of sent segments.
MonitorOptions SizesFor(const HostVerdicts::Plans& plans, const OfflineOptions& options) {
  uint64_t flows =
      RoundUpToPowerOfTwo(std::clamp(2 * options.frame_count, kMinOfflineFlows, kMaxOfflineFlows));
  if (options.max_flows != 0) flows = options.max_flows;
  uint64_t words = WordsOf(plans);
  for (const OfflineChange& change : options.changes) {
    words = std::max(words, WordsOf(change.plans));
  }
  const uint64_t stat_bytes = flows * (2 * sizeof(uint64_t) * words + kFlowOverheadBytes);

  MonitorOptions sizes;
  sizes.max_flows = static_cast<uint32_t>(flows);
  sizes.stat_megabytes =
      static_cast<uint32_t>(std::clamp<uint64_t>(stat_bytes >> 20, 32, kMaxStatMegabytes));
  sizes.sweeps_unbounded = true;
  sizes.packet_budget_ns = INT64_MAX;
  sizes.connections.max_connections = static_cast<uint32_t>(flows);
  sizes.connections.max_history_records = static_cast<uint32_t>(kHistoryPerFlow * flows);
  sizes.connections.history_walk_limit = UINT32_MAX;
  sizes.connections.flow_timeout_ns = options.flow_timeout_ns;
  sizes.connections.burst_gap_ns = options.burst_gap_ns;
  sizes.connections.hash_seed = 0;  // fixed: two runs do the same
  sizes.parse = options.parse;
  return sizes;
}

uint64_t HashOf(const FlowKey& key) { return HashBytes(&key, sizeof key, 0); }

// Which of several threads a frame goes to.
class Splitter {
 public:
  explicit Splitter(const OfflineOptions& options)
      : count_(options.thread_count), split_(options.split), parse_(options.parse) {}

  size_t ThreadOf(const Frame& frame) {
    if (count_ == 1) return 0;
    if (split_ == OfflineSplit::kPacket) return next_++ % count_;
    ParsedPacket packet;
    ParsePacket(frame, parse_, &packet);
    const FlowKey key = FlowKeyOf(packet, 0);
    const uint64_t back = split_ == OfflineSplit::kConnection ? HashOf(Reversed(key)) : 0;
    return ((HashOf(key) + back) >> 32) % count_;
  }

 private:
  const uint32_t count_;
  const OfflineSplit split_;
  const ParseOptions parse_;
  uint64_t next_ = 0;
};

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

using Monitors = std::vector<std::unique_ptr<PacketMonitor>>;

class OfflineRun {
 public:
  OfflineRun(Monitors monitors, const OfflineOptions& options, const ReportSink& take_report)
      : monitors_(std::move(monitors)),
        options_(options),
        splitter_(options),
        verdicts_(options.flow_timeout_ns),
        take_report_(take_report) {}

  Status Start(const HostVerdicts::Plans& plans, Nanos first_packet) {
    const HostVerdicts::Plans* first = &plans;
    while (HasChangeUntil(first_packet)) first = &options_.changes[next_change_++].plans;
    verdicts_.Apply(*first, first_packet, true);
    return Publish(*first, first_packet);
  }

  Status OnFrame(Nanos time, const Frame& frame) {
    while (HasChangeUntil(time)) {
      if (Status status = Change(options_.changes[next_change_++]); !status.ok()) return status;
    }
    if (time >= epoch_end_) {
      if (Status status = Decide(time, CellOf(time, epoch_ns_) * epoch_ns_); !status.ok()) {
        return status;
      }
      BeginEpoch(time);
    }
    monitors_[splitter_.ThreadOf(frame)]->OnBatch(&frame, 1, false, 0, 0, time);
    if (monitors_.size() > 1) ExchangeMessages(time);
    last_packet_ = time;
    return Status::Ok();
  }

  Status Finish() {
    for (auto& monitor : monitors_) monitor->CloseEpoch(last_packet_);
    Deliver(last_packet_);
    verdicts_.EndAfter(last_packet_);
    return Decide(last_packet_, INT64_MAX);
  }

  OfflineSummary Summary() const {
    OfflineSummary summary;
    for (const auto& monitor : monitors_) AddCounters(monitor->counters(), &summary.monitor);
    summary.verdicts = verdicts_.counters();
    return summary;
  }

 private:
  bool HasChangeUntil(Nanos time) const {
    return next_change_ < options_.changes.size() && options_.changes[next_change_].at <= time;
  }

  // What the old events counted before the change is decided or waits with the verdicts.
  Status Change(const OfflineChange& change) {
    Deliver(change.at);
    if (Status status = Publish(change.plans, change.at); !status.ok()) return status;
    if (Status status = Decide(change.at, change.at); !status.ok()) return status;
    verdicts_.Apply(change.plans, change.at, false);
    return Status::Ok();
  }

  Status Publish(const HostVerdicts::Plans& plans, Nanos from) {
    const auto program = TriggerProgram::Make(plans, ++generation_, from);
    epoch_ns_ = program->epoch_ns();
    BeginEpoch(from);
    for (auto& monitor : monitors_) {
      if (Status status = monitor->Publish(program); !status.ok()) return status;
    }
    return Status::Ok();
  }

  void BeginEpoch(Nanos now) {
    const Nanos start = CellOf(now, epoch_ns_) * epoch_ns_;
    epoch_end_ = start > INT64_MAX - epoch_ns_ ? INT64_MAX : start + epoch_ns_;
  }

  // What the packet of `now` had to tell other threads, until all have heard and answered it.
  void ExchangeMessages(Nanos now) {
    for (bool is_quiet = false; !is_quiet;) {
      is_quiet = true;
      for (auto& monitor : monitors_) {
        if (monitor->messages_settled() == monitor->messages_sent_here()) continue;
        monitor->OnIdle(now);
        is_quiet = false;
      }
    }
  }

  // Everything that was counted before `now` goes to the verdicts.
  void Deliver(Nanos now) {
    VerdictSink sink(&verdicts_);
    for (auto& monitor : monitors_) {
      bool has_more = true;
      while (has_more) {
        has_more = monitor->OnIdle(now);  // until the ring is full
        monitor->Drain(&sink);
      }
    }
  }

  Status Decide(Nanos now, Nanos until) {
    Deliver(now);
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

  const Monitors monitors_;
  const OfflineOptions& options_;
  Splitter splitter_;
  HostVerdicts verdicts_;
  const ReportSink& take_report_;
  size_t next_change_ = 0;
  uint64_t generation_ = 0;
  Nanos epoch_ns_ = 1;
  Nanos epoch_end_ = INT64_MAX;
  Nanos last_packet_ = 0;
  std::vector<Report> reports_;
};

Status CheckPlans(const HostVerdicts::Plans& plans, const OfflineOptions& options) {
  Status status = TriggerProgram::Check(plans);
  for (const OfflineChange& change : options.changes) {
    if (status.ok()) status = TriggerProgram::Check(change.plans);
  }
  return status;
}

}  // namespace

Result<OfflineSummary> RunOffline(const HostVerdicts::Plans& plans, const OfflineOptions& options,
                                  const FrameSource& next_frame, const ReportSink& take_report) {
  if (Status status = CheckPlans(plans, options); !status.ok()) return status;
  MonitorOptions sizes = SizesFor(plans, options);
  std::unique_ptr<PeerExchange> peers;  // outlives the monitors
  if (options.thread_count > 1) {
    peers =
        std::make_unique<PeerExchange>(sizes.connections.max_connections, options.flow_timeout_ns);
    sizes.peers = peers.get();
  }
  Monitors monitors;
  for (uint32_t i = 0; i < options.thread_count; i++) {
    auto monitor = PacketMonitor::Create(sizes);
    if (!monitor.ok()) return monitor.status();
    monitors.push_back(std::move(*monitor));
  }
  OfflineRun run(std::move(monitors), options, take_report);
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
