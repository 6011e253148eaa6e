// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/linear_program.h"

#include <Cbc_C_Interface.h>
#include <Clp_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace trumpet::slice {

struct LinearProgram::Solver {
  Solver() : model(Clp_newModel()) { Clp_setLogLevel(model, 0); }
  ~Solver() { Clp_deleteModel(model); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  Clp_Simplex* const model;
  size_t columns = 0;  // that it has; none: no rows either
};

// The entries of column i are those from starts[i] up to starts[i + 1].
struct LinearProgram::Table {
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> values, lower, upper, objective;
};

LinearProgram::LinearProgram() : solver_(std::make_unique<Solver>()) {}
LinearProgram::~LinearProgram() = default;

int LinearProgram::AddRow(double lower, double upper) {
  rows_.push_back({lower, upper});
  return static_cast<int>(rows_.size()) - 1;
}

int LinearProgram::AddColumn(double objective, double lower, double upper,
                             const std::vector<LpEntry>& entries) {
  columns_.push_back({objective, {lower, upper}, entries});
  return column_count() - 1;
}

LinearProgram::Table LinearProgram::TableFrom(size_t first_column) const {
  Table table;
  for (size_t i = first_column; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    for (const LpEntry& entry : column.entries) {
      table.rows.push_back(entry.row);
      table.values.push_back(entry.value);
    }
    table.starts.push_back(static_cast<CoinBigIndex>(table.rows.size()));
    table.lower.push_back(column.bounds.lower);
    table.upper.push_back(column.bounds.upper);
    table.objective.push_back(column.objective);
  }
  return table;
}

// All at once: with each one that it gets, Clp copies those that it has.
void LinearProgram::LoadNew() {
  Clp_Simplex* const model = solver_->model;
  if (solver_->columns == 0) {
    Clp_resize(model, static_cast<int>(rows_.size()), 0);
    for (size_t row = 0; row < rows_.size(); ++row) {
      Clp_rowLower(model)[row] = rows_[row].lower;
      Clp_rowUpper(model)[row] = rows_[row].upper;
    }
  }
  const Table table = TableFrom(solver_->columns);
  Clp_addColumns(model, static_cast<int>(table.lower.size()), table.lower.data(),
                 table.upper.data(), table.objective.data(), table.starts.data(), table.rows.data(),
                 table.values.data());
  solver_->columns = columns_.size();
}

void LinearProgram::SetBounds(int column, double lower, double upper) {
  columns_[static_cast<size_t>(column)].bounds = {lower, upper};
  if (static_cast<size_t>(column) >= solver_->columns) return;
  Clp_columnLower(solver_->model)[column] = lower;
  Clp_columnUpper(solver_->model)[column] = upper;
}

void LinearProgram::SetRow(int row, double lower, double upper) {
  rows_[static_cast<size_t>(row)] = {lower, upper};
  if (solver_->columns == 0) return;
  Clp_rowLower(solver_->model)[row] = lower;
  Clp_rowUpper(solver_->model)[row] = upper;
}

std::optional<LpSolution> LinearProgram::SolveRelaxed(double seconds) {
  LoadNew();
  Clp_Simplex* const model = solver_->model;
  Clp_setMaximumSeconds(model, std::max(seconds, 0.001));
  Clp_primal(model, 0);
  if (Clp_status(model) != 0) return std::nullopt;
  LpSolution solution;
  solution.objective = Clp_objectiveValue(model);
  const double* const values = Clp_primalColumnSolution(model);
  const double* const prices = Clp_dualRowSolution(model);
  solution.values.assign(values, values + columns_.size());
  solution.prices.assign(prices, prices + rows_.size());
  return solution;
}

std::optional<IntegerSolution> LinearProgram::SolveInteger(double seconds) const {
  const Table table = TableFrom(0);
  std::vector<double> row_lower, row_upper;
  for (const Bounds& row : rows_) {
    row_lower.push_back(row.lower);
    row_upper.push_back(row.upper);
  }
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model(Cbc_newModel(), Cbc_deleteModel);
  Cbc_loadProblem(model.get(), column_count(), static_cast<int>(rows_.size()), table.starts.data(),
                  table.rows.data(), table.values.data(), table.lower.data(), table.upper.data(),
                  table.objective.data(), row_lower.data(), row_upper.data());
  for (int column = 0; column < column_count(); ++column) Cbc_setInteger(model.get(), column);
  Cbc_setParameter(model.get(), "log", "0");
  Cbc_setParameter(model.get(), "seconds", std::to_string(std::max(seconds, 0.01)).c_str());
  Cbc_setParameter(model.get(), "timeMode", "elapsed");
  Cbc_solve(model.get());
  const double* const found = Cbc_bestSolution(model.get());
  if (found == nullptr || Cbc_isProvenInfeasible(model.get())) return std::nullopt;
  IntegerSolution solution;
  solution.is_optimal = Cbc_isProvenOptimal(model.get()) != 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    solution.values.push_back(std::round(found[i]));
    solution.objective += solution.values.back() * columns_[i].objective;
  }
  return solution;
}

}  // namespace trumpet::slice
