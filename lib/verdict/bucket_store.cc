// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/bucket_store.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trumpet {
namespace {

constexpr size_t kFirstChains = 1;  // an event without granularity has one bucket
constexpr size_t kAlwaysKept = 64;  // places that are not worth giving back

}  // namespace

BucketStore::BucketStore(size_t max_key_bytes, size_t word_count, uint64_t hash_seed)
    : max_key_bytes_(std::max<size_t>(max_key_bytes, 1)),
      word_count_(std::max<size_t>(word_count, 1)),
      hash_seed_(hash_seed) {}

uint64_t BucketStore::HashOf(std::string_view key) const {
  return XXH3_64bits_withSeed(key.data(), key.size(), hash_seed_);
}

uint32_t BucketStore::Find(std::string_view key) const {
  return count_ == 0 ? kNoBucket : FindHashed(key, HashOf(key));
}

uint32_t BucketStore::FindOrAdd(std::string_view key) {
  const uint64_t hash = HashOf(key);
  const uint32_t index = FindHashed(key, hash);
  return index != kNoBucket ? index : AddHashed(key, hash);
}

uint32_t BucketStore::FindHashed(std::string_view key, uint64_t hash) const {
  if (count_ == 0) return kNoBucket;
  uint32_t index = chains_[hash & (chains_.size() - 1)];
  while (index != kNoBucket && (links_[index].hash != hash || this->key(index) != key)) {
    index = links_[index].next;
  }
  return index;
}

uint32_t BucketStore::AddHashed(std::string_view key, uint64_t hash) {
  assert(key.size() <= max_key_bytes_);
  if (count_ >= chains_.size()) GrowChains();
  const uint32_t index = TakeFree();
  uint32_t* head = &chains_[hash & (chains_.size() - 1)];
  links_[index] = {hash, *head, kNoBucket, kNoBucket, static_cast<uint32_t>(key.size())};
  *head = index;
  buckets_[index] = Bucket();
  if (!key.empty()) std::memcpy(&keys_[index * max_key_bytes_], key.data(), key.size());
  LinkAsNewest(index);
  most_ = std::max(most_, ++count_);
  return index;
}

void BucketStore::Remove(uint32_t index) {
  uint32_t* link = &chains_[links_[index].hash & (chains_.size() - 1)];
  while (*link != index) link = &links_[*link].next;
  *link = links_[index].next;
  Unlink(index);
  links_[index].next = free_;
  links_[index].key_bytes = kNoBucket;
  free_ = index;
  --count_;
}

void BucketStore::MakeNewest(uint32_t index) {
  if (index == newest_) return;
  Unlink(index);
  LinkAsNewest(index);
}

void BucketStore::Clear() {
  if (links_.empty()) return;
  std::fill(chains_.begin(), chains_.end(), kNoBucket);
  links_.clear();
  buckets_.clear();
  keys_.clear();
  words_.clear();
  free_ = oldest_ = newest_ = kNoBucket;
  count_ = 0;
}

// A quarter, so that giving back and growing again costs no more than the buckets added between;
// and seldom, since freed memory that leaves the heap takes address translations of all processors
// with it: packet threads are interrupted.
void BucketStore::Trim() {
  const bool is_too_much = room() > kAlwaysKept && room() / 4 > most_;
  idle_trims_ = is_too_much ? idle_trims_ + 1 : 0;
  if (idle_trims_ == kPatience) {
    BucketStore kept(max_key_bytes_, word_count_, hash_seed_);
    for (uint32_t index = oldest_; index != kNoBucket; index = links_[index].newer) {
      const uint32_t to = kept.Add(key(index));
      kept.buckets_[to] = buckets_[index];
      std::copy_n(words(index), word_count_, kept.words(to));
    }
    *this = std::move(kept);
  }
  most_ = count_;
}

uint32_t BucketStore::TakeFree() {
  if (free_ != kNoBucket) {
    const uint32_t index = free_;
    free_ = links_[index].next;
    return index;
  }
  links_.emplace_back();
  buckets_.emplace_back();
  keys_.resize(keys_.size() + max_key_bytes_);
  words_.resize(words_.size() + word_count_);
  return static_cast<uint32_t>(links_.size() - 1);
}

// Called with every bucket in a chain or on the free list; only the former move.
void BucketStore::GrowChains() {
  chains_.assign(std::max(kFirstChains, 2 * chains_.size()), kNoBucket);
  for (uint32_t index = oldest_; index != kNoBucket; index = links_[index].newer) {
    uint32_t* head = &chains_[links_[index].hash & (chains_.size() - 1)];
    links_[index].next = *head;
    *head = index;
  }
}

void BucketStore::Unlink(uint32_t index) {
  const Links& links = links_[index];
  (links.older == kNoBucket ? oldest_ : links_[links.older].newer) = links.newer;
  (links.newer == kNoBucket ? newest_ : links_[links.newer].older) = links.older;
}

void BucketStore::LinkAsNewest(uint32_t index) {
  links_[index].older = newest_;
  links_[index].newer = kNoBucket;
  (newest_ == kNoBucket ? oldest_ : links_[newest_].newer) = index;
  newest_ = index;
}

}  // namespace trumpet
