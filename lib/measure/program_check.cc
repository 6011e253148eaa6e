// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_check.h"

#include <algorithm>
#include <string>

#include "lib/measure/packet_values.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxHeaderBytes = 1 << 12;

Status Wrong(const std::string& what) { return Status::Error("the program is not sound: " + what); }

std::string At(const char* what, size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

bool IsMap(MeasureKind kind) {
  return kind == MeasureKind::kCounterMap || kind == MeasureKind::kTimestampMap;
}

bool HasPowerOfTwo(MeasureKind kind) {
  return kind == MeasureKind::kPcsa || kind == MeasureKind::kHyperLogLog;
}

bool IsOneOf(MeasureKind kind, std::initializer_list<MeasureKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool AllowsUpdate(MeasureKind kind, MeasureUpdate update) {
  using K = MeasureKind;
  switch (update) {
    case MeasureUpdate::kSet:
      return IsOneOf(kind,
                     {K::kCounter, K::kCounterMap, K::kBloomCounting, K::kCountMin, K::kStore});
    case MeasureUpdate::kAdd:
      return IsOneOf(kind, {K::kCounter, K::kCounterMap, K::kBloomCounting, K::kCountMin});
    case MeasureUpdate::kReset:
      return true;
    case MeasureUpdate::kInsert:
      return kind == K::kBloomMembership;
    case MeasureUpdate::kUpdate:
      return HasPowerOfTwo(kind);
    case MeasureUpdate::kInit:
      return IsOneOf(kind, {K::kBloomMembership, K::kBloomCounting});
  }
  return false;
}

bool AllowsAggregate(MeasureKind kind, MeasureAggregate aggregate) {
  using K = MeasureKind;
  if (aggregate == MeasureAggregate::kTest) {
    return IsOneOf(kind, {K::kBloomMembership, K::kPcsa, K::kHyperLogLog});
  }
  return aggregate <= MeasureAggregate::kMax &&
         IsOneOf(kind, {K::kBloomCounting, K::kCountMin, K::kStore});
}

class Checker {
 public:
  explicit Checker(const MeasureProgram& program) : program_(program) {}

  Status Check() {
    for (const auto step : {&Checker::CheckCounts, &Checker::CheckHeaders, &Checker::CheckKeys,
                            &Checker::CheckVariables, &Checker::CheckExprs,
                            &Checker::CheckHeaderGuards, &Checker::CheckNodes, &Checker::CheckTasks,
                            &Checker::CheckWindows, &Checker::CheckStreams}) {
      Status status = (this->*step)();
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

 private:
  Status CheckCounts() {
    const struct {
      const char* what;
      size_t count;
      size_t most;
    } kCounts[] = {
        {"roles", program_.roles.size(), kMaxMeasureRoles},
        {"endpoints", program_.endpoints.size(), kMaxMeasureNames},
        {"headers", program_.headers.size(), kMaxMeasureNames},
        {"fields of headers", program_.header_fields.size(), kMaxPacketFields - kMeasureFieldCount},
        {"keys", program_.keys.size(), kMaxMeasureKeys},
        {"variables", program_.variables.size(), kMaxMeasureVariables},
        {"windows", program_.windows.size(), kMaxMeasureWindows},
        {"streams", program_.streams.size(), kMaxMeasureStreams},
        {"tasks", program_.tasks.size(), kMaxMeasureTasks},
        {"steps", program_.nodes.size(), kMaxMeasureNodes},
        {"expressions", program_.exprs.size(), kMaxMeasureExprs},
    };
    for (const auto& each : kCounts) {
      if (each.count <= each.most) continue;
      return Status::Error("the program has " + std::to_string(each.count) + " " + each.what +
                           "; a switch takes " + std::to_string(each.most));
    }
    if (program_.streams.size() <= kCtrlStream) return Wrong("no streams pkts and ctrl");
    for (const MeasureRole& role : program_.roles) {
      if (role.kind > MeasureRoleKind::kSite) return Wrong("a role of no known kind");
    }
    return Status::Ok();
  }

  Status CheckHeaders() {
    for (const MeasureHeader& header : program_.headers) {
      if (header.guard >= program_.exprs.size()) return Wrong("a header without a guard");
      if (header.offset > kMaxMeasureHeaderOffset || header.bytes > kMaxHeaderBytes) {
        return Wrong("a header that is too far off or too long");
      }
    }
    for (const MeasureHeaderField& field : program_.header_fields) {
      if (field.header >= program_.headers.size()) return Wrong("a field of no header");
      if (field.bits < 8 || field.bits > 64 || field.bits % 8 != 0 ||
          uint64_t{field.offset} + field.bits / 8 > program_.headers[field.header].bytes) {
        return Wrong("a field that leaves its header");
      }
    }
    return Status::Ok();
  }

  bool IsField(MeasureFieldId field) const {
    return field < kMeasureFieldCount + program_.header_fields.size();
  }
  bool IsRole(MeasureIndex role) const { return role == kNoIndex || role < program_.roles.size(); }
  bool IsVariable(MeasureIndex variable) const { return variable < program_.variables.size(); }

  Status CheckKeys() {
    for (size_t i = 0; i < program_.keys.size(); ++i) {
      const MeasureKey& key = program_.keys[i];
      size_t bytes = 0;
      for (const MeasureFieldId field : key.fields) {
        if (!IsField(field)) return Wrong(At("unknown field in key", i));
        bytes += (FieldBits(program_, field) + 7u) / 8;
      }
      if (bytes == 0 || bytes > kMaxMeasureKeyBytes) return Wrong(At("the length of key", i));
    }
    return Status::Ok();
  }

  Status CheckVariables() {
    uint64_t cells = 0;
    for (size_t i = 0; i < program_.variables.size(); ++i) {
      const MeasureVariable& variable = program_.variables[i];
      const std::string name = At("variable", i);
      if (variable.kind > MeasureKind::kHyperLogLog) return Wrong(name + " is of no known kind");
      if (variable.merge > MeasureMerge::kShared) return Wrong(name + " merges in no known way");
      if (variable.bits < 1 || variable.bits > 64) return Wrong(name + ": its width");
      if (variable.kind == MeasureKind::kBloomMembership && variable.bits != 1) {
        return Wrong(name + " is a membership filter of more than one bit");
      }
      if (variable.hashes < 1 || variable.hashes > kMaxMeasureHashes) {
        return Wrong(name + ": its number of hash functions");
      }
      if (variable.size < 1 || variable.size > kMaxMeasureCells) return Wrong(name + ": its size");
      if (!HasKey(variable.kind) && variable.size != 1) return Wrong(name + ": its size");
      if (HasPowerOfTwo(variable.kind) && (variable.size & (variable.size - 1)) != 0) {
        return Wrong(name + ": its size is no power of two");
      }
      if (HasKey(variable.kind) ? variable.key >= program_.keys.size() : variable.key != kNoIndex) {
        return Wrong(name + ": its key");
      }
      if (variable.evicts && !IsMap(variable.kind)) return Wrong(name + " cannot evict");
      if (!IsRole(variable.role)) return Wrong(name + ": its role");
      if (variable.window != kNoIndex && variable.window >= program_.windows.size()) {
        return Wrong(name + ": its window");
      }
      cells += variable.CellCount();  // at most 2^26 x 16 each
    }
    if (cells <= kMaxMeasureCells) return Status::Ok();
    return Status::Error("the program has " + std::to_string(cells) + " cells; a switch takes " +
                         std::to_string(kMaxMeasureCells));
  }

  Status CheckExprs() {
    depth_.assign(program_.exprs.size(), 1);
    steps_.assign(program_.exprs.size(), 1);
    reads_written_.resize(program_.exprs.size());
    reads_state_.resize(program_.exprs.size());
    for (MeasureIndex i = 0; i < program_.exprs.size(); ++i) {
      const MeasureExpr& expr = program_.exprs[i];
      Status status = CheckExpr(expr, i);
      if (!status.ok()) return status;
      for (const MeasureIndex child : {expr.a, expr.b}) {
        if (child == kNoIndex) continue;
        depth_[i] = std::max(depth_[i], depth_[child] + 1);
        steps_[i] = std::min(steps_[i] + steps_[child] + 2, kMaxExpandedSteps + 1);
      }
      if (depth_[i] > kMaxMeasureDepth) return Wrong(At("too deep an expression:", i));
      if (steps_[i] > kMaxExpandedSteps) return TooLong();
      NoteReads(i);
    }
    return Status::Ok();
  }

  Status CheckExpr(const MeasureExpr& expr, MeasureIndex self) {
    const std::string name = At("expression", self);
    int wanted = 0;  // operands
    switch (expr.kind) {
      case MeasureExprKind::kConstant:
      case MeasureExprKind::kWrittenCell:
        break;
      case MeasureExprKind::kField:
        if (!IsField(expr.field)) return Wrong(name + ": its field");
        break;
      case MeasureExprKind::kCell:
        if (!IsVariable(expr.variable)) return Wrong(name + ": its variable");
        if (HasKey(KindOf(expr)) && !IsMap(KindOf(expr))) return Wrong(name + " reads no one cell");
        break;
      case MeasureExprKind::kFilterBits:
        if (!IsVariable(expr.variable) || !IsSmallFilter(expr.variable)) {
          return Wrong(name + " reads no filter of at most 64 cells");
        }
        break;
      case MeasureExprKind::kAggregate:
        if (!IsVariable(expr.variable) || !AllowsAggregate(KindOf(expr), expr.aggregate)) {
          return Wrong(name + ": no such aggregate");
        }
        wanted = expr.a != kNoIndex && (expr.aggregate == MeasureAggregate::kAny ||
                                        expr.aggregate == MeasureAggregate::kAll);
        break;
      case MeasureExprKind::kUnary:
        if (expr.op != MeasureOp::kMinus && expr.op != MeasureOp::kNot &&
            expr.op != MeasureOp::kComplement) {
          return Wrong(name + ": its operator");
        }
        wanted = 1;
        break;
      case MeasureExprKind::kBinary:
        if (expr.op > MeasureOp::kRemainder) return Wrong(name + ": its operator");
        wanted = 2;
        break;
      case MeasureExprKind::kRatio:
        if (expr.op < MeasureOp::kEqual || expr.op > MeasureOp::kGreaterEqual ||
            expr.denominator == 0) {
          return Wrong(name + ": its comparison");
        }
        wanted = 2;
        break;
      case MeasureExprKind::kMin:
      case MeasureExprKind::kMax:
      case MeasureExprKind::kRandom:
        wanted = 2;
        break;
      default:
        return Wrong(name + " is of no known kind");
    }
    if ((expr.a != kNoIndex) != (wanted >= 1) || (expr.b != kNoIndex) != (wanted == 2) ||
        (wanted >= 1 && expr.a >= self) || (wanted == 2 && expr.b >= self)) {
      return Wrong(name + ": its operands");
    }
    return Status::Ok();
  }

  MeasureKind KindOf(const MeasureExpr& expr) const {
    return program_.variables[expr.variable].kind;
  }
  bool IsSmallFilter(MeasureIndex variable) const {
    return program_.variables[variable].kind == MeasureKind::kBloomMembership &&
           program_.variables[variable].size <= 64;
  }

  // Notes of an expression, and of those below it, what its place has to allow.
  void NoteReads(MeasureIndex index) {
    const MeasureExpr& expr = program_.exprs[index];
    reads_written_[index] = expr.kind == MeasureExprKind::kWrittenCell;
    reads_state_[index] =
        expr.kind == MeasureExprKind::kWrittenCell || expr.kind == MeasureExprKind::kRandom ||
        expr.variable != kNoIndex ||
        (expr.kind == MeasureExprKind::kField && expr.field >= kMeasureFieldCount);
    for (const MeasureIndex child : {expr.a, expr.b}) {
      if (child == kNoIndex) continue;
      reads_written_[index] = reads_written_[index] || reads_written_[child];
      reads_state_[index] = reads_state_[index] || reads_state_[child];
    }
  }

  bool ReadsWrittenCell(MeasureIndex index) const {
    return index != kNoIndex && reads_written_[index];
  }

  Status CheckHeaderGuards() {
    for (const MeasureHeader& header : program_.headers) {
      total_steps_ += steps_[header.guard];
      if (total_steps_ > kMaxExpandedSteps) return TooLong();
      if (reads_state_[header.guard]) return Wrong("the guard of a header reads more than fields");
    }
    return Status::Ok();
  }

  Status TooLong() const {
    return Status::Error("the program has more than " + std::to_string(kMaxExpandedSteps) +
                         " operators");
  }

  Status CheckNodes() {
    std::vector<size_t> depth(program_.nodes.size(), 1);
    node_steps_.assign(program_.nodes.size(), 4);
    for (MeasureIndex i = 0; i < program_.nodes.size(); ++i) {
      const MeasureNode& node = program_.nodes[i];
      Status status = CheckNode(node, At("step", i));
      if (!status.ok()) return status;
      if (node.expr != kNoIndex) node_steps_[i] += steps_[node.expr];
      for (const MeasureIndex child : node.children) {
        if (child >= i) return Wrong(At("the order of step", i));
        depth[i] = std::max(depth[i], depth[child] + 1);
        node_steps_[i] = std::min(node_steps_[i] + node_steps_[child] + 4, kMaxExpandedSteps + 1);
      }
      if (depth[i] > kMaxMeasureDepth) return Wrong(At("too deep a step:", i));
      if (node_steps_[i] > kMaxExpandedSteps) return TooLong();
    }
    return Status::Ok();
  }

  Status CheckNode(const MeasureNode& node, const std::string& name) {
    const bool is_inner = node.kind == MeasureNodeKind::kSeq || node.kind == MeasureNodeKind::kPar;
    if (is_inner == node.children.empty()) return Wrong(name + ": its children");
    if (node.kind == MeasureNodeKind::kPar && node.children.size() > kMaxMeasureBranches) {
      return Status::Error("a ++ has " + std::to_string(node.children.size()) +
                           " branches; a switch takes " + std::to_string(kMaxMeasureBranches));
    }
    if (node.expr != kNoIndex && node.expr >= program_.exprs.size()) {
      return Wrong(name + ": its expression");
    }
    bool has_expr = false;
    switch (node.kind) {
      case MeasureNodeKind::kSeq:
      case MeasureNodeKind::kPar:
        break;
      case MeasureNodeKind::kMatch:
        has_expr = true;
        break;
      case MeasureNodeKind::kTag:
        has_expr = true;
        if (!IsField(node.field) || WriteOf(node.field) == MeasureWrite::kNever) {
          return Wrong(name + ": its field");
        }
        break;
      case MeasureNodeKind::kTimestamp:
        if (!IsVariable(node.target) ||
            !IsOneOf(program_.variables[node.target].kind,
                     {MeasureKind::kTimestamp, MeasureKind::kTimestampMap})) {
          return Wrong(name + ": its timestamp");
        }
        break;
      case MeasureNodeKind::kDuplicate:
        if (node.target <= kCtrlStream || node.target >= program_.streams.size()) {
          return Wrong(name + ": its stream");
        }
        break;
      case MeasureNodeKind::kCollect:
        if (node.target >= program_.endpoints.size()) return Wrong(name + ": its endpoint");
        break;
      case MeasureNodeKind::kUpdate:
        return CheckUpdate(node, name);
      default:
        return Wrong(name + " is of no known kind");
    }
    if ((node.expr != kNoIndex) != has_expr) return Wrong(name + ": its expression");
    if (ReadsWrittenCell(node.expr)) return Wrong(name + " writes no cell");
    return Status::Ok();
  }

  Status CheckUpdate(const MeasureNode& node, const std::string& name) {
    if (!IsVariable(node.target)) return Wrong(name + ": its variable");
    const MeasureKind kind = program_.variables[node.target].kind;
    if (!AllowsUpdate(kind, node.update)) return Wrong(name + ": not for its kind of variable");
    const bool has_expr = node.update == MeasureUpdate::kSet ||
                          node.update == MeasureUpdate::kAdd || node.update == MeasureUpdate::kInit;
    if ((node.expr != kNoIndex) != has_expr) return Wrong(name + ": its expression");
    if (node.update == MeasureUpdate::kInit && kind == MeasureKind::kBloomMembership) {
      if (!IsSmallFilter(node.target)) return Wrong(name + ": a filter of more than 64 cells");
      if (ReadsWrittenCell(node.expr)) return Wrong(name + " writes no one cell");
    }
    return Status::Ok();
  }

  MeasureWrite WriteOf(MeasureFieldId field) const {
    return field < kMeasureFieldCount ? kMeasureFields[field].write : MeasureWrite::kForward;
  }

  Status CheckTasks() {
    for (size_t i = 0; i < program_.tasks.size(); ++i) {
      const MeasureTask& task = program_.tasks[i];
      if (task.stream >= program_.streams.size() || task.root >= program_.nodes.size() ||
          !IsRole(task.role) ||
          (task.window != kNoIndex && task.window >= program_.windows.size())) {
        return Wrong(At("task", i));
      }
      total_steps_ += node_steps_[task.root];
      if (total_steps_ > kMaxExpandedSteps) return TooLong();
      if (task.stream == kPktsStream && !LeavesPacketsAlone(task.root)) {
        return Wrong(At("packets would go elsewhere by task", i));
      }
    }
    return Status::Ok();
  }

  // Whether nothing is collected, and no field written, that forwarding depends on.
  bool LeavesPacketsAlone(MeasureIndex index) const {
    const MeasureNode& node = program_.nodes[index];
    if (node.kind == MeasureNodeKind::kCollect) return false;
    if (node.kind == MeasureNodeKind::kTag) return WriteOf(node.field) == MeasureWrite::kForward;
    return std::all_of(node.children.begin(), node.children.end(),
                       [this](MeasureIndex child) { return LeavesPacketsAlone(child); });
  }

  Status CheckWindows() {
    std::vector<bool> is_covered(program_.variables.size());
    for (MeasureIndex i = 0; i < program_.windows.size(); ++i) {
      const MeasureWindow& window = program_.windows[i];
      if (window.duration < 1 || window.duration > kMaxMeasureWindow || window.quantum < 1 ||
          window.mode > MeasureWindowMode::kFlip || !IsRole(window.role)) {
        return Wrong(At("window", i));
      }
      if (window.task != kNoIndex &&
          (window.task >= program_.tasks.size() || program_.tasks[window.task].window != i)) {
        return Wrong(At("the task of window", i));
      }
      for (const MeasureIndex variable : window.variables) {
        if (!IsVariable(variable) || program_.variables[variable].window != i ||
            is_covered[variable]) {
          return Wrong(At("the variables of window", i));
        }
        is_covered[variable] = true;
      }
    }
    for (size_t i = 0; i < program_.variables.size(); ++i) {
      if ((program_.variables[i].window != kNoIndex) != is_covered[i]) {
        return Wrong(At("the window of variable", i));
      }
    }
    for (size_t i = 0; i < program_.tasks.size(); ++i) {
      const MeasureIndex window = program_.tasks[i].window;
      if (window != kNoIndex && program_.windows[window].task != i) {
        return Wrong(At("the window of task", i));
      }
    }
    return Status::Ok();
  }

  Status CheckStreams() {
    size_t copies = 0;
    for (const size_t count : CountCopies(program_)) {
      if (count == SIZE_MAX) return Wrong("copies of packets go round in circles");
      copies = std::min(copies + count, kMaxMeasureCopies + 1);
    }
    if (copies <= kMaxMeasureCopies) return Status::Ok();
    return Status::Error("a packet can be copied more than " + std::to_string(kMaxMeasureCopies) +
                         " times");
  }

  const MeasureProgram& program_;
  std::vector<size_t> depth_;        // of expressions
  std::vector<size_t> steps_;        // likewise, when written out
  std::vector<bool> reads_written_;  // of expressions: the cell that is being written
  std::vector<bool> reads_state_;    // anything but fields of the table
  std::vector<size_t> node_steps_;   // of nodes with all below them
  size_t total_steps_ = 0;
};

}  // namespace

Status CheckMeasureProgram(const MeasureProgram& program) { return Checker(program).Check(); }

}  // namespace trumpet
