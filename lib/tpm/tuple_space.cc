// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/tuple_space.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace trumpet {
namespace {

int Compare(const FlowKey& a, const FlowKey& b) { return std::memcmp(&a, &b, sizeof a); }

// By mask, then by value, then by trigger; of equal ones the exact first.
bool IsBefore(const OwnedTerm& a, const OwnedTerm& b) {
  if (const int order = Compare(a.term.mask, b.term.mask); order != 0) return order < 0;
  if (const int order = Compare(a.term.value, b.term.value); order != 0) return order < 0;
  if (a.trigger != b.trigger) return a.trigger < b.trigger;
  return a.term.is_exact && !b.term.is_exact;
}

uint32_t SlotCountFor(size_t values) {
  uint32_t count = 2;
  while (count < 2 * values) count *= 2;
  return count;
}

}  // namespace

template <size_t kWords>
void TupleSpace<kWords>::Build(const std::vector<OwnedTerm>& terms) {
  std::vector<OwnedTerm> sorted = terms;
  std::sort(sorted.begin(), sorted.end(), IsBefore);
  for (size_t i = 0; i < sorted.size();) i = BuildTuple(sorted, i);
  words_ = std::clamp<size_t>((tuples_.size() + 63) / 64, 1, kTupleBits / 64);
  for (int field = 0; field < kFields; field++) BuildField(field);
}

// The terms from `first` on that share a mask; returns the first one after them.
template <size_t kWords>
size_t TupleSpace<kWords>::BuildTuple(const std::vector<OwnedTerm>& terms, size_t first) {
  const FlowKey mask = terms[first].term.mask;
  size_t end = first;
  size_t values = 0;
  for (; end < terms.size() && terms[end].term.mask == mask; end++) {
    if (end == first || terms[end].term.value != terms[end - 1].term.value) values++;
  }
  const uint32_t slot_count = SlotCountFor(values);
  const Tuple tuple{WordsOf(mask), static_cast<uint32_t>(slots_.size()), slot_count - 1};
  tuples_.push_back(tuple);
  slots_.resize(slots_.size() + slot_count, Slot{});

  for (size_t i = first; i < end;) {
    const FlowKey value = terms[i].term.value;
    Slot slot{WordsOf(value), static_cast<uint32_t>(candidates_.size()), 0};
    uint32_t last_trigger = UINT32_MAX;
    for (; i < end && terms[i].term.value == value; i++) {
      if (terms[i].trigger == last_trigger) continue;
      last_trigger = terms[i].trigger;
      candidates_.push_back(Candidate(last_trigger, terms[i].term.is_exact).bits());
      slot.count++;
    }
    if (slot.count == 1) {
      slot.first = candidates_.back();
      candidates_.pop_back();
    }
    uint64_t at = HashOf(slot.value);
    while (slots_[tuple.first_slot + (at & tuple.slot_mask)].count != 0) at++;
    slots_[tuple.first_slot + (at & tuple.slot_mask)] = slot;
  }
  return end;
}

template <size_t kWords>
void TupleSpace<kWords>::AddMemory(CacheWarmer* warmer) const {
  for (const FieldAnswers& answers : fields_) {
    answers.classes.AddMemory(warmer);
    warmer->Add(answers.bits);
  }
  warmer->Add(lists_);
  warmer->Add(listed_);
  warmer->Add(tuples_);
  warmer->Add(slots_);
  warmer->Add(candidates_);
}

template <size_t kWords>
FlowKey TupleSpace<kWords>::KeyOf(const Words& words) {
  uint64_t whole[5] = {words[0], 0, 0, 0, words[kWords - 1]};
  if constexpr (kWords == 2) {
    whole[0] = words[0] & UINT32_MAX;
    whole[2] = words[0] >> 32;
  } else {
    std::copy(words.begin(), words.end(), whole);
  }
  FlowKey key;
  std::memcpy(&key, whole, sizeof whole);
  return key;
}

