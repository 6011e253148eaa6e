// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_debugger.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

ProbeFate FateOf(const ProbeTrace& trace) {
  if (trace.verdict == "delivered") return ProbeFate::kPassed;
  if (trace.verdict == "dropped" || trace.verdict == "copies_lost") return ProbeFate::kLost;
  return trace.verdict == "loop" ? ProbeFate::kLooped : ProbeFate::kUnknown;
}

DropOutcome OutcomeOf(const ProbeTrace& trace, size_t kind) {
  DropOutcome outcome;
  outcome.kind = kind;
  outcome.fate = FateOf(trace);
  outcome.trace = trace.id;
  outcome.behind = trace.last_switch;
  for (const ProbeHop& hop : trace.path) outcome.path.push_back(hop.switch_name);
  if (outcome.fate != ProbeFate::kLost) return outcome;
  outcome.copies_odds = OddsOfLostCopies(trace);
  outcome.towards = trace.expected_next;
  return outcome;
}

std::vector<DropKindView> ViewsOf(const DropEvidence& evidence) {
  std::vector<DropKindView> views;
  for (size_t i = 0; i < evidence.kinds().size(); ++i) {
    const DropKind& kind = evidence.kinds()[i];
    views.push_back({kind.field, DropValue(kind.packet, kind.field), evidence.tally(i), {}, {}});
  }
  for (const DropOutcome& outcome : evidence.outcomes()) {
    DropKindView& view = views[outcome.kind];
    auto& traces = outcome.fate == ProbeFate::kLost ? view.lost : view.passed;
    const bool counts = outcome.fate == ProbeFate::kLost || outcome.fate == ProbeFate::kPassed;
    if (counts && traces.size() < DropDebugger::kTracesShown) traces.push_back(outcome.trace);
  }
  return views;
}

bool HasAddress(const Prefix& prefix, const FieldValue& address) {
  return prefix.is_ipv6 == (address.kind == ValueKind::kIpv6) && FirstOf(prefix) <= address.value &&
         address.value <= LastOf(prefix);
}

}  // namespace

DropDebugger::DropDebugger(const Parts& parts)
    : parts_(parts), random_(parts.seed), ticker_(parts.base, [this] { Tick(); }) {}

ProbeStart DropDebugger::Refuse(ProbeStart::Refusal refusal, std::string why) {
  ++counters_.refused;
  return {0, refusal, std::move(why)};
}

ProbeStart DropDebugger::Start(const DropSearchRequest& request, const std::string& caller,
                               const std::string& tenant) {
  using Refusal = ProbeStart::Refusal;
  for (const auto& [within, address] : {std::pair(request.src_within, request.packet.src),
                                        std::pair(request.dst_within, request.packet.dst)}) {
    if (!within || HasAddress(*within, address)) continue;
    return Refuse(Refusal::kWrong, FormatValue(address) + " is not in " + PrintPrefix(*within));
  }
  if (running_.size() >= kMaxRunning) {
    return Refuse(Refusal::kTooMany, "there are " + std::to_string(kMaxRunning) +
                                         " searches under way, as many as this controller runs");
  }
  uint64_t id = 0;
  while (id == 0 || searches_.count(id) != 0) id = random_();
  Kept& kept = searches_[id];
  kept.view.id = id;
  kept.view.caller = caller;
  kept.view.tenant = tenant;
  kept.view.request = request;
  if (request.rate == 0) kept.view.request.rate = std::max(1u, parts_.sender.rate / 2);
  kept.view.began = parts_.clock->UnixNow();
  kept.search.emplace(SuspicionOf(request));
  const ProbeStart begun = BeginRound(&kept);
  if (begun.refusal != Refusal::kNone) {
    searches_.erase(id);
    return Refuse(begun.refusal, begun.why);
  }
  order_.push_back(id);
  running_.push_back(id);
  ++counters_.searches;
  parts_.log("info", "search of " + caller + " for drops of " + PrintProbePacket(request.packet));
  Forget();
  ticker_.RunAfter(kTick);
  return {id, Refusal::kNone, ""};
}

DropSuspicion DropDebugger::SuspicionOf(const DropSearchRequest& request) {
  DropSuspicion suspicion;
  suspicion.packet = request.packet;
  suspicion.src_within = BlockOf(request.packet.src, request.src_within, request.bounds);
  suspicion.dst_within = BlockOf(request.packet.dst, request.dst_within, request.bounds);
  suspicion.debug_dscp = parts_.sender.debug_dscp();
  suspicion.count = request.count;
  suspicion.was_dropped = !request.trace.empty();
  suspicion.seed = random_();
  return suspicion;
}

// The shorter of what is meant and what may be.
std::optional<Prefix> DropDebugger::BlockOf(const FieldValue& address,
                                            const std::optional<Prefix>& given,
                                            const std::vector<Prefix>& bounds) const {
  std::optional<Prefix> block = given ? given : parts_.block_of(address);
  if (!block || bounds.empty()) return block;
  for (const Prefix& bound : bounds) {
    if (!HasAddress(bound, address)) continue;
    return bound.length > block->length ? bound : block;
  }
  return std::nullopt;
}

