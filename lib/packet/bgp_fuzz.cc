// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as messages of BGP, and as segments of a stream of them: what is said of them agrees
// with itself, and the stream holds no more than it may.
//
// The first byte says how: 0: the rest is one message; else the rest is segments, each with a byte
// of what became of it, one of its length, and its bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/base/fuzz_require.h"
#include "lib/packet/bgp.h"
#include "lib/packet/bgp_stream.h"

namespace {

using trumpet::Require;

void ReadMessage(const uint8_t* data, uint32_t captured, uint32_t bytes, trumpet::BgpType type) {
  const std::vector<uint8_t> exact(data, data + captured);
  trumpet::BgpOpen open;
  trumpet::BgpUpdate update;
  trumpet::BgpNotification notification;
  switch (type) {
    case trumpet::BgpType::kOpen: {
      const auto verdict = ReadBgpOpen(exact.data(), captured, bytes, &open);
      const bool is_whole = verdict == trumpet::BgpVerdict::kRead;
      Require(!is_whole || captured >= bytes, "an OPEN that is cut was read");
      const auto paths = AgreedPaths(open, open);
      Require(paths.count <= trumpet::BgpFamilies::kMax, "too many families");
      ReadBgpUpdate(exact.data(), captured, bytes, paths, &update);
      break;
    }
    case trumpet::BgpType::kUpdate:
      ReadBgpUpdate(exact.data(), captured, bytes, {}, &update);
      Require(update.announced + update.withdrawn <= bytes, "more prefixes than bytes");
      break;
    case trumpet::BgpType::kNotification:
      ReadBgpNotification(exact.data(), captured, &notification);
      Require(!BgpNotificationText(notification).empty(), "a NOTIFICATION without words");
      break;
    default:
      break;
  }
}

void ReadStream(const uint8_t* data, size_t size) {
  trumpet::BgpStream stream;
  const trumpet::BgpStream::Tell tell = [&](const trumpet::BgpMessage& message) {
    Require(message.captured <= trumpet::BgpStream::kMaxKept, "more kept than there may be");
    Require(message.captured <= message.header.bytes, "more captured than there is");
    ReadMessage(message.data, message.captured, message.header.bytes, message.header.type);
  };
  uint32_t sequence = 0xfffffff0;
  trumpet::Nanos time = 0;
  if (size > 0 && (data[0] & 1) != 0) stream.Begin(sequence);
  while (size >= 2) {
    const uint8_t how = data[0];
    const auto bytes = static_cast<uint32_t>(std::min<size_t>(data[1] * 8u + 1, size - 2));
    data += 2;
    size -= 2;
    const uint32_t captured = (how & 2) != 0 ? bytes / 2 : bytes;
    const uint32_t stated = (how & 4) != 0 ? bytes + 1000 : bytes;
    const uint32_t at = (how & 8) != 0 ? sequence + 40 : (how & 16) != 0 ? sequence - 9 : sequence;
    time += (how & 32) != 0 ? trumpet::BgpStream::kPatience : 1;
    const std::vector<uint8_t> exact(data, data + captured);
    stream.Take({time, (how & 64) != 0 ? at + 0x30000000 : at, exact.data(), captured, stated},
                tell);
    sequence += stated;
    data += bytes;
    size -= bytes;
  }
  stream.Finish(tell);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] != 0) {
    ReadStream(data, size);
    return 0;
  }
  const auto bytes = static_cast<uint32_t>(size - 1);
  const auto header = trumpet::ReadBgpHeader(data + 1, bytes);
  if (!header) return 0;
  ReadMessage(data + 1, std::min(bytes, header->bytes), header->bytes, header->type);
  return 0;
}
