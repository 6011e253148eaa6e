// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BgpStream: the messages of one direction of a connection, out of segments of TCP as they were
// copied: some twice, some out of order, some cut short, some not at all.
//
//   stream.Begin(sequence + 1);   // of a SYN; without it a message is looked for
//   stream.Take(segment, tell);   // tells each message that ends, in their order
//   stream.Finish(tell);          // what waits for a segment that did not come
//
// A message may begin in one segment and end in another; its first kMaxKept bytes are kept.  What
// was not captured is skipped by the length of its message.  Where that is not known either, or is
// no message, everything up to the next beginning of one is `not_read`: headers have a marker of 16
// bytes.  A segment ahead of its turn waits for kMaxHeld others, or kPatience, for those before it.
//
// Threads: one.  Memory: kMaxKept bytes and kMaxHeld segments, taken when needed.

#ifndef TRUMPET_LIB_PACKET_BGP_STREAM_H
#define TRUMPET_LIB_PACKET_BGP_STREAM_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/base/units.h"
#include "lib/packet/bgp.h"

namespace trumpet {

// What TCP carries in one packet.
struct BgpSegment {
  Nanos time = 0;
  uint32_t sequence = 0;
  const uint8_t* data = nullptr;
  uint32_t captured = 0;  // of `bytes`
  uint32_t bytes = 0;
};

struct BgpMessage {
  Nanos time = 0;  // of the segment with its end
  BgpHeader header;
  const uint8_t* data = nullptr;  // borrowed for the call
  uint32_t captured = 0;
};

class BgpStream {
 public:
  using Tell = std::function<void(const BgpMessage& message)>;

  static constexpr uint32_t kMaxKept = 4096;  // the longest message of BGP, unless peers agree
  static constexpr size_t kMaxHeld = 8;
  static constexpr Nanos kPatience = 5 * kNanosPerSecond;
  static constexpr uint32_t kMaxAhead = 1 << 20;  // what is farther is not of this stream
  static constexpr uint32_t kMaxStrays = 8;       // in a row: it goes on there

  void Begin(uint32_t sequence);
  void Take(const BgpSegment& segment, const Tell& tell);
  void Finish(const Tell& tell);

  uint64_t not_read_bytes() const { return not_read_bytes_; }
  uint64_t repeated_bytes() const { return repeated_bytes_; }
  uint64_t strays() const { return strays_; }
  // Between messages, or in one whose length is known.
  bool is_synced() const { return is_synced_; }

 private:
  struct Held {
    Nanos time = 0;
    uint32_t sequence = 0;
    uint32_t bytes = 0;
    std::vector<uint8_t> data;  // captured
  };

  bool IsStray(uint32_t sequence, uint32_t bytes);
  void Hold(const BgpSegment& segment);
  // What has waited, as far as nothing is missing before it; all of it if `is_late`.
  void Release(bool is_late, const Tell& tell);
  void TakeInOrder(BgpSegment segment, const Tell& tell);
  void Feed(BgpSegment segment, const Tell& tell);
  void FeedMessage(BgpSegment* segment, const Tell& tell);
  void FindMessage(BgpSegment* segment);
  void Lose();

  bool has_begun_ = false;
  bool is_synced_ = false;
  uint32_t next_ = 0;
  std::vector<Held> held_;  // by their distance from next_
  // Of the message under way.
  std::vector<uint8_t> kept_;
  uint32_t passed_ = 0;  // bytes of it
  BgpHeader header_;     // of 0 bytes: not whole yet
  uint64_t not_read_bytes_ = 0;
  uint64_t repeated_bytes_ = 0;
  uint64_t strays_ = 0;
  uint32_t strays_in_row_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_BGP_STREAM_H