// Nothing is begun, and that is no error, if there is nothing left to find out.
ProbeStart DropDebugger::BeginRound(Kept* kept) {
  kept->round = kept->search->NextRound();
  if (kept->round.empty()) return {};
  const DropSearchRequest& asked = kept->view.request;
  ProbeRequest request;
  request.switch_name = asked.switch_name;
  request.port = asked.port;
  request.packet = asked.packet;
  request.rate = asked.rate;
  request.wait_seconds = asked.wait_seconds;
  std::vector<ProbePacket> packets;
  for (const size_t kind : kept->round) {
    packets.push_back(kept->search->evidence().kinds()[kind].packet);
  }
  const ProbeStart begun =
      parts_.sender.start(request, std::move(packets), kept->view.caller, kept->view.tenant);
  if (begun.refusal != ProbeStart::Refusal::kNone) return begun;
  kept->view.probes.push_back(begun.id);
  ++counters_.rounds;
  return begun;
}

bool DropDebugger::Stop(uint64_t id) {
  const auto found = searches_.find(id);
  if (found == searches_.end() || found->second.view.state != DropSearchState::kRunning) {
    return false;
  }
  Kept* const kept = &found->second;
  const uint64_t probe_id = kept->view.probes.back();
  parts_.sender.stop(probe_id);
  const ProbeView* const probe = parts_.sender.find(probe_id);
  if (probe != nullptr) TakeRound(kept, *probe);
  ++counters_.stopped;
  End(kept, DropSearchState::kStopped);
  return true;
}

const DropSearchView* DropDebugger::Find(uint64_t id) const {
  const auto found = searches_.find(id);
  return found == searches_.end() ? nullptr : &found->second.view;
}

std::vector<const DropSearchView*> DropDebugger::List() const {
  std::vector<const DropSearchView*> list;
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) list.push_back(Find(*id));
  return list;
}

void DropDebugger::Tick() {
  const std::vector<uint64_t> turns = running_;
  for (const uint64_t id : turns) {
    Kept* const kept = &searches_.at(id);
    const ProbeView* const probe = parts_.sender.find(kept->view.probes.back());
    if (probe == nullptr) {
      kept->view.notes.emplace_back("the last round is forgotten");
      End(kept, DropSearchState::kDone);
      continue;
    }
    if (probe->state != ProbeState::kDone) continue;
    const bool is_whole = probe->sent.size() == kept->round.size();
    TakeRound(kept, *probe);
    const ProbeStart next = is_whole ? BeginRound(kept) : ProbeStart();
    if (next.refusal != ProbeStart::Refusal::kNone) {
      kept->view.notes.push_back("it could not go on: " + next.why);
    }
    if (next.id == 0) End(kept, DropSearchState::kDone);
  }
  if (!running_.empty()) ticker_.RunAfter(kTick);
}

// Of packets without a trace nothing is known.
void DropDebugger::TakeRound(Kept* kept, const ProbeView& probe) {
  const size_t sent = std::min(probe.sent.size(), kept->round.size());
  auto trace = probe.traces.begin();
  for (size_t i = 0; i < sent; ++i) {
    while (trace != probe.traces.end() && trace->packet < i) ++trace;
    const bool is_traced = trace != probe.traces.end() && trace->packet == i;
    DropOutcome unknown;
    unknown.kind = kept->round[i];
    kept->search->Take(is_traced ? OutcomeOf(*trace, kept->round[i]) : unknown);
  }
  kept->view.sent += static_cast<uint32_t>(sent);
  kept->round.clear();
  TakeNotes(kept, probe);
  kept->view.kinds = ViewsOf(kept->search->evidence());
}

void DropDebugger::TakeNotes(Kept* kept, const ProbeView& probe) {
  auto& notes = kept->view.notes;
  for (const std::string& note : probe.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  for (const auto& [analyzer, why] : probe.silent) kept->view.silent[analyzer] = why;
}

void DropDebugger::End(Kept* kept, DropSearchState state) {
  DropSearchView& view = kept->view;
  view.state = state;
  view.ended = parts_.clock->UnixNow();
  view.findings = ConcludeDrops(kept->search->evidence());
  kept->search.reset();
  running_.erase(std::find(running_.begin(), running_.end(), view.id));
  parts_.log("info", "search of " + view.caller + " for drops: " + view.findings.verdict + ": " +
                         view.findings.explanation);
}

void DropDebugger::Forget() {
  for (auto it = order_.begin(); it != order_.end() && order_.size() > kKept;) {
    const auto found = searches_.find(*it);
    if (found->second.view.state == DropSearchState::kRunning) {
      ++it;
      continue;
    }
    searches_.erase(found);
    it = order_.erase(it);
  }
}

}  // namespace trumpet
