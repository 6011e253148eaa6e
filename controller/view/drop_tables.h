// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of searches for the cause of drops, for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_VIEW_DROP_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_DROP_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string DropSearchTable(const ApiJson& searches);
// One search, with what each field has to do with it.
std::string DropSearchText(const ApiJson& search);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_DROP_TABLES_H
