// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Headers that programs declare themselves: from the payload into PacketValues, and back.
//
// Their fields mean something to their program only, so they are read when its turn comes and
// written when it has ended.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_HEADER_FIELDS_H
#define TRUMPET_LIB_MEASURE_HEADER_FIELDS_H

#include "lib/measure/compiled_program.h"
#include "lib/measure/packet_values.h"

namespace trumpet {

// Headers whose guard is false, or that were not captured whole, are absent.
void ReadHeaderFields(const CompiledProgram& program, PacketValues* packet);

// Puts tagged fields of the program's headers, and those of the segway header, into `payload`: the
// bytes that packet.payload points to.
void WriteHeaderFields(const CompiledProgram& program, const PacketValues& packet,
                       uint8_t* payload);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_HEADER_FIELDS_H
