// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CellTable: the cells of one interval of an event, by host and bucket.
//
// Hosts tell much the same buckets in much the same order in each interval.  So the table keeps the
// order of the last one: a cell is first compared with the one that came after its predecessor
// then, and only looked for by its hash if it is another.  Where its bucket was merged is kept,
// too.
//
// Threads: one.  Memory: of the cells of this interval and, until Recycle(), of those of the last
// one that have not come again.  Indices are valid until Recycle().

#ifndef TRUMPET_CONTROLLER_TEM_CELL_TABLE_H
#define TRUMPET_CONTROLLER_TEM_CELL_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/verdict/bucket_store.h"

namespace trumpet {

class CellTable {
 public:
  CellTable(size_t max_key_bytes, size_t word_count, uint64_t hash_seed);

  // Of what has come in this interval.
  size_t count() const { return count_; }
  uint32_t Find(uint32_t host, std::string_view bucket_key) const;  // kNoBucket: not there
  // True: it is new, and its words are rubbish.
  bool FindOrAdd(uint32_t host, std::string_view bucket_key, uint32_t* index);
  void Remove(uint32_t index);
  void RemoveHost(uint32_t host);  // all that it has told

  // In some order, to kNoBucket.
  uint32_t First() const { return SkipOld(store_.oldest()); }
  uint32_t Next(uint32_t index) const { return SkipOld(store_.Newer(index)); }

  uint32_t host(uint32_t index) const;
  std::string_view bucket_key(uint32_t index) const { return store_.key(index).substr(kHostBytes); }
  uint64_t* words(uint32_t index) { return store_.words(index); }
  const uint64_t* words(uint32_t index) const { return store_.words(index); }
  bool is_unscaled(uint32_t index) const { return store_.is_unscaled(index); }
  void SetUnscaled(uint32_t index, bool is_unscaled) {
    store_.bucket(index).is_unscaled = is_unscaled;
  }
  // Remembered from interval to interval: a guess, kNoBucket at first.
  uint32_t& merged_into(uint32_t index) { return merged_into_[index]; }
  // visit(index, merged_into) for all that was ever merged: also for what is no longer there, which
  // has another key, or none (Is()).
  template <typename Visitor>
  void VisitMerged(Visitor visit) const {
    for (uint32_t index = 0; index < merged_into_.size(); ++index)
      visit(index, merged_into_[index]);
  }
  // Is it a cell of this interval, with that bucket?
  bool Is(uint32_t index, std::string_view key) const {
    return store_.IsThere(index) && IsOfNow(index) && bucket_key(index) == key;
  }

  // To the next interval, in which nothing has come yet.
  void Recycle();

  // What a cell takes besides its bucket's key and 8 bytes per word.
  static const size_t kBytesPerCell;

 private:
  static constexpr size_t kHostBytes = 4;  // before the bucket's key

  bool IsOfNow(uint32_t index) const { return store_.bucket(index).last_packet == interval_; }
  uint32_t SkipOld(uint32_t index) const {
    while (index != kNoBucket && !IsOfNow(index)) index = store_.Newer(index);
    return index;
  }
  uint32_t Guess() const { return last_ == kNoBucket ? store_.oldest() : store_.Newer(last_); }
  bool IsAt(uint32_t index, uint32_t host, std::string_view bucket_key) const;
  void RemoveOld();

  BucketStore store_;
  std::vector<uint32_t> merged_into_;  // by index
  int64_t interval_ = 0;               // counted from the first one here
  size_t count_ = 0;
  uint32_t last_ = kNoBucket;  // that came
};

inline constexpr size_t CellTable::kBytesPerCell =
    BucketStore::kBytesPerBucket + kHostBytes + sizeof(uint32_t);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_CELL_TABLE_H
