// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/peer_directory.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr uint16_t kStampsPerTimeout = 64;
constexpr int kTries = 4;

// From the top: 32 bits of hash, the threads of side 0 and 1, the stamp.
uint32_t TagOf(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
uint8_t ThreadOf(uint64_t word, int side) {
  return static_cast<uint8_t>(word >> (side == 0 ? 24 : 16));
}
uint16_t StampIn(uint64_t word) { return static_cast<uint16_t>(word); }

// In stamps.  The clocks of two threads may differ a little: what comes from the near future is
// new.
int AgeOf(uint64_t word, uint16_t stamp) {
  const auto age = static_cast<uint16_t>(stamp - StampIn(word));
  return age > UINT16_MAX - 2 * kStampsPerTimeout ? 0 : age;
}

uint64_t Pack(uint32_t tag, int side, uint8_t own, uint8_t other, uint16_t stamp) {
  const uint64_t first = side == 0 ? own : other;
  const uint64_t second = side == 0 ? other : own;
  return uint64_t{tag} << 32 | first << 24 | second << 16 | stamp;
}

}  // namespace

uint64_t PeerDirectory::LinesFor(uint64_t entries) {
  uint64_t lines = 16;
  while (lines * kWays < entries) lines *= 2;
  return lines;
}

bool PeerDirectory::Init(uint64_t entries, Nanos timeout_ns) {
  stamp_ns_ = std::max<Nanos>(1, timeout_ns / kStampsPerTimeout);
  // Written now: packet threads would meet its huge pages one by one, at 60 us each.
  PageSource source({/*touches=*/true, /*takes_reserved=*/false});
  return lines_.Allocate(LinesFor(entries), &source);
}

PeerDirectory::Sighting PeerDirectory::Note(uint64_t hash, int side, uint8_t thread, Nanos now) {
  Line& line = lines_[hash & (lines_.count() - 1)];
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const uint16_t stamp = StampOf(now);
  Sighting sighting;
  for (int i = 0; i < kTries; i++) {
    int chosen = 0;
    int oldest = -1;
    uint64_t word = 0;
    for (int way = 0; way < kWays; way++) {
      const uint64_t entry = line.entries[way].load(std::memory_order_acquire);
      const bool is_ours = entry != 0 && TagOf(entry) == tag;
      const int age = entry == 0 ? INT32_MAX : AgeOf(entry, stamp);
      if (!is_ours && age <= oldest) continue;
      chosen = way;
      word = entry;
      oldest = age;
      if (is_ours) break;
    }
    const bool is_alive = word != 0 && oldest <= kStampsPerTimeout + 1;
    const bool is_ours = is_alive && TagOf(word) == tag;
    sighting.before = is_ours ? ThreadOf(word, side) : 0;
    sighting.other = is_ours ? ThreadOf(word, 1 - side) : 0;
    sighting.has_evicted = is_alive && !is_ours;
    const uint64_t wanted = Pack(tag, side, thread, sighting.other, stamp);
    if (wanted == word ||
        line.entries[chosen].compare_exchange_strong(word, wanted, std::memory_order_acq_rel)) {
      break;
    }
  }
  return sighting;
}

}  // namespace trumpet
