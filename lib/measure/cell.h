// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Cells: the numbers that variables are made of, 1, 2, 4 or 8 bytes each in an arena.
//
// Threads: one writes, any may read: all accesses are relaxed atomics, which cost what plain ones
// do.  Cells that several threads write (MeasureMerge::kShared) are added to atomically.

#ifndef TRUMPET_LIB_MEASURE_CELL_H
#define TRUMPET_LIB_MEASURE_CELL_H

#include <cstddef>
#include <cstdint>

namespace trumpet {

// Binary logarithm of the bytes of a cell of `bits` bits, 1 to 64.
constexpr uint8_t CellLog2(uint8_t bits) {
  return bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
}

constexpr uint64_t BitMask(uint32_t bits) {
  return bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

template <typename Cell>
uint64_t LoadCell(const uint8_t* at) {
  return __atomic_load_n(reinterpret_cast<const Cell*>(at), __ATOMIC_RELAXED);
}

template <typename Cell>
void StoreCell(uint8_t* at, uint64_t value) {
  __atomic_store_n(reinterpret_cast<Cell*>(at), static_cast<Cell>(value), __ATOMIC_RELAXED);
}

inline uint64_t LoadCell(const uint8_t* at, uint8_t log2) {
  if (log2 == 3) return LoadCell<uint64_t>(at);  // the most frequent ones first
  if (log2 == 2) return LoadCell<uint32_t>(at);
  return log2 == 1 ? LoadCell<uint16_t>(at) : LoadCell<uint8_t>(at);
}

inline void StoreCell(uint8_t* at, uint8_t log2, uint64_t value) {
  switch (log2) {
    case 0:
      return StoreCell<uint8_t>(at, value);
    case 1:
      return StoreCell<uint16_t>(at, value);
    case 2:
      return StoreCell<uint32_t>(at, value);
    default:
      return StoreCell<uint64_t>(at, value);
  }
}

// `count` cells, `stride` bytes from one to the next; those without a gap by words, where others
// see the cells of a word become 0 together.
inline void ZeroCells(uint8_t* at, uint8_t log2, size_t stride, size_t count) {
  constexpr size_t kWord = sizeof(uint64_t);
  if (stride == size_t{1} << log2) {
    uint8_t* const end = at + count * stride;
    for (; at != end && reinterpret_cast<uintptr_t>(at) % kWord != 0; at += stride) {
      StoreCell(at, log2, 0);
    }
    for (; end - at >= static_cast<ptrdiff_t>(kWord); at += kWord) StoreCell<uint64_t>(at, 0);
    count = static_cast<size_t>(end - at) / stride;
  }
  for (; count > 0; --count, at += stride) StoreCell(at, log2, 0);
}

// Adds modulo `mask` + 1, losing nothing that other threads add.
template <typename Cell>
void AddToSharedCell(uint8_t* at, uint64_t value, uint64_t mask) {
  auto* cell = reinterpret_cast<Cell*>(at);
  Cell before = __atomic_load_n(cell, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(cell, &before, static_cast<Cell>((before + value) & mask),
                                      true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_CELL_H
