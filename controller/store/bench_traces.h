// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks of stores of traces write: traces of five hops, each made of its number alone, so
// that whoever knows how many there are knows what a question has to find.

#ifndef TRUMPET_CONTROLLER_STORE_BENCH_TRACES_H
#define TRUMPET_CONTROLLER_STORE_BENCH_TRACES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/store/trace_store.h"

namespace trumpet::bench {

constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;
constexpr Nanos kDays = 7 * 24 * 3600 * kNanosPerSecond;
constexpr uint64_t kHops = 5;
constexpr uint64_t kSwitches = 1000;
constexpr uint64_t kFlows = 200000;
constexpr uint8_t kConnection = 1;  // marks, as the analyzer sets them
constexpr uint8_t kDebug = 4;
constexpr uint8_t kDropped = 1;  // faults, as the judge numbers them

// Every fiftieth trace is of a packet that was lost, every ten thousandth or so of one that a host
// had marked; the others begin or end a connection.
inline bool IsLost(uint64_t number) { return number % 50 == 0; }
inline bool IsMarked(uint64_t number) { return number % 10007 == 0; }
inline uint16_t SwitchOf(uint64_t number, uint64_t hop) {
  return static_cast<uint16_t>((number * 7 + hop * 131) % kSwitches);
}
bool IsThrough(uint64_t number, uint16_t switch_number);
FlowKey FlowOf(uint64_t number);
// The traces of numbers from 0 begin `step` after each other.
StoredTrace TraceOf(uint64_t number, Nanos step);
// Those of first <= number < until.
std::vector<StoredTrace> TracesOf(uint64_t first, uint64_t until, Nanos step);

double SecondsOf(const std::function<void()>& work);
double MedianOf(std::vector<double> values);
double MedianOf(int runs, const std::function<void()>& work);
// Ends the program if it is wrong.
void Check(bool is_right, const std::string& what);
void Check(const Status& status);

}  // namespace trumpet::bench

#endif  // TRUMPET_CONTROLLER_STORE_BENCH_TRACES_H
