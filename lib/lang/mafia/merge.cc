// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/merge.h"

#include <set>
#include <vector>

namespace trumpet::mafia {
namespace {

// How a program uses a variable.
struct Use {
  bool is_summed = false;      // add(e), or set(itself + e)
  bool is_assigned = false;    // any other set()
  bool is_first_time = false;  // timestamp() behind match(itself == 0)
  // What an earlier packet left decides something: a threshold on a total, a logical clock.  What
  // a packet writes before it reads it is a note to itself.
  bool is_remembered = false;
};

using Variables = std::set<MeasureIndex>;

class MergeSearch {
 public:
  explicit MergeSearch(MeasureProgram* program)
      : program_(*program), uses_(program->variables.size()) {}

  void Run();

 private:
  // `assigned`: what the packet has written for sure; with what the node adds to it.
  void Walk(MeasureIndex node, Variables* assigned, Variables* unset);
  void Update(const MeasureNode& node, Variables* assigned);
  void Read(MeasureIndex expr, const Variables& assigned);
  bool Reads(MeasureIndex expr, MeasureIndex variable) const;
  // The addend of set(itself + e); kNoIndex if it is no sum of that kind.
  MeasureIndex Addend(const MeasureNode& node) const;
  // Conjuncts `variable == 0` and `!variable`.
  void AddUnset(MeasureIndex expr, Variables* unset) const;
  bool IsCell(MeasureIndex expr) const {
    return program_.exprs[expr].kind == MeasureExprKind::kCell;
  }
  MeasureMerge Decide(const MeasureVariable& variable, const Use& use) const;

  MeasureProgram& program_;
  std::vector<Use> uses_;
};

bool MergeSearch::Reads(MeasureIndex index, MeasureIndex variable) const {
  if (index == kNoIndex) return false;
  const MeasureExpr& expr = program_.exprs[index];
  return expr.variable == variable || Reads(expr.a, variable) || Reads(expr.b, variable);
}

MeasureIndex MergeSearch::Addend(const MeasureNode& node) const {
  if (node.update == MeasureUpdate::kAdd) {
    return Reads(node.expr, node.target) ? kNoIndex : node.expr;
  }
  const MeasureExpr& sum = program_.exprs[node.expr];
  if (sum.kind != MeasureExprKind::kBinary || sum.op != MeasureOp::kPlus) return kNoIndex;
  const auto is_itself = [this](MeasureIndex index) {
    return program_.exprs[index].kind == MeasureExprKind::kWrittenCell;
  };
  if (is_itself(sum.a) && !Reads(sum.b, node.target)) return sum.b;
  return is_itself(sum.b) && !Reads(sum.a, node.target) ? sum.a : kNoIndex;
}

void MergeSearch::Read(MeasureIndex index, const Variables& assigned) {
  if (index == kNoIndex) return;
  const MeasureExpr& expr = program_.exprs[index];
  if (expr.variable != kNoIndex && assigned.count(expr.variable) == 0) {
    uses_[expr.variable].is_remembered = true;
  }
  Read(expr.a, assigned);
  Read(expr.b, assigned);
}

void MergeSearch::Update(const MeasureNode& node, Variables* assigned) {
  if (node.update == MeasureUpdate::kReset) assigned->insert(node.target);
  if (node.expr == kNoIndex) return;
  Use& use = uses_[node.target];
  const MeasureIndex addend = Addend(node);
  Read(addend == kNoIndex ? node.expr : addend, *assigned);
  if (addend != kNoIndex) {
    use.is_summed = true;
    return;
  }
  use.is_assigned = true;
  assigned->insert(node.target);
}

void MergeSearch::AddUnset(MeasureIndex index, Variables* unset) const {
  const MeasureExpr& expr = program_.exprs[index];
  if (expr.kind == MeasureExprKind::kBinary && expr.op == MeasureOp::kAnd) {
    AddUnset(expr.a, unset);
    AddUnset(expr.b, unset);
  }
  if (expr.kind == MeasureExprKind::kUnary && expr.op == MeasureOp::kNot && IsCell(expr.a)) {
    unset->insert(program_.exprs[expr.a].variable);
  }
  if (expr.kind != MeasureExprKind::kBinary || expr.op != MeasureOp::kEqual) return;
  const auto is_zero = [this](MeasureIndex i) {
    return program_.exprs[i].kind == MeasureExprKind::kConstant && program_.exprs[i].value == 0;
  };
  if (IsCell(expr.a) && is_zero(expr.b)) unset->insert(program_.exprs[expr.a].variable);
  if (IsCell(expr.b) && is_zero(expr.a)) unset->insert(program_.exprs[expr.b].variable);
}

void MergeSearch::Walk(MeasureIndex index, Variables* assigned, Variables* unset) {
  const MeasureNode& node = program_.nodes[index];
  switch (node.kind) {
    case MeasureNodeKind::kSeq:
      for (const MeasureIndex child : node.children) Walk(child, assigned, unset);
      break;
    case MeasureNodeKind::kPar:
      // Each from the fork; what only a branch has written is not sure behind it.
      for (const MeasureIndex child : node.children) {
        Variables branch_assigned = *assigned;
        Variables branch_unset = *unset;
        Walk(child, &branch_assigned, &branch_unset);
      }
      break;
    case MeasureNodeKind::kMatch:
      Read(node.expr, *assigned);
      AddUnset(node.expr, unset);
      break;
    case MeasureNodeKind::kTimestamp:
      if (unset->count(node.target) > 0) uses_[node.target].is_first_time = true;
      assigned->insert(node.target);
      break;
    case MeasureNodeKind::kUpdate:
      Update(node, assigned);
      break;
    case MeasureNodeKind::kTag:
      Read(node.expr, *assigned);
      break;
    case MeasureNodeKind::kDuplicate:
    case MeasureNodeKind::kCollect:
      break;
  }
}

MeasureMerge MergeSearch::Decide(const MeasureVariable& variable, const Use& use) const {
  switch (variable.kind) {
    case MeasureKind::kBloomMembership:
    case MeasureKind::kPcsa:
      return MeasureMerge::kOr;
    case MeasureKind::kHyperLogLog:
      return MeasureMerge::kMax;
    case MeasureKind::kStore:
      return MeasureMerge::kShared;
    case MeasureKind::kBloomCounting:
    case MeasureKind::kCountMin:
      return use.is_assigned ? MeasureMerge::kShared : MeasureMerge::kSum;
    // The packets of a key go through one thread as a rule: the others hold 0.
    case MeasureKind::kTimestampMap:
      return use.is_first_time ? MeasureMerge::kMinNonzero : MeasureMerge::kMax;
    case MeasureKind::kCounterMap:
      return use.is_assigned && !use.is_summed ? MeasureMerge::kMax : MeasureMerge::kSum;
    case MeasureKind::kTimestamp:
    case MeasureKind::kCounter:
      break;
  }
  if (use.is_remembered || (use.is_summed && use.is_assigned)) return MeasureMerge::kShared;
  const bool is_time = variable.kind == MeasureKind::kTimestamp;
  return is_time || use.is_assigned ? MeasureMerge::kMax : MeasureMerge::kSum;
}

void MergeSearch::Run() {
  for (const MeasureTask& task : program_.tasks) {
    Variables assigned;
    Variables unset;
    Walk(task.root, &assigned, &unset);
  }
  for (size_t i = 0; i < uses_.size(); ++i) {
    program_.variables[i].merge = Decide(program_.variables[i], uses_[i]);
  }
}

}  // namespace

void DecideMerges(MeasureProgram* program) { MergeSearch(program).Run(); }

}  // namespace trumpet::mafia
