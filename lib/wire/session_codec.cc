// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/session_codec.h"

#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {

static_assert(pb::Refusal::REASON_SHUTTING_DOWN ==
              static_cast<int>(RefusalReason::kShuttingDown) + 1);
static_assert(pb::Bye::REASON_TOO_SLOW == static_cast<int>(ByeReason::kTooSlow) + 1);
static_assert(pb::CAPABILITY_PARTIALS == kCapabilityPartials);
static_assert(pb::CAPABILITY_POLL == kCapabilityPoll);
static_assert(pb::CAPABILITY_FLOW_STATES == kCapabilityFlowStates);

bool Check(const pb::Hello& hello, const Place& place, Checker* checker) {
  return checker->Range(place, "min_version", hello.min_version(), 1, UINT32_MAX) &&
         checker->Range(place, "max_version", hello.max_version(), hello.min_version(),
                        UINT32_MAX) &&
         checker->Name(place, "host_id", hello.host_id()) &&
         checker->Text(place, "host_name", hello.host_name(), kMaxTextBytes) &&
         checker->Text(place, "software", hello.software(), kMaxTextBytes) &&
         checker->Range(place, "epoch_ns", hello.epoch_ns(), 0,
                        Nanos{kMaxIntervalMs} * kNanosPerMilli) &&
         checker->Instant(place, "process_start_ns", hello.process_start_ns());
}

void Write(const Hello& hello, pb::Hello* out) {
  out->set_min_version(hello.min_version);
  out->set_max_version(hello.max_version);
  out->set_capabilities(hello.capabilities);
  out->set_host_id(hello.host_id);
  out->set_host_name(hello.host_name);
  out->set_software(hello.software);
  out->set_epoch_ns(static_cast<uint64_t>(hello.epoch_ns));
  out->set_process_start_ns(hello.process_start_ns);
  out->set_set_controller_id(hello.set_controller_id);
  out->set_set_generation(hello.set_generation);
}

Hello Read(const pb::Hello& in) {
  Hello hello;
  hello.min_version = in.min_version();
  hello.max_version = in.max_version();
  hello.capabilities = in.capabilities();
  hello.host_id = in.host_id();
  hello.host_name = in.host_name();
  hello.software = in.software();
  hello.epoch_ns = static_cast<Nanos>(in.epoch_ns());
  hello.process_start_ns = in.process_start_ns();
  hello.set_controller_id = in.set_controller_id();
  hello.set_generation = in.set_generation();
  return hello;
}

bool Check(const pb::HelloReply& reply, const Place& place, Checker* checker) {
  return checker->Range(place, "version", reply.version(), 1, UINT32_MAX) &&
         checker->Range(place, "controller_id", reply.controller_id(), 1, UINT64_MAX) &&
         checker->Text(place, "controller_name", reply.controller_name(), kMaxTextBytes);
}

void Write(const HelloReply& reply, pb::HelloReply* out) {
  out->set_version(reply.version);
  out->set_capabilities(reply.capabilities);
  out->set_controller_id(reply.controller_id);
  out->set_controller_name(reply.controller_name);
}

HelloReply Read(const pb::HelloReply& in) {
  return {in.version(), in.capabilities(), in.controller_id(), in.controller_name()};
}

bool Check(const pb::Refusal& refusal, const Place& place, Checker* checker) {
  return checker->Enum(place, "reason", refusal.reason(), pb::Refusal::REASON_SHUTTING_DOWN) &&
         checker->Text(place, "text", refusal.text(), kMaxTextBytes);
}

void Write(const Refusal& refusal, pb::Refusal* out) {
  out->set_reason(static_cast<pb::Refusal::Reason>(static_cast<int>(refusal.reason) + 1));
  out->set_text(refusal.text);
}

Refusal Read(const pb::Refusal& in) {
  return {static_cast<RefusalReason>(in.reason() - 1), in.text()};
}

bool Check(const pb::KeepAlive& keep_alive, const Place& place, Checker* checker) {
  return checker->Instant(place, "asked_ns", keep_alive.asked_ns()) &&
         checker->Instant(place, "received_ns", keep_alive.received_ns()) &&
         checker->Instant(place, "answered_ns", keep_alive.answered_ns());
}

void Write(const KeepAlive& keep_alive, pb::KeepAlive* out) {
  out->set_number(keep_alive.number);
  out->set_is_answer(keep_alive.is_answer);
  out->set_asked_ns(keep_alive.asked_ns);
  out->set_received_ns(keep_alive.received_ns);
  out->set_answered_ns(keep_alive.answered_ns);
}

KeepAlive Read(const pb::KeepAlive& in) {
  return {in.number(), in.is_answer(), in.asked_ns(), in.received_ns(), in.answered_ns()};
}

bool Check(const pb::Bye& bye, const Place& place, Checker* checker) {
  return checker->Enum(place, "reason", bye.reason(), pb::Bye::REASON_TOO_SLOW) &&
         checker->Text(place, "text", bye.text(), kMaxTextBytes);
}

void Write(const Bye& bye, pb::Bye* out) {
  out->set_reason(static_cast<pb::Bye::Reason>(static_cast<int>(bye.reason) + 1));
  out->set_text(bye.text);
}

Bye Read(const pb::Bye& in) { return {static_cast<ByeReason>(in.reason() - 1), in.text()}; }

}  // namespace trumpet
