// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Variables and keys of measurement programs as users write and read them.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_KEY_TEXT_H
#define TRUMPET_LIB_MEASURE_KEY_TEXT_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/measure_program.h"

namespace trumpet {

// "counter", "count-min", ...
const char* MeasureKindName(MeasureKind kind);

// The variable of that label (MeasureVariableLabel()), or an error that names the program.
Result<MeasureIndex> FindMeasureVariable(const MeasureProgram& program, const std::string& label);

// "ipv4.src", "pkt.request", or a field of one of the program's own headers.
Result<MeasureFieldId> FindMeasureField(const MeasureProgram& program, const std::string& name);

// An address as such or as a number; a number in decimal or with 0x.
Result<uint64_t> ReadMeasureFieldValue(const MeasureProgram& program, MeasureFieldId field,
                                       const std::string& text);

// "10.0.0.1,10.0.0.2,80": values of the key's fields, in their order.  Addresses as such or as
// numbers; those in decimal or with 0x.
Result<std::vector<uint64_t>> ReadMeasureKey(const MeasureProgram& program, const MeasureKey& key,
                                             const std::string& text);

// "ipv4.src,ipv4.dst": what a key takes values of.
std::string FormatMeasureKeyFields(const MeasureProgram& program, const MeasureKey& key);

// As ReadMeasureKey() reads it; a value for each of the key's fields.
std::string FormatMeasureKey(const MeasureKey& key, const std::vector<uint64_t>& values);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_KEY_TEXT_H
