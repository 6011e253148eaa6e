// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenflowSwitch: a switch as the rest of the controller sees it, whether it is connected or not.
//
// It remembers the rules that were committed.  Whenever the switch comes (back), our flows there,
// known by their cookie, are compared with that: what is missing is added, what is not ours to have
// any more is removed, meters of another rate get theirs, and nothing else is touched.  Rules with
// a timeout are not brought back.
//
// Standing rules are there from the beginning: when the switch comes for the first time they are
// compared, too, so those of an earlier life of ours stay.  One that somebody deletes is put back
// at once, if it has send_flow_rem.
//
// Ours are flows whose cookie begins with kOpenflowCookie, and groups and meters of our numbers.
//
// Threads: that of the libevent loop.  Everything is called back from the loop, never from within
// a call.  Lifetime: `base` must outlive it.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_SWITCH_H
#define TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_SWITCH_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/openflow/openflow_channel.h"
#include "controller/openflow/openflow_message.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"

namespace trumpet {

constexpr uint64_t kOpenflowCookie = 0x7472000000000000;
constexpr uint64_t kOpenflowCookieMask = 0xffff000000000000;
// The byte behind says what a flow is for; what the rest means is its own affair.
constexpr uint64_t kOpenflowKindMask = 0xffffff0000000000;
constexpr uint32_t kFirstOpenflowNumber = 60000;  // of groups and meters that are ours
constexpr uint32_t kLastOpenflowNumber = 64095;
// A switch that tells of more is not kept: Open vSwitch has fewer.
constexpr size_t kMaxOpenflowPorts = 65536;

// All or nothing; what is removed goes first.
struct OpenflowChange {
  std::vector<OpenflowRule> remove;
  std::vector<OpenflowRule> add;  // or replace, if it is a rule of ours
  // Meters that are there already and do something else, when a switch comes (back).
  std::vector<OpenflowRule> modify = {};
};

// Rules of ours that somebody will speak for with Adopt(), when he knows them; until then they stay
// at the switch as they are.
struct OpenflowClaim {
  uint64_t cookie = 0;       // flows whose cookie begins so
  uint64_t cookie_mask = 0;  // not 0
  uint32_t first_meter = 0;  // and meters up to last_meter
  uint32_t last_meter = 0;
};

// All flows of the kind that `cookie` begins with, and these meters, if there are any.
constexpr OpenflowClaim ClaimOfKind(uint64_t cookie, uint32_t first_meter = 0,
                                    uint32_t last_meter = 0) {
  return {cookie & kOpenflowKindMask, kOpenflowKindMask, first_meter, last_meter};
}

struct OpenflowSwitchCounters {
  uint64_t connections = 0;
  uint64_t commits = 0;
  uint64_t failed_commits = 0;
  uint64_t reconciled_missing = 0;  // added or put right when the switch came back
  uint64_t reconciled_stray = 0;    // removed then
  uint64_t packets_in = 0;
  uint64_t packets_out = 0;
  OpenflowChannelCounters channels;  // of all there are and were
};

class OpenflowSwitch {
 public:
  using Done = std::function<void(const Status&)>;
  using AnswersDone = OpenflowChannel::Done;
  using FlowsDone = std::function<void(const Result<std::vector<OpenflowFlow>>&)>;

  OpenflowSwitch(event_base* base, uint64_t datapath_id, std::string name);
  OpenflowSwitch(const OpenflowSwitch&) = delete;
  OpenflowSwitch& operator=(const OpenflowSwitch&) = delete;

  uint64_t datapath_id() const { return datapath_id_; }
  const std::string& name() const { return name_; }
  // Connected, and our rules are there as they should be.
  bool is_ready() const { return is_ready_; }
  // Null while there is none.
  const OpenflowChannel* channel() const { return channel_; }
  const std::map<uint32_t, OpenflowPort>& ports() const { return ports_; }
  size_t rule_count() const { return rules_.size(); }
  const std::string& last_error() const { return last_error_; }
  OpenflowSwitchCounters counters() const;

