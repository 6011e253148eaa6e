// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/summing_sink.h"

namespace trumpet::bench {

void SummingSink::SetPlans(const HostVerdicts::Plans& plans) {
  plans_ = plans;
  cells_.clear();
  for (const auto& plan : plans) {
    cells_.push_back(FindAggregateCells(*plan, plan->spec.predicate.args[0]));
  }
  values_.resize(plans.size());
}

void SummingSink::DecideVerdicts() {
  verdicts_ = std::make_unique<HostVerdicts>(10 * kNanosPerSecond);
  verdicts_->Apply(plans_, 0, true);
}

void SummingSink::OnPartial(const PartialView& partial) {
  const size_t event = partial.event_id - 1;
  const Number value = AggregateValue(cells_[event], partial.words);
  if (value.is_integer()) values_[event] += static_cast<uint64_t>(value.integer());
  matches_ += partial.words[0];
  partials_++;
  if (verdicts_ != nullptr) verdicts_->Add(partial);
}

void SummingSink::OnEpochEnd(Nanos, Nanos end, uint32_t reasons) {
  epochs_++;
  if (reasons != 0) incomplete_epochs_++;
  matches_of_epoch_ = matches_;
  matches_ = 0;
  if (verdicts_ == nullptr) return;
  std::vector<Report> reports;
  verdicts_->Advance(end, &reports);
  reports_ += reports.size();
}

}  // namespace trumpet::bench
