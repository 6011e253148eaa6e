// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/flood_relief.h"

#include <algorithm>
#include <cmath>

namespace trumpet {
namespace {

// What the monitor may take of a thread in a flood, by its own clock.  The switch loses a fifth at
// most, and up to as much again as the clock shows goes into caches that hold our lines.
constexpr double kMaxShare = 0.1;
constexpr double kMemory = 80e6;       // ns, after which an epoch weighs less by a factor of e
constexpr uint64_t kMinPackets = 256;  // in an epoch of which anything can be said
constexpr uint64_t kBusyFactor = 16;   // a busy thread is free for less than one part in so many

bool IsFlood(const EpochLoad& load) {
  return load.packets >= kMinPackets && load.withheld > load.packets / 2 &&
         load.free_cycles * kBusyFactor < load.cycles;
}

}  // namespace

void FloodRelief::NoteEpoch(const EpochLoad& load) {
  const double share = IsFlood(load) ? static_cast<double>(load.monitor_cycles) /
                                           static_cast<double>(std::max<uint64_t>(load.cycles, 1))
                                     : 0;
  const double weight = -std::expm1(-static_cast<double>(load.length) / kMemory);
  share_ += weight * (std::min(share, 1.0) - share_);
  // With so much of the time spared, the monitor takes kMaxShare of all of it.
  const double spared = share_ > kMaxShare ? 1 - kMaxShare / share_ : 0;
  const auto epochs = static_cast<uint64_t>(std::ceil(spared * double{kEpochs}));
  withheld_epochs_ = std::min(epochs, kMaxWithheld);
}

}  // namespace trumpet
