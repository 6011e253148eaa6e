// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/program_rounds.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

bool IsSame(const ProgramName& a, const ProgramName& b) { return a.name == b.name && a.id == b.id; }

}  // namespace

ProgramRounds::ProgramRounds(event_base* base)
    : base_(base), finisher_(base, [this] { Finish(); }) {}

void ProgramRounds::Begin(const ProgramName& program, bool is_on,
                          const std::set<std::string>& hosts, Done done) {
  auto round = std::make_unique<Round>();
  round->program = program;
  round->is_on = is_on;
  round->waiting = hosts;
  round->done = std::move(done);
  round->timer = std::make_unique<LoopEvent>(base_, [this, one = round.get()] {
    const std::set<std::string> silent = one->waiting;
    for (const std::string& host : silent) Settle(one, host, "does not answer");
  });
  round->timer->RunAfter(kPatience);
  rounds_.push_back(std::move(round));
  finisher_.RunSoon();
}

void ProgramRounds::OnAck(const std::string& host, const ProgramAck& ack) {
  for (const auto& round : rounds_) {
    if (!IsSame(round->program, ack.program)) continue;
    if (round->is_on && (ack.is_on || !ack.error.empty())) Settle(round.get(), host, ack.error);
    if (!round->is_on && !ack.is_on) Settle(round.get(), host, "");
  }
}

// Its programs go on until it hears of them again.
void ProgramRounds::OnHostGone(const std::string& host) {
  for (const auto& round : rounds_) {
    Settle(round.get(), host, round->is_on ? "has gone" : "");
  }
}

void ProgramRounds::Abort(const std::string& error) {
  for (const auto& round : rounds_) {
    round->error = error;
    round->waiting.clear();
  }
  finisher_.RunSoon();
}

bool ProgramRounds::IsTurningOn(const ProgramName& program) const {
  return std::any_of(rounds_.begin(), rounds_.end(), [&](const auto& round) {
    return round->is_on && IsSame(round->program, program);
  });
}

void ProgramRounds::Settle(Round* round, const std::string& host, const std::string& error) {
  if (round->waiting.erase(host) == 0) return;
  if (!error.empty() && round->error.empty()) round->error = "host " + host + ": " + error;
  // One that refuses is enough; the others are told at once that nothing comes of it.
  if (round->is_on && !error.empty()) round->waiting.clear();
  finisher_.RunSoon();
}

void ProgramRounds::Finish() {
  std::vector<std::unique_ptr<Round>> finished;
  for (auto& round : rounds_) {
    if (round->waiting.empty()) finished.push_back(std::move(round));
  }
  rounds_.erase(std::remove(rounds_.begin(), rounds_.end(), nullptr), rounds_.end());
  for (const auto& round : finished) round->done(round->error);
}

}  // namespace trumpet
