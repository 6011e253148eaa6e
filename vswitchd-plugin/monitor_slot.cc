// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/monitor_slot.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace trumpet {

struct MonitorSlot::View {
  ZoneMap zones;
  LiveView live;
};

MonitorSlot::MonitorSlot(const trumpet_thread_info& info, const ThreadRules& rules, Nanos since)
    : rules_(rules), thread_(info, rules), since_monotonic_ns_(since) {}

MonitorSlot::~MonitorSlot() = default;

void MonitorSlot::SetMonitor(std::unique_ptr<PacketMonitor> monitor) {
  assert(!is_shown());
  if (monitor_ != nullptr) AddEnded(monitor_->counters(), &ended_);
  monitor_ = std::move(monitor);
  pending_messages_ = 0;
}

MonitorCounters MonitorSlot::counters() const {
  MonitorCounters counters = monitor_ != nullptr ? monitor_->counters() : MonitorCounters{};
  AddEnded(ended_, &counters);
  return counters;
}

void MonitorSlot::Show(const ZoneMap& zones, const ParseOptions& parse) {
  assert(monitor_ != nullptr);
  auto next = std::make_unique<View>();
  next->zones = zones;
  next->live = LiveView{monitor_.get(), &next->zones, parse};
  const bool is_change = is_shown();
  if (!is_change) {
    // Visits before this one found nothing to touch, later ones see at least this floor.
    passed_floor_ = rules_.floor_ns.load(std::memory_order_seq_cst);
    pending_visit_.reset();
  }
  thread_.Show(&next->live);
  view_.swap(next);
  if (is_change) WaitUntilLeft();  // before `next` goes, which was shown until now
}

void MonitorSlot::Hide() {
  if (!is_shown()) return;
  thread_.Show(nullptr);
  WaitUntilLeft();
  view_.reset();
}

// However long it takes: a thread that is not running may stay inside for a while.
void MonitorSlot::WaitUntilLeft() {
  ThreadMonitor* const thread = &thread_;
  while (!trumpet::WaitUntilLeft(&thread, 1)) {
  }
}

void MonitorSlot::StandIn(Nanos now, DeliverySink* sink) {
  assert(!is_shown());
  if (monitor_ == nullptr) return;
  // A full ring holds the sweep up until it is drained.
  while (monitor_->StandIn(std::max(now, thread_.last_stamp_ns()))) monitor_->Drain(sink);
  monitor_->Drain(sink);
}

Nanos MonitorSlot::PassedUntil(Nanos target) {
  if (monitor_ == nullptr || !is_shown()) return target;
  if (thread_.last_stamp_ns() >= target) {  // as that of a busy thread is
    passed_floor_ = target;
    pending_visit_.reset();
    return target;
  }
  // A thread that is held up inside is not worth a barrier in every round.
  if (pending_visit_ && thread_.SeemsIn(*pending_visit_)) return std::min(target, passed_floor_);
  const std::optional<uint64_t> visits = thread_.SettledVisits();
  if (!visits) return std::min(target, passed_floor_);
  const bool pending_is_over = pending_visit_ && *pending_visit_ != *visits;
  if (!ThreadMonitor::IsInside(*visits)) {
    passed_floor_ = target;
    pending_visit_.reset();
  } else if (pending_is_over || !pending_visit_) {
    if (pending_is_over) passed_floor_ = pending_floor_;
    pending_floor_ = target;
    pending_visit_ = visits;
  }
  return std::min(target, passed_floor_);
}

// When all threads have passed an instant, every message about the time before has been sent.
Nanos MonitorSlot::CleanUntil(Nanos passed) {
  if (monitor_ == nullptr) return passed;
  const uint64_t sent = monitor_->messages_sent_here();
  const uint64_t settled = monitor_->messages_settled();
  if (settled >= sent) {
    settled_until_ = passed;
    pending_messages_ = 0;
  } else if (pending_messages_ == 0 || settled >= pending_messages_) {
    if (pending_messages_ != 0) settled_until_ = pending_settled_;
    pending_settled_ = passed;
    pending_messages_ = sent;
  }
  return std::min({passed, settled_until_, monitor_->clean_until()});
}

void MonitorSlot::ResetTimes() {
  assert(!is_shown() && monitor_ == nullptr);
  thread_.ResetStamps();
  passed_floor_ = pending_floor_ = settled_until_ = pending_settled_ = INT64_MIN;
  pending_visit_.reset();
  pending_messages_ = 0;
}

}  // namespace trumpet
