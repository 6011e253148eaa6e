// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The length of the frame check sequence that a pcapng capture states, which
// libpcap does not tell.

#ifndef TRUMPET_LIB_PACKET_PCAPNG_HEADER_H
#define TRUMPET_LIB_PACKET_PCAPNG_HEADER_H

#include <cstddef>
#include <cstdint>

#include "lib/base/status.h"

namespace trumpet {

// How many bytes of a file are worth handing to PcapngFcsBytes().
constexpr size_t kPcapngHeaderBytes = 64 * 1024;

// Reads the interfaces described before the first packet among the first `size`
// bytes of a file.  0 when none states a length or it is not pcapng; an error
// when two interfaces differ, as libpcap hides which one a packet came from.
// The error does not name the file.
Result<uint32_t> PcapngFcsBytes(const uint8_t* data, size_t size);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PCAPNG_HEADER_H
