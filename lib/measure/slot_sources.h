// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Slot sources: where the kernels of a burst take the slots of a variable from, for each packet.
//
// Either all slots were written before, for all variables of a program, or each kernel computes
// those it needs from the hash of the key: then nothing is written and read again, which is half of
// what a small sketch costs.  Both say the same, by the fast family of hash functions.
//
// Threads: a source borrows from the burst that it is made for.

#ifndef TRUMPET_LIB_MEASURE_SLOT_SOURCES_H
#define TRUMPET_LIB_MEASURE_SLOT_SOURCES_H

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>

#include "lib/measure/compiled_program.h"

namespace trumpet {

// Written before.
class StoredSlots {
 public:
  StoredSlots(const Operator& op, const BurstContext& context)
      : slots_(context.slots + op.slot), stride_(context.stride) {}
  const uint32_t* Of(size_t packet) const { return slots_ + packet * stride_; }

 private:
  const uint32_t* slots_;
  size_t stride_;
};

// What a variable takes of the hash of its key; `kMixes`: it is not the first one of the key, which
// takes it as it is.
template <bool kMixes>
inline uint64_t OwnHash(uint64_t hash, uint64_t distance) {
  return kMixes ? MixBits(hash + distance) : hash;
}

struct FourSlots {
  uint64_t low;
  uint64_t high;
  uint32_t operator[](uint32_t row) const {
    return static_cast<uint32_t>((row < 2 ? low : high) >> (row % 2 * 32));
  }
};

// Sliced rows, all four: 16 bits of the hash each, scaled to the size of a row.
template <bool kMixes>
class SlicedSlots {
 public:
  SlicedSlots(const SlotPlan& plan, const uint64_t* hashes)
      : hashes_(hashes), distance_(HashDistance(plan.number)), log2_(_mm_cvtsi32_si128(plan.log2)) {
    const uint32_t row = plan.form == SlotForm::kRows ? plan.size << plan.log2 : 0;
    rows_ = _mm_setr_epi32(0, static_cast<int>(row), static_cast<int>(2 * row),
                           static_cast<int>(3 * row));
    size_ = _mm_set1_epi16(static_cast<int16_t>(plan.size));
  }
  SlicedSlots(const Operator&, const BurstContext& context)
      : SlicedSlots(*context.plan, context.hashes) {}

  __m128i VectorOf(size_t packet) const {
    const auto own = static_cast<int64_t>(OwnHash<kMixes>(hashes_[packet], distance_));
    const __m128i index = _mm_mulhi_epu16(_mm_cvtsi64_si128(own), size_);
    const __m128i wide = _mm_unpacklo_epi16(index, _mm_setzero_si128());
    return _mm_add_epi32(_mm_sll_epi32(wide, log2_), rows_);
  }
  FourSlots Of(size_t packet) const {
    const __m128i slots = VectorOf(packet);
    return {static_cast<uint64_t>(_mm_cvtsi128_si64(slots)),
            static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(slots, slots)))};
  }

 private:
  const uint64_t* hashes_;
  uint64_t distance_;
  __m128i log2_;
  __m128i rows_;
  __m128i size_;
};

struct OneSlot {
  uint32_t slot;
  uint32_t operator[](uint32_t) const { return slot; }
};

// A map that does not evict.
template <bool kMixes>
class MapSlots {
 public:
  MapSlots(const SlotPlan& plan, const uint64_t* hashes)
      : hashes_(hashes),
        distance_(HashDistance(plan.number)),
        size_(plan.size),
        stride_(plan.stride) {}
  MapSlots(const Operator&, const BurstContext& context)
      : MapSlots(*context.plan, context.hashes) {}

  OneSlot Of(size_t packet) const {
    const uint64_t own = OwnHash<kMixes>(hashes_[packet], distance_);
    return {ScaleHash(static_cast<uint32_t>(own >> 32), size_) * stride_};
  }

 private:
  const uint64_t* hashes_;
  uint64_t distance_;
  uint32_t size_;
  uint32_t stride_;
};

// The cell of a pcsa or hyperloglog, and the bit or the rank.
struct BucketSlots {
  uint32_t cell;
  uint32_t rank;
  uint32_t operator[](uint32_t slot) const { return slot == 0 ? cell : rank; }
};

// `kCellBytes`: of a cell; 0: the plan says it.
template <bool kMixes, bool kIsBitmap, uint32_t kCellBytes = 0>
class BucketSource {
 public:
  BucketSource(const SlotPlan& plan, const uint64_t* hashes)
      : hashes_(hashes),
        distance_(HashDistance(plan.number)),
        size_(plan.size),
        cell_bytes_(kCellBytes != 0 ? kCellBytes : 1u << plan.log2),
        most_(plan.bits - 1u) {}
  BucketSource(const Operator&, const BurstContext& context)
      : BucketSource(*context.plan, context.hashes) {}

  BucketSlots Of(size_t packet) const {
    const uint64_t own = OwnHash<kMixes>(hashes_[packet], distance_);
    const BucketRank rank = RankOfUpper(own, size_);
    const uint32_t cell_bytes = kCellBytes != 0 ? kCellBytes : cell_bytes_;
    return {rank.bucket * cell_bytes, kIsBitmap ? std::min(rank.zeros, most_) : rank.zeros + 1};
  }

 private:
  const uint64_t* hashes_;
  uint64_t distance_;
  uint64_t size_;
  uint32_t cell_bytes_;
  uint32_t most_;  // of the bits of a pcsa
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_SLOT_SOURCES_H
