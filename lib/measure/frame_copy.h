// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FrameCopy: what a plain copy (BurstCopy::is_plain) of a frame is collected as: the bytes that
// fields are read from, and where the frame came in.
//
// A packet thread writes it without looking at the frame; who takes it out reads the fields and
// puts the tags in their place, with what a copy of fields would have held as result.
//
// Threads: values; the bytes are borrowed.

#ifndef TRUMPET_LIB_MEASURE_FRAME_COPY_H
#define TRUMPET_LIB_MEASURE_FRAME_COPY_H

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

#include "lib/measure/compiled_program.h"
#include "lib/measure/packet_values.h"

namespace trumpet {

struct FrameCopy {
  // No field lies further back: two tags, all options of IPv4, and the header of TCP or segway's.
  static constexpr uint32_t kMostBytes = 104;

  static uint32_t BytesOf(const Frame& frame) {
    return frame.captured_length < kMostBytes ? frame.captured_length : kMostBytes;
  }

  uint64_t now = 0;  // ns
  PacketPlace place;
  uint32_t wire_length = 0;
  uint16_t copy = 0;  // in CompiledProgram::burst_copies
  uint16_t bytes = 0;
  const uint8_t* data = nullptr;
};

// At most FrameCopy::kMostBytes, 16 at a time: nothing is read or written beyond them.
inline void CopyFrameBytes(const uint8_t* from, uint32_t bytes, uint8_t* to) {
  constexpr uint32_t kStep = sizeof(__m128i);
  const auto copy_step = [=](uint32_t at) {
    const __m128i step = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), step);
  };
  if (bytes < kStep) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return;
  }
  for (uint32_t at = 0; at + kStep < bytes; at += kStep) copy_step(at);
  copy_step(bytes - kStep);
}

// The fields of the frame, with the tags of the copy.
void ReadFrameCopy(const FrameCopy& frame, const BurstCopy& copy, PacketValues* values);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_FRAME_COPY_H
