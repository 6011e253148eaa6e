// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The messages of trace_message.h on the wire: checked, written and read.

#ifndef TRUMPET_LIB_WIRE_TRACE_CODEC_H
#define TRUMPET_LIB_WIRE_TRACE_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/trace_message.h"

namespace trumpet {

namespace pb {
class TraceRequest;
class TraceAnswer;
class TraceCancel;
class TraceNetwork;
class TraceSent;
class TraceCounters;
}  // namespace pb

bool Check(const pb::TraceRequest& request, const Place& place, Checker* checker);
bool Check(const pb::TraceAnswer& answer, const Place& place, Checker* checker);
bool Check(const pb::TraceCancel& cancel, const Place& place, Checker* checker);
bool Check(const pb::TraceNetwork& network, const Place& place, Checker* checker);
bool Check(const pb::TraceSent& sent, const Place& place, Checker* checker);
bool Check(const pb::TraceCounters& counters, const Place& place, Checker* checker);

void Write(const TraceRequest& request, pb::TraceRequest* out);
void Write(const TraceAnswer& answer, pb::TraceAnswer* out);
void Write(const TraceCancel& cancel, pb::TraceCancel* out);
void Write(const TraceNetwork& network, pb::TraceNetwork* out);
void Write(const TraceSent& sent, pb::TraceSent* out);
void Write(const TraceCounters& counters, pb::TraceCounters* out);

TraceRequest Read(const pb::TraceRequest& in);
TraceAnswer Read(const pb::TraceAnswer& in);
TraceCancel Read(const pb::TraceCancel& in);
TraceNetwork Read(const pb::TraceNetwork& in);
TraceSent Read(const pb::TraceSent& in);
TraceCounters Read(const pb::TraceCounters& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_TRACE_CODEC_H
