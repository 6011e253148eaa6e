// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/label.h"

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/source.h"

namespace trumpet::event_lang {
namespace {

// Commands take a name beside options, the word "json" and the numbers of events.
bool IsTakenForAnotherWord(std::string_view name) {
  return name[0] == '-' || name == "json" ||
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string LabelProblem(std::string_view key, std::string_view text) {
  if (key == "name" && text.empty()) return "'name' must be a text, not empty";
  if (text.size() > kMaxLabelBytes) {
    return Quote(key) + " is longer than " + std::to_string(kMaxLabelBytes) + " bytes";
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return Quote(key) + " holds a control character";
  }
  size_t offset = 0;
  if (!IsUtf8(text, &offset)) return Quote(key) + " is not UTF-8";
  return "";
}

std::string EventNameProblem(std::string_view name) {
  const std::string problem = LabelProblem("name", name);
  if (!problem.empty() || !IsTakenForAnotherWord(name)) return problem;
  return "'name' is " + Quote(name) +
         ", which commands take for something else; it may not begin with '-', nor be 'json' or a "
         "number";
}

}  // namespace trumpet::event_lang
