// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CaptureSource: the frames of one capture in time order, known to be readable.
//
// Open() reads the capture from end to end, so that damage in it is reported
// before the first frame is delivered.  A capture in order is then streamed in a
// second pass; one that is not is sorted in memory, equal stamps in file order,
// or streamed as it is if that was asked for.
// A pipe cannot be read twice and is kept in memory too.
// Threads: one source, one thread.

#ifndef TRUMPET_LIB_PACKET_CAPTURE_SOURCE_H
#define TRUMPET_LIB_PACKET_CAPTURE_SOURCE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/pcap_reader.h"

namespace trumpet {

enum class CaptureOrder { kByTime, kOfFile };

class CaptureSource {
 public:
  // "-" is standard input.
  static Result<CaptureSource> Open(const std::string& path,
                                    CaptureOrder order = CaptureOrder::kByTime);

  // The next frame in that order, false at the end.  `frame` is good until the next
  // call.  An error means that the file has changed since Open().
  Result<bool> Next(TimedFrame* frame);

  uint64_t frame_count() const { return frame_count_; }

  // The earliest and the latest time; only if there is a frame.
  Nanos first_time() const { return first_time_; }
  Nanos last_time() const { return last_time_; }

 private:
  struct StoredFrame {
    Nanos time;
    size_t offset;  // in frame_bytes_
    uint32_t captured_length;
    uint32_t wire_length;
  };

  CaptureSource() = default;

  Result<PcapReader> OpenReader() const;
  Status Validate(bool* is_in_order);
  Status SortInMemory();
  TimedFrame Stored(size_t index) const;

  std::string name_;
  bool is_file_ = true;         // else in image_
  std::vector<uint8_t> image_;  // the whole capture, as read from a pipe
  uint64_t frame_count_ = 0;
  Nanos first_time_ = 0;
  Nanos last_time_ = 0;

  std::optional<PcapReader> reader_;  // while streaming
  bool is_exhausted_ = false;

  bool is_sorted_ = false;  // then the frames are these, in time order
  std::vector<StoredFrame> frames_;
  std::vector<uint8_t> frame_bytes_;
  size_t next_frame_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_CAPTURE_SOURCE_H
