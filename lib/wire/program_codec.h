// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages of measurement programs, as protobuf.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_PROGRAM_CODEC_H
#define TRUMPET_LIB_WIRE_PROGRAM_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/program_message.h"

namespace trumpet {

namespace pb {
class CellsAnswer;
class CellsRequest;
class ProgramAck;
class ProgramCounts;
class ProgramList;
class ProgramOff;
class ProgramOn;
}  // namespace pb

bool Check(const pb::ProgramOn& on, const Place& place, Checker* checker);
bool Check(const pb::ProgramOff& off, const Place& place, Checker* checker);
bool Check(const pb::ProgramAck& ack, const Place& place, Checker* checker);
bool Check(const pb::ProgramList& list, const Place& place, Checker* checker);
bool Check(const pb::CellsRequest& request, const Place& place, Checker* checker);
bool Check(const pb::CellsAnswer& answer, const Place& place, Checker* checker);
bool Check(const pb::ProgramCounts& counts, const Place& place, Checker* checker);

void Write(const ProgramOn& on, pb::ProgramOn* out);
void Write(const ProgramOff& off, pb::ProgramOff* out);
void Write(const ProgramAck& ack, pb::ProgramAck* out);
void Write(const ProgramList& list, pb::ProgramList* out);
void Write(const CellsRequest& request, pb::CellsRequest* out);
void Write(const CellsAnswer& answer, pb::CellsAnswer* out);
void Write(const ProgramCounts& counts, pb::ProgramCounts* out);

ProgramOn Read(const pb::ProgramOn& in);
ProgramOff Read(const pb::ProgramOff& in);
ProgramAck Read(const pb::ProgramAck& in);
ProgramList Read(const pb::ProgramList& in);
CellsRequest Read(const pb::CellsRequest& in);
CellsAnswer Read(const pb::CellsAnswer& in);
ProgramCounts Read(const pb::ProgramCounts& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_PROGRAM_CODEC_H
