// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of slices in the datapath, as protobuf.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_ORDER_CODEC_H
#define TRUMPET_LIB_WIRE_ORDER_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/slice_order.h"

namespace trumpet {

namespace pb {
class SliceAck;
class SliceEnd;
class SliceOff;
class SliceOn;
}  // namespace pb

bool Check(const pb::SliceOn& on, const Place& place, Checker* checker);
bool Check(const pb::SliceOff& off, const Place& place, Checker* checker);
bool Check(const pb::SliceAck& ack, const Place& place, Checker* checker);
bool Check(const pb::SliceEnd& end, const Place& place, Checker* checker);

void Write(const SliceOn& on, pb::SliceOn* out);
void Write(const SliceOff& off, pb::SliceOff* out);
void Write(const SliceAck& ack, pb::SliceAck* out);
void Write(const HostSliceEnd& end, pb::SliceEnd* out);

SliceOn Read(const pb::SliceOn& in);
SliceOff Read(const pb::SliceOff& in);
SliceAck Read(const pb::SliceAck& in);
HostSliceEnd Read(const pb::SliceEnd& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_ORDER_CODEC_H
