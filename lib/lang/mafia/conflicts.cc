// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/conflicts.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "lib/lang/mafia/resolve.h"

namespace trumpet::mafia {
namespace {

// Of variables and fields; a field "ipv4.id" is no name of a variable.
using Names = std::set<std::string>;

struct Access {
  Names reads;
  Names writes;
};

// Of a branch; those behind them are not asked whether they exclude another branch.
constexpr size_t kMaxGuards = 32;

Names Common(const Names& a, const Names& b) {
  Names common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::inserter(common, common.end()));
  return common;
}

class ConflictSearch {
 public:
  explicit ConflictSearch(MeasureProgram* program) : program_(*program) {}

  void Run();

 private:
  // By how much it matters, the most first.
  enum Weight : size_t { kLastWins, kSeesBefore, kNothing, kWeights };
  struct Found {
    uint64_t number;
    MeasureDiagnostic diagnostic;
  };

  void Search(MeasureIndex node, MeasureIndex role);
  void Compare(const MeasureNode& par, size_t a, size_t b, const std::vector<Access>& accesses,
               MeasureIndex role);
  void Keep();
  void Tell(MeasureFinding finding, const Names& names, bool is_exclusive, const MeasureNode& par,
            MeasureIndex role);
  Access AccessOf(MeasureIndex node) const;
  void AddNode(const MeasureNode& node, Access* access) const;
  void AddExpr(MeasureIndex expr, Names* reads) const;
  // The fields of its key choose the cells.
  void AddKey(const MeasureVariable& variable, Names* reads) const;
  // The conditions under which a branch does anything: they are all true then.
  bool AddGuards(MeasureIndex node, std::vector<MeasureIndex>* guards) const;
  void AddConjuncts(MeasureIndex expr, std::vector<MeasureIndex>* guards) const;
  bool AreExclusive(MeasureIndex a, MeasureIndex b) const;
  // Whether never both hold.
  bool AreComplements(MeasureIndex a, MeasureIndex b) const;
  bool HoldsOne(MeasureIndex a, MeasureIndex b) const;
  bool AreSame(MeasureIndex a, MeasureIndex b) const;

