// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of round trips of links, for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_VIEW_BOUNCE_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_BOUNCE_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string BounceTable(const ApiJson& bounces);
// One of them, with its histogram.
std::string BounceText(const ApiJson& bounce);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_BOUNCE_TABLES_H
