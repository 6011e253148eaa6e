// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_explainer.h"

#include <utility>

namespace trumpet {
namespace {

constexpr Nanos kPatience = 3 * kNanosPerSecond;  // with the analyzers

// The entries of all messages of an answer.
template <typename T>
std::map<uint32_t, T> ByNumber(const OpenflowAnswers& answers,
                               std::vector<T> OpenflowMessage::*list) {
  std::map<uint32_t, T> all;
  for (const OpenflowAnswer& answer : answers.answers) {
    for (const OpenflowMessage& message : answer.messages) {
      for (const T& one : message.*list) all[one.number] = one;
    }
  }
  return all;
}

}  // namespace

void DropExplainer::Explain(std::vector<SwitchOfDrops> places, Answer answer) {
  const auto job = std::make_shared<Job>();
  job->places = std::move(places);
  job->answer = std::move(answer);
  Next(job);
}

// That is asked now; null: it is not connected.
OpenflowSwitch* DropExplainer::SwitchOf(const Job& job) const {
  OpenflowSwitch* const which = parts_.net->Find(parts_.name_of(job.asked()));
  return which != nullptr && which->is_ready() ? which : nullptr;
}

void DropExplainer::Next(const JobPtr& job) {
  if (job->reasons.size() == job->places.size()) return job->answer(job->reasons);
  if (job->reasons.size() >= kMaxPlaces) {
    return NotKnown(job,
                    "only " + std::to_string(kMaxPlaces) + " places are looked into at a time");
  }
  if (SwitchOf(*job) == nullptr) {
    return NotKnown(job, "switch '" + job->asked() + "' is not connected by OpenFlow");
  }
  TraceQuestion question;
  question.packets = TracePackets::kHeaders;
  question.words = {{"id", job->place().trace}};
  question.limit = 1;
  question.patience = kPatience;
  const uint64_t number = parts_.ask(
      std::move(question), [this, alive = std::weak_ptr<bool>(alive_), job](const auto& findings) {
        if (!alive.expired()) TakeTrace(job, findings);
      });
  if (number == 0) NotKnown(job, "the analyzers are asked too many questions at once");
}

void DropExplainer::Reason(const JobPtr& job, DropReason reason) {
  job->reasons.push_back(std::move(reason));
  job->state = {};
  job->next = 0;
  Next(job);
}

void DropExplainer::TakeTrace(const JobPtr& job, const TraceFindings& findings) {
  const SwitchOfDrops& place = job->place();
  if (findings.found.empty()) return NotKnown(job, "no analyzer has trace " + place.trace);
  auto packet = ReadWalkedPacket(findings.found[0].record.text, place.switch_name);
  if (!packet) return NotKnown(job, "trace " + place.trace + " does not have the packet's headers");
  job->packet = std::move(*packet);
  AskFlows(job);
}

void DropExplainer::AskFlows(const JobPtr& job) {
  OpenflowSwitch* const which = SwitchOf(*job);
  job->state = {};
  if (which == nullptr) return Conclude(job);
  job->state.ports = which->ports();
  which->AskFlowsWithin("", kMaxFlows,
                        [this, alive = std::weak_ptr<bool>(alive_),
                         job](const Result<std::vector<OpenflowFlow>>& flows) {
                          if (alive.expired()) return;
                          if (!flows.ok()) return NotKnown(job, flows.message());
                          job->state.flows = *flows;
                          AskMeters(job);
                        });
}

void DropExplainer::AskMeters(const JobPtr& job) {
  OpenflowSwitch* const which = SwitchOf(*job);
  if (which == nullptr) return Conclude(job);
  which->AskSimple(TRUMPET_OF_METER_STATS_REQUEST, [this, alive = std::weak_ptr<bool>(alive_),
                                                    job](const OpenflowAnswers& answers) {
    if (alive.expired()) return;
    job->state.meters = ByNumber(answers, &OpenflowMessage::numbered);
    AskPorts(job);
  });
}

void DropExplainer::AskPorts(const JobPtr& job) {
  OpenflowSwitch* const which = SwitchOf(*job);
  if (which == nullptr) return Conclude(job);
  which->AskSimple(TRUMPET_OF_PORT_STATS_REQUEST, [this, alive = std::weak_ptr<bool>(alive_),
                                                   job](const OpenflowAnswers& answers) {
    if (alive.expired()) return;
    job->state.port_counts = ByNumber(answers, &OpenflowMessage::ports);
    Conclude(job);
  });
}

void DropExplainer::Conclude(const JobPtr& job) {
  const SwitchOfDrops& place = job->place();
  const bool is_away = SwitchOf(*job) == nullptr;
  if (job->next == 0) {
    job->first = is_away ? DropReason{"not_known", "the switch went away", ""}
                         : ConcludeReason(job->state, job->packet, place.is_long);
    if (job->first.word != "not_known") return Reason(job, job->first);
  } else if (!is_away) {
    WalkedPacket packet = job->packet;
    packet.in_port =
        parts_.port_behind(parts_.name_of(place.switch_name), parts_.name_of(job->asked()));
    DropReason reason = ConcludeReason(job->state, packet, false);
    reason.at = job->asked();
    if (reason.word == "meter") return Reason(job, reason);
  }
  if (job->next == place.next.size()) return Reason(job, job->first);
  ++job->next;
  AskFlows(job);
}

}  // namespace trumpet
