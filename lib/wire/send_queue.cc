// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/send_queue.h"

#include <algorithm>
#include <utility>

#include "lib/wire/limits.h"
#include "lib/wire/message_parts.h"

namespace trumpet {
namespace {

// Within the limit of a message: the oldest two become one that claims more, never less.
void LimitRanges(std::vector<IncompleteRange>* ranges) {
  if (ranges->size() <= kMaxIncompleteRanges) return;
  const size_t surplus = ranges->size() - kMaxIncompleteRanges;
  IncompleteRange joined = ranges->front();
  for (size_t i = 1; i <= surplus; ++i) {
    JoinRange((*ranges)[i], &joined);
  }
  ranges->erase(ranges->begin(), ranges->begin() + static_cast<std::ptrdiff_t>(surplus));
  ranges->front() = joined;
}

}  // namespace

SendClass ClassOf(MessageKind kind) {
  switch (kind) {
    case MessageKind::kReport:
    case MessageKind::kPoll:
    case MessageKind::kPollReply:
    case MessageKind::kPacketRecords:
    case MessageKind::kPacketFilePiece:
    case MessageKind::kCellsAnswer:
    case MessageKind::kTraceAnswer:
      return SendClass::kReport;
    case MessageKind::kPartials:
    case MessageKind::kFlowStates:
    case MessageKind::kIntervalEnd:
      return SendClass::kPartial;
    default:
      return SendClass::kControl;
  }
}

size_t SendQueue::BytesOf(const Item& item) {
  const size_t range_bytes = item.end ? item.end->incomplete.size() * sizeof(IncompleteRange) : 0;
  return kOverheadBytes + item.frame.size() + range_bytes;
}

SendQueue::Outcome SendQueue::Push(MessageKind kind, std::string frame) {
  Entry entry;
  entry.item.kind = kind;
  entry.item.frame = std::move(frame);
  const size_t bytes = BytesOf(entry.item);
  const SendClass cls = ClassOf(kind);
  if (!MakeRoom(bytes, cls)) {
    if (cls == SendClass::kControl) return Outcome::kStuck;
    ++dropped_[static_cast<size_t>(kind)];
    if (cls == SendClass::kPartial) CountLostPartial();
    if (kind == MessageKind::kReport) CountLostReport();
    return Outcome::kLost;
  }
  bytes_ += bytes;
  QueueOf(cls).push_back(std::move(entry));
  return Outcome::kTaken;
}

void SendQueue::PushIntervalEnd(IntervalEnd end) {
  LimitRanges(&end.incomplete);
  Queue& queue = QueueOf(SendClass::kPartial);
  Entry entry;
  entry.item.kind = MessageKind::kIntervalEnd;
  entry.item.end = std::move(end);
  entry.end_number = next_end_number_++;
  bytes_ += BytesOf(entry.item);
  queue.push_back(std::move(entry));
  if (queue.size() > 1 && queue[queue.size() - 2].item.end) {
    JoinEnds(&queue[queue.size() - 2], &queue.back());
    if (queue.size() == 2) {
      lost_before_front_ += lost_after_front_;
      lost_after_front_ = 0;
    }
    queue.erase(queue.end() - 2);
  }
}

std::optional<SendQueue::Item> SendQueue::Pop() {
  for (Queue& queue : queues_) {
    if (queue.empty()) continue;
    Entry entry = std::move(queue.front());
    queue.pop_front();
    bytes_ -= BytesOf(entry.item);
    if (entry.item.end) {
      entry.item.end->dropped_partials += lost_before_front_;
      lost_before_front_ = lost_after_front_;
      lost_after_front_ = 0;
      if (entry.end_number <= lost_reports_until_end_) {
        entry.item.end->dropped_reports += lost_reports_;
      } else {
        lost_reports_ = 0;
      }
    }
    return std::move(entry.item);
  }
  return std::nullopt;
}

void SendQueue::Clear() {
  for (Queue& queue : queues_) {
    for (const Entry& entry : queue) {
      if (!entry.item.end) ++dropped_[static_cast<size_t>(entry.item.kind)];
    }
    queue.clear();
  }
  bytes_ = 0;
}

bool SendQueue::MakeRoom(size_t bytes, SendClass cls) {
  if (bytes > max_bytes_) return false;
  while (bytes_ + bytes > max_bytes_) {
    if (DropOldestPartial()) continue;
    if (cls == SendClass::kPartial || !DropOldestReport()) return false;
  }
  return true;
}

bool SendQueue::DropOldestPartial() {
  Queue& queue = QueueOf(SendClass::kPartial);
  // Ends are never neighbours, so the oldest other message is the first or the second.
  const size_t at = !queue.empty() && queue.front().item.end ? 1 : 0;
  if (at >= queue.size()) return false;
  ++dropped_[static_cast<size_t>(queue[at].item.kind)];
  CountLostPartial();
  bytes_ -= BytesOf(queue[at].item);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
  if (at == 1 && queue.size() > 1 && queue[1].item.end) {
    JoinEnds(&queue[0], &queue[1]);
    lost_before_front_ += lost_after_front_;
    lost_after_front_ = 0;
    queue.pop_front();
  }
  return true;
}

bool SendQueue::DropOldestReport() {
  Queue& queue = QueueOf(SendClass::kReport);
  if (queue.empty()) return false;
  ++dropped_[static_cast<size_t>(queue.front().item.kind)];
  if (queue.front().item.kind == MessageKind::kReport) CountLostReport();
  bytes_ -= BytesOf(queue.front().item);
  queue.pop_front();
  return true;
}

void SendQueue::CountLostPartial() {
  const Queue& queue = QueueOf(SendClass::kPartial);
  const bool is_behind_end = !queue.empty() && queue.front().item.end.has_value();
  ++(is_behind_end ? lost_after_front_ : lost_before_front_);
}

// Its interval ends with one of the ends that wait, or with the next.
void SendQueue::CountLostReport() {
  ++lost_reports_;
  lost_reports_until_end_ = next_end_number_;
}

// The newer one then says what both did.
void SendQueue::JoinEnds(Entry* older, Entry* newer) {
  bytes_ -= BytesOf(older->item) + BytesOf(newer->item);
  IntervalEnd& from = *older->item.end;
  IntervalEnd& into = *newer->item.end;
  into.until_ns = std::max(into.until_ns, from.until_ns);
  into.incomplete.insert(into.incomplete.begin(), from.incomplete.begin(), from.incomplete.end());
  LimitRanges(&into.incomplete);
  into.dropped_reports += from.dropped_reports;
  into.dropped_partials += from.dropped_partials;
  newer->end_number = older->end_number;  // it tells what either would have told
  bytes_ += BytesOf(newer->item);
}

}  // namespace trumpet
