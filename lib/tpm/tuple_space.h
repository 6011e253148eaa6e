// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TupleSpace: match terms by tuple, a tuple being all terms under one mask, with pruning.
//
// Plain tuple space search (paper, section 5) probes one hash table per mask.  Here the destination
// address comes first: values fall into classes of equal answers, and if a class has few terms,
// they are listed with it and compared one by one.  Otherwise each of four fields tells which
// tuples have any term that this value satisfies, and only what is left of all tuples after that is
// probed.  A flow that no trigger is interested in is most often done after one look, however many
// masks there are.
//
// Threads: immutable once made.  Memory: linear in the terms.

#ifndef TRUMPET_LIB_TPM_TUPLE_SPACE_H
#define TRUMPET_LIB_TPM_TUPLE_SPACE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <type_traits>
#include <vector>

#include "lib/tpm/match_terms.h"
#include "lib/tpm/value_classes.h"

namespace trumpet {

// A set of tuples: bit t % kTupleBits stands for tuple t.
constexpr size_t kTupleBits = 256;
using TupleBits = std::array<uint64_t, kTupleBits / 64>;

// What a space finds for a flow: a trigger, and whether its whole filter must be tested.
class Candidate {
 public:
  Candidate(uint32_t trigger, bool is_exact) : bits_(trigger << 1 | (is_exact ? 0 : 1)) {}
  static Candidate FromBits(uint32_t bits) { return Candidate(bits >> 1, (bits & 1) == 0); }
  uint32_t bits() const { return bits_; }
  uint32_t trigger() const { return bits_ >> 1; }
  bool needs_test() const { return (bits_ & 1) != 0; }

 private:
  uint32_t bits_;
};

struct OwnedTerm {
  MatchTerm term;
  uint32_t trigger;
};

// kWords 2: the parts of an IPv4 key that are not zero; 5: whole keys.
template <size_t kWords>
class TupleSpace {
 public:
  static_assert(kWords == 2 || kWords == 5);
  // Of an address: all of IPv4, the upper half of IPv6.
  using Number = std::conditional_t<kWords == 2, uint32_t, uint64_t>;
  using Words = std::array<uint64_t, kWords>;

  void Build(const std::vector<OwnedTerm>& terms);

  size_t tuple_count() const { return tuples_.size(); }
  // What Find() reads, in that order.
  void AddMemory(CacheWarmer* warmer) const;

  // Calls `visit` with each Candidate for the flow of an entry's key, some maybe more than once.
  template <typename Visitor>
  void Find(const FlowKey& entry_key, const Visitor& visit) const;

 private:
  // Candidates that share a masked value.
  struct Slot {
    Words value;
    uint32_t first;  // of candidates_; if count is 1 the candidate itself
    uint32_t count;  // 0: empty slot
  };
  struct Tuple {
    Words mask;
    uint32_t first_slot;
    uint32_t slot_mask;  // open addressing, a power of two of slots, at most half full
  };
  // A slot in a list, with its mask.
  struct Listed {
    Words mask;
    Words value;
    uint32_t first;
    uint32_t count;
  };
  struct List {
    uint32_t first;  // of listed_
    uint32_t count;  // kTooMany: ask the tuples
  };
  enum FieldIndex { kDst, kSrc, kDstPort, kSrcPort, kFields };
  // Where the values that satisfy a slot's term begin or end.
  struct Edge {
    Number at;
    uint32_t tuple;
    uint32_t slot;
    bool is_begin;
  };
  struct FieldAnswers {
    ValueClasses<Number> classes;
    std::vector<uint64_t> bits;  // words_ per class: tuples with a term for its values
  };

  static constexpr uint32_t kTooMany = UINT32_MAX;
  static constexpr size_t kMaxListed = 12;  // as dear as half as many probes
  // With this many tuples left, probing them is no dearer than asking another field.
  static constexpr int kFewTuples = 6;

  static Words WordsOf(const FlowKey& key);
  static FlowKey KeyOf(const Words& words);
  static Number NumberOf(const FlowKey& key, int field);
  static uint64_t HashOf(const Words& words);
  size_t BuildTuple(const std::vector<OwnedTerm>& terms, size_t first);
  void BuildField(int field);
  void AppendList(const std::set<uint32_t>& slots);
  std::vector<Edge> EdgesOf(int field) const;
  int NarrowDown(const FlowKey& entry_key, size_t dst_class, TupleBits* left) const;
  template <typename Visitor>
  void Compare(const List& list, const Words& words, const Visitor& visit) const;
  template <typename Visitor>
  void Probe(const Tuple& tuple, const Words& words, const Visitor& visit) const;
  template <typename Visitor>
  void VisitAll(uint32_t first, uint32_t count, const Visitor& visit) const;

