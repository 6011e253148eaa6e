// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a frame: no read out of bounds, and the same answer as the
// reference parser.  What the reader of plain frames says must agree, too.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lib/packet/plain_frame.h"
#include "lib/packet/quad_words.h"
#include "lib/packet/reference_parse.h"

using trumpet::Describe;
using trumpet::Field;
using trumpet::Frame;
using trumpet::Headers;
using trumpet::kProtocolTcp;
using trumpet::kProtocolUdp;
using trumpet::ParsedPacket;
using trumpet::ParseOptions;
using trumpet::PlainFrame;
using trumpet::PlainReader;
using trumpet::QuadWords;
using trumpet::ReadQuad;

namespace {

// What is said of the frame where there are four of it.
void CheckQuad(const PlainReader& reader, const Frame& frame) {
  if (!trumpet::HasQuads()) return;
  const Frame frames[] = {frame, frame, frame, frame};
  const QuadWords words = ReadQuad(reader, frames);
  if (words.plain == 0) return;
  PlainFrame plain;
  if (words.plain != 15 || !reader.ReadIpv4(frame, &plain)) std::abort();
  if (words.tcp != (plain.is_tcp ? 15u : 0u)) std::abort();
  for (int i = 0; i < 4; i++) {
    if (words.ips[i] != plain.ips || words.ports[i] != plain.ports ||
        words.volume_and_ecn[i] != plain.volume_and_ecn) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> captured(data, data + size);
  const uint32_t length = static_cast<uint32_t>(size);
  const ParseOptions options;
  ParsedPacket packet;
  ParsePacket(Frame{captured.data(), length, length}, options, &packet);
  const std::string fast = Describe(packet);
  const std::string slow = Describe(ReferenceParse(captured, length, options));
  if (fast != slow) {
    std::fprintf(stderr, "ParsePacket:\n%sReferenceParse:\n%s", fast.c_str(), slow.c_str());
    std::abort();
  }
  PlainFrame plain;
  const PlainReader reader(options);
  const Frame frame{captured.data(), length, length};
  CheckQuad(reader, frame);
  const bool is_ipv4 = reader.ReadIpv4(frame, &plain);
  if (!is_ipv4 && !reader.ReadIpv6(frame, &plain)) return 0;
  const auto* ips = reinterpret_cast<const uint8_t*>(&plain.ips);
  const uint8_t* src = is_ipv4 ? ips : plain.addresses;
  const uint8_t* dst = is_ipv4 ? ips + 4 : plain.addresses + 16;
  const size_t ip_bytes = is_ipv4 ? 4 : 16;
  const Headers& headers = packet.innermost;
  const uint32_t ports = headers.src_port | static_cast<uint32_t>(headers.dst_port) << 16;
  if (packet.is_tunnelled || headers.ip_family != (is_ipv4 ? 4 : 6) ||
      !headers.Has(Field::kSrcPort) || std::memcmp(headers.src_ip.data(), src, ip_bytes) != 0 ||
      std::memcmp(headers.dst_ip.data(), dst, ip_bytes) != 0 || ports != plain.ports ||
      headers.protocol != (plain.is_tcp ? kProtocolTcp : kProtocolUdp) ||
      packet.volume != PlainFrame::Volume(plain.volume_and_ecn) ||
      headers.ecn != PlainFrame::Ecn(plain.volume_and_ecn)) {
    std::fprintf(stderr, "ParsePacket and PlainReader differ:\n%s", fast.c_str());
    std::abort();
  }
  return 0;
}
