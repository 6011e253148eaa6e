// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Compile: the four texts of an event, through all stages, to an EventSpec.

#ifndef TRUMPET_LIB_LANG_EVENT_COMPILE_H
#define TRUMPET_LIB_LANG_EVENT_COMPILE_H

#include <cstddef>
#include <string_view>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/event_language.h"
#include "lib/model/event_spec.h"

namespace trumpet::event_lang {

constexpr size_t kMaxEventBytes = 64 * 1024;

struct EventText {
  std::string_view filter;
  std::string_view predicate;
  std::string_view granularity;
  std::string_view interval;

  std::string_view operator[](Part part) const;
};

// Splits the one-line spelling at its commas outside parentheses and braces.  False with
// `offset` and `message` set, counted in `line`, when there are too few parts.
bool SplitEventLine(std::string_view line, EventText* text, size_t* offset, std::string* message);

// Sets the four parts of `spec`; false with `error` set, and `spec` in no defined state,
// when one of them is wrong or they do not fit together.
// `check`: as for ParseEventLine().
bool CompileEvent(const EventText& text, EventSpec* spec, Diagnostic* error,
                  const MeasuredCheck& check = nullptr);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_COMPILE_H
