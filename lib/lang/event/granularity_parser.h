// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Granularity and interval: the two short parts of an event.

#ifndef TRUMPET_LIB_LANG_EVENT_GRANULARITY_PARSER_H
#define TRUMPET_LIB_LANG_EVENT_GRANULARITY_PARSER_H

#include <cstdint>
#include <string_view>

#include "lib/lang/event/ast.h"
#include "lib/lang/event/diagnostic.h"

namespace trumpet::event_lang {

// `5-tuple`, `none`, nothing, or fields with optional prefix lengths joined by `,` or `and`.
bool ParseGranularity(std::string_view text, GranularityNode* granularity, Diagnostic* error);

// A whole number of milliseconds from 1ms to one day, in any time unit.
bool ParseInterval(std::string_view text, uint32_t* interval_ms, Diagnostic* error);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_GRANULARITY_PARSER_H
