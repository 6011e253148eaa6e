// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/event_stream.h"

namespace trumpet {

bool EventStreamReader::Read(std::string_view bytes) {
  for (const char c : bytes) {
    // Lines end with \n, \r or both.
    if (c == '\n' && is_after_return_) {
      is_after_return_ = false;
      continue;
    }
    is_after_return_ = c == '\r';
    if (c == '\n' || c == '\r') {
      ReadLine(line_);
      line_.clear();
    } else {
      if (line_.size() >= kMaxLineBytes) return false;
      line_ += c;
    }
  }
  return event_.data.size() <= kMaxLineBytes;
}

void EventStreamReader::Restart() {
  line_.clear();
  is_after_return_ = false;
  has_id_ = false;
  event_ = {};
}

void EventStreamReader::ReadLine(std::string_view line) {
  if (line.empty()) {
    if (has_id_) last_id_ = id_;
    has_id_ = false;
    if (!event_.data.empty()) {
      event_.data.pop_back();  // the last newline
      on_event_(event_);
    }
    event_ = {};
    return;
  }
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value[0] == ' ') value.remove_prefix(1);
  if (field == "data") {
    event_.data += value;
    event_.data += '\n';
  } else if (field == "event") {
    event_.type = value;
  } else if (field == "id" && value.find('\0') == value.npos) {
    id_ = value;
    has_id_ = true;
  }  // a comment, or what we do not know
}

}  // namespace trumpet
