// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RequestFrame: a packet of `ctrl` as an Ethernet frame, for a controller that hands it to a switch
// by packet-out.
//
//   0   destination and source, 02:54:52:51:00:00 both
//   12  EtherType 0x88b6 (IEEE 802, local experimental)
//   14  "TRQ1"
//   18  bytes of the program's name (1), the name
//   ..  number of fields (1), of each: bytes of its name (1), its name, its value (8, big-endian)
//
// What follows is padding.
//
// Threads: pure functions.  Never reads beyond the captured bytes.

#ifndef TRUMPET_LIB_MEASURE_REQUEST_FRAME_H
#define TRUMPET_LIB_MEASURE_REQUEST_FRAME_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trumpet {

constexpr size_t kMaxRequestBytes = 1500;

struct RequestFrame {
  std::string program;
  std::vector<std::pair<std::string, uint64_t>> fields;  // by name: "pkt.request", "ipv4.src"
};

// Empty: it is too long, or a name is.
std::string WriteRequestFrame(const RequestFrame& request);

// By its first bytes, of which `count` were captured.  Cheap.
bool IsRequestFrame(const uint8_t* bytes, size_t count);

std::optional<RequestFrame> ReadRequestFrame(const uint8_t* bytes, size_t count);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_REQUEST_FRAME_H
