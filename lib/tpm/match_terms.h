// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatchTerms: a filter's necessary conditions on the 5-tuple, as masked keys.
//
// A packet that passes the filter satisfies at least one term.  The converse holds for exact terms
// only; what satisfies another one is tested against the whole filter afterwards.  `not`, other
// fields and ranges that are no prefix widen a term and make it inexact.

#ifndef TRUMPET_LIB_TPM_MATCH_TERMS_H
#define TRUMPET_LIB_TPM_MATCH_TERMS_H

#include <vector>

#include "lib/base/units.h"
#include "lib/model/filter.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

// (key & mask) == value, byte by byte, for an entry's key (EntryKeyOf()); `zone` is never masked
// in.
struct MatchTerm {
  FlowKey mask;
  FlowKey value;
  bool is_exact = false;  // whatever satisfies the term passes the filter

  bool operator==(const MatchTerm& other) const {
    return mask == other.mask && value == other.value;
  }
};

// A filter with more alternatives than this gets one term that everything satisfies.
constexpr size_t kMaxTermsPerFilter = 64;

// Empty: nothing can match.
std::vector<MatchTerm> MakeMatchTerms(const FilterExpr& filter);

// What the test of a packet that satisfies a term takes at most, by experience; 0: there is no
// test, as all terms are exact.
Nanos TestWorkOf(const FilterExpr& filter);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_MATCH_TERMS_H
