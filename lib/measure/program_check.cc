// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_check.h"

#include <algorithm>
#include <string>

#include "lib/measure/expression_check.h"
#include "lib/measure/packet_values.h"

namespace trumpet {
namespace {

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
        {"fields of headers", program_.header_fields.size(), kMaxMeasureHeaderFields},
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
    if (program_.streams.size() <= kCtrlStream) return UnsoundProgram("no streams pkts and ctrl");
    for (const MeasureRole& role : program_.roles) {
      if (role.kind > MeasureRoleKind::kSite) return UnsoundProgram("a role of no known kind");
    }
    return Status::Ok();
  }

  Status CheckHeaders() {
    for (const MeasureHeader& header : program_.headers) {
      if (header.guard >= program_.exprs.size()) return UnsoundProgram("a header without a guard");
      if (header.offset > kMaxMeasureHeaderOffset || header.bytes > kMaxMeasureHeaderBytes) {
        return UnsoundProgram("a header that is too far off or too long");
      }
    }
    for (const MeasureHeaderField& field : program_.header_fields) {
      if (field.header >= program_.headers.size()) return UnsoundProgram("a field of no header");
      if (field.bits < 8 || field.bits > 64 || field.bits % 8 != 0 ||
          uint64_t{field.offset} + field.bits / 8 > program_.headers[field.header].bytes) {
        return UnsoundProgram("a field that leaves its header");
      }
    }
    return Status::Ok();
  }

  bool IsRole(MeasureIndex role) const { return role == kNoIndex || role < program_.roles.size(); }
  bool IsVariable(MeasureIndex variable) const { return variable < program_.variables.size(); }

  Status CheckKeys() {
    for (size_t i = 0; i < program_.keys.size(); ++i) {
      const MeasureKey& key = program_.keys[i];
      size_t bytes = 0;
      for (const MeasureFieldId field : key.fields) {
        if (!IsFieldOf(program_, field)) return UnsoundProgram(Numbered("unknown field in key", i));
        bytes += (FieldBits(program_, field) + 7u) / 8;
      }
      if (bytes == 0 || bytes > kMaxMeasureKeyBytes)
        return UnsoundProgram(Numbered("the length of key", i));
    }
    return Status::Ok();
  }

  Status CheckVariables() {
    uint64_t cells = 0;
    for (size_t i = 0; i < program_.variables.size(); ++i) {
      const MeasureVariable& variable = program_.variables[i];
      const std::string name = Numbered("variable", i);
      if (variable.kind > MeasureKind::kHyperLogLog)
        return UnsoundProgram(name + " is of no known kind");
      if (variable.merge > MeasureMerge::kShared)
        return UnsoundProgram(name + " merges in no known way");
      if (variable.bits < 1 || variable.bits > 64) return UnsoundProgram(name + ": its width");
      if (variable.kind == MeasureKind::kBloomMembership && variable.bits != 1) {
        return UnsoundProgram(name + " is a membership filter of more than one bit");
      }
      if (variable.hashes < 1 || variable.hashes > kMaxMeasureHashes) {
        return UnsoundProgram(name + ": its number of hash functions");
      }
      if (variable.size < 1 || variable.size > kMaxMeasureCells)
        return UnsoundProgram(name + ": its size");
      if (!HasKey(variable.kind) && variable.size != 1) return UnsoundProgram(name + ": its size");
      if (HasPowerOfTwo(variable.kind) && (variable.size & (variable.size - 1)) != 0) {
        return UnsoundProgram(name + ": its size is no power of two");
      }
      if (HasKey(variable.kind) ? variable.key >= program_.keys.size() : variable.key != kNoIndex) {
        return UnsoundProgram(name + ": its key");
      }
      if (variable.evicts && !IsMap(variable.kind)) return UnsoundProgram(name + " cannot evict");
      if (!IsRole(variable.role)) return UnsoundProgram(name + ": its role");
      if (variable.window != kNoIndex && variable.window >= program_.windows.size()) {
        return UnsoundProgram(name + ": its window");
      }
      cells += variable.CellCount();  // at most 2^26 x 16 each
    }
    if (cells <= kMaxMeasureCells) return Status::Ok();
    return Status::Error("the program has " + std::to_string(cells) + " cells; a switch takes " +
                         std::to_string(kMaxMeasureCells));
  }

  Status CheckExprs() { return exprs_.Check(); }

  Status CheckHeaderGuards() {
    for (const MeasureHeader& header : program_.headers) {
      total_steps_ += exprs_.steps(header.guard);
      if (total_steps_ > kMaxExpandedSteps) return TooLongProgram();
      if (exprs_.ReadsState(header.guard))
        return UnsoundProgram("the guard of a header reads more than fields");
    }
    return Status::Ok();
  }

  Status CheckNodes() {
    std::vector<size_t> depth(program_.nodes.size(), 1);
    node_steps_.assign(program_.nodes.size(), 4);
    for (MeasureIndex i = 0; i < program_.nodes.size(); ++i) {
      const MeasureNode& node = program_.nodes[i];
      Status status = CheckNode(node, Numbered("step", i));
      if (!status.ok()) return status;
      if (node.expr != kNoIndex) node_steps_[i] += exprs_.steps(node.expr);
      for (const MeasureIndex child : node.children) {
        if (child >= i) return UnsoundProgram(Numbered("the order of step", i));
        depth[i] = std::max(depth[i], depth[child] + 1);
        node_steps_[i] = std::min(node_steps_[i] + node_steps_[child] + 4, kMaxExpandedSteps + 1);
      }
      if (depth[i] > kMaxMeasureDepth) return UnsoundProgram(Numbered("too deep a step:", i));
      if (node_steps_[i] > kMaxExpandedSteps) return TooLongProgram();
    }
    return Status::Ok();
  }

