// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Results: the rows of all cases, as JSON and as tables for people.
//
// A row is of one contender in one case, or of a run of another kind; then its figures are in its
// member "results".  Rows go out as they come: one JSON object a line to stdout, or all of them to
// a file at the end; their table to stderr.

#ifndef TRUMPET_TESTS_BENCH_RESULTS_H
#define TRUMPET_TESTS_BENCH_RESULTS_H

#include <string>
#include <vector>

#include "tests/bench/contender.h"

namespace trumpet::bench {

class Results {
 public:
  // An empty `json_file` means stdout.
  explicit Results(std::string json_file) : json_file_(std::move(json_file)) {}

  // The rows of a case, or of a run of another kind, in the order of the table.
  void Add(const std::vector<Json>& rows);

  // The tables of all cases.  False and a line on stderr when the file cannot be written.
  bool Finish() const;

  // 0: all is well; 1: something was counted wrongly; 3: only some sweep did not end in its epoch.
  int exit_status() const;

 private:
  const Json* Find(const std::string& label, const char* contender) const;
  std::string LineOf(const std::string& label) const;
  std::vector<std::string> Labels() const;
  void PrintCases() const;
  void PrintOthers() const;

  const std::string json_file_;
  std::vector<Json> rows_;
};

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_RESULTS_H
