// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/key_slots.h"

namespace trumpet {
namespace {

// Of the fast family.
struct FastIndices {
  uint64_t hash;
  const SlotPlan& plan;

  uint32_t Row(uint32_t row) const { return FastRowIndex(hash, row, plan.size, plan.is_sliced); }
  uint32_t Map() const { return ScaleHash(static_cast<uint32_t>(hash >> 32), plan.size); }
  uint32_t Bits() const { return static_cast<uint32_t>(hash >> 32); }
};

// Of the reference family.
struct ReferenceIndices {
  const uint8_t* bytes;
  size_t byte_count;
  const SlotPlan& plan;

  uint32_t Row(uint32_t row) const { return Murmur3(bytes, byte_count, row + 1) % plan.size; }
  uint32_t Map() const { return Murmur3(bytes, byte_count, 0) % plan.size; }
  uint32_t Bits() const { return Murmur3(bytes, byte_count, 1); }
};

void FillBucket(const SlotPlan& plan, uint32_t hash, uint32_t* slots) {
  const BucketRank rank = RankOf(hash, static_cast<uint32_t>(__builtin_ctz(plan.size)));
  slots[0] = plan.offset + (rank.bucket << plan.log2);
  slots[1] = plan.form == SlotForm::kBitmap ? std::min<uint32_t>(rank.zeros, plan.bits - 1u)
                                            : rank.zeros + 1;
}

template <typename Indices>
inline void Fill(const SlotPlan& plan, const Indices& indices, uint64_t owner, uint32_t* slots) {
  slots += plan.first;
  switch (plan.form) {
    case SlotForm::kMap:
      slots[0] = plan.offset + (indices.Map() << plan.log2);
      return;
    case SlotForm::kOwnedMap: {
      const uint32_t index = indices.Map();
      slots[0] = plan.offset + (index << plan.log2);
      slots[1] = plan.owners + (index << 3);
      slots[2] = static_cast<uint32_t>(owner) | 1;  // 0 is nobody
      slots[3] = static_cast<uint32_t>(owner >> 32);
      return;
    }
    case SlotForm::kRows:
      for (uint32_t row = 0; row < plan.rows; ++row) {
        slots[row] = plan.offset + ((row * plan.size + indices.Row(row)) << plan.log2);
      }
      return;
    case SlotForm::kFilter:
      for (uint32_t row = 0; row < plan.rows; ++row) {
        slots[row] = plan.offset + (indices.Row(row) << plan.log2);
      }
      return;
    case SlotForm::kBitmap:
    case SlotForm::kRegister:
      return FillBucket(plan, indices.Bits(), slots);
  }
}

// The key as bytes: each field big-endian.
size_t WriteBytes(const KeyPlan& plan, const PackedKey& key, uint8_t* bytes) {
  size_t count = 0;
  for (const KeyPart& part : plan.parts) {
    const uint64_t value = key.words[part.word] >> part.shift;
    for (uint32_t i = part.bytes; i > 0; --i) {
      bytes[count++] = static_cast<uint8_t>(value >> (8 * (i - 1)));
    }
  }
  return count;
}

}  // namespace

void FillFastSlots(const std::vector<SlotPlan>& plans, const uint64_t* hashes, uint32_t count,
                   uint32_t stride, uint32_t* slots) {
  for (const SlotPlan& one : plans) {
    const SlotPlan plan = one;  // slots could alias the plan itself
    for (uint32_t i = 0; i < count; ++i) {
      const FastIndices indices{FastVariableHash(hashes[i], plan.number), plan};
      Fill(plan, indices, hashes[i], slots + size_t{i} * stride);
    }
  }
}

void FillKeySlots(const CompiledProgram& program, uint32_t key, const PackedKey& packed,
                  uint32_t* slots) {
  if (program.family == MeasureHashFamily::kFast) {
    return FillFastSlots(program.slots[key], &packed.hash, 1, 0, slots);
  }
  uint8_t bytes[kMaxMeasureKeyBytes];
  const size_t count = WriteBytes(program.keys[key], packed, bytes);
  for (const SlotPlan& plan : program.slots[key]) {
    Fill(plan, ReferenceIndices{bytes, count, plan}, packed.hash, slots);
  }
}

}  // namespace trumpet
