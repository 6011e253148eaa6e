// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/openflow_switch.h"

#include <algorithm>
#include <memory>
#include <set>

#include "controller/openflow/openflow_commit.h"

namespace trumpet {
namespace {

using Kind = OpenflowRule::Kind;

constexpr uint8_t kAnyVersion = 4;  // rules have the same place in all of them

// "meter=60000" of "meter=60000,pktps,...".
std::string NumberPart(const std::string& text) { return text.substr(0, text.find(',')); }

bool IsOurNumber(uint32_t number) {
  return number >= kFirstOpenflowNumber && number <= kLastOpenflowNumber;
}

Status CheckNumber(const std::string& text, const char* key) {
  const std::string head = key;
  const bool has_key = text.compare(0, head.size(), head) == 0;
  const unsigned long number = has_key ? std::strtoul(text.c_str() + head.size(), nullptr, 10) : 0;
  if (number <= UINT32_MAX && IsOurNumber(static_cast<uint32_t>(number))) return Status::Ok();
  return Status::Error("'" + text + "' does not begin with " + head + "N, N " +
                       std::to_string(kFirstOpenflowNumber) + " to " +
                       std::to_string(kLastOpenflowNumber));
}

bool IsOf(const OpenflowClaim& claim, const OpenflowRule& rule) {
  if (rule.kind == Kind::kGroup) return false;
  if (rule.kind == Kind::kFlow) return (rule.cookie & claim.cookie_mask) == claim.cookie;
  const unsigned long number = std::strtoul(rule.text.c_str() + sizeof "meter", nullptr, 10);
  return number >= claim.first_meter && number <= claim.last_meter;
}

// How a switch says what this meter does; empty: the text is none.
std::string SpellMeter(uint8_t version, const OpenflowRule& rule) {
  const Result<std::string> bytes = EncodeRule(version, TRUMPET_OF_ADD, rule, 0);
  if (!bytes.ok()) return "";
  const Result<OpenflowMessage> message = DecodeOpenflow(*bytes);
  return message.ok() ? message->numbered.at(0).text : "";
}

Result<std::vector<OpenflowFlow>> FlowsOf(const Result<std::vector<OpenflowMessage>>& messages) {
  if (!messages.ok()) return messages.status();
  std::vector<OpenflowFlow> flows;
  for (const OpenflowMessage& message : *messages) {
    flows.insert(flows.end(), message.flows.begin(), message.flows.end());
  }
  return flows;
}

}  // namespace

Result<std::pair<std::string, std::string>> PlaceAndText(uint8_t version,
                                                         const OpenflowRule& rule) {
  if (rule.kind != Kind::kFlow) {
    const Status status =
        CheckNumber(rule.text, rule.kind == Kind::kMeter ? "meter=" : "group_id=");
    if (!status.ok()) return status;
    return std::pair<std::string, std::string>(NumberPart(rule.text), rule.text);
  }
  const Result<std::string> bytes = EncodeRule(version, TRUMPET_OF_ADD, rule, 0);
  if (!bytes.ok()) return bytes.status();
  const Result<OpenflowMessage> message = DecodeOpenflow(*bytes);
  if (!message.ok()) return Status::Error("'" + rule.text + "': " + message.message());
  const OpenflowFlow& flow = message->flows.at(0);
  return std::pair<std::string, std::string>(flow.Place(), flow.Text());
}

OpenflowSwitch::OpenflowSwitch(event_base* base, uint64_t datapath_id, std::string name)
    : datapath_id_(datapath_id),
      name_(std::move(name)),
      later_event_(base,
                   [this] {
                     for (const auto& action : std::exchange(later_, {})) action();
                   }),
      ports_event_(base, [this] {
        if (ports_changed_) ports_changed_();
      }) {}

OpenflowSwitchCounters OpenflowSwitch::counters() const {
  OpenflowSwitchCounters counters = counters_;
  if (channel_ != nullptr) counters.channels.Add(channel_->counters());
  return counters;
}

void OpenflowSwitch::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

// ---- One at a time ----

void OpenflowSwitch::Acquire(std::function<void()> begin) {
  waiting_.push_back(std::move(begin));
  if (is_busy_) return;
  is_busy_ = true;
  Later([this] { Release(); });  // the first one begins from the loop
}

void OpenflowSwitch::Release() {
  if (waiting_.empty()) {
    is_busy_ = false;
    return;
  }
  const std::function<void()> next = std::move(waiting_.front());
  waiting_.pop_front();
  next();
}

void OpenflowSwitch::Commit(OpenflowChange change, Done done) {
  CommitAcross({{this, std::move(change)}}, std::move(done));
}

void OpenflowSwitch::ForgetBrief(const std::vector<OpenflowRule>& rules) {
  for (const OpenflowRule& rule : rules) {
    const auto spelled = PlaceAndText(kAnyVersion, rule);
    if (!spelled.ok()) continue;
    const auto kept = rules_.find(spelled->first);
    if (kept != rules_.end() && !kept->second.lasts) rules_.erase(kept);
  }
}

// ---- Asking ----

void OpenflowSwitch::Ask(uint64_t life, std::vector<OpenflowRequest> requests, AnswersDone done) {
  if (life != 0 && life == this->life()) {
    return channel_->Ask(std::move(requests), std::move(done));
  }
  OpenflowAnswers answers;
  answers.status = Status::Error("switch " + name_ + " is not connected");
  Later([answers, done] { done(answers); });
}

void OpenflowSwitch::AskSimple(trumpet_of_ask what, AnswersDone done) {
  std::vector<OpenflowRequest> requests;
  if (life() != 0) {
    const uint32_t xid = NextXid();
    requests.push_back({xid, EncodeSimple(version(), what, xid)});
  }
  Ask(life(), std::move(requests), std::move(done));
}

// What a switch tells of flows.
void OpenflowSwitch::AskOne(const Encode& encode, MessagesDone done) {
  std::vector<OpenflowRequest> requests;
  if (life() != 0) {
    const uint32_t xid = NextXid();
    Result<std::string> bytes = encode(xid);
    if (!bytes.ok()) return Later([done, status = bytes.status()] { done(status); });
    requests.push_back({xid, std::move(*bytes)});
  }
  Ask(life(), std::move(requests), [this, done](const OpenflowAnswers& answers) {
    if (!answers.status.ok()) return done(answers.status);
    const OpenflowAnswer& answer = answers.answers[0];
    if (!answer.error.empty()) {
      return done(Status::Error("switch " + name_ + " does not tell its flows: " + answer.error));
    }
    done(answer.messages);
  });
}

void OpenflowSwitch::AskFlows(uint8_t table, uint64_t cookie, uint64_t cookie_mask,
                              FlowsDone done) {
  AskOne(
      [&](uint32_t xid) -> Result<std::string> {
        return EncodeFlowStatsRequest(version(), false, table, cookie, cookie_mask, xid);
      },
      [done](const auto& messages) { done(FlowsOf(messages)); });
}

void OpenflowSwitch::AskFlowsWithin(const std::string& match, size_t most, FlowsDone done) {
  const OpenflowRule look{Kind::kFlow, match + ",actions=drop", 0, false};
  const auto encode = [this, look](bool is_sum) {
    return
        [this, look, is_sum](uint32_t xid) { return EncodeFlowLook(version(), is_sum, look, xid); };
  };
  AskOne(encode(true), [this, encode, most, done](const auto& messages) {
    if (!messages.ok()) return done(messages.status());
    if (messages->empty() || (*messages)[0].head.flow_count > most) {
      return done(Status::Error("switch " + name_ + " has too many flows there"));
    }
    AskOne(encode(false), [done](const auto& flows) { done(FlowsOf(flows)); });
  });
}

Result<bool> OpenflowSwitch::SendPacketOut(uint32_t in_port, std::string_view packet,
                                           const std::string& actions) {
  if (channel_ == nullptr || !channel_->is_ready()) return false;
  const Result<std::string> bytes = EncodePacketOut(version(), in_port, packet, actions, NextXid());
  if (!bytes.ok()) return bytes.status();
  const bool is_sent = channel_->Tell(*bytes);
  counters_.packets_out += is_sent ? 1 : 0;
  return is_sent;
}

// ---- Coming and going ----

void OpenflowSwitch::Attach(OpenflowChannel* channel, Done ready) {
  channel_ = channel;
  ++life_;
  ++counters_.connections;
  has_bundles_ = true;
  AskPorts([this, ready](const Status& status) {
    if (!status.ok()) return ready(status);
    Acquire([this, ready] { Reconcile(ready); });
  });
}

void OpenflowSwitch::Detach(const std::string& why) {
  if (channel_ != nullptr) counters_.channels.Add(channel_->counters());
  channel_ = nullptr;
  is_ready_ = false;
  last_error_ = why;
  ports_.clear();
  if (ports_changed_) ports_changed_();
}

void OpenflowSwitch::AskPorts(Done ready) {
  AskSimple(TRUMPET_OF_PORT_DESC_REQUEST, [this, ready](const OpenflowAnswers& answers) {
    if (!answers.status.ok()) return ready(answers.status);
    for (const OpenflowMessage& message : answers.answers[0].messages) {
      for (const OpenflowPort& port : message.ports) ports_[port.number] = port;
    }
    if (ports_changed_) ports_changed_();
    ready(CheckPorts());
  });
}

Status OpenflowSwitch::CheckPorts() const {
  if (ports_.size() <= kMaxOpenflowPorts) return Status::Ok();
  return Status::Error("it has more than " + std::to_string(kMaxOpenflowPorts) + " ports");
}

void OpenflowSwitch::OnMessage(const OpenflowMessage& message) {
  switch (message.head.kind) {
    case TRUMPET_OF_PACKET_IN:
      ++counters_.packets_in;
      if (packet_in_) packet_in_(message);
      return;
    case TRUMPET_OF_PORT_STATUS:
      for (const OpenflowPort& port : message.ports) {
        if (message.head.reason == 1) {
          ports_.erase(port.number);
        } else {
          ports_[port.number] = port;
        }
      }
      if (const Status status = CheckPorts(); !status.ok()) {
        return channel_->Close(CloseCause::kProtocol, status.message());
      }
      ports_event_.RunSoon();  // of many that come together once
      return;
    case TRUMPET_OF_FLOW_REMOVED:
      if (IsLasting(message.head.cookie)) PutBack();
      if (removed_) removed_(message);
      return;
    default:
      return;
  }
}

// ---- What is there against what should be ----

Status OpenflowSwitch::SetStandingRules(const std::vector<OpenflowRule>& rules) {
  for (const OpenflowRule& rule : rules) {
    const auto spelled = PlaceAndText(kAnyVersion, rule);
    if (!spelled.ok()) return spelled.status();
    rules_[spelled->first] = rule;
  }
  has_standing_rules_ = !rules.empty();
  return Status::Ok();
}

bool OpenflowSwitch::IsLasting(uint64_t cookie) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& one) {
    return one.second.lasts && one.second.cookie == cookie;
  });
}

