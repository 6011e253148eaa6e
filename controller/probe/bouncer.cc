// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/bouncer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lib/model/trace_rule.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {
namespace {

constexpr uint64_t kBounceCookie = kOpenflowCookie | uint64_t{7} << 40;
constexpr uint64_t kIdMask = 0xffffffffff;
constexpr uint32_t kMaxPackets = 4096;  // asked of an analyzer
constexpr uint32_t kFromAddress = 0xc0000201;
constexpr uint32_t kToAddress = 0xc0000202;

// Those of rules that there cannot be, under the port of what the controller tries: analyzers make
// no traces of them.
uint32_t TagOf(size_t slot) {
  return TraceTag(static_cast<uint32_t>(kMaxTraceRules + slot), kTraceTestPort);
}
static_assert(kMaxTraceRules + Bouncer::kMaxRunning <= 127);

std::string MacText(const MacBytes& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

// Addresses for documentation: no host has them, and the checksum is wrong besides.
std::string FrameOf(const MacBytes& to, const ProbeMark& mark) {
  ProbePacket packet;
  packet.src = {ValueKind::kIpv4, kFromAddress};
  packet.dst = {ValueKind::kIpv4, kToAddress};
  packet.dst_mac = to;
  packet.ttl = kBounceTtl;
  return MakeProbeFrame(packet, mark, 0);
}

OpenflowRule FlowOf(uint64_t id, uint32_t in_port, const MacBytes& address, Nanos timeout,
                    const std::string& actions) {
  OpenflowRule rule;
  rule.text = "table=0,priority=" + std::to_string(Bouncer::kPriority) +
              ",hard_timeout=" + std::to_string(timeout / kNanosPerSecond + 1) +
              ",ip,in_port=" + std::to_string(in_port) + ",dl_dst=" + MacText(address) +
              ",actions=" + actions;
  rule.cookie = kBounceCookie | (id & kIdMask);
  rule.lasts = false;
  return rule;
}

bool IsPort(const OpenflowSwitch& which, uint32_t number, const std::string& text) {
  const auto found = which.ports().find(number);
  return std::to_string(number) == text ||
         (found != which.ports().end() && found->second.name == text);
}

}  // namespace

OpenflowClaim BounceClaim() { return ClaimOfKind(kBounceCookie); }

Bouncer::Bouncer(const Parts& parts)
    : parts_(parts), random_(parts.seed), ticker_(parts.base, [this] { Tick(); }) {}

ProbeStart Bouncer::Refuse(ProbeStart::Refusal refusal, std::string why) {
  ++counters_.refused;
  return {0, refusal, std::move(why)};
}

std::optional<BounceLink> Bouncer::FindLink(const BounceRequest& request,
                                            const OpenflowSwitch& which, std::string* why) const {
  const std::vector<BounceLink> links = parts_.links();
  for (const BounceLink& link : links) {
    if (link.from != request.switch_name || link.from_port == 0 || link.to_port == 0) continue;
    if (!request.port.empty() && !IsPort(which, link.from_port, request.port)) continue;
    if (request.to.empty() || request.to == link.to) return link;
  }
  *why = "no link of switch '" + request.switch_name + "'" +
         (request.port.empty() ? "" : " at port '" + request.port + "'") +
         (request.to.empty() ? "" : " to switch '" + request.to + "'") + " has been found by LLDP";
  return std::nullopt;
}

ProbeStart Bouncer::Start(const BounceRequest& asked, const std::string& caller) {
  BounceRequest request = asked;
  request.switch_name = parts_.name_of(asked.switch_name);
  if (!asked.to.empty()) request.to = parts_.name_of(asked.to);
  using Refusal = ProbeStart::Refusal;
  std::string why = parts_.rate->WhyNot(request.rate);
  if (!why.empty()) return Refuse(Refusal::kWrong, why);
  OpenflowSwitch* const here = parts_.net->Find(request.switch_name);
  if (here == nullptr) {
    return Refuse(Refusal::kWrong, "there is no switch '" + request.switch_name + "'");
  }
  const auto link = FindLink(request, *here, &why);
  if (!link) return Refuse(Refusal::kWrong, why);
  why = WhyNotNow(*link);
  if (!why.empty()) return Refuse(Refusal::kNotNow, why);
  if (running_.size() >= kMaxRunning) {
    return Refuse(Refusal::kTooMany, "there are " + std::to_string(kMaxRunning) +
                                         " bounces under way, as many as this controller runs");
  }
  const uint64_t id = Begin(request, caller, *link);
  Forget();
  ticker_.RunSoon();
  return {id, Refusal::kNone, ""};
}

std::string Bouncer::WhyNotNow(const BounceLink& link) const {
  for (const std::string& name : {link.from, link.to}) {
    const OpenflowSwitch* const which = parts_.net->Find(name);
    if (which == nullptr || !which->is_ready()) return "switch '" + name + "' is not connected";
  }
  if (!parts_.find_port(link.from)) return "switch '" + link.from + "' has no port to an analyzer";
  return parts_.has_analyzer() ? "" : "no analyzer is connected";
}

uint64_t Bouncer::Begin(const BounceRequest& request, const std::string& caller,
                        const BounceLink& link) {
  uint64_t id = 0;
  while (id == 0 || bounces_.count(id) != 0) id = random_();
  const size_t slot = FreeSlot();
  Kept& bounce = bounces_[id];
  bounce.view.id = id;
  bounce.view.caller = caller;
  bounce.view.request = request;
  bounce.view.link = link;
  bounce.view.began = parts_.clock->UnixNow();
  bounce.datapaths = {parts_.net->Find(link.from)->datapath_id(),
                      parts_.net->Find(link.to)->datapath_id()};
  bounce.slot = last_slot_ = slot;
  const OpenflowCopyPort copy = *parts_.find_port(link.from);
  Plan(copy, &bounce);
  Expect(bounce, copy.switch_number);
  order_.push_back(id);
  running_.push_back(id);
  ++counters_.bounces;
  parts_.log("info", "bounces of " + caller + " from switch " + link.from + ", port " +
                         std::to_string(link.from_port) + ", to switch " + link.to + ": " +
                         std::to_string(request.count));
  Prepare(id, 1);
  return id;
}

// They take turns, so that copies of the one before have come when a tag is used again.
size_t Bouncer::FreeSlot() const {
  for (size_t slot = last_slot_ + 1;; ++slot) {
    const bool is_taken = std::any_of(running_.begin(), running_.end(), [&](uint64_t id) {
      return bounces_.at(id).slot == slot % kMaxRunning;
    });
    if (!is_taken) return slot % kMaxRunning;
  }
}

// The flow at the other end takes no action that needs to know anything of what is there.
void Bouncer::Plan(const OpenflowCopyPort& copy, Kept* bounce) {
  const BounceView& view = bounce->view;
  for (uint8_t& byte : bounce->address) byte = static_cast<uint8_t>(random_());
  bounce->address[0] = static_cast<uint8_t>((bounce->address[0] & 0xfc) | 2);
  const Nanos sending =
      static_cast<Nanos>(view.request.count) * kNanosPerSecond / view.request.rate + kPatience;
  const Nanos timeout = sending + static_cast<Nanos>(view.request.wait_seconds) * kNanosPerSecond;
  const std::string to_analyzer = "clone(" + CopyActions(TagOf(bounce->slot), 0, copy) + ")";
  bounce->actions = to_analyzer + ",output:" + std::to_string(view.link.from_port);
  bounce->flows[0] = FlowOf(view.id, view.link.from_port, bounce->address, timeout, to_analyzer);
  bounce->flows[1] =
      FlowOf(view.id, view.link.to_port, bounce->address, timeout, "dec_ttl,in_port");
  bounce->deadline = parts_.clock->MonotonicNow() + sending;
}

void Bouncer::Expect(const Kept& bounce, uint16_t switch_number) {
  ExpectedSlice expected;
  expected.tag = TagOf(bounce.slot);
  expected.name = "bounce";
  expected.path = expected.locations = {bounce.view.link.from};
  expected.numbers = {switch_number};
  expected.start = parts_.clock->UnixNow();
  expected.end = expected.start + (bounce.deadline - parts_.clock->MonotonicNow());
  parts_.expect({expected});
}

// The flow there first, so that what goes out comes back.
void Bouncer::Prepare(uint64_t id, size_t which) {
  const auto found = bounces_.find(id);
  if (found == bounces_.end() || found->second.view.state == ProbeState::kDone) return;
  Kept* const bounce = &found->second;
  OpenflowSwitch* const at = parts_.net->Find(bounce->datapaths[which]);
  at->Commit({{}, {bounce->flows[which]}}, [this, alive = std::weak_ptr<bool>(alive_), id,
                                            which](const Status& status) {
    if (alive.expired()) return;
    const auto kept = bounces_.find(id);
    if (kept == bounces_.end() || kept->second.view.state != ProbeState::kSending) return;
    if (!status.ok()) {
      kept->second.view.notes.push_back("the flow that bounces was refused: " + status.message());
      return End(&kept->second);
    }
    if (which == 1) return Prepare(id, 0);
    kept->second.is_prepared = true;
    kept->second.next_at = parts_.clock->MonotonicNow();
  });
}

const BounceView* Bouncer::Find(uint64_t id) const {
  const auto found = bounces_.find(id);
  return found == bounces_.end() ? nullptr : &found->second.view;
}

std::vector<const BounceView*> Bouncer::List() const {
  std::vector<const BounceView*> list;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) list.push_back(Find(*it));
  return list;
}

