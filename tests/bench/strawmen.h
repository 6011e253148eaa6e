// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The strawmen of the paper's section 4, with the triggers of the workload.
//
//   match-first  matches every packet against all triggers and updates the matched ones
//   match-later  logs the headers of every packet, and does the same at the end of the epoch
//
// They read fixed offsets, know what encapsulation comes, and keep no state per flow.  So they
// cannot see loss: a loss trigger adds the 0 that UDP has.  At the end of an epoch they test and
// reset all triggers.

#ifndef TRUMPET_TESTS_BENCH_STRAWMEN_H
#define TRUMPET_TESTS_BENCH_STRAWMEN_H

#include <memory>

#include "tests/bench/contender.h"
#include "tests/bench/triggers.h"

namespace trumpet::bench {

// Whether a group is a prefix of addresses, which is all that a strawman can match.
inline bool StrawmenCanMatch(const TriggersSpec& spec) {
  const uint32_t size = spec.group_size();
  return spec.triggers != 0 && kDestinations % spec.groups() == 0 && kDstBase % size == 0;
}

std::unique_ptr<Contender> MakeMatchFirst(const TriggersSpec& spec);
std::unique_ptr<Contender> MakeMatchLater(const TriggersSpec& spec);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_STRAWMEN_H
