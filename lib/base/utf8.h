// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// UTF-8: what is a character and what is not.

#ifndef TRUMPET_LIB_BASE_UTF8_H
#define TRUMPET_LIB_BASE_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trumpet {

// Bytes of the well-formed UTF-8 sequence at `text[at]`; 0 if there is none (RFC 3629: no
// overlong forms, no surrogates, nothing beyond U+10FFFF).
inline size_t Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : 0u;
  };
  const auto is_tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return is_tail(1) && is_tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return is_tail(1) && is_tail(2) && is_tail(3) ? 4 : 0;
  }
  return 0;
}

// The same, but 0 as well for characters that are not seen or rule how others are shown: those of
// control, and the marks of direction and width.
inline size_t VisibleLength(std::string_view text, size_t at) {
  const size_t length = Utf8Length(text, at);
  const std::string_view character = text.substr(at, length);
  const auto is_within = [character](std::string_view first, std::string_view last) {
    return character.size() == first.size() && first <= character && character <= last;
  };
  const bool is_hidden = is_within("\x01", "\x1f") || character == std::string_view("\0", 1) ||
                         character == "\x7f" || is_within("\xc2\x80", "\xc2\x9f") ||
                         character == "\u00ad" || character == "\u061c" ||
                         is_within("\u200b", "\u200f") || is_within("\u2028", "\u202e") ||
                         is_within("\u2060", "\u206f") || character == "\ufeff";
  return is_hidden ? 0 : length;
}

// `text` without the mark with which some editors start a file.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_UTF8_H
