// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/trigger_codec.h"

#include "lib/wire/event_codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

static_assert(pb::Refusal::REASON_SHUTTING_DOWN ==
              static_cast<int>(RefusalReason::kShuttingDown) + 1);
static_assert(pb::Bye::REASON_TOO_SLOW == static_cast<int>(ByeReason::kTooSlow) + 1);
static_assert(pb::Trigger::MODE_PARTIALS == static_cast<int>(TriggerMode::kPartials) + 1);
static_assert(pb::CAPABILITY_PARTIALS == kCapabilityPartials);
static_assert(pb::CAPABILITY_POLL == kCapabilityPoll);
static_assert(pb::CAPABILITY_FLOW_STATES == kCapabilityFlowStates);

// ---- Trigger sets ----

bool CheckTrigger(const pb::Trigger& trigger, const Place& place, Checker* checker) {
  if (!CheckEvent(trigger.event(), Place(place, "event"), checker) ||
      !checker->Enum(place, "mode", trigger.mode(), pb::Trigger::MODE_PARTIALS)) {
    return false;
  }
  const bool wants_local = trigger.mode() == pb::Trigger::MODE_THRESHOLD;
  if (wants_local != trigger.has_local_predicate()) {
    return checker->Fail(place, "local_predicate",
                         wants_local ? "is missing" : "stands with MODE_THRESHOLD only");
  }
  if (!wants_local) {
    return checker->Range(place, "share_generation", trigger.share_generation(), 0, 0) &&
           checker->Range(place, "share_from_ns", static_cast<uint64_t>(trigger.share_from_ns()), 0,
                          0);
  }
  return CheckPredicate(trigger.local_predicate(), trigger.event(), Place(place, "local_predicate"),
                        checker) &&
         checker->Range(place, "share_generation", trigger.share_generation(), 1, UINT64_MAX) &&
         checker->Instant(place, "share_from_ns", trigger.share_from_ns());
}

bool CheckChange(const pb::TriggerSet& set, int index, const Place& place, Checker* checker) {
  const pb::TriggerChange& change = set.changes(index);
  if (change.has_put()) return CheckTrigger(change.put(), Place(place, "put"), checker);
  if (change.change_case() == pb::TriggerChange::CHANGE_NOT_SET) {
    return checker->Fail(place, "changes nothing");
  }
  if (set.base_generation() == 0) {
    return checker->Fail(place, "remove_event_id", "stands in changes to a base only");
  }
  return checker->EventId(place, "remove_event_id", change.remove_event_id());
}

void Write(const Trigger& trigger, pb::Trigger* out) {
  Write(trigger.event, out->mutable_event());
  out->set_mode(static_cast<pb::Trigger::Mode>(static_cast<int>(trigger.mode) + 1));
  if (trigger.local_predicate) Write(*trigger.local_predicate, out->mutable_local_predicate());
  out->set_share_generation(trigger.share_generation);
  out->set_share_from_ns(trigger.share_from);
}

Trigger Read(const pb::Trigger& in) {
  Trigger trigger;
  trigger.event = trumpet::Read(in.event());
  trigger.mode = static_cast<TriggerMode>(in.mode() - 1);
  if (in.has_local_predicate()) trigger.local_predicate = trumpet::Read(in.local_predicate());
  trigger.share_generation = in.share_generation();
  trigger.share_from = in.share_from_ns();
  return trigger;
}

// ---- Hosts ----

constexpr uint64_t kMaxMac = (uint64_t{1} << 48) - 1;

using PbKeyValues = google::protobuf::RepeatedPtrField<pb::KeyValue>;

bool CheckKeyValues(const PbKeyValues& pairs, const Place& parent, Checker* checker) {
  if (!checker->Count(parent, "external_ids", pairs.size(), kMaxKeyValues)) return false;
  for (int i = 0; i < pairs.size(); ++i) {
    const Place place(parent, "external_ids", i);
    if (!checker->Name(place, "key", pairs[i].key()) ||
        !checker->Text(place, "value", pairs[i].value(), kMaxLongTextBytes)) {
      return false;
    }
  }
  return true;
}

