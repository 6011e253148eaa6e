// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/json_splitter.h"

namespace trumpet {
namespace {

bool IsSpace(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

Status JsonSplitter::TooMuch(const char* what, size_t allowed) const {
  return Status::Error("an object of the stream has more " + std::string(what) + " than the " +
                       std::to_string(allowed) + " that are allowed");
}

Status JsonSplitter::Look(char byte) {
  if (is_in_string_) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (byte == '\\') {
      is_escaped_ = true;
    } else if (byte == '"') {
      is_in_string_ = false;
    }
    return Status::Ok();
  }
  switch (byte) {
    case '"':
      is_in_string_ = true;
      break;
    case '{':
    case '[':
      if (++depth_ > limits_.max_depth) return TooMuch("brackets in each other", limits_.max_depth);
      [[fallthrough]];
    case ',':  // each value but the first one of a bracket has one of these before it
    case ':':
      if (++value_count_ > limits_.max_values) return TooMuch("values", limits_.max_values);
      break;
    case '}':
    case ']':
      --depth_;  // not 0 here: the text begins with a bracket and ends with its partner
      break;
    default:
      break;
  }
  return Status::Ok();
}

Status JsonSplitter::Take(std::string_view* bytes, std::string* object) {
  object->clear();
  if (text_.empty()) {
    while (!bytes->empty() && IsSpace(bytes->front())) bytes->remove_prefix(1);
    if (bytes->empty()) return Status::Ok();
    if (bytes->front() != '{') return Status::Error("the stream has something that is no object");
    depth_ = 0;
    value_count_ = 0;
  }
  size_t end = 0;
  bool is_whole = false;
  while (end < bytes->size() && !is_whole) {
    const Status status = Look((*bytes)[end++]);
    if (!status.ok()) return status;
    is_whole = depth_ == 0;
  }
  if (text_.size() + end > limits_.max_bytes) return TooMuch("bytes", limits_.max_bytes);
  text_.append(bytes->substr(0, end));
  bytes->remove_prefix(end);
  if (is_whole) object->swap(text_);
  return Status::Ok();
}

}  // namespace trumpet