  Status CheckNode(const MeasureNode& node, const std::string& name) {
    const bool is_inner = node.kind == MeasureNodeKind::kSeq || node.kind == MeasureNodeKind::kPar;
    if (is_inner == node.children.empty()) return UnsoundProgram(name + ": its children");
    if (node.kind == MeasureNodeKind::kPar && node.children.size() > kMaxMeasureBranches) {
      return Status::Error("a ++ has " + std::to_string(node.children.size()) +
                           " branches; a switch takes " + std::to_string(kMaxMeasureBranches));
    }
    if (node.expr != kNoIndex && node.expr >= program_.exprs.size()) {
      return UnsoundProgram(name + ": its expression");
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
        if (!IsFieldOf(program_, node.field) || WriteOf(node.field) == MeasureWrite::kNever) {
          return UnsoundProgram(name + ": its field");
        }
        break;
      case MeasureNodeKind::kTimestamp:
        if (!IsVariable(node.target) ||
            !IsOneOf(program_.variables[node.target].kind,
                     {MeasureKind::kTimestamp, MeasureKind::kTimestampMap})) {
          return UnsoundProgram(name + ": its timestamp");
        }
        break;
      case MeasureNodeKind::kDuplicate:
        if (node.target <= kCtrlStream || node.target >= program_.streams.size()) {
          return UnsoundProgram(name + ": its stream");
        }
        break;
      case MeasureNodeKind::kCollect:
        if (node.target >= program_.endpoints.size())
          return UnsoundProgram(name + ": its endpoint");
        break;
      case MeasureNodeKind::kUpdate:
        return CheckUpdate(node, name);
      default:
        return UnsoundProgram(name + " is of no known kind");
    }
    if ((node.expr != kNoIndex) != has_expr) return UnsoundProgram(name + ": its expression");
    if (exprs_.ReadsWrittenCell(node.expr)) return UnsoundProgram(name + " writes no cell");
    return Status::Ok();
  }

  Status CheckUpdate(const MeasureNode& node, const std::string& name) {
    if (!IsVariable(node.target)) return UnsoundProgram(name + ": its variable");
    const MeasureKind kind = program_.variables[node.target].kind;
    if (!AllowsUpdate(kind, node.update))
      return UnsoundProgram(name + ": not for its kind of variable");
    const bool has_expr = node.update == MeasureUpdate::kSet ||
                          node.update == MeasureUpdate::kAdd || node.update == MeasureUpdate::kInit;
    if ((node.expr != kNoIndex) != has_expr) return UnsoundProgram(name + ": its expression");
    if (node.update == MeasureUpdate::kInit && kind == MeasureKind::kBloomMembership) {
      if (!IsSmallFilter(program_, node.target))
        return UnsoundProgram(name + ": a filter of more than 64 cells");
      if (exprs_.ReadsWrittenCell(node.expr)) return UnsoundProgram(name + " writes no one cell");
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
        return UnsoundProgram(Numbered("task", i));
      }
      total_steps_ += node_steps_[task.root];
      if (total_steps_ > kMaxExpandedSteps) return TooLongProgram();
      if (task.stream == kPktsStream && !LeavesPacketsAlone(task.root)) {
        return UnsoundProgram(Numbered("packets would go elsewhere by task", i));
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
        return UnsoundProgram(Numbered("window", i));
      }
      if (window.task != kNoIndex &&
          (window.task >= program_.tasks.size() || program_.tasks[window.task].window != i)) {
        return UnsoundProgram(Numbered("the task of window", i));
      }
      for (const MeasureIndex variable : window.variables) {
        if (!IsVariable(variable) || program_.variables[variable].window != i ||
            is_covered[variable]) {
          return UnsoundProgram(Numbered("the variables of window", i));
        }
        is_covered[variable] = true;
      }
    }
    for (size_t i = 0; i < program_.variables.size(); ++i) {
      if ((program_.variables[i].window != kNoIndex) != is_covered[i]) {
        return UnsoundProgram(Numbered("the window of variable", i));
      }
    }
    for (size_t i = 0; i < program_.tasks.size(); ++i) {
      const MeasureIndex window = program_.tasks[i].window;
      if (window != kNoIndex && program_.windows[window].task != i) {
        return UnsoundProgram(Numbered("the window of task", i));
      }
    }
    return Status::Ok();
  }

  Status CheckStreams() {
    size_t copies = 0;
    for (const size_t count : CountCopies(program_)) {
      if (count == SIZE_MAX) return UnsoundProgram("copies of packets go round in circles");
      copies = std::min(copies + count, kMaxMeasureCopies + 1);
    }
    if (copies <= kMaxMeasureCopies) return Status::Ok();
    return Status::Error("a packet can be copied more than " + std::to_string(kMaxMeasureCopies) +
                         " times");
  }

  const MeasureProgram& program_;
  ExpressionCheck exprs_{program_};
  std::vector<size_t> node_steps_;  // of nodes with all below them
  size_t total_steps_ = 0;
};

}  // namespace

Status CheckMeasureProgram(const MeasureProgram& program) { return Checker(program).Check(); }

}  // namespace trumpet
