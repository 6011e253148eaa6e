// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BucketStore: the live buckets of one event with the merged cells of the current interval,
// found by key and chained from the one idle for longest to the newest.
//
// Threads: one.  Memory: grows with the buckets in it and keeps what it grew to, until Trim() finds
// it too much.  References into the store are valid until the next Add(), indices until Trim().

#ifndef TRUMPET_LIB_VERDICT_BUCKET_STORE_H
#define TRUMPET_LIB_VERDICT_BUCKET_STORE_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trumpet {

constexpr uint32_t kNoBucket = UINT32_MAX;

// What is remembered of a bucket from interval to interval.
struct Bucket {
  int64_t last_packet = INT64_MIN;  // number of the last interval with packets
  int64_t last_true = INT64_MIN;    // number of the last interval whose test was true
  uint32_t run = 0;                 // how many in a row ended there
  bool is_unscaled = false;         // of the interval last_packet
  bool is_told = false;             // somebody is to hear when the run ends
};

class BucketStore {
 public:
  // Keys of at most `max_key_bytes`, `word_count` words of cells each.
  BucketStore(size_t max_key_bytes, size_t word_count, uint64_t hash_seed);

  uint32_t Find(std::string_view key) const;
  // `key` must not be in the store and must fit.  Cells hold rubbish; the bucket is the newest.
  uint32_t Add(std::string_view key) { return AddHashed(key, HashOf(key)); }
  // The one there is, or a new one: its last_packet is INT64_MIN.
  uint32_t FindOrAdd(std::string_view key);
  void Remove(uint32_t index);
  void MakeNewest(uint32_t index);
  void Clear();

  // Between intervals: gives memory back, if less than a quarter of it was needed in each of the
  // last kPatience.
  static constexpr int kPatience = 16;
  void Trim();

  size_t count() const { return count_; }
  size_t room() const { return links_.capacity(); }  // buckets that fit without more memory
  size_t max_key_bytes() const { return max_key_bytes_; }
  uint32_t oldest() const { return oldest_; }
  uint32_t newest() const { return newest_; }
  uint32_t Newer(uint32_t index) const { return links_[index].newer; }
  uint32_t Older(uint32_t index) const { return links_[index].older; }

  // Is the bucket of that key there?  Any index will do.
  bool Has(uint32_t index, std::string_view key) const {
    return index < links_.size() && links_[index].key_bytes == key.size() &&
           this->key(index) == key;
  }

  bool IsThere(uint32_t index) const {
    return index < links_.size() && links_[index].key_bytes != kNoBucket;
  }

  Bucket& bucket(uint32_t index) { return buckets_[index]; }
  const Bucket& bucket(uint32_t index) const { return buckets_[index]; }
  bool is_unscaled(uint32_t index) const { return buckets_[index].is_unscaled; }
  uint64_t* words(uint32_t index) { return &words_[index * word_count_]; }
  const uint64_t* words(uint32_t index) const { return &words_[index * word_count_]; }
  std::string_view key(uint32_t index) const {
    return {&keys_[index * max_key_bytes_], links_[index].key_bytes};
  }

  // What a bucket takes besides its key and 8 bytes per word of cells.
  static const size_t kBytesPerBucket;

 private:
  struct Links {
    uint64_t hash;
    uint32_t next;  // in the hash chain or in the free list
    uint32_t older;
    uint32_t newer;
    uint32_t key_bytes;  // kNoBucket: the place is free
  };

  uint64_t HashOf(std::string_view key) const;
  uint32_t FindHashed(std::string_view key, uint64_t hash) const;
  uint32_t AddHashed(std::string_view key, uint64_t hash);
  uint32_t TakeFree();
  void GrowChains();
  void Unlink(uint32_t index);
  void LinkAsNewest(uint32_t index);

  size_t max_key_bytes_;
  size_t word_count_;
  uint64_t hash_seed_;
  size_t count_ = 0;
  size_t most_ = 0;     // buckets at once since the last Trim()
  int idle_trims_ = 0;  // in a row that found too much
  uint32_t free_ = kNoBucket;
  uint32_t oldest_ = kNoBucket;
  uint32_t newest_ = kNoBucket;
  std::vector<uint32_t> chains_;  // heads; a power of two of them
  // Parallel arrays, one element (or stride) per bucket.
  std::vector<Links> links_;
  std::vector<Bucket> buckets_;
  std::vector<char> keys_;
  std::vector<uint64_t> words_;
};

// Two heads of chains per bucket at most.
inline constexpr size_t BucketStore::kBytesPerBucket =
    sizeof(Links) + sizeof(Bucket) + 2 * sizeof(uint32_t);

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_BUCKET_STORE_H
