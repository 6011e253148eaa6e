// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FilterParser: the text of a filter as a tree.  Binding, loosest first: or, and, not.

#ifndef TRUMPET_LIB_LANG_EVENT_FILTER_PARSER_H
#define TRUMPET_LIB_LANG_EVENT_FILTER_PARSER_H

#include <string_view>

#include "lib/lang/event/ast.h"
#include "lib/lang/event/diagnostic.h"

namespace trumpet::event_lang {

// False with `error` set when `text` is not a filter.
bool ParseFilter(std::string_view text, FilterNode* filter, Diagnostic* error);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_FILTER_PARSER_H
