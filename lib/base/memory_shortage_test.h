// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MemoryShortage: has operator new fail in this thread, all but the first few times.  A test that
// tries them all, 0, 1, 2 and so on until what it does succeeds, has memory run out at every place.
// Whoever includes this links memory_shortage_test.cc too, which replaces operator new.
//
// Threads: each has shortages of its own, one at a time.

#ifndef TRUMPET_LIB_BASE_MEMORY_SHORTAGE_TEST_H
#define TRUMPET_LIB_BASE_MEMORY_SHORTAGE_TEST_H

#include <cstdint>
#include <new>

namespace trumpet::testing {

class MemoryShortage {
 public:
  // So many calls of operator new succeed yet.
  explicit MemoryShortage(uint64_t calls) { Begin(calls); }
  ~MemoryShortage() { End(); }
  MemoryShortage(const MemoryShortage&) = delete;
  MemoryShortage& operator=(const MemoryShortage&) = delete;

  // For a shortage that ends in another function than it began.
  static void Begin(uint64_t calls);
  static void End();
};

// Whether `work` got along with so many calls of operator new.
template <typename Work>
bool DoesWith(uint64_t calls, const Work& work) {
  const MemoryShortage shortage(calls);
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_BASE_MEMORY_SHORTAGE_TEST_H
