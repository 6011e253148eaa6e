// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ByteCursor: reads numbers, most significant byte first, from bytes that nobody vouches for.
//
// Past the end it reads zeros and says so: a reader checks ok() once, behind the last number.

#ifndef TRUMPET_LIB_BASE_BYTE_CURSOR_H
#define TRUMPET_LIB_BASE_BYTE_CURSOR_H

#include <cstddef>
#include <cstdint>

namespace trumpet {

class ByteCursor {
 public:
  ByteCursor(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  bool ok() const { return is_ok_; }
  size_t left() const { return left_; }
  const uint8_t* here() const { return data_; }

  // Of `size` bytes; of more than 8, the last 8 count.
  uint64_t Number(size_t size) {
    const ByteCursor bytes = Take(size);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.left_; ++i) value = value << 8 | bytes.data_[i];
    return value;
  }
  uint16_t Be16() { return static_cast<uint16_t>(Number(2)); }
  uint32_t Be32() { return static_cast<uint32_t>(Number(4)); }
  void Skip(size_t size) { Take(size); }

  // The next `size` bytes as a cursor of their own; none of them if there are not so many.
  ByteCursor Take(size_t size) {
    if (size > left_) {
      is_ok_ = false;
      left_ = 0;
      return ByteCursor(data_, 0);
    }
    const ByteCursor taken(data_, size);
    data_ += size;
    left_ -= size;
    return taken;
  }

 private:
  const uint8_t* data_;
  size_t left_;
  bool is_ok_ = true;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_BYTE_CURSOR_H
