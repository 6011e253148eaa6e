// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/source.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace trumpet::event_lang {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// What a backslash of a double-quoted scalar stands for.
struct Escape {
  size_t raw_bytes = 2;
  size_t decoded_bytes = 1;
  bool is_space = false;
};

size_t Utf8Bytes(uint32_t code_point) {
  if (code_point < 0x80) return 1;
  if (code_point < 0x800) return 2;
  return code_point < 0x10000 ? 3 : 4;
}

Escape ReadEscape(std::string_view text) {
  Escape escape;
  const char kind = text.size() > 1 ? text[1] : '\\';
  const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits == 0) {
    // Letters stand for control characters and spaces, signs for themselves.
    escape.is_space = IsSpace(kind) || kind == 't' || kind == 'n' || kind == 'r';
    if (kind == 'L' || kind == 'P') escape.decoded_bytes = Utf8Bytes(0x2028);  // or 0x2029
    return escape;
  }
  const std::string_view hex = text.substr(2, digits);
  uint32_t code_point = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), code_point, 16);
  escape.raw_bytes = 2 + hex.size();
  escape.decoded_bytes = Utf8Bytes(code_point);
  const bool is_high_surrogate = digits == 4 && code_point >= 0xd800 && code_point < 0xdc00;
  if (is_high_surrogate && text.substr(escape.raw_bytes, 2) == "\\u") {
    escape.raw_bytes += 6;
    escape.decoded_bytes = 4;
  }
  escape.is_space = code_point < 0x80 && IsSpace(static_cast<char>(code_point));
  return escape;
}

// Walks a scalar and its value side by side.  White space is passed over on both sides, since
// folding changes nothing else; all other characters must pair up.
class ScalarWalk {
 public:
  ScalarWalk(std::string_view file, size_t start) : file_(file), raw_(start) {
    if (raw_ >= file_.size()) return;
    const char first = file_[raw_];
    if (first == '"' || first == '\'') {
      quote_ = first;
      ++raw_;
    } else if (first == '|' || first == '>') {
      while (raw_ < file_.size() && file_[raw_] != '\n') ++raw_;
    }
  }

  size_t Find(std::string_view decoded, size_t wanted) {
    size_t at = 0;
    size_t end_of_last = raw_;
    while (at < decoded.size()) {
      if (IsSpace(decoded[at])) {
        ++at;
        continue;
      }
      SkipSpace();
      if (raw_ >= file_.size() || at >= wanted) break;
      at += Step();
      end_of_last = raw_;
    }
    return at >= decoded.size() ? end_of_last : raw_;
  }

  // After a Find() of the whole value.
  bool IsQuoteClosed() {
    SkipSpace();
    return quote_ == 0 || (raw_ < file_.size() && file_[raw_] == quote_);
  }

 private:
  void SkipSpace() {
    while (raw_ < file_.size()) {
      if (IsSpace(file_[raw_])) {
        ++raw_;
      } else if (quote_ == '"' && file_[raw_] == '\\' && ReadEscape(Rest()).is_space) {
        raw_ += ReadEscape(Rest()).raw_bytes;
      } else {
        return;
      }
    }
  }

  // Consumes one character; returns how many bytes of the value it is.
  size_t Step() {
    if (quote_ == '"' && file_[raw_] == '\\') {
      const Escape escape = ReadEscape(Rest());
      raw_ = std::min(raw_ + escape.raw_bytes, file_.size());
      return escape.decoded_bytes;
    }
    if (quote_ == '\'' && file_[raw_] == '\'') ++raw_;
    raw_ = std::min(raw_ + 1, file_.size());
    return 1;
  }

  std::string_view Rest() const { return file_.substr(raw_, 16); }

  const std::string_view file_;
  size_t raw_;
  char quote_ = 0;
};

}  // namespace

std::string Source::PlaceOf(size_t offset) const {
  offset = std::min(offset, text.size());
  size_t line = 1;
  size_t column = 1;
  for (char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else if (!IsContinuation(c)) {
      ++column;
    }
  }
  return std::string(name) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string Source::ErrorAt(size_t offset, std::string_view message) const {
  return PlaceOf(offset) + ": " + std::string(message);
}

LineIndex::LineIndex(std::string_view text) : size_(text.size()) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
}

size_t LineIndex::OffsetOf(int line, int column) const {
  if (line < 0 || column < 0) return 0;
  if (static_cast<size_t>(line) >= starts_.size()) return size_;
  return std::min(starts_[static_cast<size_t>(line)] + static_cast<size_t>(column), size_);
}

size_t RawOffset(std::string_view file, size_t start, std::string_view decoded,
                 size_t decoded_offset) {
  return ScalarWalk(file, start).Find(decoded, decoded_offset);
}

bool IsQuoteClosed(std::string_view file, size_t start, std::string_view decoded) {
  ScalarWalk walk(file, start);
  walk.Find(decoded, decoded.size());
  return walk.IsQuoteClosed();
}

bool IsUtf8(std::string_view text, size_t* offset) {
  for (size_t i = 0; i < text.size();) {
    *offset = i;
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() - i < length) return false;
    uint32_t code_point = first & (0xff >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      if (!IsContinuation(text[i + k])) return false;
      code_point = code_point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    }
    const bool is_surrogate = code_point >= 0xd800 && code_point < 0xe000;
    if (Utf8Bytes(code_point) != length || is_surrogate || code_point > 0x10ffff) return false;
    i += length;
  }
  return true;
}

}  // namespace trumpet::event_lang
