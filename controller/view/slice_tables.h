// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Answers of the API about campaigns of slices, as text for people.
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_VIEW_SLICE_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_SLICE_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string SliceTable(const ApiJson& campaigns);
std::string SliceText(const ApiJson& campaign);
// A run with its queries.
std::string SliceRunText(const ApiJson& run);
// The explanation of a plan, and what it puts on links.
std::string SlicePlanText(const ApiJson& plan);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_SLICE_TABLES_H
