// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TupleMatcher: tuple space search for the strawmen, as good as one can make it by plain means.
//
// One hash table per distinct mask, at most half full, open addressing.  A batch goes through one
// table at a time, all slots asked for before the first is read, so that misses overlap and the
// mask stays in registers.
//
// Keys are words: two for IPv4 (both addresses; ports and protocol), five for IPv6.

#ifndef TRUMPET_TESTS_BENCH_TUPLE_MATCHER_H
#define TRUMPET_TESTS_BENCH_TUPLE_MATCHER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/bench/workload.h"

namespace trumpet::bench {

template <int kWords>
class TupleMatcher {
 public:
  using Key = std::array<uint64_t, kWords>;
  struct Rule {
    Key mask;
    Key value;  // under the mask
  };

  // Rule i is trigger i.
  explicit TupleMatcher(const std::vector<Rule>& rules) {
    std::map<Key, std::map<Key, std::vector<uint32_t>>> tuples;
    for (uint32_t i = 0; i < rules.size(); i++) {
      tuples[rules[i].mask][rules[i].value].push_back(i);
    }
    for (const auto& [mask, values] : tuples) AddTable(mask, values);
  }

  // Calls visit(i, triggers, count) for each i < `count` and each list of triggers that keys[i]
  // matches; count is at most kBatch.
  template <typename Visit>
  void Match(const Key* keys, int count, Visit visit) const {
    for (const Table& table : tables_) {
      const Key mask = table.mask;
      const size_t slot_mask = table.slots.size() - 1;
      const Slot* slots = table.slots.data();
      Key masked[kBatch];
      size_t at[kBatch];
      for (int i = 0; i < count; i++) {
        masked[i] = Masked(keys[i], mask);
        at[i] = HashOf(masked[i]) & slot_mask;
        __builtin_prefetch(&slots[at[i]]);
      }
      for (int i = 0; i < count; i++) {
        for (size_t s = at[i]; slots[s].count != 0; s = (s + 1) & slot_mask) {
          if (slots[s].value != masked[i]) continue;
          visit(i, &triggers_[slots[s].first], slots[s].count);
          break;
        }
      }
    }
  }

  size_t mask_count() const { return tables_.size(); }

 private:
  struct Slot {
    Key value{};
    uint32_t first = 0;
    uint32_t count = 0;  // 0: empty
  };
  struct Table {
    Key mask;
    std::vector<Slot> slots;
  };

  static Key Masked(const Key& key, const Key& mask) {
    Key masked;
    for (int i = 0; i < kWords; i++) masked[i] = key[i] & mask[i];
    return masked;
  }

  // Both halves of a product of 128 bits.
  static uint64_t Fold(uint64_t a, uint64_t b) {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  static uint64_t HashOf(const Key& key) {
    uint64_t hash = Fold(key[0], key[kWords - 1]);
    for (int i = 1; i + 1 < kWords; i += 2) hash ^= Fold(key[i] + 0x2545f491, key[i + 1]);
    return hash;
  }

  void AddTable(const Key& mask, const std::map<Key, std::vector<uint32_t>>& values) {
    size_t slot_count = 4;
    while (slot_count < 2 * values.size()) slot_count *= 2;
    Table table{mask, std::vector<Slot>(slot_count)};
    for (const auto& [value, triggers] : values) {
      size_t at = HashOf(value) & (slot_count - 1);
      while (table.slots[at].count != 0) at = (at + 1) & (slot_count - 1);
      table.slots[at] = {value, static_cast<uint32_t>(triggers_.size()),
                         static_cast<uint32_t>(triggers.size())};
      triggers_.insert(triggers_.end(), triggers.begin(), triggers.end());
    }
    tables_.push_back(std::move(table));
  }

  std::vector<Table> tables_;
  std::vector<uint32_t> triggers_;
};

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_TUPLE_MATCHER_H
