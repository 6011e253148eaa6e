// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PeerDirectory: which packet thread receives which side of a TCP connection; one for all threads.
//
// An entry is one word: part of the connection's hash, a thread for each side, and when it was last
// renewed.  Two connections that look alike cost a message that nobody understands, no more.  A
// full line gives up the entry renewed longest ago.
//
// Threads: any.  Nobody waits: of two threads that write an entry at once one tries again, a few
// times.  Memory: 8 bytes an entry, taken at construction.  Cost: one cache line.

#ifndef TRUMPET_LIB_TPM_PEER_DIRECTORY_H
#define TRUMPET_LIB_TPM_PEER_DIRECTORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/base/units.h"

namespace trumpet {

class PeerDirectory {
 public:
  struct Sighting {
    uint8_t before = 0;        // thread that had the side until now; 0: none that is known
    uint8_t other = 0;         // thread that has the other side
    bool has_evicted = false;  // another connection lost its entry
  };

  // `timeout_ns` is how long an entry is believed without being renewed.
  [[nodiscard]] bool Init(uint64_t entries, Nanos timeout_ns);

  static size_t BytesFor(uint64_t entries) { return PageBuffer<Line>::BytesFor(LinesFor(entries)); }

  // `thread` (1-254) received a packet of `side` at `now`.
  Sighting Note(uint64_t hash, int side, uint8_t thread, Nanos now);

 private:
  static constexpr int kWays = 8;
  struct alignas(64) Line {
    std::atomic<uint64_t> entries[kWays];
  };

  static uint64_t LinesFor(uint64_t entries);
  uint16_t StampOf(Nanos now) const { return static_cast<uint16_t>(now / stamp_ns_); }

  PageBuffer<Line> lines_;
  Nanos stamp_ns_ = 1;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PEER_DIRECTORY_H
