// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReferenceParse: a second reading of docs/adr/0002, slow and plain, to compare
// ParsePacket with.  For tests and fuzzers only; shares no code with it.

#ifndef TRUMPET_LIB_PACKET_REFERENCE_PARSE_H
#define TRUMPET_LIB_PACKET_REFERENCE_PARSE_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/packet/parse.h"

namespace trumpet {

ParsedPacket ReferenceParse(const std::vector<uint8_t>& captured, uint32_t wire_length,
                            const ParseOptions& options);

// Everything a parsed packet says, one fact a line.  Equal texts, equal packets.
std::string Describe(const ParsedPacket& packet);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_REFERENCE_PARSE_H
