// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the RoCEv2 debugger has found, as JSON with an explanation; docs/traces.md says what the
// keys mean.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_TEXT_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_TEXT_H

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "controller/traces/pause_book.h"
#include "controller/traces/roce_groups.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

// Storms, in the order in which they began, then ports that were stopped for a while.
nlohmann::ordered_json PauseFindings(const std::map<PausePlace, PauseCounts>& ports,
                                     const PauseOptions& options, const SwitchBook& switches);
nlohmann::ordered_json GroupFindings(const RoceGroups& groups, bool has_all_packets,
                                     const SwitchBook& switches);
nlohmann::ordered_json NothingFound(const RoceGroups& groups, const PauseBook& pauses);
nlohmann::ordered_json FlowJson(const RoceFlowKey& key, const RoceFlowCounts& counts,
                                const SwitchBook& switches);
nlohmann::ordered_json KindsJson(const std::array<uint64_t, kRoceKinds>& kinds);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_TEXT_H
