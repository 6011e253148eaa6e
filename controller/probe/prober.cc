// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/prober.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "lib/packet/prefix.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

constexpr Nanos kClockError = 10 * kNanosPerSecond;  // of analyzers
constexpr Nanos kPatience = 3 * kNanosPerSecond;     // with one answer

// The port's number; 0: the switch has none of this name or number.
uint32_t PortOf(const OpenflowSwitch& which, const std::string& text) {
  for (const auto& [number, port] : which.ports()) {
    if (port.name == text || std::to_string(number) == text) return number;
  }
  return 0;
}

// The shortest block that has all of those addresses.
std::string BlockOf(const ProbePacket& first, const std::vector<ProbePacket>& packets,
                    FieldValue ProbePacket::*address) {
  const FieldValue& one = first.*address;
  Prefix block{one.kind == ValueKind::kIpv6, one.value, 0};
  block.length = block.is_ipv6 ? 128 : 32;
  for (const ProbePacket& packet : packets) {
    const Uint128 other = (packet.*address).value;
    while (other < FirstOf(block) || other > LastOf(block)) --block.length;
  }
  block.address = FirstOf(block);
  return PrintPrefix(block);
}

std::string CursorBehind(const TraceFindings& findings) {
  if (!findings.has_more || findings.found.empty()) return "";
  char id[17];
  const TraceRecord& last = findings.found.back().record;
  std::snprintf(id, sizeof id, "%016" PRIx64, last.id);
  return std::to_string(last.start) + "-" + id;
}

}  // namespace

Prober::Prober(const Parts& parts)
    : parts_(parts),
      random_(parts.seed),
      rate_(parts.rate),
      ticker_(parts.base, [this] { Tick(); }) {}

ProbeStart Prober::Refuse(ProbeStart::Refusal refusal, std::string why) {
  ++counters_.refused;
  return {0, refusal, std::move(why)};
}

ProbeStart Prober::Start(const ProbeRequest& request, const std::string& caller,
                         const std::string& tenant) {
  return StartSeries(request, {}, caller, tenant);
}

ProbeStart Prober::StartSeries(ProbeRequest request, std::vector<ProbePacket> packets,
                               const std::string& caller, const std::string& tenant) {
  using Refusal = ProbeStart::Refusal;
  const std::string too_many = rate_.WhyNot(request.rate);
  if (!too_many.empty()) return Refuse(Refusal::kWrong, too_many);
  OpenflowSwitch* const which = parts_.net->Find(request.switch_name);
  if (which == nullptr) {
    return Refuse(Refusal::kWrong, "there is no switch '" + request.switch_name + "'");
  }
  if (!which->is_ready()) {
    return Refuse(Refusal::kNotNow, "switch '" + request.switch_name + "' is not connected");
  }
  const uint32_t in_port = PortOf(*which, request.port);
  if (in_port == 0) {
    return Refuse(Refusal::kWrong,
                  "switch '" + request.switch_name + "' has no port '" + request.port + "'");
  }
  if (parts_.traces.is_alone()) {
    return Refuse(Refusal::kNotNow, "no analyzer that makes traces is connected");
  }
  if (running_.size() >= kMaxRunning) {
    return Refuse(Refusal::kTooMany, "there are " + std::to_string(kMaxRunning) +
                                         " probes under way, as many as this controller runs");
  }
  Refusal refusal = Refusal::kNone;
  auto via = FindHops(request, in_port, &refusal);
  if (!via.ok()) return Refuse(refusal, via.message());
  uint64_t id = 0;
  while (id == 0 || probes_.count(id) != 0) id = random_();
  Kept& probe = probes_[id];
  probe.number = next_number_++;
  probe.datapath_id = which->datapath_id();
  probe.view.id = id;
  probe.packets = std::move(packets);
  if (!probe.packets.empty()) request.count = static_cast<uint32_t>(probe.packets.size());
  probe.view.caller = caller;
  probe.view.tenant = tenant;
  probe.view.request = request;
  probe.view.in_port = in_port;
  probe.view.began = parts_.clock->UnixNow();
  AddNotes(&probe.view, &probe.debug_dscp);
  probe.next_at = parts_.clock->MonotonicNow();
  probe.via = std::move(*via);
  probe.is_prepared = probe.via.empty();
  order_[probe.number] = id;
  running_.push_back(id);
  ++counters_.probes;
  parts_.log("info", "probe of " + caller + " at switch " + request.switch_name + ", port " +
                         request.port + ": " + std::to_string(request.count) + " x " +
                         PrintProbePacket(request.packet));
  Forget();
  if (!probe.via.empty()) PlanVia(&probe);
  ticker_.RunSoon();
  return {id, Refusal::kNone, ""};
}

