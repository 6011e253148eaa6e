// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Key slots: from the fields of a packet to the cells that they select.
//
// A packed key is hashed once; each variable of the key takes its slots from that hash, by the
// rules of its family (measure_hash.h).  Every slot lies inside the variable that it is of,
// whatever the packet.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_KEY_SLOTS_H
#define TRUMPET_LIB_MEASURE_KEY_SLOTS_H

#include <algorithm>
#include <cstdint>

#include "lib/measure/compiled_program.h"
#include "lib/measure/measured_packet.h"

namespace trumpet {

constexpr uint32_t kMaxKeyWords = 2 * kMaxMeasureKeyBytes / 8 + 1;

// The fields of a key, in words; what they do not fill is 0.
struct PackedKey {
  uint64_t words[kMaxKeyWords];
  uint64_t hash = 0;  // of the fast family
};

// Each word is put together in a register: adding to it in memory would wait for the part before.
inline void PackKeyWords(const KeyPlan& plan, const PacketValues& packet, PackedKey* key) {
  uint32_t word = 0;
  uint64_t packed = 0;
  for (const KeyPart& part : plan.parts) {
    if (part.word != word) {
      key->words[word++] = packed;
      packed = 0;
    }
    packed |= packet.value[part.field] << part.shift;
  }
  key->words[word] = packed;
}

// Five-tuples take two words: for a length that is known the hash is a handful of instructions.
inline uint64_t HashPackedKey(const PackedKey& key, uint32_t words, uint64_t seed) {
  if (words == 2) return HashBytes(key.words, 2 * sizeof(uint64_t), seed);
  if (words == 1) return HashNumber(key.words[0], seed);
  return HashBytes(key.words, words * sizeof(uint64_t), seed);
}

// Slots of all variables of key `key` of the program; the packed key is only looked at by the
// reference family, the hash by both.
void FillKeySlots(const CompiledProgram& program, uint32_t key, const PackedKey& packed,
                  uint32_t* slots);
// Hashes of the key of each packet, at most kMaxMeasureBurst of them, by the fast family.
void HashKeys(const KeyPlan& plan, const MeasuredPacket* packets, uint32_t count, uint64_t seed,
              uint64_t* hashes);
// Whether a key is of addresses, ports of TCP or UDP, and protocol, in this order.
bool IsUsualTuple(const KeyPlan& plan);
// What hashes such a key without the fields, as HashKeys() does.
using FrameHash = void (*)(const Frame* frames, uint32_t count, uint64_t seed, uint64_t* hashes);
FrameHash FrameHashOf(const KeyPlan& plan);
// The one slot of each packet in a map that does not evict, by the fast family.
void FindMapCells(const SlotPlan& plan, const uint64_t* hashes, uint32_t count, uint32_t* cells);
// The slots of a burst, by the fast family; those of packet i begin at i * `stride`.
void FillFastSlots(const std::vector<SlotPlan>& plans, const uint64_t* hashes, uint32_t count,
                   uint32_t stride, uint32_t* slots);

inline void PackKey(const CompiledProgram& program, uint32_t key, const PacketValues& packet,
                    PackedKey* packed) {
  const KeyPlan& plan = program.keys[key];
  PackKeyWords(plan, packet, packed);
  packed->hash = HashPackedKey(*packed, plan.words, program.seed);
}

// Has the cells of the slots of these keys (a bit each) brought into the cache.
inline void PrefetchSlots(const CompiledProgram& program, uint64_t keys, const uint8_t* own,
                          const uint32_t* slots) {
  for (size_t i = 0; i < program.variables.size(); ++i) {
    const VariablePlace& place = program.variables[i];
    const MeasureIndex key = program.source.variables[i].key;
    if (place.region != kOwnRegion || key == kNoIndex || (keys >> key & 1) == 0) continue;
    for (uint32_t cell = 0; cell < place.slot_count; ++cell) {
      __builtin_prefetch(own + place.slot_base + slots[place.first_slot + cell], 1);
    }
  }
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_KEY_SLOTS_H
