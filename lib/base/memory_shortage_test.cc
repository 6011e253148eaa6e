// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/memory_shortage_test.h"

#include <cstdlib>

namespace {

thread_local uint64_t calls_left = UINT64_MAX;

bool IsLeft() {
  if (calls_left == 0) return false;
  if (calls_left != UINT64_MAX) --calls_left;
  return true;
}

void* Allocate(size_t size) { return IsLeft() ? std::malloc(size == 0 ? 1 : size) : nullptr; }

// aligned_alloc() takes multiples of the alignment.
void* Allocate(size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  const size_t units = size == 0 ? 1 : size / unit + (size % unit != 0 ? 1 : 0);
  return IsLeft() ? std::aligned_alloc(unit, units * unit) : nullptr;
}

void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Not inlined: the compiler would see malloc() and delete meet, and warn.
#define TRUMPET_NOINLINE __attribute__((noinline))

TRUMPET_NOINLINE void* operator new(size_t size) { return OrThrow(Allocate(size)); }
TRUMPET_NOINLINE void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size);
}
TRUMPET_NOINLINE void* operator new(size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, alignment));
}
TRUMPET_NOINLINE void* operator new(size_t size, std::align_val_t alignment,
                                    const std::nothrow_t&) noexcept {
  return Allocate(size, alignment);
}
TRUMPET_NOINLINE void operator delete(void* memory) noexcept { std::free(memory); }
TRUMPET_NOINLINE void operator delete(void* memory, size_t) noexcept { std::free(memory); }
TRUMPET_NOINLINE void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
TRUMPET_NOINLINE void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
TRUMPET_NOINLINE void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
TRUMPET_NOINLINE void operator delete(void* memory, std::align_val_t,
                                      const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace trumpet::testing {

void MemoryShortage::Begin(uint64_t calls) { calls_left = calls; }

void MemoryShortage::End() { calls_left = UINT64_MAX; }

}  // namespace trumpet::testing
