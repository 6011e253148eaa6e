// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LatencyProber: measures how long copies of switches take to the analyzer, with a packet of its
// own to each of them now and then, into a LatencyBook.
//
// Probes travel like copies: in the same tunnel, under a tag that no campaign gets; the analyzer
// counts them like those of a slice, and is asked when they came.  In a round kPerRound switches
// are probed at most, each once, and then the next ones.  A copy that takes longer than to the next
// round says nothing.
//
// A switch is probed when the probe of the one before has come back.  Probes that are sent together
// wait for each other, in one switch that has several bridges and in the controller, and always in
// the same order: those first in line would seem to be nearer than they are, and those last
// further. With more than kPerRound switches several lines are probed at the same time, one for
// each kPerRound.  Where a probe is lost its line ends, until the next round.
//
// Threads: one.  Whoever owns it calls Round() every kInterval.  Lifetime: the parts must outlive
// it; its end drops answers.

#ifndef TRUMPET_CONTROLLER_SLICE_LATENCY_PROBER_H
#define TRUMPET_CONTROLLER_SLICE_LATENCY_PROBER_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/slice/copy_collector.h"
#include "controller/slice/latency_book.h"
#include "controller/slice/slice_driver.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

class LatencyProber {
 public:
  static constexpr Nanos kInterval = kNanosPerSecond / 2;
  static constexpr size_t kPerRound = 64;

  LatencyProber(const WireClock& clock, SliceDriver* driver, CopyCollector* collector,
                LatencyBook* book)
      : clock_(clock), driver_(driver), collector_(collector), book_(book) {}

  // Asks what came of the last one, and begins another.
  void Round();

 private:
  struct Probe {
    std::string switch_name;
    Nanos sent = 0;         // monotonic
    Nanos sent_unix = 0;    // wall clock
    Nanos round_trip = -1;  // not back yet
  };
  // Of one round.  Shared with answers that are still to come.
  struct RoundOfProbes {
    std::vector<Probe> probes;
    size_t sent = 0;  // the first ones
  };
  using Probes = std::shared_ptr<RoundOfProbes>;

  void Begin();
  // The next one of the round that is not sent yet.
  void SendNext(const Probes& probes);
  void Ask(Nanos clock_error);
  void Take(const std::vector<SliceTally>& tallies, const std::vector<Probe>& probes,
            Nanos clock_error);

  const WireClock& clock_;
  SliceDriver* const driver_;
  CopyCollector* const collector_;
  LatencyBook* const book_;
  Probes probes_ = std::make_shared<RoundOfProbes>();
  uint32_t tag_ = 0;  // of the last round
  size_t rounds_ = 0;
  size_t first_ = 0;  // switch of the last round
  // Gone with this prober, so that answers know.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_LATENCY_PROBER_H
