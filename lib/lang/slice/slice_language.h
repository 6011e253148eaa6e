// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The slice language: what to mirror, where, and for how long.
//
//   (name: web, weight: 2) MIRROR { 1.2.3.0/24 } ON { [A -> D] }
//   CONFINE { 1.2.3.0/24 } ON { [A -> D] }
//   USING 15 Mb/s DURING 450 ms EVERY 5 s
//
// docs/slices.md is its guide.  Both spellings are read: the paper's, with braces and rates as
// `15 Mb/s`, and that of the authors' program.
//
// Threads: no state.

#ifndef TRUMPET_LIB_LANG_SLICE_SLICE_LANGUAGE_H
#define TRUMPET_LIB_LANG_SLICE_SLICE_LANGUAGE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/prefix.h"

namespace trumpet {

enum class SliceAction : uint8_t { kMirror, kConfine };

// A router, or an arrow.
struct SliceStep {
  bool is_arrow = false;
  std::string router;
  size_t offset = 0;  // in the text
};

struct SliceRegion {
  std::vector<SliceStep> steps;  // not empty
  size_t offset = 0;
};

// What one MIRROR or CONFINE says; it stands for one query of each prefix on each region.
struct SliceQuery {
  SliceAction action = SliceAction::kMirror;
  std::string name;  // may be empty
  double weight = 1;
  std::vector<Prefix> prefixes;
  std::vector<SliceRegion> regions;
  size_t offset = 0;
};

struct SliceCampaign {
  std::vector<SliceQuery> queries;
  int64_t using_bps = 10'000'000;
  Nanos during = 500 * kNanosPerMilli;
  Nanos every = 5 * kNanosPerSecond;
};

constexpr size_t kMaxSliceTextBytes = 1024 * 1024;
constexpr size_t kMaxSliceQueries = 10'000;  // prefixes times regions of all
constexpr int64_t kMaxSliceRate = 1'000'000'000'000;
constexpr Nanos kMaxSliceTime = 366 * 24 * 3600 * kNanosPerSecond;
constexpr double kMaxSliceWeight = 1'000'000;

// The error: "slices.txt:1:8: 'MIROR' is no action; did you mean 'MIRROR'?".
Result<SliceCampaign> ParseSlices(std::string_view text, std::string_view source_name);

// Does the grammar accept it, whatever it means?  The error: where it does not.
Status CheckSliceGrammar(std::string_view text, std::string_view source_name);

// One query a line and then the budget; reads back as the same campaign.
std::string PrintSlices(const SliceCampaign& campaign);
// "[A -> \"r1.lon\"]"
std::string PrintSliceRegion(const SliceRegion& region);

}  // namespace trumpet

#endif  // TRUMPET_LIB_LANG_SLICE_SLICE_LANGUAGE_H