bool CheckPort(const pb::Port& port, const Place& place, Checker* checker) {
  if (!checker->Name(place, "bridge", port.bridge()) ||
      !checker->Name(place, "name", port.name()) ||
      !checker->Text(place, "type", port.type(), kMaxTextBytes) ||
      !checker->Count(place, "macs", port.macs_size(), kMaxMacs)) {
    return false;
  }
  for (const uint64_t mac : port.macs()) {
    if (!checker->Range(place, "macs", mac, 0, kMaxMac)) return false;
  }
  if (!checker->Range(place, "mac_in_use", port.mac_in_use(), 0, kMaxMac) ||
      !checker->Text(place, "link_state", port.link_state(), kMaxTextBytes) ||
      !checker->Text(place, "error", port.error(), kMaxTextBytes) ||
      !checker->Text(place, "remote_ip", port.remote_ip(), kMaxTextBytes) ||
      !checker->Text(place, "local_ip", port.local_ip(), kMaxTextBytes)) {
    return false;
  }
  return CheckKeyValues(port.external_ids(), place, checker);
}

void Write(const std::vector<KeyValue>& pairs, PbKeyValues* out) {
  for (const KeyValue& pair : pairs) {
    pb::KeyValue* added = out->Add();
    added->set_key(pair.key);
    added->set_value(pair.value);
  }
}

std::vector<KeyValue> Read(const PbKeyValues& in) {
  std::vector<KeyValue> pairs;
  pairs.reserve(in.size());
  for (const pb::KeyValue& pair : in) pairs.push_back({pair.key(), pair.value()});
  return pairs;
}

void Write(const Port& port, pb::Port* out) {
  out->set_bridge(port.bridge);
  out->set_name(port.name);
  out->set_of_port(port.of_port);
  out->set_type(port.type);
  out->mutable_macs()->Add(port.macs.begin(), port.macs.end());
  Write(port.external_ids, out->mutable_external_ids());
  out->set_is_uplink(port.is_uplink);
  out->set_mac_in_use(port.mac_in_use);
  out->set_link_state(port.link_state);
  out->set_error(port.error);
  out->set_remote_ip(port.remote_ip);
  out->set_local_ip(port.local_ip);
}

Port Read(const pb::Port& in) {
  Port port;
  port.bridge = in.bridge();
  port.name = in.name();
  port.of_port = in.of_port();
  port.type = in.type();
  port.macs.assign(in.macs().begin(), in.macs().end());
  port.external_ids = Read(in.external_ids());
  port.is_uplink = in.is_uplink();
  port.mac_in_use = in.mac_in_use();
  port.link_state = in.link_state();
  port.error = in.error();
  port.remote_ip = in.remote_ip();
  port.local_ip = in.local_ip();
  return port;
}

}  // namespace

// ---- Sessions ----

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

// ---- Trigger sets ----

bool Check(const pb::TriggerSet& set, const Place& place, Checker* checker) {
  if (!checker->Range(place, "generation", set.generation(), 1, UINT64_MAX) ||
      !checker->Range(place, "base_generation", set.base_generation(), 0, set.generation() - 1) ||
      !checker->Count(place, "part", set.part(), kMaxTriggerChanges) ||
      !checker->Count(place, "changes", set.changes_size(), kMaxTriggerChanges)) {
    return false;
  }
  for (int i = 0; i < set.changes_size(); ++i) {
    if (!CheckChange(set, i, Place(place, "changes", i), checker)) return false;
  }
  return true;
}

void Write(const TriggerSet& set, pb::TriggerSet* out) {
  out->set_generation(set.generation);
  out->set_base_generation(set.base_generation);
  out->set_part(set.part);
  out->set_is_last(set.is_last);
  for (const TriggerChange& change : set.changes) {
    pb::TriggerChange* added = out->add_changes();
    if (change.put) {
      Write(*change.put, added->mutable_put());
    } else {
      added->set_remove_event_id(change.remove_event_id);
    }
  }
}

TriggerSet Read(const pb::TriggerSet& in) {
  TriggerSet set;
  set.generation = in.generation();
  set.base_generation = in.base_generation();
  set.part = in.part();
  set.is_last = in.is_last();
  set.changes.reserve(in.changes_size());
  for (const pb::TriggerChange& change : in.changes()) {
    TriggerChange& added = set.changes.emplace_back();
    if (change.has_put()) added.put = Read(change.put());
    added.remove_event_id = change.remove_event_id();
  }
  return set;
}