// Many that go together come back together.
void OpenflowSwitch::PutBack() {
  if (is_putting_back_) return;
  is_putting_back_ = true;
  Acquire([this] {
    is_putting_back_ = false;
    Reconcile([this](const Status& status) {
      if (!status.ok() && channel_ != nullptr) {
        channel_->Close(CloseCause::kByUs, status.message());  // it comes anew
      }
    });
  });
}

void OpenflowSwitch::Reconcile(Done ready) {
  std::vector<OpenflowRequest> requests;
  const auto ask = [&](auto encode) {
    const uint32_t xid = NextXid();
    requests.push_back({xid, encode(xid)});
  };
  if (life() != 0) {
    ask([this](uint32_t xid) {
      return EncodeFlowStatsRequest(version(), false, kAllTables, kOpenflowCookie,
                                    kOpenflowCookieMask, xid);
    });
    ask([this](uint32_t xid) {
      return EncodeSimple(version(), TRUMPET_OF_GROUP_DESC_REQUEST, xid);
    });
    ask([this](uint32_t xid) {
      return EncodeSimple(version(), TRUMPET_OF_METER_CONFIG_REQUEST, xid);
    });
  }
  Ask(life(), std::move(requests), [this, ready](const OpenflowAnswers& answers) {
    if (answers.status.ok()) return Compare(answers, ready);
    ready(answers.status);
    Release();
  });
}

