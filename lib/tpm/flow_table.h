// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowTable: entries by key, in memory taken at start.  (Paper, section 5: the flow table of
// phase 1.)
//
// An entry is one cache line; its cells, if it has any, lie in another line of its own when they
// fit, else in a block of a pool.  The index is an array of one-line buckets of eight 16-bit tags;
// a full bucket spills into a small overflow area, at most kMaxSpills times: look-ups stay short
// whatever keys come.  A batch goes through in passes, each prefetching for the next: Prefetch()
// the bucket, Guess() by the tag and prefetch the entry, then see if the guess is right and Find()
// if not.  While the table is nearly empty, most flows have the entry that their hash names, their
// seat, and that is the guess.  An entry belongs to one program generation: after a change of
// program every flow gets a new entry with its next packet, and the old one stays until its last
// cells were swept.
//
// Threads: one packet thread.  Never allocates after Init().

#ifndef TRUMPET_LIB_TPM_FLOW_TABLE_H
#define TRUMPET_LIB_TPM_FLOW_TABLE_H

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

#include "lib/base/block_pool.h"
#include "lib/base/page_buffer.h"
#include "lib/packet/flow_key.h"
#include "lib/tpm/connection_table.h"

namespace trumpet {

using FlowIndex = uint32_t;
constexpr FlowIndex kNoFlow = UINT32_MAX;

// Flags of FlowEntry::direct_cells, besides those of SetProgram.
constexpr uint8_t kWideKey = 0x40;  // all bytes of the addresses count, as IPv6 has them
constexpr uint8_t kSettled = 0x20;  // see FlowEntry::last_epoch

// An entry not in use never has the key of an IP packet: whoever has one need not ask if it is.
struct alignas(64) FlowEntry {
  FlowKey key;                         // see EntryKeyOf()
  uint32_t hash;                       // low half of the entry's hash
  uint32_t set;                        // InternedSet index within the generation
  BlockRef block;                      // extension, then two banks of cells: see BlockOf()
  ConnectionRef connection;            // last known, a hint
  uint32_t last_epoch;                 // with cells in which it sent; else see SlackOf()
  uint16_t generation;                 // of the program that made it
  uint8_t direct_cells;                // as SetProgram::direct_cells; if direct, any block is near
  uint8_t unscaled : 2;                // bit per bank: an unscaled window entered
  uint8_t block_class_bytes_log2 : 6;  // size of the pool's block as a power of two; 0: none
};
static_assert(sizeof(FlowEntry) == 64);

// Values of FlowEntry::block that name no block of the pool, besides kNoBlock (all is empty).
constexpr BlockRef kNearBlock = kNoBlock - 1;  // the entry's own line for it
constexpr size_t kNearBlockBytes = 64;

// How many epochs ago the flow may have sent something, after FlowEntry::last_epoch: none if it has
// cells, for which that is the sequence number of the last epoch in which it sent.  Of a flow
// without cells it only says how idle it is, and is not written in every epoch, except in the first
// two: of a flow of one packet it is exact.
constexpr uint32_t kSlackEpochs = 8;
static_assert(kSettled % kSlackEpochs == 0);
[[gnu::always_inline]] inline uint32_t SlackOf(uint32_t direct_cells) {
  return (direct_cells & kSettled) / (kSettled / kSlackEpochs);
}

class FlowTable {
 public:
  // False when there is no memory.
  [[nodiscard]] bool Init(uint32_t max_flows, size_t block_bytes, PageSource* source = nullptr);
  static size_t BytesFor(uint32_t max_flows, size_t block_bytes);

  // The table's arrays as values, for loops over a batch: a compiler reads pointers of the table
  // anew for every packet, as they might have been written to.  Good until the table is destroyed.
  class Lines;
  class Index;
  class Presence;
  class Seats;
  Lines lines();
  Index index() const;
  Presence presence() const;
  Seats seats() const;

  // Whether the entry `flow` is in use and has this key and generation.
  bool IsFlow(FlowIndex flow, const FlowKey& key, const uint8_t* extension, size_t extension_bytes,
              uint64_t hash, uint16_t generation) const {
    const FlowEntry& entry = entries_[flow];
    return entry.hash == static_cast<uint32_t>(hash) && entry.generation == generation &&
           entry.key == key && entry.last_epoch != kFree &&
           (extension_bytes == 0 || std::memcmp(BlockOf(entry), extension, extension_bytes) == 0);
  }

  // The entry of this key and generation, or kNoFlow.
  FlowIndex Find(const FlowKey& key, const uint8_t* extension, size_t extension_bytes,
                 uint64_t hash, uint16_t generation) const;

