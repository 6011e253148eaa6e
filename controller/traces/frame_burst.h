// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FrameBurst: frames of captures, which are lent until the next is asked for, kept until there are
// enough of them to be taken at once.
//
// Threads: one.  Memory: that of the longest bursts so far.

#ifndef TRUMPET_CONTROLLER_TRACES_FRAME_BURST_H
#define TRUMPET_CONTROLLER_TRACES_FRAME_BURST_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/packet/pcap_reader.h"

namespace trumpet {

class FrameBurst {
 public:
  static constexpr size_t kMost = 32;

  void Add(const TimedFrame& timed) {
    const Frame& frame = timed.frame;
    frames_.push_back(timed);
    if (frame.captured_length > 0) {
      bytes_.insert(bytes_.end(), frame.data, frame.data + frame.captured_length);
    }
  }
  bool is_full() const { return frames_.size() >= kMost; }

  // Good until the next is added.
  const std::vector<TimedFrame>& Frames() {
    const uint8_t* at = bytes_.data();
    for (TimedFrame& timed : frames_) {
      timed.frame.data = at;
      at += timed.frame.captured_length;
    }
    return frames_;
  }
  void Clear() {
    frames_.clear();
    bytes_.clear();
  }

 private:
  std::vector<TimedFrame> frames_;
  std::vector<uint8_t> bytes_;  // of one behind the other
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_FRAME_BURST_H
