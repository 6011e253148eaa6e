// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/latency_prober.h"

#include <algorithm>

#include "lib/model/slice_spec.h"

namespace trumpet {

void LatencyProber::Round() {
  const std::optional<Nanos> clock_error = collector_->ClockError();
  if (!collector_->is_ready() || !clock_error) {
    probes_ = std::make_shared<RoundOfProbes>();
    return;
  }
  if (probes_->sent > 0) Ask(*clock_error);
  Begin();
}

void LatencyProber::Begin() {
  first_ += probes_->sent;  // go on where the last one stopped
  probes_ = std::make_shared<RoundOfProbes>();
  const std::vector<std::string> targets = driver_->ProbeTargets();
  if (targets.empty()) return;
  first_ %= targets.size();
  // Tags take turns, so that a copy that comes very late is not taken for one of this round.
  tag_ = kFirstProbeTag + static_cast<uint32_t>(rounds_++ % kProbeTags);
  ExpectedSlice expected;
  expected.tag = tag_;
  expected.name = "latency";
  for (size_t i = 0; i < std::min(targets.size(), kPerRound); ++i) {
    const std::string& name = targets[(first_ + i) % targets.size()];
    Probe probe;
    probe.switch_name = name;
    probes_->probes.push_back(probe);
    expected.path.push_back(name);
    expected.numbers.push_back(driver_->NumberOf(name));
  }
  expected.locations = expected.path;
  expected.start = clock_.UnixNow();
  expected.end = expected.start + kInterval;
  collector_->Expect({expected});
  const size_t lines = (targets.size() + kPerRound - 1) / kPerRound;
  for (size_t i = 0; i < lines; ++i) SendNext(probes_);
}

void LatencyProber::SendNext(const Probes& probes) {
  if (probes != probes_ || probes->sent == probes->probes.size()) return;
  const size_t index = probes->sent++;
  Probe& probe = probes->probes[index];
  probe.sent = clock_.MonotonicNow();
  probe.sent_unix = clock_.UnixNow();
  driver_->Probe(probe.switch_name, tag_,
                 [this, alive = std::weak_ptr<bool>(alive_), probes, index] {
                   if (alive.expired()) return;
                   Probe& back = probes->probes[index];
                   back.round_trip = clock_.MonotonicNow() - back.sent;
                   SendNext(probes);
                 });
}

void LatencyProber::Ask(Nanos clock_error) {
  collector_->AskTallies({tag_}, [this, alive = std::weak_ptr<bool>(alive_), probes = probes_,
                                  clock_error](const Result<std::vector<SliceTally>>& tallies) {
    if (!alive.expired() && tallies.ok()) Take(*tallies, probes->probes, clock_error);
  });
}

void LatencyProber::Take(const std::vector<SliceTally>& tallies, const std::vector<Probe>& probes,
                         Nanos clock_error) {
  for (const SliceTally& tally : tallies) {
    const auto probe = std::find_if(probes.begin(), probes.end(), [&](const Probe& one) {
      return one.switch_name == tally.switch_name;
    });
    // More than one packet: not only ours.
    if (probe == probes.end() || probe->round_trip < 0 || tally.packets != 1) continue;
    const Nanos to_analyzer = tally.first - probe->sent_unix;
    // By what the wall clock may jump meanwhile, it can be anything.
    const Nanos error = clock_error + probe->round_trip;
    if (to_analyzer < -error || to_analyzer > 2 * kInterval) continue;
    book_->Add(probe->switch_name,
               {clock_.MonotonicNow(), to_analyzer, probe->round_trip, clock_error});
  }
}

}  // namespace trumpet
