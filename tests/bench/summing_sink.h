// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SummingSink: adds up what a monitor delivers, per event and over all epochs, to see that nothing
// was left out; and, if asked to, decides the predicates as the agent does.

#ifndef TRUMPET_TESTS_BENCH_SUMMING_SINK_H
#define TRUMPET_TESTS_BENCH_SUMMING_SINK_H

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/tpm/packet_monitor.h"

namespace trumpet::bench {

class SummingSink : public DeliverySink {
 public:
  // The events are numbered 1, 2, 3...
  void SetPlans(const HostVerdicts::Plans& plans);

  // From now on reports are made and counted; with the plans set now.
  void DecideVerdicts();

  void OnPartial(const PartialView& partial) override;
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override;

  const std::vector<uint64_t>& values() const { return values_; }  // per event: of its aggregate
  uint64_t partials() const { return partials_; }
  uint64_t reports() const { return reports_; }
  uint64_t epochs() const { return epochs_; }
  uint64_t incomplete_epochs() const { return incomplete_epochs_; }
  // Of the last epoch that ended: packets times matched triggers.
  uint64_t matches_of_epoch() const { return matches_of_epoch_; }

 private:
  HostVerdicts::Plans plans_;
  std::vector<AggregateCells> cells_;
  std::vector<uint64_t> values_;
  std::unique_ptr<HostVerdicts> verdicts_;
  uint64_t partials_ = 0;
  uint64_t reports_ = 0;
  uint64_t epochs_ = 0;
  uint64_t incomplete_epochs_ = 0;
  uint64_t matches_ = 0;
  uint64_t matches_of_epoch_ = 0;
};

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_SUMMING_SINK_H