Result<std::vector<ViaHop>> Prober::FindHops(const ProbeRequest& request, uint32_t in_port,
                                             ProbeStart::Refusal* refusal) const {
  if (request.via.empty()) return std::vector<ViaHop>();
  std::vector<std::string> names;
  for (const std::string& name : request.via) names.push_back(parts_.name_of(name));
  *refusal = ProbeStart::Refusal::kWrong;
  auto hops =
      FindVia(parts_.net->Find(request.switch_name)->name(), in_port, names, parts_.links());
  if (!hops.ok()) return hops;
  *refusal = ProbeStart::Refusal::kNotNow;
  for (const ViaHop& hop : *hops) {
    const OpenflowSwitch* const which = parts_.net->Find(hop.switch_name);
    if (which == nullptr || !which->is_ready()) {
      return Status::Error("switch '" + hop.switch_name + "' is not connected");
    }
  }
  return hops;
}

void Prober::PlanVia(Kept* probe) {
  for (uint8_t& byte : probe->via_address) byte = static_cast<uint8_t>(random_());
  probe->via_address[0] = static_cast<uint8_t>((probe->via_address[0] & 0xfc) | 2);
  const ProbeRequest& request = probe->view.request;
  const Nanos sending =
      static_cast<Nanos>(request.count) * kNanosPerSecond / request.rate + kViaPatience;
  const Nanos wait = static_cast<Nanos>(request.wait_seconds) * kNanosPerSecond;
  for (const ViaHop& hop : probe->via) {
    probe->via_rules.push_back(ViaRuleOf(
        hop, {probe->view.id, probe->via_address, request.packet.dst_mac, sending + wait}));
  }
  // What is sent behind that might meet no flow, and be sent everywhere.
  probe->sends_until = parts_.clock->MonotonicNow() + sending;
  Prepare(probe->view.id, probe->via.size() - 1);
}

// The last one first, so that what is sent on is awaited.
void Prober::Prepare(uint64_t id, size_t which) {
  const auto found = probes_.find(id);
  if (found == probes_.end() || found->second.view.state != ProbeState::kSending) return;
  OpenflowSwitch* const at = parts_.net->Find(found->second.via[which].switch_name);
  const auto done = [this, alive = std::weak_ptr<bool>(alive_), id, which](const Status& status) {
    if (alive.expired()) return;
    const auto kept = probes_.find(id);
    if (kept == probes_.end() || kept->second.view.state != ProbeState::kSending) return;
    Kept* const probe = &kept->second;
    if (!status.ok()) {
      probe->view.notes.push_back("a flow of 'via' was refused: " + status.message());
      return BeginWaiting(probe, parts_.clock->MonotonicNow());
    }
    if (which != 0) return Prepare(id, which - 1);
    probe->is_prepared = true;
    probe->next_at = parts_.clock->MonotonicNow();
    ticker_.RunSoon();
  };
  if (at == nullptr) return done(Status::Error("the switch has gone"));
  at->Commit({{}, {found->second.via_rules[which]}}, done);
}

void Prober::RemoveVia(Kept* probe) {
  for (size_t i = 0; i < probe->via_rules.size(); ++i) {
    OpenflowSwitch* const at = parts_.net->Find(probe->via[i].switch_name);
    // At a switch that is away it goes by the timeout, or when the switch comes back.
    if (at != nullptr) at->Commit({{probe->via_rules[i]}, {}}, [](const Status&) {});
  }
  probe->via_rules.clear();
}

// Copies show whether packets went as they had to; where some are missing, they do not.
void Prober::NoteWay(Kept* probe) const {
  if (probe->via.empty()) return;
  size_t other_way = 0;
  for (const ProbeTrace& trace : probe->view.traces) {
    size_t at = 0;  // the next one that has not been passed
    bool is_other = false;
    for (const ProbeHop& hop : trace.path) {
      const auto found = std::find_if(
          probe->via.begin() + static_cast<ptrdiff_t>(at), probe->via.end(),
          [&](const ViaHop& one) { return one.switch_name == parts_.name_of(hop.switch_name); });
      if (found != probe->via.end()) {
        at = static_cast<size_t>(found - probe->via.begin()) + 1;
      } else if (at < probe->via.size()) {
        is_other = true;
      }
    }
    other_way += is_other ? 1 : 0;
  }
  if (other_way == 0) return;
  probe->view.notes.push_back(std::to_string(other_way) +
                              " packets were seen elsewhere before they had passed all of 'via'");
}

