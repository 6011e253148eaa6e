// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/rule_tester.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

constexpr uint32_t kMaxPackets = 4096;  // asked of each tag
constexpr size_t kMacBytes = 6;

uint32_t TagOf(size_t rule) { return TraceTag(static_cast<uint32_t>(rule), kTraceTestPort); }

FrameMark MarkAt(const std::string& frame, size_t offset) {
  FrameMark mark{};
  std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(offset), kMacBytes, mark.begin());
  return mark;
}

}  // namespace

RuleTester::RuleTester(event_base* base, const WireClock& clock, CopyWitness witness, uint64_t seed,
                       Log log)
    : clock_(clock),
      witness_(std::move(witness)),
      log_(std::move(log)),
      random_(seed),
      ticker_(base, [this] { Tick(); }) {
  ticker_.RunEvery(kTick);
}

void RuleTester::SetTests(std::vector<TraceTest> tests, std::vector<std::string> names) {
  tests_ = std::move(tests);
  names_ = std::move(names);
  members_.clear();
  sent_.clear();
  ++round_;  // answers to the last one are none of this
}

void RuleTester::Begin(OpenflowSwitch* which, uint16_t number) {
  Member& member = members_[which->datapath_id()];
  member = Member();
  member.which = which;
  member.number = number;
  member.trials.assign(tests_.size(), Trial());
}

TraceRuleVerdict RuleTester::VerdictOf(const OpenflowSwitch* which, size_t rule) const {
  const auto member = members_.find(which->datapath_id());
  if (member == members_.end()) return {};
  if (!witness_.is_ready()) return {TraceRuleState::kTesting, "no analyzer is connected"};
  bool has_passed = true;
  for (size_t i = 0; i < tests_.size(); ++i) {
    if (tests_[i].rule != rule) continue;
    const Trial& trial = member->second.trials[i];
    if (!trial.impossible.empty()) return {TraceRuleState::kFailed, trial.impossible};
    if (trial.taken_by >= 0) {
      return {TraceRuleState::kFailed, "its test packet was copied by rule '" +
                                           names_[static_cast<size_t>(trial.taken_by)] + "'"};
    }
    if (trial.misses >= kMisses) {
      return {TraceRuleState::kFailed, "no copy of its test packet has come to an analyzer"};
    }
    has_passed = has_passed && trial.passed_at != 0;
  }
  return {has_passed ? TraceRuleState::kActive : TraceRuleState::kTesting, ""};
}

void RuleTester::Tick() {
  if (!witness_.is_ready()) {
    sent_.clear();
    for (auto& [id, member] : members_) member.trials.assign(tests_.size(), Trial());
    return;
  }
  if (!sent_.empty() && clock_.MonotonicNow() > deadline_) EndRound();
  if (!sent_.empty()) return Ask();
  BeginRound();
}

void RuleTester::BeginRound() {
  const Nanos now = clock_.MonotonicNow();
  std::vector<Sent> due;
  ExpectedSlice expected;
  bool is_watch = true;
  auto next = members_.upper_bound(last_member_);
  for (size_t i = 0; i < std::min(members_.size(), kPerRound); ++i, ++next) {
    if (next == members_.end()) next = members_.begin();
    last_member_ = next->first;
    std::vector<size_t> tests = DueTests(next->second, now);
    if (!tests.empty()) is_watch = false;
    const auto watched = tests.empty() ? WatchTest(next->second, now) : std::nullopt;
    if (watched) tests.push_back(*watched);
    if (tests.empty()) continue;
    for (const size_t test : tests) due.push_back({next->first, test});
    expected.path.push_back(next->second.which->name());
    expected.numbers.push_back(next->second.number);
  }
  if (due.empty()) return;
  ++round_;
  deadline_ = now + kPatience;
  Expect(std::move(expected), is_watch, due);
  for (const Sent& one : due) Send(one);
}

// Any rule may take a test packet.  Of those that only watch nothing but their own copies is asked:
// what another rule takes is tried again then, with all.
void RuleTester::Expect(ExpectedSlice slice, bool is_watch, const std::vector<Sent>& due) {
  asked_.clear();
  for (const Sent& one : due) asked_.insert(tests_[one.test].rule);
  for (size_t rule = 0; rule < names_.size() && !is_watch; ++rule) asked_.insert(rule);
  slice.locations = slice.path;
  slice.start = clock_.UnixNow();
  slice.end = slice.start + kPatience;
  std::vector<ExpectedSlice> all;
  all.reserve(asked_.size());
  for (const size_t rule : asked_) {
    slice.tag = TagOf(rule);
    slice.name = names_[rule];
    all.push_back(slice);
  }
  witness_.expect(all);
}

