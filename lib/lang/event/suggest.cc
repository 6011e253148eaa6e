// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace trumpet::event_lang {
namespace {

constexpr size_t kLongestWord = 32;

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Edit distance in which swapping two neighbours is one step.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      size_t best = std::min(cost[i - 1][j], cost[i][j - 1]) + 1;
      best = std::min(best, cost[i - 1][j - 1] + (same ? 0 : 1));
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
                           Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) best = std::min(best, cost[i - 2][j - 2] + 1);
      cost[i][j] = best;
    }
  }
  return cost[a.size()][b.size()];
}

std::string Question(const std::string& candidate) { return "; did you mean '" + candidate + "'?"; }

}  // namespace

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string* nearest = nullptr;
  size_t nearest_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(word, candidate);
    if (distance >= nearest_distance) continue;
    nearest_distance = distance;
    nearest = &candidate;
  }
  return nearest == nullptr ? "" : Question(*nearest);
}

std::string DidYouMeanShort(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kShortest = 3;
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string* near = nullptr;
  int near_count = 0;
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(word, candidate);
    if (distance == 0) return Question(candidate);
    if (distance > 1) continue;
    ++near_count;
    near = &candidate;
  }
  const bool is_plausible =
      near_count == 1 && word.size() >= kShortest && Lower(word[0]) == Lower((*near)[0]);
  return is_plausible ? Question(*near) : "";
}

}  // namespace trumpet::event_lang
