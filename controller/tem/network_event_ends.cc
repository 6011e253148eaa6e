// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The ends of runs that no interval's decision tells: of those that were told of before the event
// was installed, and of all when it ends.

#include <utility>

#include "controller/tem/network_event.h"
#include "lib/model/bucket_key.h"

namespace trumpet {

void NetworkEvent::Inherit(std::set<std::string> buckets, Nanos until) {
  inherited_ = std::move(buckets);
  inherited_until_ = until;
}

// The bucket fires, told of or withheld: whoever was told of it before hears of the end as of any.
void NetworkEvent::MeetInherited(const EventVerdicts::Decision& decision) {
  if (decision.is_clear) return;
  if (inherited_.erase(BucketToJson(plan().spec.granularity, decision.key)) == 0) return;
  verdicts_.MarkTold(decision.bucket);
}

// Inherited runs that have not gone on in all the intervals they had for it.
void NetworkEvent::TellMissing(Nanos now, NetworkOutput* output) {
  if (inherited_.empty() || verdicts_.NextStart() < inherited_until_) return;
  ClearInherited(verdicts_.NextStart() - interval_ns_, kMonitorInterrupted, now, output);
}

void NetworkEvent::ClearInherited(Nanos start, uint32_t reason, Nanos now, NetworkOutput* output) {
  for (const std::string& bucket : inherited_) {
    NetworkReport clear;
    clear.is_clear = true;
    clear.report.event_id = plan().spec.id;
    clear.report.event = plan().spec.name;
    clear.report.severity = plan().spec.severity;
    clear.report.bucket_json = bucket;
    clear.report.start_ns = start;
    clear.report.end_ns = start + interval_ns_;
    clear.report.incomplete_reasons = reason;
    clear.report.detected_ns = now;
    output->reports.push_back(std::move(clear));
    ++counters_.clears;
  }
  inherited_.clear();
}

void NetworkEvent::TellEnd(Nanos now, NetworkOutput* output) {
  for (const EventVerdicts::Decision& decision : verdicts_.DecideEnd()) {
    NetworkReport report;
    report.report = verdicts_.MakeReport(decision, 0);
    report.report.detected_ns = now;
    report.is_clear = true;
    output->reports.push_back(std::move(report));
    ++counters_.clears;
  }
  ClearInherited(verdicts_.NextStart(), kEventEnded, now, output);
}

}  // namespace trumpet
