// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BurstKeys: the keys of a burst, each hashed once for all programs of a set that have it.
//
// A key is hashed when the first program wants to know it of a burst; many packets are done with
// before.  Programs share it as long as none since the first may have tagged a field of it.
//
// Threads: of the packet thread.  Lifetime: the programs must outlive the object.

#ifndef TRUMPET_LIB_MEASURE_BURST_KEYS_H
#define TRUMPET_LIB_MEASURE_BURST_KEYS_H

#include <cstdint>
#include <vector>

#include "lib/measure/compiled_program.h"
#include "lib/measure/key_slots.h"

namespace trumpet {

class BurstKeys {
 public:
  // The number of a key of the program, which must be one that no tag of it changes.
  uint32_t Share(const CompiledProgram& program, uint32_t key);
  // All keys of the program have been shared.
  void NoteTags(const CompiledProgram& program);

  // A burst comes, which is borrowed until the next one.
  void Begin(const MeasuredPacket* packets, uint32_t count, const BurstSource& source);
  // Of each packet, by the fast family.
  const uint64_t* HashesOf(uint32_t number);
  // The slots of key `key` of the program, which has that number, of the packets from `first` on;
  // those of packet i begin at i * `stride`.
  void FillSlots(const CompiledProgram& program, uint32_t key, uint32_t number, uint32_t first,
                 uint32_t stride, uint32_t* slots);

 private:
  struct SharedKey {
    const KeyPlan* plan = nullptr;
    uint64_t seed = 0;
    uint64_t changed = 0;             // fields that programs since may have tagged
    FrameHash hash_frames = nullptr;  // of a source, from the headers; null: by fields
    uint64_t burst = 0;               // that it was hashed for
    uint64_t hashes[kMaxMeasureBurst];
  };

  std::vector<SharedKey> keys_;
  const MeasuredPacket* packets_ = nullptr;
  uint32_t count_ = 0;
  const BurstSource* source_ = nullptr;
  uint64_t burst_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_BURST_KEYS_H
