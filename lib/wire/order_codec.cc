// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/order_codec.h"

#include "lib/wire/event_codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/message.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

static_assert(pb::CAPABILITY_SLICES == kCapabilitySlices);

template <typename Order>
bool CheckKey(const Order& order, const Place& place, Checker* checker) {
  return checker->Range(place, "tag", order.tag(), 1, kMaxSliceTag) &&
         checker->Text(place, "bridge", order.bridge(), kMaxTextBytes);
}

bool CheckLength(const Place& place, const char* name, uint64_t length, Checker* checker) {
  return checker->Range(place, name, length, 0, kMaxSliceNs);
}

}  // namespace

bool Check(const pb::SliceOn& on, const Place& place, Checker* checker) {
  return CheckKey(on, place, checker) &&
         checker->Range(place, "duration_ns", on.duration_ns(), 1, kMaxSliceNs) &&
         checker->Range(place, "snap_bytes", on.snap_bytes(), 0, UINT16_MAX) &&
         checker->Range(place, "mark", on.mark(), 0, kMaxSliceMark) &&
         CheckFilter(on.filter(), Place(place, "filter"), checker);
}

bool Check(const pb::SliceOff& off, const Place& place, Checker* checker) {
  return CheckKey(off, place, checker);
}

bool Check(const pb::SliceAck& ack, const Place& place, Checker* checker) {
  if (ack.is_on() && !ack.error().empty()) {
    return checker->Fail(place, "error", "stands with a slice that is on");
  }
  return CheckKey(ack, place, checker) &&
         checker->Text(place, "error", ack.error(), kMaxLongTextBytes);
}

bool Check(const pb::SliceEnd& end, const Place& place, Checker* checker) {
  return CheckKey(end, place, checker) &&
         CheckLength(place, "lasted_ns", end.lasted_ns(), checker) &&
         CheckLength(place, "span_ns", end.span_ns(), checker);
}

void Write(const SliceOn& on, pb::SliceOn* out) {
  const SliceSpec& slice = on.slice;
  out->set_tag(slice.tag);
  out->set_bridge(slice.bridge);
  Write(slice.filter, out->mutable_filter());
  out->set_duration_ns(static_cast<uint64_t>(slice.duration));
  out->set_max_packets(slice.max_packets);
  out->set_max_bytes(slice.max_bytes);
  out->set_packets_per_second(slice.packets_per_second);
  out->set_snap_bytes(slice.snap_bytes);
  out->set_mark(slice.mark);
}

void Write(const SliceOff& off, pb::SliceOff* out) {
  out->set_bridge(off.bridge);
  out->set_tag(off.tag);
}

void Write(const SliceAck& ack, pb::SliceAck* out) {
  out->set_bridge(ack.bridge);
  out->set_tag(ack.tag);
  out->set_is_on(ack.is_on);
  out->set_error(ToWireText(ack.error, kMaxLongTextBytes));
}

void Write(const HostSliceEnd& end, pb::SliceEnd* out) {
  out->set_bridge(ToWireText(end.bridge, kMaxTextBytes));
  out->set_tag(end.tag);
  out->set_packets(end.packets);
  out->set_bytes(end.bytes);
  out->set_withheld(end.withheld);
  out->set_lasted_ns(static_cast<uint64_t>(end.lasted_ns));
  out->set_span_ns(static_cast<uint64_t>(end.span_ns));
}

SliceOn Read(const pb::SliceOn& in) {
  SliceOn on;
  on.slice.tag = in.tag();
  on.slice.bridge = in.bridge();
  on.slice.filter = Read(in.filter());
  on.slice.duration = static_cast<Nanos>(in.duration_ns());
  on.slice.max_packets = in.max_packets();
  on.slice.max_bytes = in.max_bytes();
  on.slice.packets_per_second = in.packets_per_second();
  on.slice.snap_bytes = static_cast<uint16_t>(in.snap_bytes());
  on.slice.mark = static_cast<uint16_t>(in.mark());
  return on;
}

SliceOff Read(const pb::SliceOff& in) { return {in.bridge(), in.tag()}; }

SliceAck Read(const pb::SliceAck& in) { return {in.bridge(), in.tag(), in.is_on(), in.error()}; }

HostSliceEnd Read(const pb::SliceEnd& in) {
  return {in.bridge(),
          in.tag(),
          in.packets(),
          in.bytes(),
          in.withheld(),
          static_cast<Nanos>(in.lasted_ns()),
          static_cast<Nanos>(in.span_ns())};
}

}  // namespace trumpet
