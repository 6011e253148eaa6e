// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the measurement language: no crash; every error has its place; a program keeps the limits
// that it promises; what was read prints, reads back and means the same.

#include <cstdint>
#include <string>

#include "lib/base/fuzz_require.h"
#include "lib/lang/mafia/mafia_language.h"

namespace {

using trumpet::kNoIndex;
using trumpet::MeasureProgram;
using trumpet::Require;

bool IsBelow(uint32_t index, size_t end) { return index == kNoIndex || index < end; }

// What lib/model/measure_program.h says of indices.
bool IsSound(const MeasureProgram& program) {
  for (size_t i = 0; i < program.exprs.size(); ++i) {
    const auto& expr = program.exprs[i];
    if (!IsBelow(expr.a, i) || !IsBelow(expr.b, i)) return false;
    if (!IsBelow(expr.variable, program.variables.size())) return false;
    if (expr.field >= trumpet::kMeasureFieldCount + program.header_fields.size()) return false;
  }
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const auto& node = program.nodes[i];
    if (!IsBelow(node.expr, program.exprs.size())) return false;
    for (const uint32_t child : node.children) {
      if (child >= i) return false;
    }
  }
  for (const auto& task : program.tasks) {
    if (task.root >= program.nodes.size() || task.stream >= program.streams.size()) return false;
    if (!IsBelow(task.window, program.windows.size())) return false;
  }
  uint64_t cells = 0;
  for (const auto& variable : program.variables) {
    if (!IsBelow(variable.key, program.keys.size())) return false;
    cells += variable.CellCount();
  }
  return cells <= trumpet::kMaxMeasureCells && program.nodes.size() <= trumpet::kMaxMeasureNodes &&
         program.exprs.size() <= trumpet::kMaxMeasureExprs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto printed = trumpet::PrintMafia(text, "fuzz");
  const auto check = trumpet::CheckMafia(text, "fuzz");
  for (const auto& error : check.errors) {
    Require(error.place.line > 0 && error.place.column > 0, "error without a place", error.message);
  }
  if (!printed.ok()) {
    Require(!check.ok(), "a program without a canonical form", text);
    return 0;
  }
  Require(!check.ok() || IsSound(check.program), "an unsound program", text);
  // The canonical form is wordier; beyond the limit it need not be readable.
  if (printed->size() > trumpet::kMaxMafiaTextBytes) return 0;
  const auto again = trumpet::PrintMafia(*printed, "printed");
  Require(again.ok(), "canonical form is no program", *printed);
  Require(*again == *printed, "canonical form is not stable", *printed);
  const auto check_again = trumpet::CheckMafia(*printed, "printed");
  const bool is_same =
      check.ok() == check_again.ok() && check.errors.size() == check_again.errors.size() &&
      (!check.ok() || (check.program.exprs.size() == check_again.program.exprs.size() &&
                       check.program.nodes.size() == check_again.program.nodes.size() &&
                       check.warnings.size() == check_again.warnings.size()));
  Require(is_same, "canonical form means something else", *printed);
  return 0;
}
