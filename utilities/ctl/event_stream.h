// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventStreamReader: server-sent events out of bytes, however they are cut.
//
// A line longer than kMaxLineBytes ends the reading.

#ifndef TRUMPET_UTILITIES_CTL_EVENT_STREAM_H
#define TRUMPET_UTILITIES_CTL_EVENT_STREAM_H

#include <functional>
#include <string>
#include <string_view>

namespace trumpet {

struct StreamedEvent {
  std::string type;  // empty: a message
  std::string data;
};

class EventStreamReader {
 public:
  static constexpr size_t kMaxLineBytes = 4 << 20;

  explicit EventStreamReader(std::function<void(const StreamedEvent&)> on_event)
      : on_event_(std::move(on_event)) {}

  // False: this is no stream of events.
  bool Read(std::string_view bytes);
  // Of the last event that had one, over all streams; for Last-Event-ID.
  const std::string& last_id() const { return last_id_; }
  // A new stream begins: what was begun and not ended is forgotten.
  void Restart();

 private:
  void ReadLine(std::string_view line);

  const std::function<void(const StreamedEvent&)> on_event_;
  std::string line_;
  bool is_after_return_ = false;
  std::string id_;
  bool has_id_ = false;
  StreamedEvent event_;
  std::string last_id_;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_EVENT_STREAM_H
