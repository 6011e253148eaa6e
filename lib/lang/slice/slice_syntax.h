// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The syntax of the slice language: words with their places, before anybody asks what they mean.

#ifndef TRUMPET_LIB_LANG_SLICE_SLICE_SYNTAX_H
#define TRUMPET_LIB_LANG_SLICE_SLICE_SYNTAX_H

#include <cstddef>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/lang/event/source.h"
#include "lib/lang/slice/slice_language.h"

namespace trumpet::slice_lang {

struct Word {
  std::string text;
  size_t offset = 0;
};

struct Property {
  Word key;
  Word value;
};

struct QuerySyntax {
  std::vector<Property> properties;
  Word action;
  std::vector<Word> prefixes;
  std::vector<SliceRegion> regions;
};

struct BudgetSyntax {
  Word keyword;
  Word number;
  Word unit;  // may be empty
};

struct Syntax {
  std::vector<QuerySyntax> queries;
  std::vector<BudgetSyntax> budget;
};

// Errors carry their place.
Result<Syntax> ParseSyntax(const event_lang::Source& source);

// The words that no router is named by without quotes.
bool IsReserved(std::string_view word);
// Can a router of this name be written without quotes?
bool IsPlainName(std::string_view name);

}  // namespace trumpet::slice_lang

#endif  // TRUMPET_LIB_LANG_SLICE_SLICE_SYNTAX_H
