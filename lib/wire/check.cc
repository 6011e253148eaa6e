// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/check.h"

#include "lib/base/utf8.h"
#include "lib/model/bucket_key.h"
#include "lib/model/report.h"
#include "lib/wire/limits.h"
#include "lib/wire/message.h"

namespace trumpet {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string ToWireText(std::string_view text, size_t max_bytes) {
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text, at);
    if (clean.size() + (length == 0 ? 1 : length) > max_bytes) break;
    if (length == 0) {
      clean += '?';
    } else if (IsControl(text[at])) {
      clean += ' ';
    } else {
      clean += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return clean;
}

std::string Place::ToString() const {
  std::string text = parent_ == nullptr ? "" : parent_->ToString() + ".";
  text += name_;
  if (index_ >= 0) text += "[" + std::to_string(index_) + "]";
  return text;
}

bool Checker::Fail(const Place& place, const std::string& what) {
  if (error_.empty()) error_ = place.ToString() + " " + what;
  return false;
}

bool Checker::Fail(const Place& parent, const char* name, const std::string& what) {
  return Fail(Place(parent, name), what);
}

bool Checker::Range(const Place& parent, const char* name, uint64_t value, uint64_t min,
                    uint64_t max) {
  if (value >= min && value <= max) return true;
  return Fail(parent, name,
              "is " + std::to_string(value) + "; it takes " + std::to_string(min) + " to " +
                  std::to_string(max));
}

bool Checker::Enum(const Place& parent, const char* name, int value, int last) {
  if (value >= 1 && value <= last) return true;
  return Fail(parent, name,
              "is " + std::to_string(value) + "; it takes 1 to " + std::to_string(last));
}

bool Checker::Count(const Place& parent, const char* name, size_t count, size_t max) {
  if (count <= max) return true;
  return Fail(parent, name,
              "has " + std::to_string(count) + " elements; at most " + std::to_string(max) +
                  " are allowed");
}

bool Checker::Instant(const Place& parent, const char* name, Nanos value) {
  if (value >= 0 && value <= kMaxInstant) return true;
  return Fail(parent, name,
              "is " + std::to_string(value) + "; it takes 0 to " + std::to_string(kMaxInstant));
}

bool Checker::Interval(const Place& parent, Nanos start, Nanos end) {
  if (!Instant(parent, "start_ns", start) || !Instant(parent, "end_ns", end)) return false;
  constexpr Nanos kLongest = Nanos{kMaxIntervalMs} * kNanosPerMilli;
  if (end > start && end - start <= kLongest) return true;
  return Fail(parent, "end_ns",
              "is " + std::to_string(end - start) + " ns after start_ns; it takes 1 to " +
                  std::to_string(kLongest));
}

bool Checker::Text(const Place& parent, const char* name, std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Fail(parent, name,
                "has " + std::to_string(text.size()) + " bytes; at most " +
                    std::to_string(max_bytes) + " are allowed");
  }
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text, at);
    if (length == 0) return Fail(parent, name, "is not UTF-8");
    if (IsControl(text[at])) return Fail(parent, name, "holds a control character");
    at += length;
  }
  return true;
}

bool Checker::Name(const Place& parent, const char* name, std::string_view text) {
  return Present(parent, name, !text.empty()) && Text(parent, name, text, kMaxTextBytes);
}

bool Checker::Present(const Place& parent, const char* name, bool is_present) {
  return is_present || Fail(parent, name, "is missing");
}

bool Checker::BucketKey(const Place& parent, std::string_view key) {
  if (key.size() <= kMaxBucketKeyBytes) return true;
  return Fail(parent, "bucket_key",
              "has " + std::to_string(key.size()) + " bytes; at most " +
                  std::to_string(kMaxBucketKeyBytes) + " are allowed");
}

bool Checker::Reasons(const Place& parent, const char* name, uint32_t reasons) {
  return Range(parent, name, reasons, 0, kAllIncompleteReasons);
}

bool Checker::EventId(const Place& parent, const char* name, uint32_t id) {
  return Range(parent, name, id, 1, UINT32_MAX);
}

}  // namespace trumpet
