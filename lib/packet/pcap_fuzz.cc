// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a capture file: it ends in an error or at its end, and every frame
// on the way is readable.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lib/packet/pcap_reader.h"

using trumpet::ParsedPacket;
using trumpet::ParseOptions;
using trumpet::PcapReader;
using trumpet::Result;
using trumpet::TimedFrame;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Result<PcapReader> reader = PcapReader::OpenImage("input", data, size);
  if (!reader.ok()) return 0;
  TimedFrame timed;
  for (;;) {
    const Result<bool> has_frame = reader->Next(&timed);
    if (!has_frame.ok() || !*has_frame) break;
    if (timed.frame.captured_length > timed.frame.wire_length) std::abort();
    ParsedPacket packet;
    ParsePacket(timed.frame, ParseOptions(), &packet);
  }
  return 0;
}