  // A new entry with a block of `block_bytes`; kNoFlow when there is no room.  Makes room by giving
  // up entries that were idle since before `oldest_pending_epoch`: all their cells have been swept.
  // The caller fills set, connection, last_epoch and the block.
  FlowIndex Add(const FlowKey& key, uint64_t hash, uint16_t generation, size_t block_bytes,
                uint32_t oldest_pending_epoch);

  // Moves an entry that has no block, and whose number nobody has kept, to its seat, or the one
  // beside it, if that is free.  Where the entry is now.
  FlowIndex MoveToSeat(FlowIndex flow, uint64_t hash);

  // Gives up entries among the next `count` that were idle for kStaleEpochs before `epoch`, the
  // oldest one not yet swept, or belong to neither of two generations.  Looking at stale_share() of
  // them per epoch bounds the age of entries, so that epoch and generation numbers may wrap around.
  void ReleaseStale(uint32_t count, uint32_t epoch, uint16_t running, uint16_t previous);
  uint32_t stale_share() const;

  // This is the generation of all packets from now on, and Index::Guess() looks for its entries.
  void RunGeneration(uint16_t generation) {
    running_ = generation;
    guessed_salt_ = SaltOf(generation);
  }

  FlowEntry& At(FlowIndex flow) { return entries_[flow]; }
  const FlowEntry& At(FlowIndex flow) const { return entries_[flow]; }
  bool IsInUse(FlowIndex flow) const { return entries_[flow].last_epoch != kFree; }

  // `entry` must be of this table, and its block not kNoBlock.
  uint8_t* BlockOf(FlowEntry& entry) {
    return entry.block == kNearBlock ? near_blocks_[IndexOf(entry)].bytes : blocks_.At(entry.block);
  }
  const uint8_t* BlockOf(const FlowEntry& entry) const {
    return entry.block == kNearBlock ? near_blocks_[IndexOf(entry)].bytes : blocks_.At(entry.block);
  }

  uint32_t capacity() const { return static_cast<uint32_t>(entries_.count()); }
  uint32_t count() const { return count_; }
  // Whether entries and buckets may take room in the second cache level.  Where flows are many, few
  // of these lines are wanted again while they would stay there, and the switch has more use for
  // the room: then they are fetched past it.
  bool are_few() const { return count_ <= kFewFlows; }
  // Whether most flows without a block are in their seats: entries whose place their hash gives, so
  // that nobody has to look for them in the index.
  bool is_sparse() const { return count_ <= capacity() / kSeatsPerFlow; }
  uint64_t reclaimed() const { return reclaimed_; }
  const BlockPool& blocks() const { return blocks_; }

  static constexpr uint32_t kFree = 0;        // last_epoch of an entry not in use
  static constexpr uint32_t kUntouched = 1;   // last_epoch of an entry just added
  static constexpr uint32_t kFirstEpoch = 2;  // sequence numbers start here
  static constexpr uint32_t kStaleEpochs = 1u << 17;
  static constexpr int kMaxSpills = 2;  // random keys need more once in 10^11 buckets

  // The epoch after `epoch`; the bank alternates across the wrap too.
  static uint32_t NextEpoch(uint32_t epoch) {
    return epoch == UINT32_MAX ? kFirstEpoch : epoch + 1;
  }

 private:
  static constexpr uint32_t kFewFlows = 1u << 14;
  static constexpr uint32_t kSeatsPerFlow = 16;
  static constexpr uint32_t kFirstSeats = 1u << 14;  // while there are no more than 1,024 flows
  static constexpr ConnectionRef kInChain = kNoConnection - 1;  // of an entry not in use
  static FlowIndex SeatOf(uint64_t hash, uint32_t mask, uint16_t salt) {
    return static_cast<FlowIndex>(hash >> 32 ^ salt) & mask;
  }
  // Of who finds the seat taken: the other half of two lines.
  static FlowIndex SeatBeside(FlowIndex seat) { return seat ^ 1; }
  static constexpr int kWays = 8;
  struct alignas(64) Bucket {
    uint16_t tags[kWays];        // 0: empty
    FlowIndex flows[kWays + 1];  // the last is the guess when no tag fits: 0
    uint32_t overflow;           // index into overflow_ plus 1; 0: none
  };
  static_assert(sizeof(Bucket) == 64);

  struct alignas(64) NearBlock {
    uint8_t bytes[kNearBlockBytes];
  };

  // Bits of the lower half (see key_hash.h) that are a bucket's distance from the first one.
  static size_t BucketOf(uint64_t hash, size_t mask) { return hash / sizeof(Bucket) & mask; }

  template <bool kAreFew>
  [[gnu::always_inline]] static void PrefetchLine(const void* line) {
    if (kAreFew) {
      __builtin_prefetch(line);
    } else {
      __builtin_prefetch(line, 0, 0);
    }
  }

