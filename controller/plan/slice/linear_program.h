// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LinearProgram: a minimum over columns, relaxed by Clp or in whole numbers by CBC.
//
// Columns can be added between two solutions; the next one starts from the last.  Solvers print
// nothing.  Threads: one at a time in the whole program, for CBC keeps state of its own.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_LINEAR_PROGRAM_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_LINEAR_PROGRAM_H

#include <memory>
#include <optional>
#include <vector>

namespace trumpet::slice {

// Of one column in one row.
struct LpEntry {
  int row = 0;
  double value = 0;
};

struct LpSolution {
  double objective = 0;
  std::vector<double> values;  // by column
  std::vector<double> prices;  // by row, of a relaxed solution
};

struct IntegerSolution {
  double objective = 0;
  std::vector<double> values;  // whole numbers
  bool is_optimal = false;
};

class LinearProgram {
 public:
  static constexpr double kInfinity = 1e30;

  LinearProgram();
  ~LinearProgram();
  LinearProgram(const LinearProgram&) = delete;
  LinearProgram& operator=(const LinearProgram&) = delete;

  // All rows before the first column.
  int AddRow(double lower, double upper);
  int AddColumn(double objective, double lower, double upper, const std::vector<LpEntry>& entries);
  void SetBounds(int column, double lower, double upper);
  void SetRow(int row, double lower, double upper);
  int column_count() const { return static_cast<int>(columns_.size()); }

  // Nothing when there is no solution, or none in time.
  std::optional<LpSolution> SolveRelaxed(double seconds);
  // Every column in whole numbers.  The best solution within the time; nothing if there was none.
  std::optional<IntegerSolution> SolveInteger(double seconds) const;

 private:
  struct Bounds {
    double lower = 0;
    double upper = 0;
  };
  struct Column {
    double objective = 0;
    Bounds bounds;
    std::vector<LpEntry> entries;
  };
  struct Solver;  // Clp's
  struct Table;   // of columns, as both take it

  Table TableFrom(size_t first_column) const;
  void LoadNew();

  std::vector<Bounds> rows_;
  std::vector<Column> columns_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_LINEAR_PROGRAM_H
