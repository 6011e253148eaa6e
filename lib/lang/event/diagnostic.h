// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Diagnostic: what is wrong with an event, and where in its text.

#ifndef TRUMPET_LIB_LANG_EVENT_DIAGNOSTIC_H
#define TRUMPET_LIB_LANG_EVENT_DIAGNOSTIC_H

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/utf8.h"

namespace trumpet::event_lang {

// The four texts of an event; an offset counts bytes within one of them.
enum class Part { kFilter, kPredicate, kGranularity, kInterval };

struct Diagnostic {
  Part part = Part::kFilter;
  size_t offset = 0;
  std::string message;
};

// Fills `error` and is false, so that a parser can `return Fail(...)`.
inline bool Fail(Diagnostic* error, Part part, size_t offset, std::string message) {
  *error = Diagnostic{part, offset, std::move(message)};
  return false;
}

// 'text', shortened when a hostile input would fill the screen; for bytes that are no text, or
// might rule a terminal, stands '?'.
inline std::string Quote(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string quoted = "'";
  size_t at = 0;
  while (at < text.size() && at < kLongest) {
    const size_t length = VisibleLength(text, at);
    quoted += length == 0 ? "?" : text.substr(at, length);
    at += std::max<size_t>(Utf8Length(text, at), 1);
  }
  return quoted + (at < text.size() ? "...'" : "'");
}

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_DIAGNOSTIC_H