  // Changes our rules; an error names the rule that was refused, and then nothing was changed.  If
  // the switch is away, though, rules that end by themselves and were to be removed are so as soon
  // as it comes back.
  void Commit(OpenflowChange change, Done done);
  // Flows whose cookie has these bits, with their counts.
  void AskFlows(uint8_t table, uint64_t cookie, uint64_t cookie_mask, FlowsDone done);
  // All flows, of whomever, that lie within `match`, "ip,nw_dst=10.0.0.0/8", in any table; an error
  // if there are more than `most`.
  void AskFlowsWithin(const std::string& match, size_t most, FlowsDone done);
  // Any of the requests without a body.
  void AskSimple(trumpet_of_ask what, AnswersDone done);
  // False if there is no connection or no room.
  Result<bool> SendPacketOut(uint32_t in_port, std::string_view packet, const std::string& actions);
  // Ends this claim: of what it is about, these rules are to be there and no others.  An error: the
  // switch has refused them, and has none of it; or its connection has ended, and the claim stands,
  // so that it keeps what it has until they are said again.  Were they none, that goes when it
  // comes back.
  void Adopt(const OpenflowClaim& claim, const std::vector<OpenflowRule>& rules, Done done);
  // Somebody else speaks for these from now on: they are forgotten, and stay at the switch.
  void GiveBack(const OpenflowClaim& claim);
  // Removes all that is ours, known or not, standing or not, and forgets it.
  void Purge(Done done);
  // Standing rules are as they should be, if it has any.
  bool has_standing_rules() const { return is_ready_ && has_standing_rules_; }

  // ---- For OpenflowNet ----

  // Before anything comes.  An error if one of them is no rule.
  Status SetStandingRules(const std::vector<OpenflowRule>& rules);
  void SetClaims(std::vector<OpenflowClaim> claims) { claims_ = std::move(claims); }
  // A connection has come, or gone (null); `ready` is called when ours is as it should be.
  void Attach(OpenflowChannel* channel, Done ready);
  void Detach(const std::string& why);
  void OnMessage(const OpenflowMessage& message);
  void OnPacketIn(std::function<void(const OpenflowMessage&)> taken) { packet_in_ = taken; }
  void OnPorts(std::function<void()> changed) { ports_changed_ = changed; }
  void OnFlowRemoved(std::function<void(const OpenflowMessage&)> removed) { removed_ = removed; }

  // ---- For OpenflowCommit ----

  using Rules = std::map<std::string, OpenflowRule>;  // by place

  // One at a time has the switch to itself; Release() lets the next one begin.
  void Acquire(std::function<void()> begin);
  void Release();
  // A number for each connection; 0: there is none.
  uint64_t life() const { return channel_ == nullptr ? 0 : life_; }
  uint8_t version() const { return channel_->version(); }
  uint32_t NextXid() { return channel_->NextXid(); }
  // An error for all, if the connection is not that of `life` any more.
  void Ask(uint64_t life, std::vector<OpenflowRequest> requests, AnswersDone done);
  void Later(std::function<void()> action);
  Rules& rules() { return rules_; }
  // Those of them that do not last: what the switch still has of them is stray when it comes back.
  void ForgetBrief(const std::vector<OpenflowRule>& rules);
  bool has_bundles() const { return has_bundles_; }
  void set_has_bundles(bool has) { has_bundles_ = has; }
  OpenflowSwitchCounters& counts() { return counters_; }

 private:
  using Encode = std::function<Result<std::string>(uint32_t xid)>;
  using MessagesDone = std::function<void(const Result<std::vector<OpenflowMessage>>&)>;

  void AskOne(const Encode& encode, MessagesDone done);
  void AskPorts(Done ready);
  Status CheckPorts() const;
  void Reconcile(Done ready);
  void Compare(const OpenflowAnswers& answers, Done ready);
  void AdoptNow(const OpenflowClaim& claim, const std::vector<OpenflowRule>& rules,
                const Done& done);
  void GiveBackNow(const OpenflowClaim& claim);
  void EndClaim(const OpenflowClaim& claim);
  void ClaimAgain(const OpenflowClaim& claim);
  bool IsClaimed(const OpenflowRule& rule) const;
  bool IsLasting(uint64_t cookie) const;
  void PutBack();

  const uint64_t datapath_id_;
  const std::string name_;
  OpenflowChannel* channel_ = nullptr;
  uint64_t life_ = 0;
  bool is_ready_ = false;
  bool has_bundles_ = true;  // until it says no
  bool has_standing_rules_ = false;
  bool is_putting_back_ = false;
  bool is_busy_ = false;
  std::deque<std::function<void()>> waiting_;
  std::map<uint32_t, OpenflowPort> ports_;
  Rules rules_;
  std::vector<OpenflowClaim> claims_;
  std::string last_error_;
  OpenflowSwitchCounters counters_;
  std::function<void(const OpenflowMessage&)> packet_in_;
  std::function<void()> ports_changed_;
  std::function<void(const OpenflowMessage&)> removed_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
  LoopEvent ports_event_;
};

// What makes a rule another one if it differs: "table=1,priority=5,ip", "meter=60000"; and how the
// switch would say it, if it is a flow.  An error if the text is none.
Result<std::pair<std::string, std::string>> PlaceAndText(uint8_t version, const OpenflowRule& rule);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_SWITCH_H
