// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/admission_control.h"

#include <x86intrin.h>

#include <algorithm>
#include <cmath>

namespace trumpet {
namespace {

// New flows may use this share of a busy thread, and this share of what an idle one has left: a
// switch that waits for packets is not slowed down by work done meanwhile, up to a point.
constexpr double kBusyShare = 0.05;
constexpr double kFreeShare = 0.5;
constexpr double kFreeAdmissions = 0.125;  // of what is allowed
constexpr uint64_t kMinAdmissions = 4;     // in a round, however dear: else none is measured
constexpr double kSweepReserve = 1.5;      // the paper's
constexpr uint32_t kCalmRounds = 8;        // before the threshold falls
constexpr double kSmoothing = 0.125;

double Share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(whole, 1));
}

}  // namespace

uint64_t ReadTsc() { return __rdtsc(); }

void AdmissionControl::Measure(const AdmissionRound& round) {
  if (round.add_cycles > 0) add_cycles_ += (round.add_cycles - add_cycles_) / 2;
  if (round.sweep_cycles > 0 && round.admitted != 0) {
    sweep_cycles_ = kSweepReserve * round.sweep_cycles * Share(round.swept, round.admitted);
  }
}

AdmissionControl::Load AdmissionControl::LoadOf(const AdmissionRound& round) const {
  Load load;
  load.allowed = kBusyShare + kFreeShare * Share(round.free_cycles, round.cycles);
  load.now = flow_cycles() * Share(round.admitted, round.cycles);
  load.if_open = flow_cycles() * Share(round.offered, round.cycles);
  return load;
}

// The paper's formula; when genuine flows alone are too many, as if an eighth were left for the
// others.
uint32_t AdmissionControl::Model(const AdmissionRound& round, double allowed) const {
  const double offered = Share(round.offered, round.cycles);
  const double genuine = std::min(normal_rate_, offered);
  const double left = std::max(allowed - genuine * flow_cycles(), allowed / 8);
  const double packets = (offered - genuine) * add_cycles_ / left;
  const double units = packets * Share(round.offered_units, round.offered);
  const double limited = std::clamp(std::ceil(units), double{kMinThreshold}, double{kMaxThreshold});
  return static_cast<uint32_t>(limited);
}

// The threshold rises at once, falls slowly while the attack goes on, and goes when nobody offers
// more than half of what is allowed.
uint32_t AdmissionControl::Decide(const AdmissionRound& round) {
  if (round.cycles == 0) return threshold_;
  Measure(round);
  const Load load = LoadOf(round);
  allowed_ = load.allowed;
  const bool is_too_much = load.now > load.allowed || round.refused != 0;
  if (is_too_much) {
    const uint32_t model = Model(round, load.allowed);
    threshold_ = std::min(std::max(model, 2 * threshold_), kMaxThreshold);
    slack_rounds_ = 0;
  } else if (threshold_ == 0) {
    normal_rate_ += kSmoothing * (Share(round.admitted, round.cycles) - normal_rate_);
  } else if (++slack_rounds_; load.now > load.allowed / 4) {
    slack_rounds_ = 0;
  } else if (slack_rounds_ == kCalmRounds) {
    slack_rounds_ = 0;
    threshold_ = std::max(threshold_ / 2, kMinThreshold);
  }
  calm_rounds_ = is_too_much || load.if_open > load.allowed / 2 ? 0 : calm_rounds_ + 1;
  if (calm_rounds_ >= kCalmRounds) threshold_ = 0;
  return threshold_;
}

uint64_t AdmissionControl::MaxAdmissions(double cycles) const {
  return kMinAdmissions +
         static_cast<uint64_t>(2 * allowed_ * std::max(cycles, 0.0) / flow_cycles());
}

uint64_t AdmissionControl::FreeAdmissions(double cycles) const {
  return static_cast<uint64_t>(kFreeAdmissions * allowed_ * std::max(cycles, 0.0) / flow_cycles());
}

}  // namespace trumpet
