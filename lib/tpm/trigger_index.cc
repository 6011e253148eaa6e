// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_index.h"

#include "lib/tpm/key_layout.h"
#include "lib/tpm/match_terms.h"

namespace trumpet {
namespace {

bool AllowsFamily(const MatchTerm& term, uint8_t family) {
  const auto differing = static_cast<uint8_t>(term.value.ip_family ^ family);
  return (differing & term.mask.ip_family & static_cast<uint8_t>(~kHasPortsFlag)) == 0;
}

}  // namespace

TriggerIndex TriggerIndex::For(const std::vector<const FilterExpr*>& filters) {
  TriggerIndex index;
  index.filters_ = filters;
  std::vector<OwnedTerm> ipv4;
  std::vector<OwnedTerm> others;
  for (uint32_t trigger = 0; trigger < filters.size(); trigger++) {
    for (const MatchTerm& term : MakeMatchTerms(*filters[trigger])) {
      if (AllowsFamily(term, 4)) ipv4.push_back({term, trigger});
      if (AllowsFamily(term, 6) || AllowsFamily(term, 0)) others.push_back({term, trigger});
    }
  }
  index.ipv4_.Build(ipv4);
  index.others_.Build(others);
  return index;
}

size_t TriggerIndex::Match(const ParsedPacket& packet, const FlowKey& flow, uint64_t* marks,
                           uint32_t* matches) const {
  bool found_any = false;
  const auto mark = [&](Candidate candidate) {
    const uint32_t trigger = candidate.trigger();
    const uint32_t word = trigger / 64;
    if (candidate.needs_test()) {
      const bool is_marked = (marks[word] >> (trigger % 64) & 1) != 0;
      if (is_marked || !Matches(*filters_[trigger], packet)) return;
    }
    found_any = true;
    marks[word] |= uint64_t{1} << (trigger % 64);
    marks[trigger_words() + word / 64] |= uint64_t{1} << (word % 64);
  };
  FlowKey entry_key = flow;
  if (packet.innermost.Has(Field::kSrcPort)) entry_key.ip_family |= kHasPortsFlag;
  if (packet.innermost.ip_family == 4) {
    ipv4_.Find(entry_key, mark);
  } else {
    others_.Find(entry_key, mark);
  }
  return found_any ? Collect(marks, matches) : 0;
}

void TriggerIndex::AddMemory(CacheWarmer* warmer) const {
  ipv4_.AddMemory(warmer);
  others_.AddMemory(warmer);
}

size_t TriggerIndex::Collect(uint64_t* marks, uint32_t* matches) const {
  size_t count = 0;
  for (size_t high = trigger_words(); high < mark_word_count(); high++) {
    for (; marks[high] != 0; marks[high] &= marks[high] - 1) {
      const size_t word =
          64 * (high - trigger_words()) + static_cast<size_t>(__builtin_ctzll(marks[high]));
      for (uint64_t bits = marks[word]; bits != 0; bits &= bits - 1) {
        matches[count++] =
            static_cast<uint32_t>(64 * word) + static_cast<uint32_t>(__builtin_ctzll(bits));
      }
      marks[word] = 0;
    }
  }
  return count;
}

}  // namespace trumpet
