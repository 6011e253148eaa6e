// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CheckMeasured: the rules of events that read what measurement programs hold (docs/adr/0048).
//
// They are about no packets: the filter is `*`, there is one bucket, and nothing in the predicate
// is counted at hosts.  The controller reads all hosts each time, so intervals are not short.

#ifndef TRUMPET_LIB_LANG_EVENT_MEASURED_CHECK_H
#define TRUMPET_LIB_LANG_EVENT_MEASURED_CHECK_H

#include <cstdint>

#include "lib/lang/event/ast.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/event_language.h"

namespace trumpet::event_lang {

constexpr uint32_t kLeastMeasuredIntervalMs = 100;

// False with `error` set at the first rule that the event breaks; true for all others.
bool CheckMeasured(const EventAst& event, const MeasuredCheck& check, Diagnostic* error);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_MEASURED_CHECK_H
