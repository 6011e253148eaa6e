// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CacheWarmer: brings what another processor has just written nearer, before it is needed.
//
// Who reads a new program for the first time finds nothing of it in its caches, and each of its
// reads waits for the one before.  Here the lines are asked for a few at a time, and nobody waits.
//
// Threads: Add() for who makes it, WarmSome() for one other, later.

#ifndef TRUMPET_LIB_TPM_CACHE_WARMER_H
#define TRUMPET_LIB_TPM_CACHE_WARMER_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trumpet {

class CacheWarmer {
 public:
  static constexpr size_t kLinesAtOnce = 64;
  // More would only drive out what the caches are there for.
  static constexpr size_t kMaxLines = (size_t{1} << 20) / 64;

  // Memory that will be read.  It must stay as long as the warmer is asked.
  void Add(const void* memory, size_t bytes) {
    const size_t lines = std::min((bytes + kLine - 1) / kLine, kMaxLines - line_count_);
    if (lines == 0) return;
    line_count_ += lines;
    spans_.push_back({static_cast<const uint8_t*>(memory), lines});
  }
  template <typename T>
  void Add(const std::vector<T>& all) {
    Add(all.data(), all.size() * sizeof(T));
  }

  // Asks for the next lines.  False: there are no more behind them.
  bool WarmSome() {
    for (size_t left = kLinesAtOnce; left > 0 && next_span_ < spans_.size();) {
      const Span& span = spans_[next_span_];
      const size_t end = std::min(next_line_ + left, span.lines);
      left -= end - next_line_;
      for (; next_line_ < end; next_line_++) {
        __builtin_prefetch(span.memory + next_line_ * kLine);
      }
      if (end < span.lines) break;
      next_span_++;
      next_line_ = 0;
    }
    return next_span_ < spans_.size();
  }

  size_t line_count() const { return line_count_; }

 private:
  static constexpr size_t kLine = 64;
  struct Span {
    const uint8_t* memory;
    size_t lines;
  };

  std::vector<Span> spans_;
  size_t line_count_ = 0;
  size_t next_span_ = 0;
  size_t next_line_ = 0;  // of that span
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_CACHE_WARMER_H
