// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A measurement program, as protobuf.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_MEASURE_CODEC_H
#define TRUMPET_LIB_WIRE_MEASURE_CODEC_H

#include "lib/model/measure_program.h"
#include "lib/wire/check.h"

namespace trumpet {

namespace pb {
class MeasureProgram;
}  // namespace pb

// Whether all numbers fit where they belong and lists are not too long: no more.
bool Check(const pb::MeasureProgram& program, const Place& place, Checker* checker);
void Write(const MeasureProgram& program, pb::MeasureProgram* out);
MeasureProgram Read(const pb::MeasureProgram& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_MEASURE_CODEC_H
