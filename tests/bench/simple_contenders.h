// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the monitor's work, by themselves.
//
//   traffic  nothing: the cost of writing the frames
//   parse    the fields, by PlainReader or else ParsePacket
//   lookup   the same, then the flow's key and one look-up in FlowTable: no triggers, no counting

#ifndef TRUMPET_TESTS_BENCH_SIMPLE_CONTENDERS_H
#define TRUMPET_TESTS_BENCH_SIMPLE_CONTENDERS_H

#include <memory>

#include "tests/bench/contender.h"

namespace trumpet::bench {

std::unique_ptr<Contender> MakeTrafficOnly();
std::unique_ptr<Contender> MakeParse();

// Null and a line on stderr when there is no memory.
std::unique_ptr<Contender> MakeLookup(uint32_t max_flows);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_SIMPLE_CONTENDERS_H
