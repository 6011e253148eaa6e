// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RunAnswer: what the slices of a run say, query by query, as JSON (docs/slices.md).
//
//   RunAnswerMaker maker(run, name, options);
//   for (slice of the run) maker.AddConfine(*slice);   // first all of these
//   for (slice of the run) maker.AddMirror(*slice);
//   text = maker.Finish(latencies);
//
// Each call sees one slice, so that a loop can do other things between them.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_ANALYZER_RUN_ANSWER_H
#define TRUMPET_CONTROLLER_ANALYZER_RUN_ANSWER_H

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "controller/analyzer/path_statistics.h"
#include "controller/analyzer/slice_book.h"
#include "lib/base/units.h"
#include "lib/model/slice_copies.h"

namespace trumpet {

struct RunAnswerOptions {
  double confidence = 0.95;
  Nanos match_window = kNanosPerSecond;
};

class RunAnswerMaker {
 public:
  RunAnswerMaker(uint64_t run, std::string analyzer, const RunAnswerOptions& options)
      : run_(run), analyzer_(std::move(analyzer)), options_(options) {}

  void AddConfine(const SliceRecord& slice);  // does nothing for a MIRROR slice
  void AddMirror(const SliceRecord& slice);   // and this for a CONFINE slice
  std::string Finish(const std::vector<CopyLatency>& latencies) const;

 private:
  struct IdentityHash {
    size_t operator()(Uint128 identity) const { return static_cast<size_t>(identity); }
  };
  using Identities = std::unordered_set<Uint128, IdentityHash>;

  // A query, all of its slots.
  struct Query {
    ExpectedSlice first;
    std::vector<uint32_t> slots;
    std::map<std::string, SliceTally> tallies;  // by switch
    uint64_t not_kept = 0;
    PathCounts counts;
    std::vector<Nanos> delays;
    Identities left;  // CONFINE
  };

  Query* Count(const SliceRecord& slice);
  void TellMirror(const Query& query, const std::vector<CopyLatency>& latencies,
                  nlohmann::ordered_json* json) const;

  const uint64_t run_;
  const std::string analyzer_;
  const RunAnswerOptions options_;
  std::map<uint32_t, Query> queries_;
  Identities left_;  // of all CONFINE queries
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_RUN_ANSWER_H
