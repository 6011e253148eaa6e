// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Searches for the cause of drops as the API says them.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_REST_DROP_VIEWS_H
#define TRUMPET_CONTROLLER_REST_DROP_VIEWS_H

#include <nlohmann/json.hpp>

#include "controller/probe/drop_book.h"

namespace trumpet {

// With what was sent of each kind of packets, or without.
nlohmann::ordered_json DropSearchJson(const DropSearchView& search, bool with_kinds);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_DROP_VIEWS_H
