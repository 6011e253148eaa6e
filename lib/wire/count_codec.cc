// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/count_codec.h"

#include <algorithm>
#include <cstring>

#include "lib/model/bucket_key.h"
#include "lib/wire/event_codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

static_assert(pb::PollAnswer::STATUS_UNKNOWN_EVENT ==
              static_cast<int>(PollStatus::kUnknownEvent) + 1);
static_assert(pb::INCOMPLETE_SWEEP_SKIPPED == uint32_t{kSweepSkipped});
static_assert(pb::INCOMPLETE_FLOW_TABLE_FULL == uint32_t{kFlowTableFull});
static_assert(pb::INCOMPLETE_BUCKET_EVICTED == uint32_t{kBucketEvicted});
static_assert(pb::INCOMPLETE_RING_FULL == uint32_t{kRingFull});
static_assert(pb::INCOMPLETE_CONNECTION_EVICTED == uint32_t{kConnectionEvicted});
static_assert(pb::INCOMPLETE_ADMISSION_WITHHELD == uint32_t{kAdmissionWithheld});
static_assert(pb::INCOMPLETE_MONITOR_INTERRUPTED == uint32_t{kMonitorInterrupted});
static_assert(pb::INCOMPLETE_SPLIT_CONNECTION == uint32_t{kSplitConnection});
static_assert(kAllIncompleteReasons == 2 * kSplitConnection - 1);

// ---- Flow states ----

// Bits of FlowState.flags.
enum FlowFlag : uint32_t {
  kHasAckFlag = 1,
  kHasSeqFlag = 2,
  kDoubtsSeqFlag = 4,
  kDoubtsAckFlag = 8,
  kSeesSenderFlag = 16,
  kSeesReceiverFlag = 32,
  kAllFlowFlags = 63,
};

size_t AddressBytes(const FlowKey& flow) { return flow.ip_family == 4 ? 4 : 16; }

// So far from the ends that sums and differences of some cannot overflow.
bool CheckByteCount(const Place& place, const char* name, int64_t value, Checker* checker) {
  if (value >= -kMaxInstant && value <= kMaxInstant) return true;
  return checker->Fail(place, name, "is " + std::to_string(value) + ", beyond 2^62");
}

bool CheckFlowState(const pb::FlowState& state, const Place& place, Checker* checker) {
  const size_t address_bytes = state.src_ip().size();
  if (address_bytes != 4 && address_bytes != 16) {
    return checker->Fail(place, "src_ip",
                         "has " + std::to_string(address_bytes) + " bytes; it takes 4 or 16");
  }
  if (state.dst_ip().size() != address_bytes) {
    return checker->Fail(place, "dst_ip", "has another size than src_ip");
  }
  return checker->Range(place, "protocol", state.protocol(), 0, UINT8_MAX) &&
         checker->Range(place, "zone", state.zone(), 0, UINT16_MAX) &&
         checker->Range(place, "flags", state.flags(), 0, kAllFlowFlags) &&
         CheckByteCount(place, "ack", state.ack(), checker) &&
         CheckByteCount(place, "seq", state.seq(), checker) &&
         CheckByteCount(place, "dup", state.dup(), checker) &&
         checker->Instant(place, "last_packet_ns", state.last_packet_ns()) &&
         checker->Instant(place, "incarnation", state.incarnation()) &&
         checker->Instant(place, "sender_ns", state.sender_ns()) &&
         checker->Instant(place, "receiver_ns", state.receiver_ns());
}

uint32_t FlagsOf(const FlowState& state) {
  return (state.has_ack ? kHasAckFlag : 0u) | (state.has_seq ? kHasSeqFlag : 0u) |
         (state.doubts_seq ? kDoubtsSeqFlag : 0u) | (state.doubts_ack ? kDoubtsAckFlag : 0u) |
         (state.sees_sender ? kSeesSenderFlag : 0u) |
         (state.sees_receiver ? kSeesReceiverFlag : 0u);
}

void Write(const FlowKey& flow, const FlowState& state, pb::FlowState* out) {
  out->set_src_ip(flow.src_ip.data(), AddressBytes(flow));
  out->set_dst_ip(flow.dst_ip.data(), AddressBytes(flow));
  out->set_ports(uint32_t{flow.src_port} << 16 | flow.dst_port);
  out->set_protocol(flow.protocol);
  out->set_zone(flow.zone);
  out->set_ack(state.ack);
  out->set_seq(state.seq);
  out->set_dup(state.dup);
  out->set_flags(FlagsOf(state));
  out->set_last_packet_ns(state.last_packet_ns);
  out->set_incarnation(state.incarnation);
  out->set_sender_ns(std::max<Nanos>(0, state.sender_ns));
  out->set_receiver_ns(std::max<Nanos>(0, state.receiver_ns));
}

