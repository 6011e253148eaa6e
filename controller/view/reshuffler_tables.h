// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of reshufflers, for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_VIEW_RESHUFFLER_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_RESHUFFLER_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string ReshufflerTable(const ApiJson& reshufflers);
// One of them, with its analyzers.
std::string ReshufflerText(const ApiJson& reshuffler);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_RESHUFFLER_TABLES_H
