// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Print: a checked event in its canonical spelling.
//
// Whatever the front end made reads back as the same event.  Units are gone: 125KB
// prints as 125000, a rate or percentage as the arithmetic that it stands for.

#ifndef TRUMPET_LIB_LANG_EVENT_PRINT_H
#define TRUMPET_LIB_LANG_EVENT_PRINT_H

#include <string>

#include "lib/model/event_spec.h"

namespace trumpet::event_lang {

std::string PrintFilter(const FilterExpr& filter);
std::string PrintPredicate(const Expr& predicate);
std::string PrintGranularity(const Granularity& granularity);  // "none" for one bucket
std::string PrintInterval(uint32_t interval_ms);
const char* ScopeName(Scope scope);
const char* ObserveName(Observe observe);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_PRINT_H
