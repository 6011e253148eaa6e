// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/memory_shortage_test.h"

#include <cstdlib>

namespace {

thread_local uint64_t calls_left = UINT64_MAX;

void* Allocate(size_t size) {
  if (calls_left == 0) return nullptr;
  if (calls_left != UINT64_MAX) --calls_left;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

// Not inlined: the compiler would see malloc() and delete meet, and warn.
#define TRUMPET_NOINLINE __attribute__((noinline))

TRUMPET_NOINLINE void* operator new(size_t size) {
  void* const memory = Allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
TRUMPET_NOINLINE void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size);
}
TRUMPET_NOINLINE void operator delete(void* memory) noexcept { std::free(memory); }
TRUMPET_NOINLINE void operator delete(void* memory, size_t) noexcept { std::free(memory); }
TRUMPET_NOINLINE void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace trumpet::testing {

void MemoryShortage::Begin(uint64_t calls) { calls_left = calls; }

void MemoryShortage::End() { calls_left = UINT64_MAX; }

}  // namespace trumpet::testing
