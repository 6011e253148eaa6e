// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Suggestions: the known word that a mistyped one was probably meant to be.

#ifndef TRUMPET_LIB_LANG_EVENT_SUGGEST_H
#define TRUMPET_LIB_LANG_EVENT_SUGGEST_H

#include <string>
#include <string_view>
#include <vector>

namespace trumpet::event_lang {

// "; did you mean 'bytes'?", or nothing when no candidate is near.  Letter case
// costs nothing; a third of the letters may differ.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

// Among words so short that another letter makes another word, as of units: only other letter case,
// or one wrong letter behind the first where no second candidate is as near.
std::string DidYouMeanShort(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_SUGGEST_H
