// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Checker: the first thing that is wrong with a message, and its place.
//
// Threads: one.  A part of the codec.

#ifndef TRUMPET_LIB_WIRE_CHECK_H
#define TRUMPET_LIB_WIRE_CHECK_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/units.h"

namespace trumpet {

// A path into a message: `trigger_set.changes[3].put`.  Lives on the stack beside the walk, and
// becomes text only for an error.
class Place {
 public:
  explicit Place(const char* name) : name_(name) {}
  Place(const Place& parent, const char* name) : parent_(&parent), name_(name) {}
  Place(const Place& parent, const char* name, int index)
      : parent_(&parent), name_(name), index_(index) {}

  std::string ToString() const;

 private:
  const Place* parent_ = nullptr;
  const char* name_;
  int index_ = -1;  // -1: no element of a list
};

// Later than any instant, and so early that arithmetic on instants cannot overflow.
constexpr Nanos kMaxInstant = Nanos{1} << 62;

// Each check returns whether it holds; the first that does not leaves its text.
class Checker {
 public:
  bool Fail(const Place& parent, const char* name, const std::string& what);
  bool Fail(const Place& place, const std::string& what);

  bool Range(const Place& parent, const char* name, uint64_t value, uint64_t min, uint64_t max);
  // An enumeration whose values are 1 to `last`, 0 standing for "not said".
  bool Enum(const Place& parent, const char* name, int value, int last);
  bool Count(const Place& parent, const char* name, size_t count, size_t max);
  bool Instant(const Place& parent, const char* name, Nanos value);
  // start_ns and end_ns of an interval, at most a day long.
  bool Interval(const Place& parent, Nanos start, Nanos end);
  // UTF-8 without control characters.
  bool Text(const Place& parent, const char* name, std::string_view text, size_t max_bytes);
  bool Name(const Place& parent, const char* name, std::string_view text);  // not empty, either
  bool Present(const Place& parent, const char* name, bool is_present);
  bool BucketKey(const Place& parent, std::string_view key);
  bool Reasons(const Place& parent, const char* name, uint32_t reasons);
  bool EventId(const Place& parent, const char* name, uint32_t id);

  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_CHECK_H
