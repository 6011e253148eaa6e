// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PageBuffer: a large zeroed array, in huge pages when the machine gives them.

#ifndef TRUMPET_LIB_BASE_PAGE_BUFFER_H
#define TRUMPET_LIB_BASE_PAGE_BUFFER_H

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/base/page_source.h"

namespace trumpet {

// Array of `T`, which must be fine as all-zero bytes and needs no destructor.
template <typename T>
class PageBuffer {
 public:
  PageBuffer() = default;
  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~PageBuffer() {
    if (data_ != nullptr) munmap(data_, BytesFor(count_));
  }

  // What Allocate() takes: whole pages.
  static constexpr size_t BytesFor(size_t count) {
    const size_t bytes = count == 0 ? 1 : count * sizeof(T);
    return (bytes + 4095) / 4096 * 4096;
  }

  // False when there is no memory; the buffer is empty then.  Without a source, pages are taken as
  // they are first used.
  [[nodiscard]] bool Allocate(size_t count, PageSource* source = nullptr) {
    PageSource plain;
    void* memory = (source != nullptr ? source : &plain)->Take(BytesFor(count));
    if (memory == nullptr) return false;
    data_ = static_cast<T*>(memory);
    count_ = count;
    return true;
  }

  // Reads a byte of each page of `most` bytes from element `first` on: a hypervisor that maps
  // memory at its first use, and forgets that now and then, has it mapped then for all threads.
  void ReadPages(size_t first, size_t most) const {
    const auto* const bytes = reinterpret_cast<const volatile uint8_t*>(data_);
    const size_t begin = first * sizeof(T);
    const size_t end = begin + (most < size_bytes() - begin ? most : size_bytes() - begin);
    for (size_t at = begin; at < end; at += 4096) static_cast<void>(bytes[at]);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }
  size_t count() const { return count_; }
  size_t size_bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_PAGE_BUFFER_H