  std::vector<Tuple> tuples_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> candidates_;  // Candidate::bits()
  std::vector<List> lists_;           // per class of destinations
  std::vector<Listed> listed_;
  std::array<FieldAnswers, kFields> fields_;
  size_t words_ = 1;  // of TupleBits in use
};

// --- implementation of what the packet path calls -----------------------------

template <size_t kWords>
inline typename TupleSpace<kWords>::Words TupleSpace<kWords>::WordsOf(const FlowKey& key) {
  uint64_t whole[5];
  std::memcpy(whole, &key, sizeof whole);
  if constexpr (kWords == 2) {
    return {(whole[0] & UINT32_MAX) | whole[2] << 32, whole[4]};
  } else {
    return {whole[0], whole[1], whole[2], whole[3], whole[4]};
  }
}

template <size_t kWords>
inline typename TupleSpace<kWords>::Number TupleSpace<kWords>::NumberOf(const FlowKey& key,
                                                                        int field) {
  if (field == kDstPort) return key.dst_port;
  if (field == kSrcPort) return key.src_port;
  const IpBytes& address = field == kDst ? key.dst_ip : key.src_ip;
  Number number;
  std::memcpy(&number, address.data(), sizeof number);
  return sizeof number == 4 ? __builtin_bswap32(static_cast<uint32_t>(number))
                            : static_cast<Number>(__builtin_bswap64(number));
}

// Not seeded: who chooses the filters is trusted, and packets cannot change the tables.
template <size_t kWords>
inline uint64_t TupleSpace<kWords>::HashOf(const Words& words) {
  const auto fold = [](uint64_t a, uint64_t b) {
    const Uint128 product =
        static_cast<Uint128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xbf58476d1ce4e5b9u);
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
  };
  if constexpr (kWords == 2) {
    return fold(words[0], words[1]);
  } else {
    return fold(fold(words[0], words[1]) ^ words[4], fold(words[2], words[3]));
  }
}

template <size_t kWords>
template <typename Visitor>
inline void TupleSpace<kWords>::VisitAll(uint32_t first, uint32_t count,
                                         const Visitor& visit) const {
  if (count == 1) {
    visit(Candidate::FromBits(first));
    return;
  }
  for (uint32_t i = first; i < first + count; i++) visit(Candidate::FromBits(candidates_[i]));
}

template <size_t kWords>
template <typename Visitor>
inline void TupleSpace<kWords>::Compare(const List& list, const Words& words,
                                        const Visitor& visit) const {
  for (uint32_t i = list.first; i < list.first + list.count; i++) {
    const Listed& listed = listed_[i];
    uint64_t differing = 0;
    for (size_t w = 0; w < kWords; w++) differing |= (words[w] & listed.mask[w]) ^ listed.value[w];
    if (differing == 0) VisitAll(listed.first, listed.count, visit);
  }
}

template <size_t kWords>
template <typename Visitor>
inline void TupleSpace<kWords>::Probe(const Tuple& tuple, const Words& words,
                                      const Visitor& visit) const {
  Words masked;
  for (size_t w = 0; w < kWords; w++) masked[w] = words[w] & tuple.mask[w];
  for (uint64_t at = HashOf(masked);; at++) {
    const Slot& slot = slots_[tuple.first_slot + (at & tuple.slot_mask)];
    if (slot.count == 0) return;
    uint64_t differing = 0;
    for (size_t w = 0; w < kWords; w++) differing |= masked[w] ^ slot.value[w];
    if (differing != 0) continue;
    VisitAll(slot.first, slot.count, visit);
    return;
  }
}

template <size_t kWords>
template <typename Visitor>
void TupleSpace<kWords>::Find(const FlowKey& entry_key, const Visitor& visit) const {
  const size_t dst_class = fields_[kDst].classes.ClassOf(NumberOf(entry_key, kDst));
  const List& list = lists_[dst_class];
  if (list.count == 0) return;
  const Words words = WordsOf(entry_key);
  if (list.count != kTooMany) {
    Compare(list, words, visit);
    return;
  }
  TupleBits left;
  if (NarrowDown(entry_key, dst_class, &left) == 0) return;
  for (size_t i = 0; i < words_; i++) {
    for (uint64_t bits = left[i]; bits != 0; bits &= bits - 1) {
      const size_t bit = 64 * i + static_cast<size_t>(__builtin_ctzll(bits));
      for (size_t t = bit; t < tuples_.size(); t += kTupleBits) Probe(tuples_[t], words, visit);
    }
  }
}

extern template class TupleSpace<2>;
extern template class TupleSpace<5>;

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TUPLE_SPACE_H
