// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SliceBook: the copies of slices, by tag and switch, until their run is over and longer.
//
// Every copy is counted; its packet is kept as far as memory allows, and what is not is counted,
// too.  When memory is short, slices of finished runs are forgotten first, oldest first; then those
// of runs that had their last slice ten minutes ago, which nobody will finish.
//
// Threads: one.  Memory: SliceBookOptions::max_bytes, and some 100 bytes for each slice's switch.

#ifndef TRUMPET_CONTROLLER_ANALYZER_SLICE_BOOK_H
#define TRUMPET_CONTROLLER_ANALYZER_SLICE_BOOK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/slice_copies.h"
#include "lib/packet/mirror_copy.h"

namespace trumpet {

struct SliceBookOptions {
  uint64_t max_bytes = 512 * 1024 * 1024;
  size_t max_slices = 16384;
  uint32_t snap_bytes = 256;  // kept of each packet
  uint64_t seed = 0;          // of identities; from the machine's random source
};

struct KeptPacket {
  Nanos time = 0;  // arrival
  Uint128 identity = 0;
  uint64_t flow = 0;
  const char* bytes = nullptr;
  uint32_t kept_bytes = 0;
  uint32_t wire_bytes = 0;
  uint16_t location = 0;  // position in ExpectedSlice::locations
  uint8_t ttl = 0;
  bool is_ethernet = true;
  bool is_ip = false;  // else there is no identity

  std::string_view text() const { return {bytes, kept_bytes}; }
};

struct SliceRecord {
  ExpectedSlice expected;
  std::vector<SliceTally> tallies;  // of the locations
  std::deque<KeptPacket> packets;   // by arrival
  uint64_t not_kept = 0;            // packets counted, but not kept
  bool is_finished = false;
  uint64_t order = 0;  // of Expect()
  std::vector<std::unique_ptr<char[]>> blocks;
  size_t block_used = 0;  // of the last block
};

struct SliceBookCounters {
  uint64_t copies = 0;            // of slices that are known
  uint64_t unknown_tags = 0;      // copies of slices that are not
  uint64_t unknown_switches = 0;  // copies of a slice from where none is expected
  uint64_t untagged = 0;  // copies without a place for a tag: ERSPAN I and III, GRE without a key
  uint64_t fragments = 0;
  uint64_t malformed = 0;
  uint64_t unsupported = 0;
  uint64_t other = 0;     // frames that are no copies
  uint64_t not_kept = 0;  // packets
  uint64_t slices_refused = 0;
  uint64_t slices_forgotten = 0;  // of runs that are over, for lack of memory
};

class SliceBook {
 public:
  explicit SliceBook(const SliceBookOptions& options) : options_(options) {}

  // Another slice of a tag that is known replaces that one; the same once more changes nothing, for
  // a controller that was away tells again what it expects.
  void Expect(const ExpectedSlice& slice);
  // A frame from the network, whatever it is.
  void Take(const Frame& frame, Nanos time);

  // Of switches whose copies have come; of all tags if there are none.
  std::vector<SliceTally> Tallies(const std::vector<uint32_t>& tags) const;
  const SliceRecord* Find(uint32_t tag) const;
  // In order of slot and query.
  std::vector<const SliceRecord*> OfRun(uint64_t run) const;
  // The packets of the run stay until their room is needed.
  void MarkFinished(uint64_t run);

  size_t slice_count() const { return slices_.size(); }
  uint64_t used_bytes() const { return used_bytes_; }
  const SliceBookCounters& counters() const { return counters_; }

 private:
  bool CountOther(CopyVerdict verdict);
  void Keep(const MirrorCopy& copy, uint16_t location, Nanos time, SliceRecord* slice);
  char* Room(size_t bytes, SliceRecord* slice);
  bool HasMemory(uint64_t bytes, const SliceRecord* for_slice);
  bool ForgetOne(const SliceRecord* but);
  void MarkAbandoned();
  void Forget(uint32_t tag);
  static uint64_t BytesOf(const SliceRecord& slice);

  const SliceBookOptions options_;
  std::unordered_map<uint32_t, SliceRecord> slices_;  // by tag
  std::map<uint64_t, uint32_t> finished_;             // order -> tag
  std::map<uint64_t, Nanos> open_runs_;  // those that are not; when their last slice ends
  Nanos told_at_ = 0;                    // the last one, by the controller's clock
  uint64_t next_order_ = 0;
  uint64_t used_bytes_ = 0;
  SliceBookCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_SLICE_BOOK_H
