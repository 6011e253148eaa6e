// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/frame_reader.h"

#include <event2/buffer.h>

#include <cstdint>

namespace trumpet {

void PutFrameHead(size_t size, char* head) {
  for (size_t i = 0; i < kFrameHeadBytes; ++i) {
    head[i] = static_cast<char>(size >> (8 * (kFrameHeadBytes - 1 - i)));
  }
}

FrameReader::State FrameReader::Peek(evbuffer* input, std::string_view* frame) {
  uint8_t head[kFrameHeadBytes];
  if (evbuffer_copyout(input, head, sizeof head) < static_cast<ev_ssize_t>(sizeof head)) {
    return State::kNeedMore;
  }
  length_ = 0;
  for (const uint8_t byte : head) length_ = length_ << 8 | byte;
  if (length_ == 0 || length_ > max_bytes_) return State::kBadLength;
  const size_t whole = kFrameHeadBytes + length_;
  if (evbuffer_get_length(input) < whole) return State::kNeedMore;
  const unsigned char* bytes = evbuffer_pullup(input, static_cast<ev_ssize_t>(whole));
  *frame = std::string_view(reinterpret_cast<const char*>(bytes) + kFrameHeadBytes, length_);
  return State::kFrame;
}

void FrameReader::Drop(evbuffer* input) { evbuffer_drain(input, kFrameHeadBytes + length_); }

}  // namespace trumpet
