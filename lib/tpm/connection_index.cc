// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/connection_index.h"

#include "lib/tpm/history_pool.h"

namespace trumpet {
namespace {

constexpr int kCandidates = 8;  // looked at to find the connection idle for longest
constexpr int kMaxChain = 32;   // random keys never come near it; chosen ones get no further

size_t ChainCount(uint32_t connections) {
  size_t count = 64;
  while (count < size_t{connections} * 2) count *= 2;
  return count;
}

}  // namespace

bool ConnectionIndex::Init(uint32_t count, PageSource* source) {
  return connections_.Allocate(count, source) && chains_.Allocate(ChainCount(count), source);
}

size_t ConnectionIndex::BytesFor(uint32_t count) {
  return PageBuffer<Connection>::BytesFor(count) +
         PageBuffer<uint32_t>::BytesFor(ChainCount(count));
}

uint32_t ConnectionIndex::Victim(uint64_t hash, Nanos now) {
  const uint32_t victim = VictimOfChain(hash, now);
  const bool has_room = free_slot_ != kNoSlot || next_unused_ < connections_.count();
  return victim != kNoSlot || has_room ? victim : VictimOfNextSlots(now);
}

Nanos ConnectionIndex::IdleSince(uint32_t slot, Nanos now) const {
  return NanosBetween(connections_[slot].last_ns(), now);
}

uint32_t ConnectionIndex::VictimOfChain(uint64_t hash, Nanos now) const {
  int length = 0;
  uint32_t chosen = kNoSlot;
  for (uint32_t slot = FirstOf(hash); slot != kNoSlot; slot = connections_[slot].next) {
    if (chosen == kNoSlot || IdleSince(slot, now) > IdleSince(chosen, now)) chosen = slot;
    length++;
  }
  return length < kMaxChain ? kNoSlot : chosen;
}

uint32_t ConnectionIndex::VictimOfNextSlots(Nanos now) {
  uint32_t chosen = kNoSlot;
  for (int i = 0; i < kCandidates; i++) {
    const uint32_t slot = eviction_hand_;
    if (chosen == kNoSlot || IdleSince(slot, now) > IdleSince(chosen, now)) chosen = slot;
    if (++eviction_hand_ == connections_.count()) eviction_hand_ = 0;
  }
  return chosen;
}

uint32_t ConnectionIndex::Add(const FlowKey& key, uint64_t hash) {
  uint32_t slot = free_slot_;
  if (slot != kNoSlot) {
    free_slot_ = connections_[slot].next;
  } else {
    slot = next_unused_++;
  }
  Connection& connection = connections_[slot];
  connection.key = key;
  connection.last_seen_ns[0] = connection.last_seen_ns[1] = kNeverSeen;
  connection.hash = static_cast<uint32_t>(hash);
  connection.next = FirstOf(hash);
  connection.last_side = 0;
  connection.has_tcp = 0;
  connection.is_mirror = key.src_ip == key.dst_ip && key.src_port == key.dst_port;
  ChainOf(hash) = slot + 1;
  return slot;
}

void ConnectionIndex::Remove(uint32_t slot) {
  Unlink(slot);
  Connection& connection = connections_[slot];
  connection.key = FlowKey{};
  connection.next = free_slot_;
  free_slot_ = slot;
}

void ConnectionIndex::Unlink(uint32_t slot) {
  const Connection& connection = connections_[slot];
  uint32_t& chain = ChainOf(connection.hash);
  const uint32_t next = connection.next;
  if (chain == slot + 1) {
    chain = next == kNoSlot ? 0 : next + 1;
    return;
  }
  uint32_t at = chain - 1;
  while (connections_[at].next != slot) at = connections_[at].next;
  connections_[at].next = next;
}

}  // namespace trumpet
