// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a host says of itself, as protobuf.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_HOST_CODEC_H
#define TRUMPET_LIB_WIRE_HOST_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/message.h"

namespace trumpet {

namespace pb {
class HostFacts;
}  // namespace pb

bool Check(const pb::HostFacts& facts, const Place& place, Checker* checker);

void Write(const HostFacts& facts, pb::HostFacts* out);

HostFacts Read(const pb::HostFacts& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_HOST_CODEC_H
