// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FrameReader: frames out of a stream of bytes, which may come in any pieces.
//
// A frame is its length as 4 bytes, most significant first, and that many bytes, at least one.
//
// Memory: none of its own.  A length that is not allowed is seen as soon as its 4 bytes are there,
// so the input never needs to hold more than the largest frame.

#ifndef TRUMPET_LIB_WIRE_FRAME_READER_H
#define TRUMPET_LIB_WIRE_FRAME_READER_H

#include <cstddef>
#include <string>
#include <string_view>

struct evbuffer;

namespace trumpet {

constexpr size_t kFrameHeadBytes = 4;

// The 4 bytes before a frame of `size`.
void PutFrameHead(size_t size, char* head);

class FrameReader {
 public:
  enum class State { kFrame, kNeedMore, kBadLength };

  explicit FrameReader(size_t max_bytes) : max_bytes_(max_bytes) {}

  void set_max_bytes(size_t max_bytes) { max_bytes_ = max_bytes; }
  size_t max_bytes() const { return max_bytes_; }

  // Looks at the first frame of `input`, which must live until Drop().  After kBadLength the stream
  // cannot be read any further.
  State Peek(evbuffer* input, std::string_view* frame);
  // Takes the frame that Peek() showed out of `input`.
  void Drop(evbuffer* input);

  // What Peek() found instead of a length that is allowed.
  size_t bad_length() const { return length_; }

 private:
  size_t max_bytes_;
  size_t length_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_FRAME_READER_H
