// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SendQueue: what waits to be sent to a peer, bounded, the most important first.
//
// Three classes: control goes before reports, reports before partials; within a class order is
// kept.  When a message does not fit, the oldest of the least important class below or equal to its
// own make room: a control message throws out partials, then reports; a report partials, then older
// reports; partials older partials.  What is lost is counted by kind, and told to the peer in the
// next IntervalEnd, which is never lost itself: ends that nothing is left between are joined.
//
// Threads: one.

#ifndef TRUMPET_LIB_WIRE_SEND_QUEUE_H
#define TRUMPET_LIB_WIRE_SEND_QUEUE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "lib/wire/message.h"

namespace trumpet {

enum class SendClass : uint8_t { kControl, kReport, kPartial };
constexpr size_t kSendClassCount = 3;

SendClass ClassOf(MessageKind kind);

using KindCounts = std::array<uint64_t, kMessageKindCount>;

class SendQueue {
 public:
  // A queued message takes so much of the room beside its bytes.
  static constexpr size_t kOverheadBytes = 128;

  explicit SendQueue(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Takes an encoded message of any kind but IntervalEnd.  kLost: there is no room, it was counted
  // as dropped.  kStuck: so much control waits that the peer cannot be reading; end the session.
  enum class Outcome { kTaken, kLost, kStuck };
  Outcome Push(MessageKind kind, std::string frame);
  // Its counts of what was dropped are filled in when it leaves.
  void PushIntervalEnd(IntervalEnd end);

  // The next to send: encoded, or an IntervalEnd.
  struct Item {
    MessageKind kind = MessageKind::kKeepAlive;
    std::string frame;
    std::optional<IntervalEnd> end;
  };
  std::optional<Item> Pop();
  // The session is over: what waits is dropped, and counted.  Takes no memory.
  void Clear();

  bool empty() const { return bytes_ == 0; }
  size_t bytes() const { return bytes_; }  // with overhead; at most max_bytes, but for ends
  size_t max_bytes() const { return max_bytes_; }
  size_t count(SendClass cls) const { return queues_[static_cast<size_t>(cls)].size(); }
  const KindCounts& dropped() const { return dropped_; }

 private:
  struct Entry {
    Item item;
    uint64_t end_number = 0;  // of an IntervalEnd, counted as they come
  };
  using Queue = std::deque<Entry>;

  static size_t BytesOf(const Item& item);
  Queue& QueueOf(SendClass cls) { return queues_[static_cast<size_t>(cls)]; }
  bool MakeRoom(size_t bytes, SendClass cls);
  bool DropOldestPartial();
  bool DropOldestReport();
  void CountLostPartial();
  void CountLostReport();
  void JoinEnds(Entry* older, Entry* newer);

  const size_t max_bytes_;
  size_t bytes_ = 0;
  std::array<Queue, kSendClassCount> queues_;
  KindCounts dropped_{};

  // Lost partials that the next end to leave tells, and those that the one after it does: an end at
  // the front was taken before what is lost behind it.
  uint64_t lost_before_front_ = 0;
  uint64_t lost_after_front_ = 0;
  uint64_t next_end_number_ = 1;
  uint64_t lost_reports_ = 0;
  uint64_t lost_reports_until_end_ = 0;  // ends up to this number tell
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SEND_QUEUE_H
