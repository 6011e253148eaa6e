// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/match_terms.h"

#include <algorithm>
#include <cstring>

#include "lib/tpm/key_layout.h"

namespace trumpet {
namespace {

using Terms = std::vector<MatchTerm>;

// Where a field lies in FlowKey; size 0: not in it.
struct Place {
  size_t offset = 0;
  size_t size = 0;
  bool is_host_order_u16 = false;
};

Place PlaceOf(const FieldRef& ref) {
  if (ref.level == Level::kOuter) return {};
  switch (ref.field) {
    case Field::kSrcIp:
      return {offsetof(FlowKey, src_ip), 16, false};
    case Field::kDstIp:
      return {offsetof(FlowKey, dst_ip), 16, false};
    case Field::kSrcPort:
      return {offsetof(FlowKey, src_port), 2, true};
    case Field::kDstPort:
      return {offsetof(FlowKey, dst_port), 2, true};
    case Field::kProtocol:
      return {offsetof(FlowKey, protocol), 1, false};
    default:
      return {};
  }
}

// The number of leading bits that all values of the range share.
int CommonPrefix(const ValueRange& range, int width) {
  int length = width;
  Uint128 difference = range.low ^ range.high;
  while (difference != 0) {
    difference >>= 1;
    length--;
  }
  return length;
}

// Sets the first `prefix` bits of a field of `size` bytes in mask and value.
void SetPrefix(const Place& place, Uint128 field_value, size_t size, int prefix, MatchTerm* term) {
  uint8_t mask[16];
  uint8_t value[16];
  for (size_t i = 0; i < size; i++) {
    const int bits = std::clamp(prefix - static_cast<int>(8 * i), 0, 8);
    mask[i] = static_cast<uint8_t>(0xff00 >> bits);
    value[i] = static_cast<uint8_t>(field_value >> (8 * (size - 1 - i))) & mask[i];
  }
  if (place.is_host_order_u16) {
    std::swap(mask[0], mask[1]);  // FlowKey holds ports as numbers of this (little-endian) host
    std::swap(value[0], value[1]);
  }
  std::memcpy(reinterpret_cast<uint8_t*>(&term->mask) + place.offset, mask, size);
  std::memcpy(reinterpret_cast<uint8_t*>(&term->value) + place.offset, value, size);
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "SetPrefix swaps port bytes");

// What every packet that has the field satisfies.  Bits of the family: kHasPortsFlag, and one that
// 4 and 6 share.
MatchTerm PresenceTerm(const FieldRef& ref, const Place& place) {
  constexpr uint8_t kIsIp = 4 & 6;
  MatchTerm term;
  const uint8_t flags = place.is_host_order_u16 ? kHasPortsFlag : kIsIp;
  term.mask.ip_family = flags;
  term.value.ip_family = flags;
  term.is_exact = ref.level == Level::kInnermost;  // inner.x needs a tunnel too
  return term;
}

MatchTerm TermOf(const FieldRef& ref, const Place& place, const ValueRange& range) {
  MatchTerm term = PresenceTerm(ref, place);
  const int width = FieldWidth(ref.field, range.kind);
  const int prefix = CommonPrefix(range, width);
  SetPrefix(place, range.low, static_cast<size_t>(width / 8), prefix, &term);
  if (range.kind == ValueKind::kIpv4 || range.kind == ValueKind::kIpv6) {
    term.mask.ip_family = static_cast<uint8_t>(~kHasPortsFlag);
    term.value.ip_family = range.kind == ValueKind::kIpv4 ? 4 : 6;
  }
  const Uint128 differing = range.low ^ range.high;
  const bool is_prefix = (range.low & differing) == 0 && (differing & (differing + 1)) == 0;
  term.is_exact &= is_prefix;
  return term;
}

Terms TermsOfTest(const FieldTest& test) {
  const Place place = PlaceOf(test.ref);
  if (place.size == 0 || test.is_masked) return {MatchTerm{}};
  if (test.is_any) return {PresenceTerm(test.ref, place)};
  Terms terms;
  for (const ValueRange& range : test.ranges) terms.push_back(TermOf(test.ref, place, range));
  if (terms.empty()) terms.push_back(MatchTerm{});
  return terms;
}

// Both conditions at once; false when they contradict each other.
bool Intersect(const MatchTerm& a, const MatchTerm& b, MatchTerm* both) {
  const auto* a_mask = reinterpret_cast<const uint8_t*>(&a.mask);
  const auto* b_mask = reinterpret_cast<const uint8_t*>(&b.mask);
  const auto* a_value = reinterpret_cast<const uint8_t*>(&a.value);
  const auto* b_value = reinterpret_cast<const uint8_t*>(&b.value);
  auto* mask = reinterpret_cast<uint8_t*>(&both->mask);
  auto* value = reinterpret_cast<uint8_t*>(&both->value);
  for (size_t i = 0; i < sizeof(FlowKey); i++) {
    if (((a_value[i] ^ b_value[i]) & a_mask[i] & b_mask[i]) != 0) return false;
    mask[i] = a_mask[i] | b_mask[i];
    value[i] = a_value[i] | b_value[i];
  }
  both->is_exact = a.is_exact && b.is_exact;
  return true;
}

Terms Conjunction(const Terms& left, const Terms& right) {
  Terms terms;
  for (const MatchTerm& a : left) {
    for (const MatchTerm& b : right) {
      MatchTerm both;
      if (Intersect(a, b, &both)) terms.push_back(both);
    }
  }
  return terms;  // empty: nothing can match
}

Terms TermsOf(const FilterExpr& filter) {
  switch (filter.op) {
    case FilterOp::kTrue: {
      MatchTerm everything;
      everything.is_exact = true;
      return {everything};
    }
    case FilterOp::kTest:
      return TermsOfTest(filter.test);
    case FilterOp::kAnd: {
      MatchTerm everything;
      everything.is_exact = true;
      Terms terms{everything};
      for (const FilterExpr& arg : filter.args) {
        const Terms more = TermsOf(arg);
        if (terms.size() * more.size() <= kMaxTermsPerFilter) {
          terms = Conjunction(terms, more);
        } else {  // too wide to multiply out: left to the final test
          for (MatchTerm& term : terms) term.is_exact = false;
        }
      }
      return terms;
    }
    case FilterOp::kOr: {
      Terms terms;
      for (const FilterExpr& arg : filter.args) {
        const Terms more = TermsOf(arg);
        terms.insert(terms.end(), more.begin(), more.end());
      }
      return terms.size() <= kMaxTermsPerFilter ? terms : Terms{MatchTerm{}};
    }
    default:
      return {MatchTerm{}};
  }
}

// Reading a field of the packet, and comparing it.
Nanos WorkOf(const FilterExpr& filter) {
  constexpr Nanos kTest = 15;
  constexpr Nanos kRange = 3;
  Nanos work = kTest + kRange * static_cast<Nanos>(filter.test.ranges.size());
  for (const FilterExpr& arg : filter.args) work += WorkOf(arg);
  return work;
}

}  // namespace

std::vector<MatchTerm> MakeMatchTerms(const FilterExpr& filter) {
  Terms terms = TermsOf(filter);
  if (terms.size() > kMaxTermsPerFilter) return {MatchTerm{}};
  return terms;
}

Nanos TestWorkOf(const FilterExpr& filter) {
  const std::vector<MatchTerm> terms = MakeMatchTerms(filter);
  const bool is_exact =
      std::all_of(terms.begin(), terms.end(), [](const MatchTerm& term) { return term.is_exact; });
  return is_exact ? 0 : WorkOf(filter);
}

}  // namespace trumpet
