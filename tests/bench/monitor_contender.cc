// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/monitor_contender.h"

#include <algorithm>
#include <cstdio>

#include "lib/tpm/trigger_program.h"

namespace trumpet::bench {
namespace {

// The admission filter compares cycles with the time of the packets, which stands still while the
// other contenders have their turns.
uint64_t cycles_of_others = 0;
uint64_t OwnCycles() { return ReadTsc() - cycles_of_others; }

}  // namespace

std::unique_ptr<MonitorContender> MonitorContender::Make(const std::vector<EventSpec>& events,
                                                         uint32_t flows, bool has_filter,
                                                         size_t installed) {
  MonitorOptions options;
  options.admission.is_enabled = has_filter;
  options.admission.read_cycles = OwnCycles;
  options.max_flows = std::max(options.max_flows, 2 * flows);
  options.stat_megabytes = std::max(64u, options.max_flows >> 11);
  options.touches_memory = true;  // as in the switch
  auto monitor = PacketMonitor::Create(options);
  if (!monitor.ok()) {
    std::fprintf(stderr, "bench-monitor: %s\n", monitor.message().c_str());
    return nullptr;
  }
  std::unique_ptr<MonitorContender> contender(new MonitorContender);
  contender->monitor_ = std::move(*monitor);
  for (const EventSpec& event : events) {
    contender->plans_.push_back(std::make_shared<const TriggerPlan>(MakeTriggerPlan(event)));
    // A partial per flow: too many for the ring to wait for the end of the epoch.
    if (!event.granularity.is_none()) contender->packets_per_drain_ = kBuffers;
  }
  contender->sink_.SetPlans(contender->plans_);
  return contender->Install(installed, INT64_MIN) ? std::move(contender) : nullptr;
}

std::shared_ptr<const TriggerProgram> MonitorContender::Compile(size_t count, Nanos from) {
  const auto end = plans_.begin() + static_cast<long>(std::min(count, plans_.size()));
  return TriggerProgram::Make(HostVerdicts::Plans(plans_.begin(), end), ++generation_, from);
}

void MonitorContender::CompileOnly(size_t count) { Compile(count, INT64_MIN); }

bool MonitorContender::Install(size_t count, Nanos from) {
  const Status status = monitor_->Publish(Compile(count, from));
  if (!status.ok()) std::fprintf(stderr, "bench-monitor: %s\n", status.message().c_str());
  return status.ok();
}

void MonitorContender::OutsideEpoch() {
  if (paused_at_ == 0) paused_at_ = ReadTsc();
  monitor_->Drain(&sink_);
}

void MonitorContender::EndPause() {
  cycles_of_others += ReadTsc() - paused_at_;
  paused_at_ = 0;
}

void MonitorContender::Finish() {
  const Nanos end = (last_ / kEpochNs + 1) * kEpochNs;
  monitor_->CloseEpoch(end);
  while (monitor_->OnIdle(end)) monitor_->Drain(&sink_);
  monitor_->Drain(&sink_);
  counts_.values = sink_.values();
  const MonitorCounters counters = monitor_->counters();
  counts_.missed_packets =
      counters.uncounted_packets + counters.withheld_packets - counters.credited_packets;
  counts_.incomplete_epochs = sink_.incomplete_epochs();
}

Json MonitorContender::Facts() const { return MonitorFacts(monitor_->counters()); }

Json MonitorFacts(const MonitorCounters& counters) {
  const double all =
      std::max(1.0, static_cast<double>(counters.batch_cycles + counters.sweep_cycles));
  return {{"sweep_share", static_cast<double>(counters.sweep_cycles) / all},
          {"sweeps_finished", counters.epochs_skipped == 0},
          {"epochs", counters.epochs},
          {"epochs_skipped", counters.epochs_skipped},
          {"flows_in_table", counters.flows},
          {"flows_added", counters.flows_added},
          {"flows_reclaimed", counters.flows_reclaimed},
          {"uncounted_packets", counters.uncounted_packets},
          {"withheld_packets", counters.withheld_packets},
          {"credited_packets", counters.credited_packets},
          {"partials", counters.partials},
          {"partials_dropped", counters.partials_dropped}};
}

}  // namespace trumpet::bench