  // Different for the entries of one flow in different generations, so that nobody guesses the
  // entry of the program before.
  static uint16_t TagOf(uint64_t hash, uint16_t salt) {
    return static_cast<uint16_t>((hash >> 48 ^ salt) | 1);
  }
  static uint16_t SaltOf(uint16_t generation) { return static_cast<uint16_t>(generation * 40503u); }

  // Bits 2i and 2i + 1 are set when tags[i] equals `tag`.
  static uint32_t TagMatches(const uint16_t* tags, uint16_t tag) {
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
    const __m128i equal = _mm_cmpeq_epi16(all, _mm_set1_epi16(static_cast<int16_t>(tag)));
    return static_cast<uint32_t>(_mm_movemask_epi8(equal));
  }
  // Of a bucket's word in presence_.
  static int PresenceBit(uint16_t tag) { return tag >> 1 & 31; }
  static int FirstWay(uint32_t matches) { return __builtin_ctz(matches) / 2; }
  static uint32_t WithoutFirst(uint32_t matches) {
    matches &= matches - 1;
    return matches & (matches - 1);
  }

  size_t IndexOf(const FlowEntry& entry) const {
    return static_cast<size_t>(&entry - entries_.data());
  }
  bool TakeBlock(FlowEntry* entry, size_t bytes, uint32_t oldest_pending_epoch);
  FlowIndex TakeEntry(uint32_t oldest_pending_epoch);
  void MakeSeats();
  FlowIndex FreeSeatOf(uint64_t hash, uint16_t generation) const;
  FlowIndex TakeSeat(FlowIndex seat);
  FlowIndex* LinkOf(FlowIndex flow);
  void Unchain(FlowIndex flow);
  // An epoch after which the flow sent nothing.
  uint32_t IdleSince(FlowIndex flow) const;
  bool IsReclaimable(FlowIndex flow, uint32_t oldest_pending_epoch) const;
  bool Reclaim(uint32_t oldest_pending_epoch);
  bool GiveUpIn(size_t home, uint32_t oldest_pending_epoch);
  void GiveUp(FlowIndex flow);
  bool Link(FlowIndex flow, uint64_t hash, uint32_t oldest_pending_epoch);
  void Unlink(FlowIndex flow);
  void NotePresence(size_t home);
  void Release(FlowIndex flow);
  uint32_t TakeOverflow();

  PageBuffer<Bucket> buckets_;
  PageBuffer<Bucket> overflow_;
  PageBuffer<uint32_t> presence_;  // see Presence
  PageBuffer<FlowEntry> entries_;
  PageBuffer<NearBlock> near_blocks_;
  PageBuffer<uint32_t> home_;  // bucket number of an entry, to unlink it
  BlockPool blocks_;
  size_t bucket_mask_ = 0;  // their number less one
  uint32_t seat_mask_ = 0;  // their number less one; it grows with the flows, up to
  uint32_t most_seats_mask_ = 0;
  uint16_t running_ = 0;
  uint16_t guessed_salt_ = 0;
  uint32_t next_entry_ = 0;         // from here on only seats were used
  uint32_t end_entry_ = 0;          // from here on no entry was
  FlowIndex free_entry_ = kNoFlow;  // chained through `hash` and back through `set`
  uint32_t next_overflow_ = 0;
  uint32_t free_overflow_ = 0;  // chained through `overflow`
  uint32_t clock_hand_ = 0;
  uint32_t barren_epoch_ = 0;  // the oldest pending one when the hand last went on
  uint32_t barren_steps_ = 0;  // made since it found anything
  uint32_t stale_hand_ = 0;
  uint32_t count_ = 0;
  uint64_t reclaimed_ = 0;
};

class FlowTable::Lines {
 public:
  FlowEntry& At(FlowIndex flow) const { return entries_[flow]; }
  uint64_t* NearBlock(FlowIndex flow) const {
    return reinterpret_cast<uint64_t*>(near_blocks_[flow].bytes);
  }
  // See are_few().
  template <bool kAreFew = false>
  void PrefetchEntry(FlowIndex flow) const {
    PrefetchLine<kAreFew>(&entries_[flow]);
  }
  void PrefetchCells(FlowIndex flow) const { __builtin_prefetch(near_blocks_[flow].bytes); }
  // The entry, or `instead` if that is wanted; and so the cells.  Without a branch: in a flood it
  // could be any.
  void PrefetchEntryOr(bool wants_instead, const void* instead, FlowIndex flow) const {
    const void* entry = &entries_[flow];
    __builtin_prefetch(wants_instead ? instead : entry);
  }
  void PrefetchCellsOr(bool wants_instead, const void* instead, FlowIndex flow) const {
    const void* cells = near_blocks_[flow].bytes;
    __builtin_prefetch(wants_instead ? instead : cells);
  }

