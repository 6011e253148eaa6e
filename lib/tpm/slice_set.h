// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Slices in the packet path: which packets of a batch get which mark.
//
// A slice is on from its instant to its deadline, by the clock of the packets: no message and no
// other thread is needed to end it.  A packet that several slices want is copied for the one that
// was turned on first and has room for it.  Copies on their way to an analyzer are never copied
// again.
//
// Threads: a SliceSet is immutable and read by all packet threads; what they count is atomic.
// Nothing is paid while there is no set; with one, each packet is parsed and matched, and only
// packets that match touch what threads share.  Nothing here allocates once made.

#ifndef TRUMPET_LIB_TPM_SLICE_SET_H
#define TRUMPET_LIB_TPM_SLICE_SET_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/slice_spec.h"
#include "lib/packet/parse.h"
#include "lib/packet/prefix.h"
#include "lib/tpm/trigger_index.h"

namespace trumpet {

// Of the slices that are on at a time, at one switch.
constexpr size_t kMaxSlices = 256;
constexpr Nanos kMaxSliceTestWork = 5 * kNanosPerMicro;  // of all their filters: TestWorkOf()

struct SliceCounts {
  uint64_t packets = 0;  // marked
  uint64_t bytes = 0;
  uint64_t withheld = 0;  // packets that matched beyond a cap
  Nanos first = 0;        // packets marked, by their clock; meaningful if there is one
  Nanos last = 0;
};

// One slice and what it has cost so far.
class LiveSlice {
 public:
  // Only packets of these datapath ports, in rising order; nothing: of all ports.  `on` and the
  // clock of the packets are the same clock.
  LiveSlice(SliceSpec spec, std::optional<std::vector<uint32_t>> ports, Nanos on);

  const SliceSpec& spec() const { return spec_; }
  Nanos on() const { return on_; }
  Nanos deadline() const { return deadline_; }
  bool Covers(uint32_t port) const;

  // Takes a packet of so many bytes that matched, if all caps have room for it; else counts it as
  // withheld.  Together the threads never go beyond a cap of packets or bytes.  Within a cap of
  // packets per second a hundredth of a second's may come at once.
  bool Take(uint32_t bytes, Nanos now);
  SliceCounts counts() const;

 private:
  bool TakeRate(Nanos now);

  const SliceSpec spec_;
  const std::optional<std::vector<uint32_t>> ports_;
  const Nanos on_;
  const Nanos deadline_;
  const Nanos packet_spacing_;  // of packets_per_second; 0: no such cap
  const Nanos burst_;           // so far ahead of its time a packet may come
  std::atomic<uint64_t> packets_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> withheld_{0};
  std::atomic<Nanos> rate_until_;  // the rate is used up until then
  std::atomic<Nanos> first_{INT64_MAX};
  std::atomic<Nanos> last_{INT64_MIN};
};

class SliceSet {
 public:
  // `slices` in the order in which they were turned on, at most kMaxSlices.  A mark has the tag in
  // its low kSliceTagBits, and above them what the slice says, or else `mark_base`.  GRE to
  // `analyzers` is never marked.
  SliceSet(std::vector<std::shared_ptr<LiveSlice>> slices, uint32_t mark_base,
           std::vector<IpBytes> analyzers, const ParseOptions& parse);

  // Writes the mark of each frame to `marks`, 0 for those that no slice takes, and returns true; or
  // returns false, and nothing is written, if no frame is marked.
  bool Mark(const Frame* frames, int count, uint32_t in_port, Nanos now, uint32_t* marks) const;

  const std::vector<std::shared_ptr<LiveSlice>>& slices() const { return slices_; }

 private:
  uint32_t MarkOf(const ParsedPacket& packet, uint32_t in_port, Nanos now) const;
  uint32_t MarkFor(const SliceSpec& spec) const;
  bool IsCopy(const ParsedPacket& packet) const;

  const std::vector<std::shared_ptr<LiveSlice>> slices_;
  const uint32_t mark_base_;
  const std::vector<IpBytes> analyzers_;  // sorted
  const ParseOptions parse_;
  Nanos until_ = INT64_MIN;  // the last deadline
  TriggerIndex index_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_SLICE_SET_H
