// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs that a controller before this one had told of, and not cleared: it was killed.  The store of
// reports knows them.

#include <set>
#include <string>
#include <utility>

#include "controller/tem/event_manager_impl.h"

namespace trumpet {
namespace {

// Of one event.  A bucket that fired in the last interval is among them, unless more did.
constexpr size_t kReportsToRead = 10000;
// Agents wait up to 8 s before they try again (ConnectorOptions).
constexpr Nanos kUntilAllAreBack = 15 * kNanosPerSecond;

// When a run that goes on must have fired again: `for` and an interval that had begun before.
Nanos MustFireBy(const EventSpec& spec, Nanos now) {
  Nanos by = 0;
  if (__builtin_mul_overflow(Nanos{spec.for_count} + 1, spec.interval_ns(), &by) ||
      __builtin_add_overflow(by, now + kUntilAllAreBack, &by)) {
    return INT64_MAX;
  }
  return by;
}

}  // namespace

// Of one event after the other, so that the store's queue is left to users.
void EventManager::Impl::AskForRuns() {
  if (parts_.reports->store() == nullptr) return;
  const bool is_asking = !ask_runs_of_.empty();
  last_before_ = parts_.reports->last_number();
  ask_runs_of_.clear();
  for (const auto& [id, event] : events_.by_id()) {
    const bool is_told_here = event->is_of_network() || event->is_measured;
    if (event->is_running && is_told_here) ask_runs_of_.push_back(id);
  }
  if (!is_asking) AskForNextRuns();
}

void EventManager::Impl::AskForNextRuns() {
  const LiveEvent* event = nullptr;
  while (!ask_runs_of_.empty() && (event = events_.Find(ask_runs_of_.front())) == nullptr) {
    ask_runs_of_.pop_front();
  }
  if (event == nullptr) return;
  ReportQuery query;
  query.event = event->record.name;
  query.before_number = last_before_ + 1;
  query.is_newest_first = true;
  query.limit = kReportsToRead;
  parts_.reports->store()->Query(query, [this, is_alive = is_alive_, id = event->record.id,
                                         last = last_before_](const Result<ReportRows>& rows) {
    if (!*is_alive) return;
    if (last == last_before_) {  // else all events are asked for anew
      if (rows.ok()) {
        TakeRuns(id, *rows);
      } else {
        Log("warn", "runs told of before the start cannot be read: " + rows.message());
      }
      if (!ask_runs_of_.empty() && ask_runs_of_.front() == id) ask_runs_of_.pop_front();
    }
    AskForNextRuns();
  });
}

// Buckets whose newest report is no clear.  Of those that this controller has reported itself since
// it acts, it knows.
void EventManager::Impl::TakeRuns(uint32_t event_id, const ReportRows& newest_first) {
  const LiveEvent* const event = events_.Find(event_id);
  if (event == nullptr || !event->is_running) return;
  std::set<std::string> seen;
  bool is_whole = false;
  for (const auto& row : parts_.reports->After(last_before_, ReportHub::kKept, &is_whole)) {
    if (row->event == event->record.name) seen.insert(row->bucket);
  }
  std::set<std::string> open;
  for (const auto& row : newest_first) {
    if (seen.insert(row->bucket).second && !row->is_clear) open.insert(row->bucket);
  }
  if (open.empty()) return;
  Log("info", "event '" + event->record.name + "': " + std::to_string(open.size()) +
                  " buckets were told of before the start");
  if (MeasuredEvent* const measured = measured_.Find(event_id)) {
    return measured->Inherit(MustFireBy(event->spec(), Now()));
  }
  desk_.verdicts().Inherit(event_id, std::move(open), MustFireBy(event->spec(), Now()));
  desk_.Touch();
}

}  // namespace trumpet
