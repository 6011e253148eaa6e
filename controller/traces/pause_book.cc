// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/pause_book.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr Uint128 kQuantumBits = 512;

}  // namespace

void PauseBook::Take(const RoceSight& sight) {
  ++frames_;
  now_ = std::max(now_, sight.time);
  const MacControl& control = *sight.control;
  for (uint8_t i = 0; i < 8; ++i) {
    const bool is_meant = control.has_priorities ? (control.priorities >> i & 1) != 0 : i == 0;
    if (!is_meant) continue;
    const uint8_t priority = control.has_priorities ? i : kAllPriorities;
    const PausePlace place{sight.switch_number, sight.port, priority};
    auto found = ports_.find(place);
    if (found == ports_.end()) {
      if (ports_.size() >= options_.max_ports) {
        ++not_kept_;
        continue;
      }
      found = ports_.emplace(place, PauseCounts()).first;
      found->second.first = now_;
      found->second.source = sight.source;
    }
    Stop(control.quanta[i], now_, &found->second);
  }
}

void PauseBook::Stop(uint16_t quanta, Nanos now, PauseCounts* port) const {
  CountUntil(now, port);
  const bool was_stopped = port->until > now;
  port->last = now;
  if (quanta == 0) {
    ++port->goes;
    port->pairs += was_stopped ? 1 : 0;
    port->from = port->until = now;
    return;
  }
  ++port->stops;
  port->quanta += quanta;
  const bool begins = port->stops == 1 || now - port->until > options_.storm_time;
  if (begins) port->begin = now;
  const Uint128 nanos = quanta * kQuantumBits * kNanosPerSecond / options_.bits_per_second;
  port->from = now;
  port->until = now + static_cast<Nanos>(nanos);
}

// What it was stopped before `now` and is not counted yet.
void PauseBook::CountUntil(Nanos now, PauseCounts* port) const {
  const Nanos end = std::min(now, port->until);
  while (port->from < end) {
    const int64_t span = CellOf(port->from, options_.storm_time);
    const Nanos part = std::min(end, (span + 1) * options_.storm_time) - port->from;
    CountSpan(span, part, port);
    port->stopped += part;
    port->from += part;
  }
}

void PauseBook::CountSpan(int64_t span, Nanos stopped, PauseCounts* port) const {
  const auto least = options_.storm_share * static_cast<double>(options_.storm_time);
  if (span != port->span) port->in_span = 0;
  port->span = span;
  const bool was_storm = static_cast<double>(port->in_span) >= least && port->in_span > 0;
  port->in_span += stopped;
  if (was_storm || static_cast<double>(port->in_span) < least) return;
  if (port->storm_spans++ == 0) port->storm_begin = port->begin;
  port->storm_end = (span + 1) * options_.storm_time;
}

std::map<PausePlace, PauseCounts> PauseBook::Finish() const {
  std::map<PausePlace, PauseCounts> ports = ports_;
  for (auto& [place, port] : ports) {
    port.is_standing = port.until > now_;
    CountUntil(now_, &port);
  }
  return ports;
}

}  // namespace trumpet
