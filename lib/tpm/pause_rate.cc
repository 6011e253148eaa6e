// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/pause_rate.h"

#include <algorithm>

namespace trumpet {

PauseRate::PauseRate(uint64_t limit, uint64_t second) : limit_(limit) {
  memories_[0].span = kShortSeconds * second;
  memories_[1].span = kLongSeconds * second;
}

void PauseRate::Note(uint64_t now, uint64_t in_steps, uint64_t length) {
  for (Memory& memory : memories_) {
    Advance(&memory, now, in_steps);
    for (int i = 0; i < kClasses && length > LimitOf(i); i++) memory.running.counts[i]++;
  }
}

// Of long ones too few are seen to know their rate; that they are no rarer than in proportion to
// their length is taken for granted.
double PauseRate::PerTick(int its_class, uint64_t now, uint64_t in_steps) {
  double most = its_class == 0 ? 0 : PerTick(its_class - 1, now, in_steps) / 8;
  for (Memory& memory : memories_) {
    Advance(&memory, now, in_steps);
    const uint64_t count = memory.before.counts[its_class] + memory.running.counts[its_class];
    const uint64_t time = now - memory.before.start;
    const uint64_t steps = in_steps - memory.before.in_steps;
    // Each of them lasted for more than the limit, also if little else is known yet.
    const uint64_t outside = std::max(time > steps ? time - steps : 0, count * LimitOf(its_class));
    if (count > 0) most = std::max(most, static_cast<double>(count) / static_cast<double>(outside));
  }
  return most;
}

double PauseRate::ShareOfSteps(uint64_t now, uint64_t in_steps) {
  Memory& memory = memories_[0];
  Advance(&memory, now, in_steps);
  const uint64_t time = now - memory.before.start;
  if (time == 0) return 0;
  return static_cast<double>(in_steps - memory.before.in_steps) / static_cast<double>(time);
}

void PauseRate::Reset() {
  for (Memory& memory : memories_) memory.has_begun = false;
}

// Nobody comes by in quiet times: of a span that lasted for longer only its end is taken as known.
void PauseRate::Advance(Memory* memory, uint64_t now, uint64_t in_steps) {
  Span& running = memory->running;
  if (!memory->has_begun) {
    memory->has_begun = true;
    running = {now, in_steps, {}};
    memory->before = running;
    return;
  }
  const uint64_t age = now - running.start;
  if (age <= memory->span) return;
  memory->before = running;
  if (age > 2 * memory->span) {
    // The steps of the whole quiet time, thinned out evenly.
    const double part = static_cast<double>(memory->span) / static_cast<double>(age);
    const double steps = static_cast<double>(in_steps - running.in_steps) * part;
    memory->before = {now - memory->span, in_steps - static_cast<uint64_t>(steps), {}};
  }
  running = {now, in_steps, {}};
}

}  // namespace trumpet
