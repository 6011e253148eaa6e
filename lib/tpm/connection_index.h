// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ConnectionIndex: which slot a connection has.  Slots are handed out, found again by key through
// chains of bounded length, and given back; what a connection's state is, others know.
// One packet thread's own.

#ifndef TRUMPET_LIB_TPM_CONNECTION_INDEX_H
#define TRUMPET_LIB_TPM_CONNECTION_INDEX_H

#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/base/units.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

constexpr uint32_t kNoSlot = (1u << 28) - 1;
constexpr Nanos kNeverSeen = INT64_MIN;

// What every packet touches: one line.
struct alignas(64) Connection {
  FlowKey key;            // side 0; ip_family 0: not in use
  Nanos last_seen_ns[2];  // of each side
  uint32_t hash;
  uint32_t next : 28;      // in the chain of the index, or of the free ones
  uint32_t last_side : 1;  // of the newest packet
  uint32_t has_tcp : 1;    // its TCP state, kept elsewhere, is held
  uint32_t is_mirror : 1;  // the flow is its own reverse: there is only side 0

  bool is_in_use() const { return key.ip_family != 0; }
  Nanos last_ns() const { return last_seen_ns[last_side]; }
};
static_assert(sizeof(Connection) == 64);

class ConnectionIndex {
 public:
  // False when there is no memory for `count` connections.
  [[nodiscard]] bool Init(uint32_t count, PageSource* source);
  static size_t BytesFor(uint32_t count);

  Connection& operator[](uint32_t slot) { return connections_[slot]; }
  const Connection& operator[](uint32_t slot) const { return connections_[slot]; }
  size_t count() const { return connections_.count(); }
  uint32_t used_slots() const { return next_unused_; }  // slots from here on were never in use
  void PrefetchChain(uint64_t hash) const { __builtin_prefetch(&ChainOf(hash)); }

  // The slot of `key` (of side 0), or kNoSlot.
  uint32_t Find(const FlowKey& key, uint64_t hash) const {
    const auto short_hash = static_cast<uint32_t>(hash);
    for (uint32_t slot = FirstOf(hash); slot != kNoSlot; slot = connections_[slot].next) {
      const Connection& connection = connections_[slot];
      if (connection.hash == short_hash && connection.key == key) return slot;
    }
    return kNoSlot;
  }

  // The connection that has to go before Add(): the one idle for longest of the chain of `hash` if
  // that is as long as it may be, else of the next few slots if none is free; else kNoSlot.
  uint32_t Victim(uint64_t hash, Nanos now);

  // Gives a slot to `key`, which has none.  A slot is free: Victim() said so, or was removed.
  uint32_t Add(const FlowKey& key, uint64_t hash);
  void Remove(uint32_t slot);

 private:
  uint32_t& ChainOf(uint64_t hash) { return chains_[hash & (chains_.count() - 1)]; }
  const uint32_t& ChainOf(uint64_t hash) const { return chains_[hash & (chains_.count() - 1)]; }
  uint32_t FirstOf(uint64_t hash) const {
    const uint32_t chain = ChainOf(hash);
    return chain == 0 ? kNoSlot : chain - 1;
  }
  Nanos IdleSince(uint32_t slot, Nanos now) const;
  uint32_t VictimOfChain(uint64_t hash, Nanos now) const;
  uint32_t VictimOfNextSlots(Nanos now);
  void Unlink(uint32_t slot);

  PageBuffer<Connection> connections_;
  PageBuffer<uint32_t> chains_;  // slot + 1 of the first connection, by hash
  uint32_t free_slot_ = kNoSlot;
  uint32_t next_unused_ = 0;
  uint32_t eviction_hand_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_CONNECTION_INDEX_H