void OpenflowSwitch::Compare(const OpenflowAnswers& answers, Done ready) {
  OpenflowChange change;
  Rules missing;
  std::map<std::string, std::string> texts;
  for (const auto& [place, rule] : rules_) {
    const auto spelled = PlaceAndText(version(), rule);
    if (!spelled.ok()) continue;
    missing[spelled->first] = rule;
    texts[spelled->first] = spelled->second;
  }
  const auto see = [&](const std::string& place, bool is_same, const OpenflowRule& there) {
    const auto wanted = missing.find(place);
    const bool is_wanted = wanted != missing.end();
    if (is_wanted && is_same) missing.erase(wanted);
    if (!is_wanted && !IsClaimed(there)) change.remove.push_back(there);
  };
  for (const OpenflowMessage& message : answers.answers[0].messages) {
    for (const OpenflowFlow& flow : message.flows) {
      const std::string place = flow.Place();
      const auto wanted = missing.find(place);
      const bool is_same = wanted != missing.end() && wanted->second.cookie == flow.cookie &&
                           texts[place] == flow.Text();
      see(place, is_same, {Kind::kFlow, flow.Text(), flow.cookie, true});
    }
  }
  for (const bool is_meter : {false, true}) {
    for (const OpenflowMessage& message : answers.answers[is_meter ? 2 : 1].messages) {
      for (const OpenflowNumbered& thing : message.numbered) {
        if (!IsOurNumber(thing.number)) continue;
        const std::string place =
            (is_meter ? "meter=" : "group_id=") + std::to_string(thing.number);
        // Flows use a meter, so one that does something else is changed where it is.
        const auto wanted = missing.find(place);
        if (is_meter && wanted != missing.end() &&
            SpellMeter(version(), wanted->second) != thing.text) {
          change.modify.push_back(wanted->second);
        }
        see(place, true, {is_meter ? Kind::kMeter : Kind::kGroup, place, 0, true});
      }
    }
  }
  for (const auto& [place, rule] : missing) {
    if (rule.lasts) change.add.push_back(rule);
    if (!rule.lasts) rules_.erase(place);
  }
  counters_.reconciled_missing += change.add.size() + change.modify.size();
  counters_.reconciled_stray += change.remove.size();
  const auto commit =
      std::make_shared<OpenflowCommit>(this, std::move(change), OpenflowCommit::Mode::kReconcile);
  const auto end = [this, commit, ready](const Status& status) {
    is_ready_ = status.ok();
    if (!status.ok()) last_error_ = status.message();
    ready(status);  // which may end the connection: what waits asks nothing then
    Release();
  };
  commit->Prepare([commit, end](const Status& status) {
    if (!status.ok()) return end(status);
    commit->Finish(end);
  });
}

