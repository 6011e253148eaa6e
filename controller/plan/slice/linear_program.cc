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
};

LinearProgram::LinearProgram() : solver_(std::make_unique<Solver>()) {}
LinearProgram::~LinearProgram() = default;

int LinearProgram::AddRow(double lower, double upper) {
  const CoinBigIndex starts[] = {0, 0};
  Clp_addRows(solver_->model, 1, &lower, &upper, starts, nullptr, nullptr);
  rows_.push_back({lower, upper});
  return static_cast<int>(rows_.size()) - 1;
}

int LinearProgram::AddColumn(double objective, double lower, double upper,
                             const std::vector<LpEntry>& entries) {
  std::vector<int> rows;
  std::vector<double> values;
  for (const LpEntry& entry : entries) {
    rows.push_back(entry.row);
    values.push_back(entry.value);
  }
  const CoinBigIndex starts[] = {0, static_cast<CoinBigIndex>(rows.size())};
  Clp_addColumns(solver_->model, 1, &lower, &upper, &objective, starts, rows.data(), values.data());
  columns_.push_back({objective, {lower, upper}, entries});
  return column_count() - 1;
}

void LinearProgram::SetBounds(int column, double lower, double upper) {
  columns_[static_cast<size_t>(column)].bounds = {lower, upper};
  Clp_columnLower(solver_->model)[column] = lower;
  Clp_columnUpper(solver_->model)[column] = upper;
}

void LinearProgram::SetRow(int row, double lower, double upper) {
  rows_[static_cast<size_t>(row)] = {lower, upper};
  Clp_rowLower(solver_->model)[row] = lower;
  Clp_rowUpper(solver_->model)[row] = upper;
}

std::optional<LpSolution> LinearProgram::SolveRelaxed(double seconds) {
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
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> values, lower, upper, objective, row_lower, row_upper;
  for (const Column& column : columns_) {
    for (const LpEntry& entry : column.entries) {
      rows.push_back(entry.row);
      values.push_back(entry.value);
    }
    starts.push_back(static_cast<CoinBigIndex>(rows.size()));
    lower.push_back(column.bounds.lower);
    upper.push_back(column.bounds.upper);
    objective.push_back(column.objective);
  }
  for (const Bounds& row : rows_) {
    row_lower.push_back(row.lower);
    row_upper.push_back(row.upper);
  }
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model(Cbc_newModel(), Cbc_deleteModel);
  Cbc_loadProblem(model.get(), column_count(), static_cast<int>(rows_.size()), starts.data(),
                  rows.data(), values.data(), lower.data(), upper.data(), objective.data(),
                  row_lower.data(), row_upper.data());
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
