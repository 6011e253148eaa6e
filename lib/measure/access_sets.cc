// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/access_sets.h"

#include <tuple>
#include <vector>

#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

constexpr size_t kMaxGuardParts = 16;

// Which cells are meant depends on the fields of the key.
void AddKey(const MeasureProgram& program, MeasureIndex variable, AccessSet* reads) {
  const MeasureIndex key = program.variables[variable].key;
  if (key == kNoIndex) return;
  for (const MeasureFieldId field : program.keys[key].fields) {
    reads->fields |= uint64_t{1} << field;
  }
}

void AddExpr(const MeasureProgram& program, MeasureIndex index, AccessSet* reads) {
  if (index == kNoIndex) return;
  const MeasureExpr& expr = program.exprs[index];
  if (expr.kind == MeasureExprKind::kField) reads->fields |= uint64_t{1} << expr.field;
  if (expr.kind == MeasureExprKind::kCell || expr.kind == MeasureExprKind::kAggregate ||
      expr.kind == MeasureExprKind::kFilterBits) {
    reads->variables.set(expr.variable);
    AddKey(program, expr.variable, reads);
  }
  AddExpr(program, expr.a, reads);
  AddExpr(program, expr.b, reads);
}

bool ReadsWrittenCell(const MeasureProgram& program, MeasureIndex index) {
  if (index == kNoIndex) return false;
  const MeasureExpr& expr = program.exprs[index];
  return expr.kind == MeasureExprKind::kWrittenCell || ReadsWrittenCell(program, expr.a) ||
         ReadsWrittenCell(program, expr.b);
}

void AddWrite(const MeasureProgram& program, const MeasureNode& node, StepAccess* access) {
  access->writes.variables.set(node.target);
  AddKey(program, node.target, &access->reads);
  const bool reads_old =
      program.variables[node.target].evicts ||
      (node.kind == MeasureNodeKind::kUpdate &&
       (node.update == MeasureUpdate::kUpdate || ReadsWrittenCell(program, node.expr)));
  if (reads_old) access->reads.variables.set(node.target);
}

void AddNode(const MeasureProgram& program, MeasureIndex index, StepAccess* access) {
  const MeasureNode& node = program.nodes[index];
  AddExpr(program, node.expr, &access->reads);
  switch (node.kind) {
    case MeasureNodeKind::kTag:
      access->writes.fields |= uint64_t{1} << node.field;
      break;
    case MeasureNodeKind::kTimestamp:
    case MeasureNodeKind::kUpdate:
      AddWrite(program, node, access);
      break;
    case MeasureNodeKind::kDuplicate:
    case MeasureNodeKind::kCollect:
      access->reads.fields = ~uint64_t{0};
      break;
    default:
      break;
  }
  for (const MeasureIndex child : node.children) AddNode(program, child, access);
}

bool IsSame(const MeasureProgram& program, MeasureIndex a, MeasureIndex b) {
  if (a == b) return true;
  if (a == kNoIndex || b == kNoIndex) return false;
  const MeasureExpr& x = program.exprs[a];
  const MeasureExpr& y = program.exprs[b];
  const auto own = [](const MeasureExpr& expr) {
    return std::tie(expr.kind, expr.op, expr.aggregate, expr.field, expr.variable, expr.value,
                    expr.denominator);
  };
  return own(x) == own(y) && IsSame(program, x.a, y.a) && IsSame(program, x.b, y.b);
}

bool HasRandom(const MeasureProgram& program, MeasureIndex index) {
  if (index == kNoIndex) return false;
  const MeasureExpr& expr = program.exprs[index];
  return expr.kind == MeasureExprKind::kRandom || HasRandom(program, expr.a) ||
         HasRandom(program, expr.b);
}

bool AreOppositeComparisons(MeasureOp a, MeasureOp b) {
  const auto is_pair = [a, b](MeasureOp x, MeasureOp y) {
    return (a == x && b == y) || (a == y && b == x);
  };
  return is_pair(MeasureOp::kEqual, MeasureOp::kNotEqual) ||
         is_pair(MeasureOp::kLess, MeasureOp::kGreaterEqual) ||
         is_pair(MeasureOp::kGreater, MeasureOp::kLessEqual);
}

bool IsNot(const MeasureExpr& expr) {
  return expr.kind == MeasureExprKind::kUnary && expr.op == MeasureOp::kNot;
}

bool IsAnd(const MeasureExpr& expr) {
  return expr.kind == MeasureExprKind::kBinary && expr.op == MeasureOp::kAnd;
}

bool AreOpposite(const MeasureProgram& program, MeasureIndex a, MeasureIndex b) {
  const MeasureExpr& x = program.exprs[a];
  const MeasureExpr& y = program.exprs[b];
  if (IsNot(x) && IsSame(program, x.a, b)) return true;
  if (IsNot(y) && IsSame(program, y.a, a)) return true;
  // Ratios are not complements: both are false when the divisor is 0.
  return x.kind == MeasureExprKind::kBinary && y.kind == MeasureExprKind::kBinary &&
         AreOppositeComparisons(x.op, y.op) && IsSame(program, x.a, y.a) &&
         IsSame(program, x.b, y.b);
}

// The parts of a && b && ...; only the first ones of a long guard.
void AddParts(const MeasureProgram& program, MeasureIndex index, std::vector<MeasureIndex>* parts) {
  if (parts->size() >= kMaxGuardParts) return;
  parts->push_back(index);
  const MeasureExpr& expr = program.exprs[index];
  if (!IsAnd(expr)) return;
  AddParts(program, expr.a, parts);
  AddParts(program, expr.b, parts);
}

bool AnyOpposite(const MeasureProgram& program, MeasureIndex a, MeasureIndex b) {
  std::vector<MeasureIndex> parts_of_a;
  std::vector<MeasureIndex> parts_of_b;
  AddParts(program, a, &parts_of_a);
  AddParts(program, b, &parts_of_b);
  for (const MeasureIndex x : parts_of_a) {
    for (const MeasureIndex y : parts_of_b) {
      if (AreOpposite(program, x, y)) return true;
    }
  }
  return false;
}

}  // namespace

StepAccess AccessOf(const MeasureProgram& program, MeasureIndex node) {
  StepAccess access;
  AddNode(program, node, &access);
  return access;
}

MeasureIndex LeadingGuard(const MeasureProgram& program, MeasureIndex node) {
  const MeasureNode* at = &program.nodes[node];
  while (at->kind == MeasureNodeKind::kSeq) at = &program.nodes[at->children[0]];
  return at->kind == MeasureNodeKind::kMatch ? at->expr : kNoIndex;
}

bool AreExclusive(const MeasureProgram& program, MeasureIndex a, MeasureIndex b) {
  return a != kNoIndex && b != kNoIndex && !HasRandom(program, a) && !HasRandom(program, b) &&
         AnyOpposite(program, a, b);
}

bool AreComplements(const MeasureProgram& program, MeasureIndex a, MeasureIndex b) {
  return AreExclusive(program, a, b) && AreOpposite(program, a, b);
}

}  // namespace trumpet