// The masks of all fields are prefixes, so the value of a slot stands for an interval.
template <size_t kWords>
auto TupleSpace<kWords>::EdgesOf(int field) const -> std::vector<Edge> {
  const bool is_port = field == kDstPort || field == kSrcPort;
  const Number largest = std::numeric_limits<Number>::max();
  const Number ones = is_port ? 0xffff : largest;
  std::vector<Edge> edges;
  for (uint32_t t = 0; t < tuples_.size(); t++) {
    const Number mask = NumberOf(KeyOf(tuples_[t].mask), field);
    for (uint32_t i = 0; i <= tuples_[t].slot_mask; i++) {
      const uint32_t slot = tuples_[t].first_slot + i;
      if (slots_[slot].count == 0) continue;
      const Number low = NumberOf(KeyOf(slots_[slot].value), field);
      const Number high = mask == 0 ? largest : static_cast<Number>(low | (ones & ~mask));
      edges.push_back({low, t, slot, true});
      if (high != largest) edges.push_back({static_cast<Number>(high + 1), t, slot, false});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  return edges;
}

// Goes through the values of the field in order.  Classes with equal answers become one, but for
// destinations, whose lists differ.
template <size_t kWords>
void TupleSpace<kWords>::BuildField(int field) {
  const std::vector<Edge> edges = EdgesOf(field);
  FieldAnswers& answers = fields_[static_cast<size_t>(field)];
  std::vector<Number> starts;
  std::vector<uint32_t> open(kTupleBits, 0);  // slots of each bit that hold the value
  std::set<uint32_t> open_slots;
  std::vector<uint64_t> answer(words_, 0);
  for (size_t i = 0; i < edges.size() || starts.empty();) {
    const Number at = starts.empty() ? 0 : edges[i].at;
    for (; i < edges.size() && edges[i].at == at; i++) {
      const size_t bit = edges[i].tuple % kTupleBits;
      open[bit] += edges[i].is_begin ? 1 : UINT32_MAX;
      const uint64_t flag = uint64_t{1} << (bit % 64);
      answer[bit / 64] = open[bit] != 0 ? answer[bit / 64] | flag : answer[bit / 64] & ~flag;
      if (field != kDst) continue;
      if (edges[i].is_begin) {
        open_slots.insert(edges[i].slot);
      } else {
        open_slots.erase(edges[i].slot);
      }
    }
    const auto last = answers.bits.end() - static_cast<ptrdiff_t>(starts.empty() ? 0 : words_);
    if (field != kDst && !starts.empty() && std::equal(answer.begin(), answer.end(), last)) {
      continue;
    }
    starts.push_back(at);
    answers.bits.insert(answers.bits.end(), answer.begin(), answer.end());
    if (field == kDst) AppendList(open_slots);
  }
  answers.classes = ValueClasses<Number>(std::move(starts));
}

template <size_t kWords>
void TupleSpace<kWords>::AppendList(const std::set<uint32_t>& slots) {
  if (slots.size() > kMaxListed) {
    lists_.push_back({0, kTooMany});
    return;
  }
  lists_.push_back({static_cast<uint32_t>(listed_.size()), static_cast<uint32_t>(slots.size())});
  for (const uint32_t index : slots) {
    const auto tuple = std::upper_bound(tuples_.begin(), tuples_.end(), index,
                                        [](uint32_t slot, const Tuple& after) {
                                          return slot < after.first_slot;
                                        }) -
                       1;
    const Slot& slot = slots_[index];
    listed_.push_back({tuple->mask, slot.value, slot.first, slot.count});
  }
}

// The tuples that may have a term for the flow; returns how many bits stand for them.
template <size_t kWords>
int TupleSpace<kWords>::NarrowDown(const FlowKey& entry_key, size_t dst_class,
                                   TupleBits* left) const {
  size_t at = dst_class;
  left->fill(~uint64_t{0});
  for (int field = kDst;;
       at = fields_[static_cast<size_t>(field)].classes.ClassOf(NumberOf(entry_key, field))) {
    const uint64_t* answer = &fields_[static_cast<size_t>(field)].bits[at * words_];
    int count = 0;
    for (size_t i = 0; i < words_; i++) {
      (*left)[i] &= answer[i];
      count += __builtin_popcountll((*left)[i]);
    }
    if (count <= kFewTuples || ++field == kFields) return count;
  }
}

template class TupleSpace<2>;
template class TupleSpace<5>;

}  // namespace trumpet
