// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/cell_table.h"

#include <cstring>

#include "lib/model/bucket_key.h"

namespace trumpet {
namespace {

constexpr size_t kHostNumberBytes = 4;

struct CellKey {
  CellKey(uint32_t host, std::string_view bucket_key) : size(kHostNumberBytes + bucket_key.size()) {
    std::memcpy(bytes, &host, kHostNumberBytes);
    if (!bucket_key.empty()) {
      std::memcpy(bytes + kHostNumberBytes, bucket_key.data(), bucket_key.size());
    }
  }
  std::string_view view() const { return {bytes, size}; }

  char bytes[kHostNumberBytes + kMaxBucketKeyBytes];
  size_t size;
};

}  // namespace

CellTable::CellTable(size_t max_key_bytes, size_t word_count, uint64_t hash_seed)
    : store_(kHostBytes + max_key_bytes, word_count, hash_seed) {
  static_assert(kHostBytes == kHostNumberBytes);
}

uint32_t CellTable::host(uint32_t index) const {
  uint32_t host = 0;
  std::memcpy(&host, store_.key(index).data(), kHostBytes);
  return host;
}

bool CellTable::IsAt(uint32_t index, uint32_t host, std::string_view bucket_key) const {
  return this->host(index) == host && this->bucket_key(index) == bucket_key;
}

uint32_t CellTable::Find(uint32_t host, std::string_view bucket_key) const {
  const uint32_t index = store_.Find(CellKey(host, bucket_key).view());
  return index != kNoBucket && IsOfNow(index) ? index : kNoBucket;
}

bool CellTable::FindOrAdd(uint32_t host, std::string_view bucket_key, uint32_t* index) {
  const uint32_t guess = Guess();
  const bool is_right = guess != kNoBucket && IsAt(guess, host, bucket_key);
  *index = is_right ? guess : store_.FindOrAdd(CellKey(host, bucket_key).view());
  if (*index >= merged_into_.size()) merged_into_.resize(*index + 1, kNoBucket);
  last_ = *index;
  if (IsOfNow(*index)) return false;
  store_.bucket(*index).last_packet = interval_;
  ++count_;
  return true;
}

void CellTable::Remove(uint32_t index) {
  if (IsOfNow(index)) --count_;
  last_ = kNoBucket;
  store_.Remove(index);
}

void CellTable::RemoveHost(uint32_t host) {
  for (uint32_t index = store_.oldest(); index != kNoBucket;) {
    const uint32_t newer = store_.Newer(index);
    if (this->host(index) == host) Remove(index);
    index = newer;
  }
}

void CellTable::Recycle() {
  if (count_ * 2 < store_.count()) {
    store_.Clear();
  } else if (count_ < store_.count()) {
    RemoveOld();
  }
  store_.Trim();
  ++interval_;
  count_ = 0;
  last_ = kNoBucket;
}

void CellTable::RemoveOld() {
  for (uint32_t index = store_.oldest(); index != kNoBucket;) {
    const uint32_t newer = store_.Newer(index);
    if (!IsOfNow(index)) store_.Remove(index);
    index = newer;
  }
}

}  // namespace trumpet
