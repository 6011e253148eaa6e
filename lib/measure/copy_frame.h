// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyFrame: a packet that a program has collected, as bytes again.
//
// Programs keep fields of packets, not packets: the frame has the headers that fields tell of, with
// what was tagged in them, and of the payload what the segway header and the program's own headers
// cover.  Everything else is 0.  VLAN tags, options and the rest of the payload are gone; lengths
// and the checksum of IPv4 are those of the packet, TCP and UDP have none.  Fields of pkt.* and
// switch.id are in no byte.
//
// Threads: pure function.

#ifndef TRUMPET_LIB_MEASURE_COPY_FRAME_H
#define TRUMPET_LIB_MEASURE_COPY_FRAME_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/measure/compiled_program.h"
#include "lib/measure/packet_values.h"

namespace trumpet {

// Ethernet, IPv4 and TCP, and payload up to the end of the last header that a program may declare.
constexpr size_t kMaxCopyFrameBytes =
    14 + 20 + 20 + kMaxMeasureHeaderOffset + kMaxMeasureHeaderBytes;

// Returns its length.
size_t WriteCopyFrame(const CompiledProgram& program, const PacketValues& packet,
                      std::array<uint8_t, kMaxCopyFrameBytes>* frame);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_COPY_FRAME_H
