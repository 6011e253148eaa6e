// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DeliveryDesk: takes in what the packet threads deliver and lets the verdicts be given: those of
// this host by itself, those of the network by telling the controller what was counted.
//
// Begins with Open(), ends with Close(); in between every interval is decided once, also those
// during which the monitor was away for a while (MarkMissing), with complete false.  Intervals that
// lie wholly in such a gap are not reported: nobody looked.
//
// Threads: the agent.

#ifndef TRUMPET_VSWITCHD_PLUGIN_DELIVERY_DESK_H
#define TRUMPET_VSWITCHD_PLUGIN_DELIVERY_DESK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "lib/tpm/packet_monitor.h"
#include "lib/verdict/host_verdicts.h"
#include "vswitchd-plugin/event_registry.h"
#include "vswitchd-plugin/network_desk.h"
#include "vswitchd-plugin/report_log.h"

namespace trumpet {

class DeliveryDesk : public DeliverySink {
 public:
  // `log` and `network` must outlive the desk.
  DeliveryDesk(ReportLog* log, NetworkDesk* network, uint64_t hash_seed)
      : log_(log), network_(network), hash_seed_(hash_seed) {}

  void Open(Nanos flow_timeout_ns);
  void Close();
  void Drop() noexcept {  // Close() without the counters, when memory ran out
    verdicts_.reset();
    network_->Restart();
  }
  bool is_open() const { return verdicts_ != nullptr; }

  // Of all events together, roughly, from now on, open or not: what the verdicts of this host leave
  // is for those of the network, and the other way round.
  void LimitBuckets(size_t count);

  // The events from the instant `from` on.  `has_tracked_tcp`: by those before them.
  void Apply(const EventSet& events, Nanos from, bool has_tracked_tcp);

  // Packets of [start, end) were not all seen.  `was_away`: none were, nobody looked.
  void MarkMissing(Nanos start, Nanos end, uint32_t reasons, bool was_away);

  // Decides all intervals that end by `until`; `now` is the time of detection.
  void Decide(Nanos until, Nanos now, Nanos epoch_ns);
  Nanos decided_until() const { return decided_until_; }

  // Counters since the process started, and the events' state now, with their reports and evictions
  // of earlier times.
  VerdictCounters counters() const;
  std::vector<EventStatus> Status() const;

  void OnPartial(const PartialView& partial) override;
  void OnFlowState(const FlowStateUpdate& update) override;
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override;

 private:
  struct Gap {
    Nanos start;
    Nanos end;
  };
  void DecideHere(Nanos until, Nanos now);
  bool WasAway(const Report& report) const;

  ReportLog* log_;
  NetworkDesk* network_;
  Nanos flow_timeout_ns_ = 0;
  const uint64_t hash_seed_;
  std::unique_ptr<HostVerdicts> verdicts_;
  size_t bucket_cap_ = SIZE_MAX;
  VerdictCounters closed_counters_;                // of verdicts that are gone
  std::map<uint32_t, EventStatus> closed_events_;  // likewise, of events still installed
  Nanos decided_until_ = INT64_MIN;
  Nanos longest_interval_ = 0;
  std::deque<Gap> gaps_;  // adjoining ones are one; forgotten when no open interval can reach them
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_DELIVERY_DESK_H