 private:
  friend class FlowTable;
  Lines(FlowEntry* entries, FlowTable::NearBlock* near_blocks)
      : entries_(entries), near_blocks_(near_blocks) {}
  FlowEntry* entries_;
  FlowTable::NearBlock* near_blocks_;
};

class FlowTable::Index {
 public:
  template <bool kAreFew = false>
  void Prefetch(uint64_t hash) const {
    PrefetchLine<kAreFew>(&buckets_[BucketOf(hash, mask_)]);
  }

  // The first flow whose tag fits: most often the one that Find() would find, but perhaps another
  // one or an entry not in use.
  FlowIndex Guess(uint64_t hash) const {
    const Bucket& bucket = buckets_[BucketOf(hash, mask_)];
    const uint32_t matches = TagMatches(bucket.tags, TagOf(hash, salt_)) | 1u << 2 * kWays;
    // flows[FirstWay(matches)]: two bits a way, four bytes a flow.
    static_assert(sizeof(FlowIndex) == 4);
    FlowIndex flow;
    std::memcpy(&flow, reinterpret_cast<const uint8_t*>(bucket.flows) + 2 * __builtin_ctz(matches),
                sizeof flow);
    return flow;
  }

  // True: for certain there is no such flow.  False of all flows that there are, of those whose
  // bucket has spilled, and by a tag in 10,000 or so of another one.
  bool IsAbsent(uint64_t hash) const {
    const Bucket& bucket = buckets_[BucketOf(hash, mask_)];
    return (TagMatches(bucket.tags, TagOf(hash, salt_)) | bucket.overflow) == 0;
  }
  bool HasSpilled(uint64_t hash) const { return buckets_[BucketOf(hash, mask_)].overflow != 0; }

 private:
  friend class FlowTable;
  Index(const Bucket* buckets, size_t mask, uint16_t salt)
      : buckets_(buckets), mask_(mask), salt_(salt) {}
  const Bucket* buckets_;
  size_t mask_;
  uint16_t salt_;
};

// Which flows may have an entry, in four bytes per bucket: small enough to stay in the caches when
// nearly all packets of a flood are of flows that have none.
class FlowTable::Presence {
 public:
  // The lowest bit is 0: for certain there is no such flow.  It is 1 for all flows that there are,
  // those whose bucket has spilled, and one in sixteen or so of the others.
  [[gnu::always_inline]] uint32_t MayHave(uint64_t hash) const {
    return words_[HomeOf(hash)] >> (static_cast<uint32_t>(hash >> 49) ^ salt_) % 32;
  }

  // Prefetches the bucket of a flow if the lowest bit of `may_have` is 1.
  [[gnu::always_inline]] void PrefetchIf(uint32_t may_have, uint64_t hash) const {
    const uint64_t wanted = 0 - uint64_t{may_have & 1};
    __builtin_prefetch(&buckets_[HomeOf(hash) & wanted]);
  }

 private:
  friend class FlowTable;
  Presence(const uint32_t* words, const Bucket* buckets, size_t mask, uint16_t salt)
      : words_(words), buckets_(buckets), mask_(mask), salt_(salt >> 1) {}
  [[gnu::always_inline]] size_t HomeOf(uint64_t hash) const { return BucketOf(hash, mask_); }
  const uint32_t* words_;
  const Bucket* buckets_;
  size_t mask_;
  uint32_t salt_;
};

class FlowTable::Seats {
 public:
  // Of a flow of the running program; another one's entry may be there, or none.
  [[gnu::always_inline]] FlowIndex Of(uint64_t hash) const { return SeatOf(hash, mask_, salt_); }
  // Where the flow is if another one had its seat before: most often.
  static FlowIndex Beside(FlowIndex seat) { return SeatBeside(seat); }

 private:
  friend class FlowTable;
  Seats(uint32_t mask, uint16_t salt) : mask_(mask), salt_(salt) {}
  uint32_t mask_;
  uint16_t salt_;
};

inline FlowTable::Seats FlowTable::seats() const { return {seat_mask_, guessed_salt_}; }
inline FlowTable::Lines FlowTable::lines() { return {entries_.data(), near_blocks_.data()}; }
inline FlowTable::Index FlowTable::index() const {
  return {buckets_.data(), bucket_mask_, guessed_salt_};
}
inline FlowTable::Presence FlowTable::presence() const {
  return {presence_.data(), buckets_.data(), bucket_mask_, guessed_salt_};
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_FLOW_TABLE_H
