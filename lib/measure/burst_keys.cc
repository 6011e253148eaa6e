// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/burst_keys.h"

#include <algorithm>

#include "lib/measure/key_slots.h"

namespace trumpet {
namespace {

bool IsSame(const KeyPlan& a, const KeyPlan& b) {
  const auto is_same = [](const KeyPart& x, const KeyPart& y) {
    return x.field == y.field && x.word == y.word && x.shift == y.shift;
  };
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), is_same);
}

}  // namespace

uint32_t BurstKeys::Share(const CompiledProgram& program, uint32_t key) {
  const KeyPlan& plan = program.keys[key];
  for (uint32_t i = 0; i < keys_.size(); ++i) {
    const bool is_valid = keys_[i].seed == program.seed && (keys_[i].changed & plan.fields) == 0;
    if (is_valid && IsSame(*keys_[i].plan, plan)) return i;
  }
  keys_.emplace_back();
  keys_.back().plan = &plan;
  keys_.back().seed = program.seed;
  const bool is_straight = program.family == MeasureHashFamily::kFast && IsUsualTuple(plan);
  if (is_straight) keys_.back().hash_frames = FrameHashOf(plan);
  return static_cast<uint32_t>(keys_.size() - 1);
}

void BurstKeys::NoteTags(const CompiledProgram& program) {
  for (SharedKey& key : keys_) key.changed |= program.tagged_fields | ~kTableFieldBits;
}

void BurstKeys::Begin(const MeasuredPacket* packets, uint32_t count, const BurstSource& source) {
  packets_ = packets;
  count_ = count;
  source_ = &source;
  burst_++;
}

const uint64_t* BurstKeys::HashesOf(uint32_t number) {
  SharedKey* const key = &keys_[number];
  if (key->burst == burst_) return key->hashes;
  key->burst = burst_;
  if (source_->frames != nullptr && key->hash_frames != nullptr) {
    key->hash_frames(source_->frames, count_, key->seed, key->hashes);
  } else {
    HashKeys(*key->plan, packets_, count_, key->seed, key->hashes);
  }
  return key->hashes;
}

void BurstKeys::FillSlots(const CompiledProgram& program, uint32_t key, uint32_t number,
                          uint32_t first, uint32_t stride, uint32_t* slots) {
  const uint64_t* const hashes = HashesOf(number);
  slots += size_t{first} * stride;
  if (program.family == MeasureHashFamily::kFast) {
    return FillFastSlots(program.slots[key], hashes + first, count_ - first, stride, slots);
  }
  PackedKey packed;
  for (uint32_t i = first; i < count_; ++i, slots += stride) {
    PackKeyWords(program.keys[key], *packets_[i].values, &packed);
    packed.hash = hashes[i];
    FillKeySlots(program, key, packed, slots);
  }
}

void ProgramBurst::FillSlots(const CompiledProgram& program, uint64_t wanted, uint32_t first) {
  wanted &= ~filled;
  filled |= wanted;
  for (; wanted != 0; wanted &= wanted - 1) {
    const auto key = static_cast<uint32_t>(__builtin_ctzll(wanted));
    keys->FillSlots(program, key, key_numbers[key], first, stride, slots);
  }
}

}  // namespace trumpet
