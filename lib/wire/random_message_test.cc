// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/random_message_test.h"

#include <algorithm>
#include <utility>

#include "lib/model/bucket_key.h"
#include "lib/model/filter.h"
#include "lib/model/slice_spec.h"
#include "lib/wire/check.h"
#include "lib/wire/limits.h"

namespace trumpet {

uint64_t RandomMessages::Number() {
  switch (Below(4)) {
    case 0:
      return Below(3);
    case 1:
      return ~Below(3);
    default:
      return random_() >> Below(64);
  }
}

Nanos RandomMessages::Instant() {
  return static_cast<Nanos>(std::min<uint64_t>(Number() >> 1, kMaxInstant - 1));
}

Nanos RandomMessages::Length() {
  return 1 + static_cast<Nanos>(Below(uint64_t{kMaxIntervalMs} * kNanosPerMilli));
}

std::string RandomMessages::Text(size_t max_bytes) {
  static const std::vector<std::string> kPieces = {
      "a", "Z", "0", "-", " ", "\"", "\\", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  std::string text;
  const size_t wanted = Below(4) == 0 ? max_bytes : Below(20);
  while (text.size() + 4 <= wanted) text += kPieces[Below(kPieces.size())];
  return text;
}

std::string RandomMessages::Name() { return "n" + Text(kMaxTextBytes - 1); }

std::string RandomMessages::Bytes(size_t max_bytes) {
  std::string bytes(Below(max_bytes + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_());
  return bytes;
}

std::vector<uint64_t> RandomMessages::Words(size_t max_count) {
  std::vector<uint64_t> words(Below(max_count + 1));
  for (uint64_t& word : words) word = Number();
  return words;
}

std::vector<KeyValue> RandomMessages::KeyValues() {
  std::vector<KeyValue> pairs(Below(4));
  for (KeyValue& pair : pairs) pair = {Name(), Text(kMaxLongTextBytes)};
  return pairs;
}

trumpet::Number RandomMessages::AnyNumber() {
  switch (Below(4)) {
    case 0:
      return trumpet::Number::Integer(static_cast<int64_t>(Number()));
    case 1: {
      const Uint128 wide = Uint128{Number()} << 64 | Number();
      return trumpet::Number::Integer(static_cast<Int128>(wide));
    }
    case 2:
      return trumpet::Number::Real(static_cast<double>(random_()) / 1e9 - 1e9);
    default:
      return trumpet::Number::Real(0.1);
  }
}

TriggerSet RandomMessages::AnyTriggerSet() {
  TriggerSet set;
  set.generation = 1 + (Number() >> 1);
  set.base_generation = Coin() ? 0 : Below(set.generation);
  set.part = static_cast<uint32_t>(Below(kMaxTriggerChanges));
  set.is_last = Coin();
  set.changes.resize(Below(5));
  for (TriggerChange& change : set.changes) {
    if (set.base_generation != 0 && Coin()) {
      change.remove_event_id = Id();
      continue;
    }
    Trigger& trigger = change.put.emplace();
    trigger.event = Event();
    trigger.mode = static_cast<TriggerMode>(Below(3));
    if (trigger.mode != TriggerMode::kThreshold) continue;
    trigger.local_predicate = Predicate(4, false, trigger.event.granularity.is_five_tuple);
    trigger.share_generation = 1 + (Number() >> 1);
    trigger.share_from = Instant();
  }
  return set;
}

HostFacts RandomMessages::AnyHostFacts() {
  HostFacts facts;
  facts.part = static_cast<uint32_t>(Below(kMaxPorts));
  facts.is_last = Coin();
  facts.external_ids = KeyValues();
  facts.bridges.resize(Below(4));
  for (Bridge& bridge : facts.bridges) bridge = {Name(), Number(), KeyValues(), Name()};
  facts.ports.resize(Below(8));
  for (Port& port : facts.ports) {
    port.bridge = Name();
    port.name = Name();
    port.of_port = static_cast<uint32_t>(Number());
    port.type = Text(kMaxTextBytes);
    port.external_ids = KeyValues();
    port.is_uplink = Coin();
    port.mac_in_use = Number() >> 16;
    for (std::string* text : {&port.link_state, &port.error, &port.remote_ip, &port.local_ip}) {
      *text = Text(kMaxTextBytes);
    }
    port.macs = Words(3);
    for (uint64_t& mac : port.macs) mac >>= 16;
  }
  return facts;
}

// IPv4 first, as messages have them.
AddressSet RandomMessages::AnyAddressSet() {
  AddressSet set;
  for (const bool is_ipv6 : {false, true}) {
    for (uint64_t count = Below(5); count > 0; --count) {
      const Uint128 wide = Uint128{Number()} << 64 | Number();
      const auto length = static_cast<uint8_t>(Below(is_ipv6 ? 129 : 33));
      set.prefixes.push_back({is_ipv6, is_ipv6 ? wide : static_cast<uint32_t>(wide), length});
    }
  }
  set.macs = Words(5);
  for (uint64_t& mac : set.macs) mac >>= 16;
  return set;
}

HostReport RandomMessages::AnyReport() {
  HostReport report;
  report.report.event_id = Id();
  report.report.bucket_key = Bytes(kMaxBucketKeyBytes);
  report.report.start_ns = Instant() / 2;
  report.report.end_ns = report.report.start_ns + Length();
  if (Coin()) report.report.value = AnyNumber();
  if (Coin()) report.report.threshold = AnyNumber();
  report.report.is_unscaled = Coin();
  report.report.incomplete_reasons = Reasons();
  report.report.detected_ns = Instant();
  report.words = Words(12);
  return report;
}

Partials RandomMessages::AnyPartials() {
  Partials partials;
  partials.event_id = Id();
  partials.start_ns = Instant() / 2;
  partials.end_ns = partials.start_ns + Length();
  partials.words_per_bucket = static_cast<uint32_t>(1 + Below(9));
  const size_t count = Below(50);
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint64_t> words(partials.words_per_bucket);
    for (uint64_t& word : words) word = Number();
    partials.Add(Bytes(40), words.data(), Below(5) == 0);
  }
  return partials;
}

FlowStates RandomMessages::AnyFlowStates() {
  FlowStates states;
  states.start_ns = Instant() / 2;
  states.end_ns = states.start_ns + Length();
  states.flow_timeout_ns = static_cast<Nanos>(random_() % (kMaxFlowTimeoutNs + 1));
  states.states.resize(Below(6));
  for (auto& [flow, state] : states.states) {
    flow.ip_family = Coin() ? 4 : 6;
    for (size_t i = 0; i < (flow.ip_family == 4 ? 4u : 16u); ++i) {
      flow.src_ip[i] = static_cast<uint8_t>(random_());
      flow.dst_ip[i] = static_cast<uint8_t>(random_());
    }
    flow.src_port = static_cast<uint16_t>(random_());
    flow.dst_port = static_cast<uint16_t>(random_());
    flow.protocol = static_cast<uint8_t>(random_());
    flow.zone = static_cast<uint16_t>(random_());
    const auto count = [&] { return Coin() ? Instant() : -Instant(); };
    state = {count(), count(), count(), Instant(), Instant(), Coin(),   Coin(),
             Coin(),  Coin(),  Coin(),  Coin(),    Instant(), Instant()};
  }
  return states;
}

IntervalEnd RandomMessages::AnyIntervalEnd() {
  IntervalEnd end;
  end.until_ns = Instant();
  end.incomplete.resize(Below(5));
  for (IncompleteRange& range : end.incomplete) {
    range.start_ns = Instant() / 2;
    range.end_ns = range.start_ns + Instant() / 2;
    range.reasons = 1 + static_cast<uint32_t>(Below(kAllIncompleteReasons));
    range.event_id = Coin() ? 0 : Id();
  }
  end.dropped_reports = Number();
  end.dropped_partials = Number();
  end.is_monitor_off = Coin();
  return end;
}

PollReply RandomMessages::AnyPollReply() {
  PollReply reply;
  reply.number = Number();
  reply.answers.resize(Below(5));
  for (PollAnswer& answer : reply.answers) {
    answer.question = static_cast<uint32_t>(Below(kMaxPollQuestions));
    answer.status = static_cast<PollStatus>(Below(4));
    if (answer.status == PollStatus::kValues) {
      answer.words = Words(6);
      answer.words.push_back(Number());
    }
    answer.is_unscaled = Coin();
    answer.incomplete_reasons = Reasons();
  }
  return reply;
}

Message RandomMessages::Any() { return Of(static_cast<MessageKind>(Below(kMessageKindCount))); }

Message RandomMessages::Of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kHello: {
      const auto version = static_cast<uint32_t>(1 + Below(5));
      return Hello{version,
                   version + static_cast<uint32_t>(Below(5)),
                   Number(),
                   Name(),
                   Text(kMaxTextBytes),
                   Text(kMaxTextBytes),
                   static_cast<Nanos>(Below(uint64_t{kMaxIntervalMs} * kNanosPerMilli)),
                   Instant(),
                   Number(),
                   Number()};
    }
    case MessageKind::kHelloReply:
      return HelloReply{Id(), Number(), 1 + (Number() >> 1), Text(kMaxTextBytes)};
    case MessageKind::kRefusal:
      return Refusal{static_cast<RefusalReason>(Below(5)), Text(kMaxTextBytes)};
    case MessageKind::kKeepAlive:
      return KeepAlive{static_cast<uint32_t>(Number()), Coin(), Instant(), Instant(), Instant()};
    case MessageKind::kBye:
      return Bye{static_cast<ByeReason>(Below(5)), Text(kMaxTextBytes)};
    case MessageKind::kTriggerSet:
      return AnyTriggerSet();
    case MessageKind::kTriggerAck: {
      TriggerAck ack{1 + (Number() >> 1),
                     Coin(),
                     Instant(),
                     {},
                     Text(kMaxTextBytes),
                     {},
                     Coin(),
                     static_cast<Nanos>(random_() % (kMaxFlowTimeoutNs + 1))};
      ack.errors.resize(Below(4));
      for (EventError& error : ack.errors) {
        error = {Id(), Text(kMaxTextBytes), Text(kMaxLongTextBytes)};
      }
      ack.shares.resize(Below(4));
      for (ShareAck& share : ack.shares) share = {Id(), 1 + (Number() >> 1), Instant()};
      return ack;
    }
    case MessageKind::kHostFacts:
      return AnyHostFacts();
    case MessageKind::kPoll: {
      Poll poll{Number(), {}};
      poll.questions.resize(Below(5));
      for (PollQuestion& question : poll.questions) {
        question = {Id(), Instant(), Bytes(kMaxBucketKeyBytes)};
      }
      return poll;
    }
    case MessageKind::kPollReply:
      return AnyPollReply();
    case MessageKind::kReport:
      return AnyReport();
    case MessageKind::kPartials:
      return AnyPartials();
    case MessageKind::kFlowStates:
      return AnyFlowStates();
    case MessageKind::kIntervalEnd:
      return AnyIntervalEnd();
    case MessageKind::kHostPlace:
      return HostPlacePart{1 + (Number() >> 1), static_cast<uint32_t>(Below(kMaxPlaceParts)),
                           Coin(), AnyAddressSet(), AnyAddressSet()};
    default:
      return AnyOfAnalyzers(kind);
  }
}

}  // namespace trumpet
