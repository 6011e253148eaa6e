// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Burst stages: how the packets of a burst go through a program together and leave what they would
// leave one after the other.
//
// A program's operators are cut where nothing is known on both sides that somebody writes: then all
// packets may take the operators before the cut first.  A stage of one operator is done by a kernel
// for all its packets; if what ties the operators of others are maps of one key, packets of
// different cells take them together (cell_runs.h), else one after the other.
// What belongs to a packet alone (its fields, its late slots) is no tie.  Each stage says which
// packets go on at which later one.  Copies are run behind the last stage, packet by packet, if
// they too know nothing that packets write; then they need not be copied: their stream runs on the
// packet itself, whose tags are put back.
//
// Threads: pure function.

#ifndef TRUMPET_LIB_MEASURE_BURST_STAGES_H
#define TRUMPET_LIB_MEASURE_BURST_STAGES_H

#include <bitset>
#include <vector>

#include "lib/measure/compiled_program.h"

namespace trumpet {

// What an operator knows: a bit per variable that it reads or writes, and per thing whose order
// could be told otherwise.
constexpr size_t kKnowsRandom = kMaxMeasureVariables;  // the next random number
constexpr size_t kKnowsShared = kKnowsRandom + 1;      // variables that other threads write
constexpr size_t kKnowsLog = kKnowsRandom + 2;         // writes of branches, to be taken back
constexpr size_t kKnowsFlags = kKnowsRandom + 3;       // whether a fork has yielded
constexpr size_t kKnowsCopies = kKnowsRandom + 4;      // the queue of copies
using KnownSet = std::bitset<kKnowsRandom + 5>;

// Sets the stages of the program.  `known`: of each of its operators, to which stages append their
// own forms of some.
void PlanBurstStages(const std::vector<KnownSet>& known, CompiledProgram* compiled);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_BURST_STAGES_H
