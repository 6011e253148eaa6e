// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// 128-bit integers as two words.

#ifndef TRUMPET_LIB_WIRE_WIDE_INTEGER_H
#define TRUMPET_LIB_WIRE_WIDE_INTEGER_H

#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

constexpr uint64_t LowHalf(Uint128 value) { return static_cast<uint64_t>(value); }
constexpr uint64_t HighHalf(Uint128 value) { return static_cast<uint64_t>(value >> 64); }
constexpr Uint128 JoinHalves(uint64_t high, uint64_t low) { return Uint128{high} << 64 | low; }

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_WIDE_INTEGER_H
