// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CaptureMerge: the frames of several captures as one sequence in time order.
//
//     Result<CaptureMerge> captures = CaptureMerge::Open({"a.pcap", "b.pcapng"});
//     TimedFrame frame;
//     while (*captures->Next(&frame)) Use(frame);  // and look at errors
//
// Frames with equal stamps come in the order of the arguments, within one capture
// in file order.  Open() has read every capture to its end: whatever is wrong with
// them is known before the first frame.  Threads: one merge, one thread.

#ifndef TRUMPET_LIB_PACKET_CAPTURE_MERGE_H
#define TRUMPET_LIB_PACKET_CAPTURE_MERGE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/capture_source.h"

namespace trumpet {

class CaptureMerge {
 public:
  // "-" is standard input, at most once.
  static Result<CaptureMerge> Open(const std::vector<std::string>& paths);

  // False at the end.  `frame` is good until the next call.  An error means that a
  // file has changed since Open().
  Result<bool> Next(TimedFrame* frame);

  // Of the last frame: the index of its capture among the paths.
  size_t capture() const { return borrowed_ ? streams_[*borrowed_].argument : 0; }

  // Of all captures together; the times only if there is a frame.
  uint64_t frame_count() const { return frame_count_; }
  Nanos first_time() const { return first_time_; }
  Nanos last_time() const { return last_time_; }

 private:
  struct Stream {
    CaptureSource source;
    TimedFrame frame;
    bool has_frame = false;  // else it has not been read yet
    size_t argument = 0;
  };

  // Stands for the next frame of a stream.
  struct Head {
    Nanos time;
    size_t stream;  // index in streams_
  };

  CaptureMerge() = default;

  static bool IsLater(const Head& a, const Head& b);

  void Add(CaptureSource source, size_t argument);
  void Push(const Head& head);
  Head Pop();

  // Reads the next frame of the stream; false at its end.
  Result<bool> Advance(size_t stream);

  std::vector<Stream> streams_;     // in the order of the arguments
  std::vector<Head> heads_;         // a heap, the earliest on top
  std::optional<size_t> borrowed_;  // the stream whose frame the caller holds
  uint64_t frame_count_ = 0;
  Nanos first_time_ = 0;
  Nanos last_time_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_CAPTURE_MERGE_H
