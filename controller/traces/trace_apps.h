// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What many traces say together: where packets are lost and whether by chance, which loops there
// are, whether flows are spread evenly.  Each answer has its verdict, the figures behind it, and a
// sentence for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_APPS_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_APPS_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "controller/store/trace_store.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

// An object for each place where traces end with "dropped".
nlohmann::ordered_json DebugDrops(const std::vector<StoredTrace>& traces,
                                  const std::vector<LinkCounters>& links,
                                  const SwitchBook& switches);
// An object for each set of switches that packets went round.
nlohmann::ordered_json DebugLoops(const std::vector<StoredTrace>& traces,
                                  const SwitchBook& switches);
// Whether the connections that left `at` towards `members` were spread evenly over them.
nlohmann::ordered_json ProfileEcmp(const std::vector<LinkCounters>& links, uint16_t at,
                                   const std::vector<uint16_t>& members,
                                   const SwitchBook& switches);

// The probability that chi-square with so many degrees of freedom is `value` or more.
double ChiSquareTail(double value, unsigned degrees);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_APPS_H
