// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Source: from a place in an event's text back to line and column of the file that
// holds it, through quotes, escapes and folded lines.

#ifndef TRUMPET_LIB_LANG_EVENT_SOURCE_H
#define TRUMPET_LIB_LANG_EVENT_SOURCE_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trumpet::event_lang {

constexpr size_t kMaxDocumentBytes = 1024 * 1024;  // as a rule

// A file (or argument) under its name.  Borrowed: both must outlive the value.
struct Source {
  std::string_view name;
  std::string_view text;
  size_t max_bytes = kMaxDocumentBytes;  // longer ones are refused as documents

  // "events.yaml:7:17", both counted from 1, columns in characters.
  std::string PlaceOf(size_t offset) const;

  // "events.yaml:7:17: message"
  std::string ErrorAt(size_t offset, std::string_view message) const;
};

// Where the lines of a text start, to turn many marks into offsets.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  // Of a line and column counted from 0, as YAML marks are; columns in bytes.  A mark outside
  // the text is moved to its nearest end.
  size_t OffsetOf(int line, int column) const;

 private:
  size_t size_;
  std::vector<size_t> starts_{0};
};

// Finds where byte `decoded_offset` of `decoded` stands in `file`, when the scalar whose value is
// `decoded` starts at `start`: plain, 'single' or "double" quoted (also JSON), or a block after |
// or >.
size_t RawOffset(std::string_view file, size_t start, std::string_view decoded,
                 size_t decoded_offset);

// False when that scalar starts with a quote and no such quote follows its value.
bool IsQuoteClosed(std::string_view file, size_t start, std::string_view decoded);

// Is every byte part of well-formed UTF-8?  If not, `offset` says which one is not.
bool IsUtf8(std::string_view text, size_t* offset);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_SOURCE_H
