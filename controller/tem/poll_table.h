// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PollTable: of one event and interval, the buckets that some host reported, and how far each host
// has told what it counted in them.
//
// Threads: one.  Memory: a byte per bucket and host, and some 100 bytes per bucket.

#ifndef TRUMPET_CONTROLLER_TEM_POLL_TABLE_H
#define TRUMPET_CONTROLLER_TEM_POLL_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/base/units.h"
#include "lib/verdict/bucket_store.h"

namespace trumpet {

enum class PollState : uint8_t {
  kUntold,  // neither reported nor asked
  kAsked,
  kTold,     // its cells are here, or it had no packets
  kRefused,  // it no longer knows
};

class PollTable {
 public:
  PollTable(size_t max_key_bytes, uint64_t hash_seed) : keys_(max_key_bytes, 1, hash_seed) {}

  // The number of a bucket: 0, 1, ... in the order in which they were first reported.
  uint32_t Find(std::string_view key) const { return keys_.Find(key); }
  uint32_t FindOrAdd(std::string_view key) {
    const uint32_t found = keys_.Find(key);
    if (found != kNoBucket) return found;
    buckets_.emplace_back();
    return keys_.Add(key);
  }
  size_t bucket_count() const { return buckets_.size(); }
  std::string_view key(uint32_t bucket) const { return keys_.key(bucket); }

  PollState state(uint32_t bucket, uint32_t host) const {
    const auto& states = buckets_[bucket].states;
    return host < states.size() ? states[host] : PollState::kUntold;
  }
  void Set(uint32_t bucket, uint32_t host, PollState state) {
    auto& states = buckets_[bucket].states;
    if (host >= states.size()) states.resize(host + 1);
    if (states[host] == PollState::kAsked) --asked_count_;
    if (state == PollState::kAsked) ++asked_count_;
    states[host] = state;
  }

  // Answers that are still owed.
  size_t asked_count() const { return asked_count_; }

  // When, see VerdictStages; 0: not yet.
  struct Times {
    Nanos told_ns = 0;
    Nanos asked_ns = 0;
    Nanos answered_ns = 0;
  };
  Times& times(uint32_t bucket) { return buckets_[bucket].times; }
  const Times& times(uint32_t bucket) const { return buckets_[bucket].times; }

  // IncompleteReason bits that came with answers.
  uint32_t reasons(uint32_t bucket) const { return buckets_[bucket].reasons; }
  void AddReasons(uint32_t bucket, uint32_t reasons) { buckets_[bucket].reasons |= reasons; }

  // Nobody need be asked: what is known, with the most that the others can have, is too little.
  bool is_decided(uint32_t bucket) const { return buckets_[bucket].is_decided; }
  void SetDecided(uint32_t bucket, bool is_decided) { buckets_[bucket].is_decided = is_decided; }

 private:
  struct PolledBucket {
    std::vector<PollState> states;  // by host; untold beyond its end
    Times times;
    uint32_t reasons = 0;
    bool is_decided = false;
  };

  BucketStore keys_;
  std::vector<PolledBucket> buckets_;
  size_t asked_count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_POLL_TABLE_H
