// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sessions of BGP as findings: for each pair of peers a verdict, a sentence, the figures, and a
// timeline; docs/traces.md says what the keys mean.
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_TRACES_SESSION_TEXT_H
#define TRUMPET_CONTROLLER_TRACES_SESSION_TEXT_H

#include <nlohmann/json.hpp>

#include "controller/traces/bgp_sessions.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

// A list, what is worst first.
nlohmann::ordered_json SessionFindings(const BgpSessions& sessions, const SwitchBook& switches);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_SESSION_TEXT_H