void Bouncer::Tick() {
  const Nanos now = parts_.clock->MonotonicNow();
  if (running_.size() > 1) std::rotate(running_.begin(), running_.begin() + 1, running_.end());
  const std::vector<uint64_t> turns = running_;
  for (const uint64_t id : turns) {
    Kept* const bounce = &bounces_.at(id);
    if (bounce->view.state == ProbeState::kSending) Send(bounce, now);
    if (bounce->view.state != ProbeState::kWaiting || bounce->is_asking) continue;
    const BounceFindings& found = bounce->view.findings;
    if (found.returned + found.apart == bounce->view.sent || now >= bounce->deadline) {
      End(bounce);
    } else if (now >= bounce->next_at) {
      Ask(bounce);
    }
  }
  if (!running_.empty()) ticker_.RunAfter(kTick);
}

// One at a time: packets of a burst would wait for each other.
void Bouncer::Send(Kept* bounce, Nanos now) {
  if (now >= bounce->deadline) {
    bounce->view.notes.push_back("only " + std::to_string(bounce->view.sent) + " of " +
                                 std::to_string(bounce->view.request.count) +
                                 " packets could be sent in time");
    return BeginWaiting(bounce, now);
  }
  if (!bounce->is_prepared || now < bounce->next_at || !parts_.rate->Take(now)) return;
  if (!SendOne(bounce)) return BeginWaiting(bounce, now);
  bounce->next_at = now + kNanosPerSecond / bounce->view.request.rate;
  if (bounce->view.sent == bounce->view.request.count) BeginWaiting(bounce, now);
}