// What keeps copies from coming is said, and tried nevertheless: a rule may take the packet anyway.
void Prober::AddNotes(ProbeView* view, uint8_t* debug_dscp) const {
  const auto rules = parts_.rules->View();
  if (!rules || rules->rules.rules.empty()) {
    view->notes.emplace_back("there are no trace rules, so no switch copies these packets");
    return;
  }
  if (rules->rules.debug_bit < 0) {
    view->notes.emplace_back(
        "the trace rules have no debug_bit: only packets that a rule takes anyway are copied");
    return;
  }
  *debug_dscp = static_cast<uint8_t>(1u << rules->rules.debug_bit);
  bool has_marked = false;
  for (size_t i = 0; i < rules->rules.rules.size(); ++i) {
    const TraceRule& rule = rules->rules.rules[i];
    if (!rule.is_marked) continue;
    has_marked = true;
    const TraceRuleVerdict verdict = TogetherOf(rules->at[i]);
    if (verdict.state == TraceRuleState::kActive) continue;
    view->notes.push_back("rule '" + rule.name + "' is " + TraceRuleStateName(verdict.state) +
                          (verdict.why.empty() ? "" : ": " + verdict.why));
  }
  if (!has_marked) view->notes.emplace_back("no trace rule is for packets with the debug bit");
}

uint8_t Prober::debug_dscp() const {
  const auto rules = parts_.rules->View();
  if (!rules || rules->rules.debug_bit < 0) return 0;
  return static_cast<uint8_t>(1u << rules->rules.debug_bit);
}

const ProbeView* Prober::Find(uint64_t id) const {
  const auto found = probes_.find(id);
  return found == probes_.end() ? nullptr : &found->second.view;
}

std::vector<const ProbeView*> Prober::List() const {
  std::vector<const ProbeView*> list;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) list.push_back(Find(it->second));
  return list;
}

void Prober::Stop(uint64_t id) {
  const auto found = probes_.find(id);
  if (found == probes_.end() || found->second.view.state == ProbeState::kDone) return;
  found->second.view.notes.emplace_back("it was stopped");
  End(&found->second);
}

void Prober::Tick() {
  const Nanos now = parts_.clock->MonotonicNow();
  // Whoever was first is last next time, so that one cannot use up the rate of all.
  if (running_.size() > 1) std::rotate(running_.begin(), running_.begin() + 1, running_.end());
  const std::vector<uint64_t> turns = running_;
  for (const uint64_t id : turns) {
    Kept* const probe = &probes_.at(id);
    if (probe->view.state == ProbeState::kSending) Send(probe, now);
    if (probe->view.state != ProbeState::kWaiting || probe->is_asking) continue;
    const bool is_whole = probe->view.traces.size() == probe->frames.size();
    if (is_whole || now >= probe->deadline) {
      End(probe);
    } else if (now >= probe->next_at) {
      Ask(probe);
    }
  }
  if (!running_.empty()) ticker_.RunAfter(kTick);
}

void Prober::Send(Kept* probe, Nanos now) {
  OpenflowSwitch* const which = parts_.net->Find(probe->datapath_id);
  if (which == nullptr || !which->is_ready()) {
    probe->view.notes.push_back("switch '" + probe->view.request.switch_name +
                                "' went away after " + std::to_string(probe->frames.size()) +
                                " packets");
    return BeginWaiting(probe, now);
  }
  if (!probe->via.empty() && now >= probe->sends_until) {
    probe->view.notes.push_back("only " + std::to_string(probe->frames.size()) + " of " +
                                std::to_string(probe->view.request.count) +
                                " packets could be sent in time");
    return BeginWaiting(probe, now);
  }
  if (!probe->is_prepared) return;
  const Nanos interval = kNanosPerSecond / probe->view.request.rate;
  probe->next_at = std::max(probe->next_at, now - kBurst);  // what was missed is not made up for
  while (probe->next_at <= now && probe->frames.size() < probe->view.request.count) {
    if (!rate_.Take(now)) {
      ++counters_.held;
      return;
    }
    const size_t before = probe->frames.size();
    SendOne(probe, which, now);
    if (probe->frames.size() == before) return;
    probe->next_at += interval;
  }
  if (probe->frames.size() == probe->view.request.count) BeginWaiting(probe, now);
}

