// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of the data way, as protobuf: what hosts count and are asked.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_COUNT_CODEC_H
#define TRUMPET_LIB_WIRE_COUNT_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/message.h"

namespace trumpet {

namespace pb {
class FlowStates;
class IntervalEnd;
class Partials;
class Poll;
class PollReply;
class Report;
}  // namespace pb

bool Check(const pb::Poll& poll, const Place& place, Checker* checker);
bool Check(const pb::PollReply& reply, const Place& place, Checker* checker);
bool Check(const pb::Report& report, const Place& place, Checker* checker);
bool Check(const pb::Partials& partials, const Place& place, Checker* checker);
bool Check(const pb::FlowStates& states, const Place& place, Checker* checker);
bool Check(const pb::IntervalEnd& end, const Place& place, Checker* checker);

void Write(const Poll& poll, pb::Poll* out);
void Write(const PollReply& reply, pb::PollReply* out);
void Write(const HostReport& report, pb::Report* out);
void Write(const Partials& partials, pb::Partials* out);
void Write(const FlowStates& states, pb::FlowStates* out);
void Write(const IntervalEnd& end, pb::IntervalEnd* out);

Poll Read(const pb::Poll& in);
PollReply Read(const pb::PollReply& in);
HostReport Read(const pb::Report& in);
Partials Read(const pb::Partials& in);
FlowStates Read(const pb::FlowStates& in);
IntervalEnd Read(const pb::IntervalEnd& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_COUNT_CODEC_H