FlowKey ReadFlowKey(const pb::FlowState& in) {
  FlowKey flow;
  std::memcpy(flow.src_ip.data(), in.src_ip().data(), in.src_ip().size());
  std::memcpy(flow.dst_ip.data(), in.dst_ip().data(), in.dst_ip().size());
  flow.src_port = static_cast<uint16_t>(in.ports() >> 16);
  flow.dst_port = static_cast<uint16_t>(in.ports());
  flow.protocol = static_cast<uint8_t>(in.protocol());
  flow.ip_family = in.src_ip().size() == 4 ? 4 : 6;
  flow.zone = static_cast<uint16_t>(in.zone());
  return flow;
}

FlowState ReadFlowState(const pb::FlowState& in) {
  FlowState state;
  state.ack = in.ack();
  state.seq = in.seq();
  state.dup = in.dup();
  state.last_packet_ns = in.last_packet_ns();
  state.incarnation = in.incarnation();
  state.has_ack = (in.flags() & kHasAckFlag) != 0;
  state.has_seq = (in.flags() & kHasSeqFlag) != 0;
  state.doubts_seq = (in.flags() & kDoubtsSeqFlag) != 0;
  state.doubts_ack = (in.flags() & kDoubtsAckFlag) != 0;
  state.sees_sender = (in.flags() & kSeesSenderFlag) != 0;
  state.sees_receiver = (in.flags() & kSeesReceiverFlag) != 0;
  state.sender_ns = in.sender_ns();
  state.receiver_ns = in.receiver_ns();
  return state;
}

// ---- Partials ----

bool CheckKeySizes(const pb::Partials& partials, const Place& place, Checker* checker) {
  size_t key_bytes = 0;
  for (const uint32_t size : partials.key_sizes()) {
    if (!checker->Range(place, "key_sizes", size, 0, kMaxBucketKeyBytes)) return false;
    key_bytes += size;
  }
  if (key_bytes == partials.keys().size()) return true;
  return checker->Fail(place, "keys",
                       "has " + std::to_string(partials.keys().size()) + " bytes; key_sizes say " +
                           std::to_string(key_bytes));
}

bool CheckUnscaled(const pb::Partials& partials, const Place& place, Checker* checker) {
  int64_t last = -1;
  for (const uint32_t position : partials.unscaled()) {
    if (position >= static_cast<uint32_t>(partials.key_sizes_size()) || position <= last) {
      return checker->Fail(
          place, "unscaled",
          "holds " + std::to_string(position) + "; it takes positions of buckets, rising");
    }
    last = position;
  }
  return true;
}

}  // namespace

bool Check(const pb::Partials& partials, const Place& place, Checker* checker) {
  if (!checker->EventId(place, "event_id", partials.event_id()) ||
      !checker->Interval(place, partials.start_ns(), partials.end_ns()) ||
      !checker->Range(place, "words_per_bucket", partials.words_per_bucket(), 1,
                      kMaxWordsPerBucket) ||
      !CheckKeySizes(partials, place, checker)) {
    return false;
  }
  const uint64_t wanted =
      static_cast<uint64_t>(partials.key_sizes_size()) * partials.words_per_bucket();
  if (static_cast<uint64_t>(partials.words_size()) != wanted) {
    return checker->Fail(place, "words",
                         "has " + std::to_string(partials.words_size()) +
                             " elements; its buckets take " + std::to_string(wanted));
  }
  return CheckUnscaled(partials, place, checker);
}

void Write(const Partials& partials, pb::Partials* out) {
  out->set_event_id(partials.event_id);
  out->set_start_ns(partials.start_ns);
  out->set_end_ns(partials.end_ns);
  out->set_words_per_bucket(partials.words_per_bucket);
  out->set_keys(partials.keys);
  out->mutable_key_sizes()->Add(partials.key_sizes.begin(), partials.key_sizes.end());
  out->mutable_words()->Add(partials.words.begin(), partials.words.end());
  out->mutable_unscaled()->Add(partials.unscaled.begin(), partials.unscaled.end());
}

Partials Read(const pb::Partials& in) {
  Partials partials;
  partials.event_id = in.event_id();
  partials.start_ns = in.start_ns();
  partials.end_ns = in.end_ns();
  partials.words_per_bucket = in.words_per_bucket();
  partials.keys = in.keys();
  partials.key_sizes.assign(in.key_sizes().begin(), in.key_sizes().end());
  partials.words.assign(in.words().begin(), in.words().end());
  partials.unscaled.assign(in.unscaled().begin(), in.unscaled().end());
  return partials;
}