void Prober::SendOne(Kept* probe, OpenflowSwitch* which, Nanos now) {
  const ProbeMark mark{probe->view.id, static_cast<uint32_t>(probe->frames.size())};
  ProbePacket packet =
      probe->packets.empty() ? probe->view.request.packet : probe->packets[probe->frames.size()];
  if (!probe->via.empty()) packet.dst_mac = probe->via_address;
  std::string frame = MakeProbeFrame(packet, mark, probe->debug_dscp);
  const Result<bool> sent = which->SendPacketOut(probe->view.in_port, frame, "output:TABLE");
  if (!sent.ok()) {
    probe->view.notes.push_back("a packet could not be sent: " + sent.message());
    return BeginWaiting(probe, now);
  }
  if (!*sent) return;  // no room at the moment
  probe->frames.push_back(std::move(frame));
  probe->view.sent.push_back(parts_.clock->UnixNow());
  ++counters_.packets;
}

void Prober::BeginWaiting(Kept* probe, Nanos now) {
  const Nanos wait = static_cast<Nanos>(probe->view.request.wait_seconds) * kNanosPerSecond;
  probe->view.state = ProbeState::kWaiting;
  probe->next_at = now + std::min(kFirstAsk, wait);
  probe->deadline = now + wait;
  if (probe->frames.empty()) probe->deadline = now;
}

void Prober::Ask(Kept* probe) {
  const ProbePacket& packet = probe->view.request.packet;
  TraceQuestion question;
  question.packets = TracePackets::kWhole;
  question.limit = kMaxTraceRecords;
  question.patience = kPatience;
  question.words = {{"from", std::to_string(std::max<Nanos>(probe->view.began - kClockError, 0))},
                    {"mark", "probe"},
                    {"mark", "debug"},
                    {"src", BlockOf(packet, probe->packets, &ProbePacket::src)},
                    {"dst", BlockOf(packet, probe->packets, &ProbePacket::dst)}};
  if (!probe->cursor.empty()) question.words.push_back({"after", probe->cursor});
  const uint64_t number =
      parts_.traces.ask(std::move(question), [this, alive = std::weak_ptr<bool>(alive_),
                                              id = probe->view.id](const TraceFindings& findings) {
        if (!alive.expired()) Take(id, findings);
      });
  probe->is_asking = number != 0;
  probe->next_at = parts_.clock->MonotonicNow() + kAskAgain;
}

void Prober::Take(uint64_t id, const TraceFindings& findings) {
  const auto found = probes_.find(id);
  if (found == probes_.end() || found->second.view.state == ProbeState::kDone) return;
  Kept* const probe = &found->second;
  probe->is_asking = false;
  probe->view.silent = findings.silent;
  if (!findings.wrong.empty()) probe->view.silent["all"] = findings.wrong;
  for (const TraceFindings::Found& one : findings.found) {
    auto trace = ReadProbeTrace(one, probe->frames);
    if (trace) TakeTrace(probe, std::move(*trace));
  }
  // An answer has an end, whatever analyzers say.
  const std::string before = std::exchange(probe->cursor, CursorBehind(findings));
  const bool is_late = parts_.clock->MonotonicNow() >= probe->deadline + kPatience;
  if (probe->cursor == before || is_late) probe->cursor.clear();
  if (!probe->cursor.empty()) Ask(probe);
}

// Copies at two analyzers make two traces of a packet: the longer one counts.
void Prober::TakeTrace(Kept* probe, ProbeTrace trace) {
  auto& traces = probe->view.traces;
  const auto at =
      std::lower_bound(traces.begin(), traces.end(), trace.packet,
                       [](const ProbeTrace& one, size_t packet) { return one.packet < packet; });
  if (at == traces.end() || at->packet != trace.packet) {
    traces.insert(at, std::move(trace));
    ++counters_.traced;
  } else if (at->path.size() < trace.path.size() ||
             (at->id == trace.id && at->revision < trace.revision)) {
    *at = std::move(trace);
  }
}

void Prober::End(Kept* probe) {
  ProbeView& view = probe->view;
  view.state = ProbeState::kDone;
  RemoveVia(probe);
  NoteWay(probe);
  view.conclusion = ConcludeProbe(view.traces, probe->frames.size());
  probe->frames = {};
  probe->packets = {};
  running_.erase(std::find(running_.begin(), running_.end(), view.id));
}

void Prober::Forget() {
  for (auto it = order_.begin(); it != order_.end() && order_.size() > kKept;) {
    const auto found = probes_.find(it->second);
    if (found->second.view.state != ProbeState::kDone) {
      ++it;
      continue;
    }
    probes_.erase(found);
    it = order_.erase(it);
  }
}

}  // namespace trumpet
