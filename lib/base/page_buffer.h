// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PageBuffer: a large zeroed array, in huge pages when the machine gives them.
//
// Asks for transparent huge pages (no reserved pool is touched: that belongs to the switch). Memory
// is taken from the NUMA node of the thread that first writes it.

#ifndef TRUMPET_LIB_BASE_PAGE_BUFFER_H
#define TRUMPET_LIB_BASE_PAGE_BUFFER_H

#include <sys/mman.h>

#include <cstddef>
#include <utility>

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
    if (data_ != nullptr) munmap(data_, count_ * sizeof(T));
  }

  // False when there is no memory; the buffer is empty then.
  [[nodiscard]] bool Allocate(size_t count) {
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    madvise(memory, count * sizeof(T), MADV_HUGEPAGE);  // a wish; refusal costs speed only
    data_ = static_cast<T*>(memory);
    count_ = count;
    return true;
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
