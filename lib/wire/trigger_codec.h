// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Trigger sets and how hosts answer them, as protobuf.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_TRIGGER_CODEC_H
#define TRUMPET_LIB_WIRE_TRIGGER_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/message.h"

namespace trumpet {

namespace pb {
class TriggerAck;
class TriggerSet;
}  // namespace pb

bool Check(const pb::TriggerSet& set, const Place& place, Checker* checker);
bool Check(const pb::TriggerAck& ack, const Place& place, Checker* checker);

void Write(const TriggerSet& set, pb::TriggerSet* out);
void Write(const TriggerAck& ack, pb::TriggerAck* out);

TriggerSet Read(const pb::TriggerSet& in);
TriggerAck Read(const pb::TriggerAck& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_TRIGGER_CODEC_H