// ---- Reports ----

bool Check(const pb::Report& report, const Place& place, Checker* checker) {
  return checker->EventId(place, "event_id", report.event_id()) &&
         checker->BucketKey(place, report.bucket_key()) &&
         checker->Interval(place, report.start_ns(), report.end_ns()) &&
         CheckNumber(report.value(), Place(place, "value"), checker) &&
         CheckNumber(report.threshold(), Place(place, "threshold"), checker) &&
         checker->Reasons(place, "incomplete_reasons", report.incomplete_reasons()) &&
         checker->Instant(place, "detected_ns", report.detected_ns()) &&
         checker->Count(place, "words", report.words_size(), kMaxWordsPerBucket);
}

void Write(const HostReport& report, pb::Report* out) {
  out->set_event_id(report.report.event_id);
  out->set_bucket_key(report.report.bucket_key);
  out->set_start_ns(report.report.start_ns);
  out->set_end_ns(report.report.end_ns);
  if (report.report.value.is_defined()) Write(report.report.value, out->mutable_value());
  if (report.report.threshold.is_defined()) {
    Write(report.report.threshold, out->mutable_threshold());
  }
  out->set_is_unscaled(report.report.is_unscaled);
  out->set_incomplete_reasons(report.report.incomplete_reasons);
  out->set_detected_ns(report.report.detected_ns);
  out->mutable_words()->Add(report.words.begin(), report.words.end());
}

HostReport Read(const pb::Report& in) {
  HostReport report;
  report.report.event_id = in.event_id();
  report.report.bucket_key = in.bucket_key();
  report.report.start_ns = in.start_ns();
  report.report.end_ns = in.end_ns();
  report.report.value = Read(in.value());
  report.report.threshold = Read(in.threshold());
  report.report.is_unscaled = in.is_unscaled();
  report.report.incomplete_reasons = in.incomplete_reasons();
  report.report.detected_ns = in.detected_ns();
  report.words.assign(in.words().begin(), in.words().end());
  return report;
}

// ---- Polls ----

bool Check(const pb::Poll& poll, const Place& place, Checker* checker) {
  if (!checker->Count(place, "questions", poll.questions_size(), kMaxPollQuestions)) return false;
  for (int i = 0; i < poll.questions_size(); ++i) {
    const Place question(place, "questions", i);
    if (!checker->EventId(question, "event_id", poll.questions(i).event_id()) ||
        !checker->Instant(question, "start_ns", poll.questions(i).start_ns()) ||
        !checker->BucketKey(question, poll.questions(i).bucket_key())) {
      return false;
    }
  }
  return true;
}

void Write(const Poll& poll, pb::Poll* out) {
  out->set_number(poll.number);
  for (const PollQuestion& question : poll.questions) {
    pb::PollQuestion* added = out->add_questions();
    added->set_event_id(question.event_id);
    added->set_start_ns(question.start_ns);
    added->set_bucket_key(question.bucket_key);
  }
}

Poll Read(const pb::Poll& in) {
  Poll poll;
  poll.number = in.number();
  poll.questions.reserve(in.questions_size());
  for (const pb::PollQuestion& question : in.questions()) {
    poll.questions.push_back({question.event_id(), question.start_ns(), question.bucket_key()});
  }
  return poll;
}

bool Check(const pb::PollReply& reply, const Place& place, Checker* checker) {
  if (!checker->Count(place, "answers", reply.answers_size(), kMaxPollQuestions)) return false;
  for (int i = 0; i < reply.answers_size(); ++i) {
    const pb::PollAnswer& answer = reply.answers(i);
    const Place answer_place(place, "answers", i);
    const bool has_values = answer.status() == pb::PollAnswer::STATUS_VALUES;
    if (!checker->Range(answer_place, "question", answer.question(), 0, kMaxPollQuestions - 1) ||
        !checker->Enum(answer_place, "status", answer.status(),
                       pb::PollAnswer::STATUS_UNKNOWN_EVENT) ||
        !checker->Range(answer_place, "words", answer.words_size(), has_values ? 1 : 0,
                        has_values ? kMaxWordsPerBucket : 0) ||
        !checker->Reasons(answer_place, "incomplete_reasons", answer.incomplete_reasons())) {
      return false;
    }
  }
  return true;
}