  MeasureProgram& program_;
  std::vector<Found> found_[kWeights];  // of each as many as are kept at most
  uint64_t counts_[kWeights] = {};
};

void ConflictSearch::AddKey(const MeasureVariable& variable, Names* reads) const {
  if (variable.key == kNoIndex) return;
  for (const MeasureFieldId field : program_.keys[variable.key].fields) {
    reads->emplace(FieldName(program_, field));
  }
}

void ConflictSearch::AddExpr(MeasureIndex index, Names* reads) const {
  if (index == kNoIndex) return;
  const MeasureExpr& expr = program_.exprs[index];
  if (expr.kind == MeasureExprKind::kField) reads->emplace(FieldName(program_, expr.field));
  if (expr.variable != kNoIndex) {
    const MeasureVariable& variable = program_.variables[expr.variable];
    reads->insert(variable.name);
    if (expr.kind != MeasureExprKind::kFilterBits) AddKey(variable, reads);
  }
  AddExpr(expr.a, reads);
  AddExpr(expr.b, reads);
}

void ConflictSearch::AddNode(const MeasureNode& node, Access* access) const {
  AddExpr(node.expr, &access->reads);
  if (node.kind == MeasureNodeKind::kTag) access->writes.emplace(FieldName(program_, node.field));
  if (node.kind != MeasureNodeKind::kUpdate && node.kind != MeasureNodeKind::kTimestamp) return;
  const MeasureVariable& variable = program_.variables[node.target];
  access->writes.insert(variable.name);
  const bool is_all_cells = node.kind == MeasureNodeKind::kUpdate &&
                            node.update == MeasureUpdate::kInit &&
                            variable.kind == MeasureKind::kBloomMembership;
  if (!is_all_cells) AddKey(variable, &access->reads);
}

Access ConflictSearch::AccessOf(MeasureIndex root) const {
  Access access;
  std::vector<MeasureIndex> open = {root};
  while (!open.empty()) {
    const MeasureNode& node = program_.nodes[open.back()];
    open.pop_back();
    open.insert(open.end(), node.children.begin(), node.children.end());
    AddNode(node, &access);
  }
  return access;
}

void ConflictSearch::AddConjuncts(MeasureIndex index, std::vector<MeasureIndex>* guards) const {
  const MeasureExpr& expr = program_.exprs[index];
  const bool is_and = expr.kind == MeasureExprKind::kBinary && expr.op == MeasureOp::kAnd;
  if (guards->size() >= kMaxGuards) return;
  guards->push_back(index);  // what it is the opposite of need not be in parts
  if (!is_and) return;
  AddConjuncts(expr.a, guards);
  AddConjuncts(expr.b, guards);
}

// True while only guards have been met.
bool ConflictSearch::AddGuards(MeasureIndex index, std::vector<MeasureIndex>* guards) const {
  const MeasureNode& node = program_.nodes[index];
  if (node.kind == MeasureNodeKind::kMatch) AddConjuncts(node.expr, guards);
  if (node.kind != MeasureNodeKind::kSeq) return node.kind == MeasureNodeKind::kMatch;
  return std::all_of(node.children.begin(), node.children.end(),
                     [&](MeasureIndex child) { return AddGuards(child, guards); });
}

bool ConflictSearch::AreSame(MeasureIndex a, MeasureIndex b) const {
  if (a == kNoIndex || b == kNoIndex) return a == b;
  const MeasureExpr& left = program_.exprs[a];
  const MeasureExpr& right = program_.exprs[b];
  // Another draw is another value.
  if (left.kind == MeasureExprKind::kRandom) return false;
  return left.kind == right.kind && left.op == right.op && left.aggregate == right.aggregate &&
         left.field == right.field && left.variable == right.variable &&
         left.value == right.value && left.denominator == right.denominator &&
         AreSame(left.a, right.a) && AreSame(left.b, right.b);
}

// The operator of which exactly one of the two holds.
MeasureOp Complement(MeasureOp op) {
  switch (op) {
    case MeasureOp::kEqual:
      return MeasureOp::kNotEqual;
    case MeasureOp::kNotEqual:
      return MeasureOp::kEqual;
    case MeasureOp::kLess:
      return MeasureOp::kGreaterEqual;
    case MeasureOp::kGreaterEqual:
      return MeasureOp::kLess;
    case MeasureOp::kGreater:
      return MeasureOp::kLessEqual;
    case MeasureOp::kLessEqual:
      return MeasureOp::kGreater;
    default:
      return MeasureOp::kNot;
  }
}

bool ConflictSearch::AreComplements(MeasureIndex a, MeasureIndex b) const {
  const MeasureExpr& left = program_.exprs[a];
  const MeasureExpr& right = program_.exprs[b];
  const auto is_not = [](const MeasureExpr& expr) {
    return expr.kind == MeasureExprKind::kUnary && expr.op == MeasureOp::kNot;
  };
  if (is_not(left) && is_not(right)) return HoldsOne(left.a, right.a);
  if (is_not(left)) return AreSame(left.a, b);
  if (is_not(right)) return AreSame(a, right.a);
  const bool is_comparison =
      left.kind == MeasureExprKind::kBinary || left.kind == MeasureExprKind::kRatio;
  return is_comparison && left.kind == right.kind && right.op == Complement(left.op) &&
         left.value == right.value && left.denominator == right.denominator &&
         AreSame(left.a, right.a) && AreSame(left.b, right.b);
}

// Whether one of the two always holds: of two opposite comparisons with a ratio none does where
// that divides by 0.
bool ConflictSearch::HoldsOne(MeasureIndex a, MeasureIndex b) const {
  const auto is_ratio = [this](MeasureIndex index) {
    return program_.exprs[index].kind == MeasureExprKind::kRatio;
  };
  return !(is_ratio(a) && is_ratio(b)) && AreComplements(a, b);
}

bool ConflictSearch::AreExclusive(MeasureIndex a, MeasureIndex b) const {
  std::vector<MeasureIndex> left;
  std::vector<MeasureIndex> right;
  AddGuards(a, &left);
  AddGuards(b, &right);
  return std::any_of(left.begin(), left.end(), [&](MeasureIndex one) {
    return std::any_of(right.begin(), right.end(),
                       [&](MeasureIndex other) { return AreComplements(one, other); });
  });
}

void ConflictSearch::Tell(MeasureFinding finding, const Names& names, bool is_exclusive,
                          const MeasureNode& par, MeasureIndex role) {
  const MeasureNote open =
      finding == MeasureFinding::kWriteWrite ? MeasureNote::kOrdered : MeasureNote::kSnapshot;
  const Weight matters = finding == MeasureFinding::kWriteWrite ? kLastWins : kSeesBefore;
  const Weight weight = is_exclusive ? kNothing : matters;
  for (const std::string& name : names) {
    ++counts_[weight];
    if (found_[weight].size() >= kMaxMeasureDiagnostics) continue;
    MeasureDiagnostic diagnostic;
    diagnostic.finding = finding;
    diagnostic.note = is_exclusive ? MeasureNote::kExclusive : open;
    diagnostic.name = name;
    diagnostic.role = role;
    diagnostic.place = par.place;
    const uint64_t number = std::accumulate(std::begin(counts_), std::end(counts_), uint64_t{0});
    found_[weight].push_back({number, std::move(diagnostic)});
  }
}

// In the order in which they were found; where there are too many, what matters least goes.
void ConflictSearch::Keep() {
  std::vector<Found> kept;
  for (size_t weight = 0; weight < kWeights; ++weight) {
    const size_t room = kMaxMeasureDiagnostics - kept.size();
    const size_t taken = std::min(room, found_[weight].size());
    std::move(found_[weight].begin(), found_[weight].begin() + static_cast<std::ptrdiff_t>(taken),
              std::back_inserter(kept));
    if (weight != kNothing) program_.left_out_diagnostics += counts_[weight] - taken;
  }
  std::sort(kept.begin(), kept.end(),
            [](const Found& a, const Found& b) { return a.number < b.number; });
  for (Found& found : kept) program_.diagnostics.push_back(std::move(found.diagnostic));
}

void ConflictSearch::Compare(const MeasureNode& par, size_t a, size_t b,
                             const std::vector<Access>& accesses, MeasureIndex role) {
  const Names both_write = Common(accesses[a].writes, accesses[b].writes);
  Names crossed = Common(accesses[a].reads, accesses[b].writes);
  crossed.merge(Common(accesses[a].writes, accesses[b].reads));
  if (both_write.empty() && crossed.empty()) return;
  const bool is_exclusive = AreExclusive(par.children[a], par.children[b]);
  Tell(MeasureFinding::kWriteWrite, both_write, is_exclusive, par, role);
  Tell(MeasureFinding::kReadWrite, crossed, is_exclusive, par, role);
}

void ConflictSearch::Search(MeasureIndex index, MeasureIndex role) {
  const MeasureNode& node = program_.nodes[index];
  for (const MeasureIndex child : node.children) Search(child, role);
  if (node.kind != MeasureNodeKind::kPar) return;
  std::vector<Access> accesses;
  for (const MeasureIndex child : node.children) accesses.push_back(AccessOf(child));
  for (size_t i = 0; i < node.children.size(); ++i) {
    for (size_t j = i + 1; j < node.children.size(); ++j) Compare(node, i, j, accesses, role);
  }
}

void ConflictSearch::Run() {
  for (const MeasureTask& task : program_.tasks) Search(task.root, task.role);
  Keep();
}

}  // namespace

void FindConflicts(MeasureProgram* program) { ConflictSearch(program).Run(); }

}  // namespace trumpet::mafia
