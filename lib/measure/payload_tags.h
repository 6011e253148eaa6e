// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PayloadTags: tags of headers that lie in the payload (the segway header, a program's own ones)
// of forwarded packets.
//
// They are the message itself, which switches write as they pass it on, so they stay: unlike tags
// of IPv4 headers (carried_tags.h), no hop takes them out.  The checksum of TCP or UDP follows
// them, unless there is none or it is made later.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_PAYLOAD_TAGS_H
#define TRUMPET_LIB_MEASURE_PAYLOAD_TAGS_H

#include <cstdint>

#include "lib/measure/compiled_program.h"
#include "lib/measure/packet_values.h"

namespace trumpet {

// Fields that lie in the payload, among those of a packet.
constexpr uint64_t kPayloadFields = uint64_t{1} << kSegwayMsg | uint64_t{1} << kSegwayTs |
                                    uint64_t{1} << kSegwayTime |
                                    ~((uint64_t{1} << kMeasureFieldCount) - 1);

// Puts what is tagged in `packet`, as the program left it, into its payload, which lies in the
// `captured_bytes` of `frame`: only headers that are there, whatever was tagged, and end before the
// packet does by its lengths.  `makes_checksum`: the checksum of TCP or UDP is made later, from all
// bytes.
void WritePayloadTags(const CompiledProgram& program, const PacketValues& packet,
                      bool makes_checksum, uint8_t* frame, uint32_t captured_bytes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PAYLOAD_TAGS_H
