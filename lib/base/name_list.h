// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NameList: several names in one text, with commas between: "heavy,a\,b" are "heavy" and "a,b".
//
// A backslash in front of a comma or of a backslash takes it into the name; any other is itself.

#ifndef TRUMPET_LIB_BASE_NAME_LIST_H
#define TRUMPET_LIB_BASE_NAME_LIST_H

#include <string>
#include <string_view>
#include <vector>

namespace trumpet {

inline std::string JoinNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    for (const char c : name) text.append(c == ',' || c == '\\' ? 1 : 0, '\\') += c;
  }
  return text;
}

// Empty names are left out.
inline std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == ',' || next == '\\')) {
      names.back() += text[++i];
    } else if (text[i] != ',') {
      names.back() += text[i];
    } else if (!names.back().empty()) {
      names.emplace_back();
    }
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_NAME_LIST_H
