// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/trigger_codec.h"

#include "lib/wire/event_codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

static_assert(pb::Trigger::MODE_PARTIALS == static_cast<int>(TriggerMode::kPartials) + 1);

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

}  // namespace

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
      !checker->Range(place, "flow_timeout_ns", ack.flow_timeout_ns(), 0, kMaxFlowTimeoutNs) ||
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
  out->set_flow_timeout_ns(static_cast<uint64_t>(ack.flow_timeout_ns));
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
  ack.flow_timeout_ns = static_cast<Nanos>(in.flow_timeout_ns());
  return ack;
}

}  // namespace trumpet