void Write(const PollReply& reply, pb::PollReply* out) {
  out->set_number(reply.number);
  for (const PollAnswer& answer : reply.answers) {
    pb::PollAnswer* added = out->add_answers();
    added->set_question(answer.question);
    added->set_status(static_cast<pb::PollAnswer::Status>(static_cast<int>(answer.status) + 1));
    added->mutable_words()->Add(answer.words.begin(), answer.words.end());
    added->set_is_unscaled(answer.is_unscaled);
    added->set_incomplete_reasons(answer.incomplete_reasons);
  }
}

PollReply Read(const pb::PollReply& in) {
  PollReply reply;
  reply.number = in.number();
  reply.answers.reserve(in.answers_size());
  for (const pb::PollAnswer& answer : in.answers()) {
    PollAnswer& added = reply.answers.emplace_back();
    added.question = answer.question();
    added.status = static_cast<PollStatus>(answer.status() - 1);
    added.words.assign(answer.words().begin(), answer.words().end());
    added.is_unscaled = answer.is_unscaled();
    added.incomplete_reasons = answer.incomplete_reasons();
  }
  return reply;
}

// ---- Flow states ----

bool Check(const pb::FlowStates& states, const Place& place, Checker* checker) {
  if (!checker->Interval(place, states.start_ns(), states.end_ns()) ||
      !checker->Range(place, "flow_timeout_ns", states.flow_timeout_ns(), 0, kMaxFlowTimeoutNs) ||
      !checker->Count(place, "states", states.states_size(), kMaxFlowStates)) {
    return false;
  }
  for (int i = 0; i < states.states_size(); ++i) {
    if (!CheckFlowState(states.states(i), Place(place, "states", i), checker)) return false;
  }
  return true;
}

void Write(const FlowStates& states, pb::FlowStates* out) {
  out->set_start_ns(states.start_ns);
  out->set_end_ns(states.end_ns);
  out->set_flow_timeout_ns(static_cast<uint64_t>(states.flow_timeout_ns));
  for (const auto& [flow, state] : states.states) Write(flow, state, out->add_states());
}

FlowStates Read(const pb::FlowStates& in) {
  FlowStates states;
  states.start_ns = in.start_ns();
  states.end_ns = in.end_ns();
  states.flow_timeout_ns = static_cast<Nanos>(in.flow_timeout_ns());
  states.states.reserve(in.states_size());
  for (const pb::FlowState& state : in.states()) {
    states.states.emplace_back(ReadFlowKey(state), ReadFlowState(state));
  }
  return states;
}

// ---- Ends of intervals ----

bool Check(const pb::IntervalEnd& end, const Place& place, Checker* checker) {
  if (!checker->Instant(place, "until_ns", end.until_ns()) ||
      !checker->Count(place, "incomplete", end.incomplete_size(), kMaxIncompleteRanges)) {
    return false;
  }
  for (int i = 0; i < end.incomplete_size(); ++i) {
    const pb::IncompleteRange& range = end.incomplete(i);
    const Place range_place(place, "incomplete", i);
    if (!checker->Instant(range_place, "start_ns", range.start_ns()) ||
        !checker->Instant(range_place, "end_ns", range.end_ns()) ||
        !checker->Range(range_place, "reasons", range.reasons(), 1, kAllIncompleteReasons)) {
      return false;
    }
    if (range.end_ns() < range.start_ns()) {
      return checker->Fail(range_place, "end_ns", "is before start_ns");
    }
  }
  return true;
}

void Write(const IntervalEnd& end, pb::IntervalEnd* out) {
  out->set_until_ns(end.until_ns);
  for (const IncompleteRange& range : end.incomplete) {
    pb::IncompleteRange* added = out->add_incomplete();
    added->set_start_ns(range.start_ns);
    added->set_end_ns(range.end_ns);
    added->set_reasons(range.reasons);
    added->set_event_id(range.event_id);
  }
  out->set_dropped_reports(end.dropped_reports);
  out->set_dropped_partials(end.dropped_partials);
  out->set_is_monitor_off(end.is_monitor_off);
}

IntervalEnd Read(const pb::IntervalEnd& in) {
  IntervalEnd end;
  end.until_ns = in.until_ns();
  end.incomplete.reserve(in.incomplete_size());
  for (const pb::IncompleteRange& range : in.incomplete()) {
    end.incomplete.push_back({range.start_ns(), range.end_ns(), range.reasons(), range.event_id()});
  }
  end.dropped_reports = in.dropped_reports();
  end.dropped_partials = in.dropped_partials();
  end.is_monitor_off = in.is_monitor_off();
  return end;
}

}  // namespace trumpet
