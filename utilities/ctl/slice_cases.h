// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Slice cases: planning problems one a line, answered one a line, without a controller.
//
// docs/slices.md tells their fields.  A line that is no case, or asks for what cannot be, gets an
// answer with "error"; none stops those behind it.

#ifndef TRUMPET_UTILITIES_CTL_SLICE_CASES_H
#define TRUMPET_UTILITIES_CTL_SLICE_CASES_H

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>

#include "controller/plan/slice/network.h"

namespace trumpet {

struct SliceCaseOptions {
  std::string topologies;   // directory
  double seconds = 5;       // of solvers per case; then the best that was found counts
  std::string source_name;  // of the cases, for errors
};

// Answers cases by name of their map, which is read once.
class SliceCaseSolver {
 public:
  explicit SliceCaseSolver(SliceCaseOptions options) : options_(std::move(options)) {}

  // `line` holds one case; the answer holds no line break.  False in `is_case` when the line was
  // not understood.
  std::string Answer(std::string_view line, uint64_t number, bool* is_case);

 private:
  struct Map {
    slice::Network network;
    std::string error;  // instead
  };
  const Map& MapOf(const std::string& name);

  const SliceCaseOptions options_;
  std::map<std::string, Map> maps_;
};

// Answers all of `in` on `out`.  Returns how many lines were no cases.
uint64_t AnswerSliceCases(std::istream& in, std::ostream& out, const SliceCaseOptions& options);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_SLICE_CASES_H
