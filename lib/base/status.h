// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Status and Result<T>: how slow-path functions report what went wrong.
//
// The text says what was being done, to what, and what is allowed.  The packet
// path does not use these; it returns small enums and counts.

#ifndef TRUMPET_LIB_BASE_STATUS_H
#define TRUMPET_LIB_BASE_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace trumpet {

class [[nodiscard]] Status {
 public:
  static Status Ok() { return Status(); }
  static Status Error(std::string message) {
    Status status;
    status.message_ = std::move(message);
    return status;
  }

  bool ok() const { return !message_.has_value(); }
  explicit operator bool() const { return ok(); }

  // Only for a failed status.
  const std::string& message() const {
    assert(!ok());
    return *message_;
  }

 private:
  std::optional<std::string> message_;
};

// A value, or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: converts on purpose
  Result(Status error) : status_(std::move(error)) { assert(!status_.ok()); }  // NOLINT

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  const std::string& message() const { return status_.message(); }

  // Only for a successful result.
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_STATUS_H