bool Bouncer::SendOne(Kept* bounce) {
  OpenflowSwitch* const here = parts_.net->Find(bounce->datapaths[0]);
  if (!here->is_ready()) {
    bounce->view.notes.push_back("switch '" + bounce->view.link.from + "' went away after " +
                                 std::to_string(bounce->view.sent) + " packets");
    return false;
  }
  const std::string frame = FrameOf(bounce->address, {bounce->view.id, bounce->view.sent});
  const Result<bool> sent = here->SendPacketOut(0, frame, bounce->actions);
  if (!sent.ok()) {
    bounce->view.notes.push_back("a packet could not be sent: " + sent.message());
    return false;
  }
  if (!*sent) return true;  // no room at the moment
  ++bounce->view.sent;
  ++counters_.packets;
  return true;
}

void Bouncer::BeginWaiting(Kept* bounce, Nanos now) {
  const Nanos wait = static_cast<Nanos>(bounce->view.request.wait_seconds) * kNanosPerSecond;
  bounce->view.state = ProbeState::kWaiting;
  bounce->next_at = now + kFirstAsk;
  bounce->deadline = bounce->view.sent == 0 ? now : now + wait;
}

// All copies at once, so that all times are by the same guess at the analyzer's clock.
void Bouncer::Ask(Kept* bounce) {
  bounce->is_asking = true;
  bounce->next_at = parts_.clock->MonotonicNow() + kAskAgain;
  parts_.ask(TagOf(bounce->slot), kMaxPackets,
             [this, alive = std::weak_ptr<bool>(alive_),
              id = bounce->view.id](const Result<BounceRecords>& packets) {
               if (alive.expired()) return;
               const auto kept = bounces_.find(id);
               if (kept == bounces_.end()) return;
               kept->second.is_asking = false;
               BounceView& view = kept->second.view;
               if (!packets.ok()) return;
               kept->second.has_answer = true;
               view.findings =
                   ConcludeBounce(ReadBounceCopies(*packets, id, view.link.from), view.sent);
             });
}

void Bouncer::End(Kept* bounce) {
  BounceView& view = bounce->view;
  view.state = ProbeState::kDone;
  if (!bounce->has_answer) view.findings = ConcludeBounce({}, view.sent);
  if (view.findings.apart > 0) {
    view.notes.push_back("the two copies of " + std::to_string(view.findings.apart) +
                         " packets came to two analyzers, so nobody knows how long they took");
  }
  counters_.returned += view.findings.returned;
  running_.erase(std::find(running_.begin(), running_.end(), view.id));
  for (size_t i = 0; i < bounce->flows.size(); ++i) {
    OpenflowSwitch* const at = parts_.net->Find(bounce->datapaths[i]);
    // At a switch that is away it goes by the timeout, or when the switch comes back.
    at->Commit({{bounce->flows[i]}, {}}, [](const Status&) {});
  }
}

void Bouncer::Forget() {
  for (auto it = order_.begin(); it != order_.end() && order_.size() > kKept;) {
    const auto found = bounces_.find(*it);
    if (found->second.view.state != ProbeState::kDone) {
      ++it;
      continue;
    }
    bounces_.erase(found);
    it = order_.erase(it);
  }
}

}  // namespace trumpet
