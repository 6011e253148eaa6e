// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/measured_desk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trumpet {
namespace {

bool Needs(const MeasuredEvent& event, const MeasuredState& state) {
  return std::binary_search(event.states().begin(), event.states().end(), state);
}

}  // namespace

MeasuredDesk::MeasuredDesk(event_base* base, const WireClock& clock, bool arms_timers,
                           Publish publish)
    : clock_(clock),
      arms_timers_(arms_timers),
      publish_(std::move(publish)),
      soon_(base, [this] { Tick(); }),
      timer_(base, [this] { Tick(); }) {}

MeasuredDesk::~MeasuredDesk() { SetSource(nullptr); }

void MeasuredDesk::SetSource(MeasuredSource* source) {
  for (auto& [instant, round] : rounds_) EndReads(&round);
  source_ = source;
}

void MeasuredDesk::Add(const EventSpec& spec) {
  events_[spec.id] = std::make_unique<MeasuredEvent>(spec, clock_.UnixNow());
  if (arms_timers_) soon_.RunSoon();
}

void MeasuredDesk::Remove(uint32_t event_id) {
  const auto event = events_.find(event_id);
  if (event == events_.end()) return;
  event->second->TellEnd(clock_.UnixNow(), &reports_);
  AddTo(event->second->counters(), &past_);
  events_.erase(event);
  for (auto& [instant, round] : rounds_) round.deadlines.erase(event_id);
  if (arms_timers_) soon_.RunSoon();
}

MeasuredEvent* MeasuredDesk::Find(uint32_t event_id) {
  const auto found = events_.find(event_id);
  return found == events_.end() ? nullptr : found->second.get();
}

const MeasuredEvent* MeasuredDesk::Find(uint32_t event_id) const {
  const auto found = events_.find(event_id);
  return found == events_.end() ? nullptr : found->second.get();
}

std::string MeasuredDesk::ProblemOf(const EventSpec& spec) const {
  for (const MeasuredState& state : MeasuredStatesOf(spec.predicate)) {
    const std::string problem = source_ == nullptr ? "this controller runs no measurements"
                                                   : source_->ProblemOf(state, spec.interval_ms);
    if (!problem.empty()) return "waiting: " + problem;
  }
  return "";
}

NetworkCounters MeasuredDesk::counters() const {
  NetworkCounters sum = past_;
  for (const auto& [id, event] : events_) AddTo(event->counters(), &sum);
  return sum;
}

// --- time --------------------------------------------------------------------------------------

// What is due is decided first, so that an event has one interval under way.
void MeasuredDesk::Tick() {
  const Nanos now = clock_.UnixNow();
  DecideWhereDue(now);
  BeginRounds(now);
  while (BeginReads()) DecideWhereDue(now);
  HandOn();
  Arm(now);
}

void MeasuredDesk::BeginRounds(Nanos now) {
  for (const auto& [id, event] : events_) {
    if (event->NextEnd() > now) continue;
    const Nanos end = event->BeginInterval(now);
    Round& round = rounds_[end];
    round.deadlines[id] = end + event->deadline_ns();
    for (const MeasuredState& state : event->states()) {
      const bool is_known = std::any_of(round.reads.begin(), round.reads.end(),
                                        [&](const auto& read) { return read->state == state; });
      if (is_known) continue;
      round.reads.push_back(std::make_unique<OneRead>());
      round.reads.back()->state = state;
    }
  }
}

// False when there is none to begin, or no place for it.
bool MeasuredDesk::BeginReads() {
  bool has_begun = false;
  for (auto& [instant, round] : rounds_) {
    for (const auto& read : round.reads) {
      if (source_ == nullptr || under_way_ >= kMaxReads) return has_begun;
      if (read->number || read->reading) continue;
      Begin(read.get(), &round);
      has_begun = true;
    }
  }
  return has_begun;
}

// A round stays where it is until nothing of it is under way.
void MeasuredDesk::Begin(OneRead* read, Round* round) {
  const auto number =
      source_->Read(read->state, [this, read, round](const MeasuredReading& reading) {
        read->number.reset();
        read->reading = reading;
        round->last_answer_ns = clock_.UnixNow();
        --under_way_;
        if (arms_timers_) soon_.RunSoon();
      });
  if (!number.ok()) {
    read->reading.emplace();  // nobody can be asked
    return;
  }
  read->number = *number;
  ++under_way_;
  ++reads_;
}

// --- verdicts ----------------------------------------------------------------------------------

void MeasuredDesk::DecideWhereDue(Nanos now) {
  for (auto round = rounds_.begin(); round != rounds_.end();) {
    auto& waiting = round->second.deadlines;
    for (auto one = waiting.begin(); one != waiting.end();) {
      MeasuredEvent* const event = Find(one->first);
      if (now < one->second && !IsReady(*event, round->second)) {
        ++one;
        continue;
      }
      event->Decide(FactsFor(*event, round->second), now, &reports_);
      one = waiting.erase(one);
    }
    if (waiting.empty()) EndReads(&round->second);
    round = waiting.empty() ? rounds_.erase(round) : std::next(round);
  }
}

bool MeasuredDesk::IsReady(const MeasuredEvent& event, const Round& round) const {
  return std::all_of(round.reads.begin(), round.reads.end(),
                     [&](const auto& read) { return read->reading || !Needs(event, read->state); });
}

MeasuredFacts MeasuredDesk::FactsFor(const MeasuredEvent& event, const Round& round) const {
  MeasuredFacts facts;
  std::set<std::string> hosts;
  bool is_over = true;
  for (const auto& read : round.reads) {
    if (!Needs(event, read->state)) continue;
    MeasuredReading reading;
    if (read->reading) reading = *read->reading;
    if (read->number) reading = source_->SoFar(*read->number);
    is_over = is_over && read->reading;
    if (reading.hosts.empty() || !reading.silent.empty()) facts.is_complete = false;
    hosts.insert(reading.hosts.begin(), reading.hosts.end());
    hosts.insert(reading.silent.begin(), reading.silent.end());
    facts.silent.insert(facts.silent.end(), reading.silent.begin(), reading.silent.end());
    if (!reading.hosts.empty()) facts.values[read->state] = reading.value;
  }
  facts.host_count = static_cast<uint32_t>(hosts.size());
  if (is_over) facts.answered_ns = round.last_answer_ns;
  return facts;
}

void MeasuredDesk::EndReads(Round* round) {
  for (const auto& read : round->reads) {
    if (!read->number) continue;
    source_->End(*read->number);
    read->number.reset();
    read->reading.emplace();
    --under_way_;
  }
}

void MeasuredDesk::HandOn() {
  if (reports_.empty()) return;
  const std::vector<NetworkReport> reports = std::exchange(reports_, {});
  publish_(reports);
}

void MeasuredDesk::Arm(Nanos now) {
  if (!arms_timers_) return;
  Nanos due = INT64_MAX;
  for (const auto& [id, event] : events_) due = std::min(due, event->NextEnd());
  for (const auto& [instant, round] : rounds_) {
    for (const auto& [id, deadline] : round.deadlines) due = std::min(due, deadline);
  }
  if (due != INT64_MAX) timer_.RunAfter(std::max<Nanos>(due - now, 0));
}

}  // namespace trumpet
