// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/measured_events.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/measure/read_state.h"
#include "lib/measure/state_question.h"

namespace trumpet {
namespace {

std::vector<uint64_t> CellsOf(const ProgramState& state, const StateQuestion& question) {
  if (question.key.empty()) return ReadVariable({&state}, question.variable);
  const MeasureProgram& program = state.program().source;
  const MeasureKey& key = program.keys[program.variables[question.variable].key];
  PacketValues packet;
  for (size_t i = 0; i < question.key.size(); ++i) packet.Set(key.fields[i], question.key[i]);
  return ReadKeyCells({&state}, question.variable, packet);
}

// All switches together, as a controller merges those of hosts.
std::vector<uint64_t> ReadMerged(const ProgramRun& run, const StateQuestion& question) {
  const MeasureMerge merge = run.program().source.variables[question.variable].merge;
  std::vector<uint64_t> merged;
  for (const ProgramState* state : run.states()) {
    const std::vector<uint64_t> cells = CellsOf(*state, question);
    if (merged.empty()) {
      merged = cells;
      continue;
    }
    for (size_t i = 0; i < cells.size(); ++i) merged[i] = MergeCells(merge, merged[i], cells[i]);
  }
  return merged;
}

}  // namespace

std::string ProblemOfMeasured(const ProgramRuns& programs, const MeasuredState& state,
                              uint32_t interval_ms) {
  const auto found = programs.find(state.measurement);
  if (found == programs.end()) {
    return "there is no measurement '" + state.measurement + "'; --program " + state.measurement +
           "=FILE.mafia says what it is";
  }
  const CompiledProgram& program = found->second->program();
  const auto question = StateQuestionOf(program.source, state);
  if (!question.ok()) return question.message();
  return ProblemOfQuestion(program.source, *question, ProgramRun::SwitchCountOf(program) == 1,
                           interval_ms);
}

MeasuredEvents::MeasuredEvents(ProgramRuns* programs, std::vector<Change> changes, Sink sink)
    : programs_(*programs), changes_(std::move(changes)), sink_(std::move(sink)) {}

void MeasuredEvents::StartAt(Nanos first_packet, const std::vector<Placed>& first) {
  const std::vector<Placed>* events = &first;
  while (next_change_ < changes_.size() && changes_[next_change_].at <= first_packet) {
    events = &changes_[next_change_++].events;
  }
  Install(*events, first_packet);
}

void MeasuredEvents::Install(const std::vector<Placed>& events, Nanos from) {
  std::map<uint32_t, Live> live;
  for (const Placed& placed : events) {
    Live& now = live[placed.spec.id];
    const auto before = live_.find(placed.spec.id);
    if (before != live_.end()) {
      now = std::move(before->second);
      continue;
    }
    EventSpec spec = placed.spec;
    spec.report_rate = 0;  // what a controller tells its subscribers; here nobody is flooded
    now.place = placed.place;
    now.event = std::make_unique<MeasuredEvent>(std::move(spec), from);
  }
  live_ = std::move(live);
}

// Of those whose interval has begun.
MeasuredEvents::Live* MeasuredEvents::NextToEnd() {
  Live* next = nullptr;
  const auto key = [](const Live& live) {
    return std::make_tuple(live.event->NextEnd(), live.place);
  };
  for (auto& [id, live] : live_) {
    if (live.event->NextEnd() - live.event->spec().interval_ns() > last_packet_) continue;
    if (next == nullptr || key(live) < key(*next)) next = &live;
  }
  return next;
}

Status MeasuredEvents::DecideBefore(Nanos end, size_t place) {
  for (;;) {
    Live* const next = NextToEnd();
    const Nanos next_end = next == nullptr ? INT64_MAX : next->event->NextEnd();
    const bool has_change =
        next_change_ < changes_.size() && changes_[next_change_].at <= last_packet_;
    if (has_change && changes_[next_change_].at < next_end) {
      const Change& change = changes_[next_change_++];
      Install(change.events, change.at);
      continue;
    }
    if (next == nullptr || std::make_tuple(next_end, next->place) >= std::make_tuple(end, place)) {
      return Status::Ok();
    }
    if (Status status = Decide(next, std::min(end, last_packet_)); !status.ok()) return status;
  }
}

// Nothing changes between two packets: where it is not true, it is not so until the next one.
Status MeasuredEvents::Decide(Live* live, Nanos until) {
  MeasuredEvent& event = *live->event;
  const bool is_as_before = live->packets_seen == packets_ + 1;
  if (is_as_before && event.run() == 0 && until > event.NextEnd()) {
    event.BeginInterval(until);
    return Status::Ok();
  }
  MeasuredFacts facts;
  facts.host_count = 1;
  for (const MeasuredState& state : event.states()) facts.values[state] = Read(state);
  std::vector<NetworkReport> told;
  const Nanos now = event.NextEnd();
  event.BeginInterval(now);
  event.Decide(facts, now, &told);
  live->packets_seen = packets_ + 1;
  ++intervals_decided_;
  for (NetworkReport& each : told) {
    if (each.is_clear) continue;
    each.report.detected_ns = 0;
    ++reports_;
    if (Status status = sink_(each.report); !status.ok()) return status;
  }
  return Status::Ok();
}

const Number& MeasuredEvents::Read(const MeasuredState& state) {
  const auto known = values_.find(state);
  if (known != values_.end()) return known->second;
  ProgramRun& run = *programs_.at(state.measurement);
  run.Flush();
  const auto question = StateQuestionOf(run.program().source, state);
  const MeasureVariable& variable = run.program().source.variables[question->variable];
  return values_[state] = AnswerOf(variable, *question, ReadMerged(run, *question));
}

void MeasuredEvents::Add(const TimedFrame& frame, const PacketMeta& meta) {
  for (auto& [name, run] : programs_) run->Add(frame, meta);
  ++packets_;
  values_.clear();
}

}  // namespace trumpet
