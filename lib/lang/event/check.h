// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Check: the rules that tie the parts of an event together.
//
// Bare ack, seq, dup and *_lastepoch need granularity 5-tuple, other variables need an
// aggregate, aggregates do not nest, rates are whole sides of comparisons, rtt goes
// with no field that changes between data and ACK, granularity fields do not repeat.

#ifndef TRUMPET_LIB_LANG_EVENT_CHECK_H
#define TRUMPET_LIB_LANG_EVENT_CHECK_H

#include "lib/lang/event/ast.h"
#include "lib/lang/event/diagnostic.h"

namespace trumpet::event_lang {

// False with `error` set at the first rule that the event breaks.
bool CheckEvent(const EventAst& event, Diagnostic* error);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_CHECK_H
