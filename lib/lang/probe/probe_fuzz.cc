// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the language of probes: no crash, errors have their place, and a packet that was read
// prints, reads back as the same, and becomes a frame that begins with what was asked for.

#include <cstdint>
#include <string>

#include "lib/base/fuzz_require.h"
#include "lib/lang/probe/probe_language.h"

using trumpet::Require;

namespace {

void Check(const trumpet::ProbePacket& packet) {
  const std::string printed = trumpet::PrintProbePacket(packet);
  const auto again = trumpet::ParseProbePacket(printed, "printed");
  Require(again.ok(), "a packet does not read back", printed);
  const trumpet::ProbeMark mark{7, 1};
  const std::string frame = trumpet::MakeProbeFrame(packet, mark, 32);
  Require(frame == trumpet::MakeProbeFrame(*again, mark, 32), "another packet", printed);
  Require(frame.size() >= packet.bytes, "a short frame", printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto packet = trumpet::ParseProbePacket(text, "fuzz");
  if (packet.ok()) {
    Check(*packet);
  } else {
    Require(packet.message().rfind("fuzz:", 0) == 0, "error without a place", packet.message());
  }
  for (const auto& request : {trumpet::ParseProbeRequestJson(text, "fuzz"),
                              trumpet::ParseProbeRequestYaml(text, "fuzz")}) {
    if (request.ok()) {
      Check(request->packet);
    } else {
      Require(request.message().rfind("fuzz:", 0) == 0, "error without a place", request.message());
    }
  }
  (void)trumpet::ReadProbeMark(data, size);
  const auto like = trumpet::ProbePacketLike(data, size, 0);
  if (like) Check(*like);
  return 0;
}
