// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Probes as the API says them.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_REST_PROBE_VIEWS_H
#define TRUMPET_CONTROLLER_REST_PROBE_VIEWS_H

#include <nlohmann/json.hpp>
#include <string>

#include "controller/probe/bounce_book.h"
#include "controller/probe/probe_book.h"

namespace trumpet {

// 16 hexadecimal digits.
std::string ProbeIdText(uint64_t id);
// With each packet, or without.
nlohmann::ordered_json ProbeJson(const ProbeView& probe, bool with_packets);
nlohmann::ordered_json BounceJson(const BounceView& bounce);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_PROBE_VIEWS_H