bool OpenflowSwitch::IsClaimed(const OpenflowRule& rule) const {
  return std::any_of(claims_.begin(), claims_.end(),
                     [&](const OpenflowClaim& claim) { return IsOf(claim, rule); });
}

void OpenflowSwitch::EndClaim(const OpenflowClaim& claim) {
  const auto is_same = [&](const OpenflowClaim& one) { return one.cookie == claim.cookie; };
  claims_.erase(std::remove_if(claims_.begin(), claims_.end(), is_same), claims_.end());
}

void OpenflowSwitch::ClaimAgain(const OpenflowClaim& claim) {
  EndClaim(claim);
  claims_.push_back(claim);
}

void OpenflowSwitch::Adopt(const OpenflowClaim& claim, const std::vector<OpenflowRule>& rules,
                           Done done) {
  Acquire([this, claim, rules, done = std::move(done)] { AdoptNow(claim, rules, done); });
}

void OpenflowSwitch::AdoptNow(const OpenflowClaim& claim, const std::vector<OpenflowRule>& rules,
                              const Done& done) {
  EndClaim(claim);
  std::vector<std::string> places;
  for (const OpenflowRule& rule : rules) {
    const auto spelled = PlaceAndText(kAnyVersion, rule);
    if (!spelled.ok()) continue;
    rules_[spelled->first] = rule;
    places.push_back(spelled->first);
  }
  const bool was_ready = is_ready_;
  Reconcile([this, claim, places, was_ready, life = life(), done](const Status& status) {
    if (status.ok()) return done(status);
    for (const std::string& place : places) rules_.erase(place);
    const bool is_there = life != 0 && life == this->life() && channel_->is_ready();
    if (!is_there) {  // it has refused nothing
      if (!places.empty()) ClaimAgain(claim);
      return done(status);
    }
    is_ready_ = was_ready;  // with all the others
    Acquire([this, done, status] { Reconcile([done, status](const Status&) { done(status); }); });
  });
}

// What is under way may bring some of them once more.
void OpenflowSwitch::GiveBack(const OpenflowClaim& claim) {
  GiveBackNow(claim);
  if (!is_busy_) return;
  Acquire([this, claim] {
    GiveBackNow(claim);
    Release();
  });
}

void OpenflowSwitch::GiveBackNow(const OpenflowClaim& claim) {
  ClaimAgain(claim);
  for (auto it = rules_.begin(); it != rules_.end();) {
    it = IsOf(claim, it->second) ? rules_.erase(it) : std::next(it);
  }
}

void OpenflowSwitch::Purge(Done done) {
  Acquire([this, done] {
    rules_.clear();
    has_standing_rules_ = false;
    claims_.clear();
    if (life() == 0) {
      Release();
      return done(Status::Ok());  // nothing of ours will survive when it comes back
    }
    Reconcile(done);
  });
}

}  // namespace trumpet
