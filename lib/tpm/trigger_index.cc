// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_index.h"

#include <cstring>
#include <map>
#include <string>

#include "lib/tpm/match_terms.h"

namespace trumpet {
namespace {

std::string BytesOf(const FlowKey& key) {
  return std::string(reinterpret_cast<const char*>(&key), sizeof key);
}

// Spreads masked keys over slots.  Not seeded: who chooses the filters is trusted, and packets
// cannot change the table.
uint64_t SlotHash(const FlowKey& key) {
  uint64_t words[5];
  std::memcpy(words, &key, sizeof words);
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (const uint64_t word : words) {
    hash = (hash ^ word) * 0xd6e8feb86659fd93;
    hash ^= hash >> 32;
  }
  return hash;
}

size_t SlotCountFor(size_t values) {
  size_t count = 4;
  while (count < 2 * values) count *= 2;
  return count;
}

// mask bytes -> value bytes -> triggers
using TupleMap = std::map<std::string, std::map<std::string, std::vector<uint32_t>>>;

TupleMap CollectTerms(const std::vector<const FilterExpr*>& filters) {
  TupleMap tuples;
  for (uint32_t trigger = 0; trigger < filters.size(); trigger++) {
    for (const MatchTerm& term : MakeMatchTerms(*filters[trigger])) {
      std::vector<uint32_t>& list = tuples[BytesOf(term.mask)][BytesOf(term.value)];
      if (list.empty() || list.back() != trigger) list.push_back(trigger);
    }
  }
  return tuples;
}

}  // namespace

TriggerIndex TriggerIndex::For(const std::vector<const FilterExpr*>& filters) {
  TriggerIndex index;
  index.filters_ = filters;
  for (const auto& [mask, values] : CollectTerms(filters)) {
    Tuple tuple;
    std::memcpy(&tuple.mask, mask.data(), sizeof tuple.mask);
    tuple.slots.resize(SlotCountFor(values.size()));
    for (const auto& [value, triggers] : values) {
      Slot slot;
      std::memcpy(&slot.value, value.data(), sizeof slot.value);
      slot.first = static_cast<uint32_t>(index.triggers_.size());
      slot.count = static_cast<uint32_t>(triggers.size());
      index.triggers_.insert(index.triggers_.end(), triggers.begin(), triggers.end());
      size_t at = SlotHash(slot.value) & (tuple.slots.size() - 1);
      while (tuple.slots[at].count != 0) at = (at + 1) & (tuple.slots.size() - 1);
      tuple.slots[at] = slot;
    }
    index.tuples_.push_back(std::move(tuple));
  }
  return index;
}

const TriggerIndex::Slot* TriggerIndex::Find(const Tuple& tuple, const FlowKey& masked) const {
  size_t at = SlotHash(masked) & (tuple.slots.size() - 1);
  while (tuple.slots[at].count != 0) {
    if (tuple.slots[at].value == masked) return &tuple.slots[at];
    at = (at + 1) & (tuple.slots.size() - 1);
  }
  return nullptr;
}

size_t TriggerIndex::Match(const ParsedPacket& packet, const FlowKey& flow, uint64_t* marks,
                           uint32_t* matches) const {
  for (const Tuple& tuple : tuples_) {
    const Slot* slot = Find(tuple, Masked(flow, tuple.mask));
    if (slot == nullptr) continue;
    for (uint32_t i = slot->first; i < slot->first + slot->count; i++) {
      const uint32_t trigger = triggers_[i];
      const uint64_t bit = uint64_t{1} << (trigger & 63);
      if ((marks[trigger / 64] & bit) == 0 && Matches(*filters_[trigger], packet)) {
        marks[trigger / 64] |= bit;
      }
    }
  }
  size_t count = 0;
  for (size_t word = 0; word < mark_word_count(); word++) {
    while (marks[word] != 0) {
      const int bit = __builtin_ctzll(marks[word]);
      marks[word] &= marks[word] - 1;
      matches[count++] = static_cast<uint32_t>(64 * word) + static_cast<uint32_t>(bit);
    }
  }
  return count;
}

}  // namespace trumpet