// One for each rule at most, the one that has waited longest.
std::vector<size_t> RuleTester::DueTests(const Member& member, Nanos now) const {
  std::map<uint32_t, size_t> by_rule;
  for (size_t i = 0; i < tests_.size(); ++i) {
    const Trial& trial = member.trials[i];
    const bool is_fresh = trial.passed_at != 0 && trial.passed_at >= member.doubted_at &&
                          now - trial.passed_at < kRetest;
    const bool is_early = trial.sent_at != 0 && now - trial.sent_at < kPatience;
    if (is_fresh || is_early || !trial.impossible.empty()) continue;
    const auto found = by_rule.emplace(tests_[i].rule, i).first;
    if (trial.sent_at < member.trials[found->second].sent_at) found->second = i;
  }
  std::vector<size_t> due;
  due.reserve(by_rule.size());
  for (const auto& [rule, test] : by_rule) due.push_back(test);
  return due;
}

// The one that has waited longest, if it is time for one.
std::optional<size_t> RuleTester::WatchTest(const Member& member, Nanos now) const {
  if (now - member.sent_at < kWatch) return std::nullopt;
  std::optional<size_t> longest;
  for (size_t i = 0; i < tests_.size(); ++i) {
    const Trial& trial = member.trials[i];
    if (trial.passed_at == 0) continue;
    if (!longest || trial.sent_at < member.trials[*longest].sent_at) longest = i;
  }
  return longest;
}

void RuleTester::Send(const Sent& what) {
  const TraceTest& test = tests_[what.test];
  Member& member = members_.at(what.datapath_id);
  Trial& trial = member.trials[what.test];
  FrameMark mark{};
  for (uint8_t& byte : mark) byte = static_cast<uint8_t>(random_());
  mark[0] = static_cast<uint8_t>((mark[0] & 0xfc) | 2);  // of nobody's card, and for one receiver
  const Result<std::string> frame = ComposeFrame(test.match, test.tos, mark);
  const Result<bool> is_sent = frame.ok() ? member.which->SendPacketOut(0, *frame, test.actions)
                                          : Result<bool>(frame.status());
  if (!is_sent.ok()) trial.impossible = is_sent.message();
  if (!is_sent.ok() || !*is_sent) return;
  trial.sent_at = member.sent_at = clock_.MonotonicNow();
  sent_[mark] = what;
  ++counters_.sent;
}

void RuleTester::EndRound() {
  for (const auto& [mark, sent] : std::exchange(sent_, {})) {
    const auto member = members_.find(sent.datapath_id);
    if (member == members_.end()) continue;
    ++counters_.missed;
    Missed(&member->second, sent.test);
  }
}

// One that has failed already makes no other doubtful.
void RuleTester::Missed(Member* member, size_t test) {
  Trial& trial = member->trials[test];
  if (trial.passed_at != 0) member->doubted_at = std::max(member->doubted_at, trial.sent_at);
  if (++trial.misses < kMisses || trial.passed_at == 0) return;
  trial.passed_at = 0;
  if (std::exchange(member->is_lost, true)) return;
  log_("warn", "trace rules: copies of switch " + member->which->name() +
                   " do not come to an analyzer any more, first those of rule '" +
                   names_[tests_[test].rule] + "'");
}

void RuleTester::Ask() {
  if (answers_due_ != 0) return;
  answers_due_ = asked_.size();
  for (const size_t rule : asked_) {
    witness_.ask(TagOf(rule), 0, kMaxPackets,
                 [this, alive = std::weak_ptr<bool>(alive_), rule,
                  round = round_](const Result<std::vector<PacketRecord>>& packets) {
                   if (alive.expired()) return;
                   --answers_due_;
                   if (packets.ok() && round == round_) Take(static_cast<int>(rule), *packets);
                 });
  }
}

void RuleTester::Take(int rule, const std::vector<PacketRecord>& packets) {
  for (const PacketRecord& packet : packets) {
    if (!packet.is_ethernet || packet.bytes.size() < 2 * kMacBytes) continue;
    TakeMark(rule, packet.switch_name, MarkAt(packet.bytes, 0));
    TakeMark(rule, packet.switch_name, MarkAt(packet.bytes, kMacBytes));
  }
}

void RuleTester::TakeMark(int rule, const std::string& switch_name, const FrameMark& mark) {
  const auto found = sent_.find(mark);
  if (found == sent_.end()) return;
  const size_t test = found->second.test;
  const auto which = members_.find(found->second.datapath_id);
  if (which != members_.end() && which->second.which->name() != switch_name) return;
  sent_.erase(found);
  if (which == members_.end()) return;
  Member& member = which->second;
  Trial& trial = member.trials[test];
  const bool is_right = static_cast<int>(tests_[test].rule) == rule;
  trial.misses = 0;
  trial.taken_by = is_right ? -1 : rule;
  trial.passed_at = is_right ? clock_.MonotonicNow() : 0;
  counters_.back += is_right ? 1 : 0;
  if (is_right && std::exchange(member.is_lost, false)) {
    log_("info", "trace rules: copies of switch " + switch_name + " come again");
  }
}

}  // namespace trumpet