bool Check(const pb::TriggerAck& ack, const Place& place, Checker* checker) {
  if (!checker->Range(place, "generation", ack.generation(), 1, UINT64_MAX) ||
      !checker->Instant(place, "applied_ns", ack.applied_ns()) ||
      !checker->Text(place, "text", ack.text(), kMaxTextBytes) ||
      !checker->Count(place, "errors", ack.errors_size(), kMaxEventErrors) ||
      !checker->Count(place, "shares", ack.shares_size(), kMaxShareAcks)) {
    return false;
  }
  for (int i = 0; i < ack.errors_size(); ++i) {
    const Place error(place, "errors", i);
    if (!checker->EventId(error, "event_id", ack.errors(i).event_id()) ||
        !checker->Text(error, "place", ack.errors(i).place(), kMaxTextBytes) ||
        !checker->Text(error, "text", ack.errors(i).text(), kMaxLongTextBytes)) {
      return false;
    }
  }
  for (int i = 0; i < ack.shares_size(); ++i) {
    const Place share(place, "shares", i);
    if (!checker->EventId(share, "event_id", ack.shares(i).event_id()) ||
        !checker->Range(share, "generation", ack.shares(i).generation(), 1, UINT64_MAX) ||
        !checker->Instant(share, "from_ns", ack.shares(i).from_ns())) {
      return false;
    }
  }
  return true;
}

void Write(const TriggerAck& ack, pb::TriggerAck* out) {
  out->set_generation(ack.generation);
  out->set_is_applied(ack.is_applied);
  out->set_applied_ns(ack.applied_ns);
  out->set_text(ack.text);
  for (const EventError& error : ack.errors) {
    pb::EventError* added = out->add_errors();
    added->set_event_id(error.event_id);
    added->set_place(error.place);
    added->set_text(error.text);
  }
  for (const ShareAck& share : ack.shares) {
    pb::ShareAck* added = out->add_shares();
    added->set_event_id(share.event_id);
    added->set_generation(share.generation);
    added->set_from_ns(share.from);
  }
  out->set_has_more(ack.has_more);
}

TriggerAck Read(const pb::TriggerAck& in) {
  TriggerAck ack;
  ack.generation = in.generation();
  ack.is_applied = in.is_applied();
  ack.applied_ns = in.applied_ns();
  ack.text = in.text();
  for (const pb::EventError& error : in.errors()) {
    ack.errors.push_back({error.event_id(), error.place(), error.text()});
  }
  for (const pb::ShareAck& share : in.shares()) {
    ack.shares.push_back({share.event_id(), share.generation(), share.from_ns()});
  }
  ack.has_more = in.has_more();
  return ack;
}

// ---- Hosts ----

bool Check(const pb::HostFacts& facts, const Place& place, Checker* checker) {
  if (!checker->Count(place, "part", facts.part(), kMaxPorts) ||
      !checker->Count(place, "bridges", facts.bridges_size(), kMaxBridges) ||
      !checker->Count(place, "ports", facts.ports_size(), kMaxPorts) ||
      !CheckKeyValues(facts.external_ids(), place, checker)) {
    return false;
  }
  for (int i = 0; i < facts.bridges_size(); ++i) {
    const Place bridge(place, "bridges", i);
    if (!checker->Name(bridge, "name", facts.bridges(i).name()) ||
        !checker->Text(bridge, "datapath_type", facts.bridges(i).datapath_type(), kMaxTextBytes) ||
        !CheckKeyValues(facts.bridges(i).external_ids(), bridge, checker)) {
      return false;
    }
  }
  for (int i = 0; i < facts.ports_size(); ++i) {
    if (!CheckPort(facts.ports(i), Place(place, "ports", i), checker)) return false;
  }
  return true;
}

void Write(const HostFacts& facts, pb::HostFacts* out) {
  out->set_part(facts.part);
  out->set_is_last(facts.is_last);
  Write(facts.external_ids, out->mutable_external_ids());
  for (const Bridge& bridge : facts.bridges) {
    pb::Bridge* added = out->add_bridges();
    added->set_name(bridge.name);
    added->set_datapath_id(bridge.datapath_id);
    added->set_datapath_type(bridge.datapath_type);
    Write(bridge.external_ids, added->mutable_external_ids());
  }
  for (const Port& port : facts.ports) Write(port, out->add_ports());
}

HostFacts Read(const pb::HostFacts& in) {
  HostFacts facts;
  facts.part = in.part();
  facts.is_last = in.is_last();
  facts.external_ids = Read(in.external_ids());
  for (const pb::Bridge& bridge : in.bridges()) {
    facts.bridges.push_back(
        {bridge.name(), bridge.datapath_id(), Read(bridge.external_ids()), bridge.datapath_type()});
  }
  for (const pb::Port& port : in.ports()) facts.ports.push_back(Read(port));
  return facts;
}

}  // namespace trumpet
