// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_compiler.h"

#include <algorithm>
#include <bitset>

#include "lib/measure/access_sets.h"
#include "lib/measure/kernels.h"
#include "lib/measure/operator_choice.h"
#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

constexpr uint32_t kMaxFlags = 64;

using Jumps = std::vector<uint32_t>;  // operators whose `skip` is still to be set
using VariableSet = std::bitset<kMaxMeasureVariables>;

class TaskCompiler {
 public:
  explicit TaskCompiler(CompiledProgram* compiled)
      : compiled_(*compiled), source_(compiled->source) {}

  Status Run() {
    compiled_.entries.assign(source_.streams.size(), CompiledProgram::kNoCode);
    for (MeasureIndex stream = 0; stream < source_.streams.size(); ++stream) EmitStream(stream);
    if (is_too_deep_) return Status::Error("the program nests ++ too deep");
    AddUpCost();
    FindBurstOperators();
    FindHashUses();
    return Status::Ok();
  }

 private:
  // -- Emitting --

  uint32_t Here() const { return static_cast<uint32_t>(compiled_.operators.size()); }

  // With the variables that it knows.
  uint32_t Push(const Operator& op, const VariableSet& variables = {}) {
    compiled_.operators.push_back(op);
    variables_.push_back(variables);
    return Here() - 1;
  }

  uint32_t Push(Kernel kernel, uint32_t target = 0) {
    Operator op;
    op.kernel = kernel;
    op.target = target;
    return Push(op);
  }

  void LandHere(const Jumps& jumps) {
    for (const uint32_t jump : jumps) compiled_.operators[jump].skip = Here() - jump;
    landed_ = Here();
  }

  // Those with burst kernels, up to the first one that others could tell from a packet's own, or
  // whose guard does not end the packet.
  void FindBurstOperators() {
    const uint32_t entry = compiled_.entries[kPktsStream];
    if (entry == CompiledProgram::kNoCode) return;
    const Operator* const first = &compiled_.operators[entry];
    const Operator* op = first;
    for (; op->burst_kernel != nullptr; ++op) {
      const bool is_free = IsGuard(*op) ? op[op->skip].kernel == EndProgram : IsAlone(*op);
      if (!is_free) break;
      compiled_.adds_viewed_by_burst |= op->is_viewed;
    }
    compiled_.burst_operators = static_cast<uint32_t>(op - first);
    FindSplit(entry + compiled_.burst_operators);
  }

  // Whether the burst can be parted at operator `at`.
  void FindSplit(uint32_t at) {
    const Operator& guard = compiled_.operators[at];
    BurstSplit split;
    split.kernel = SplitKernelOf(guard.kernel);
    if (split.kernel == nullptr) return;
    VariableSet known = variables_[at];
    if (!FollowArm(at + 1, &known, &split.pass)) return;
    if (!FollowArm(at + guard.skip, &known, &split.fail)) return;
    if (split.pass.stop != nullptr && split.fail.stop != nullptr) return;
    compiled_.split = split;
  }

  // Has all kernels for bursts take hashes, if each can, and no packet needs slots that has not
  // stopped (RunArms()).
  void FindHashUses() {
    const uint32_t entry = compiled_.entries[kPktsStream];
    if (entry == CompiledProgram::kNoCode || compiled_.family != MeasureHashFamily::kFast) return;
    const uint32_t rest = entry + compiled_.burst_operators;
    BurstSplit* const split = &compiled_.split;
    const bool is_parted = split->kernel != nullptr;
    if (!is_parted && compiled_.operators[rest].kernel != EndProgram) return;
    hash_uses_.resize(compiled_.operators.size());
    BurstSplit hashed = *split;
    const bool can_all = CanHash(entry, compiled_.burst_operators) &&
                         (!is_parted || (CanHashGuard(rest, &hashed) && CanHashArm(&hashed.pass) &&
                                         CanHashArm(&hashed.fail)));
    if (!can_all) return;
    compiled_.hash_uses = hash_uses_;
    *split = hashed;
    for (size_t i = 0; i < hash_uses_.size(); ++i) {
      Operator* const op = &compiled_.operators[i];
      if (hash_uses_[i].plan == nullptr || op->slot_use == SlotUse::kNone) continue;
      op->burst_kernel = HashedKernelOf(*op, *hash_uses_[i].plan);
    }
  }

  // The plan of the slots of operator `at`, which has some, noted as what it takes.
  const SlotPlan* NoteHashUse(uint32_t at) {
    for (uint32_t key = 0; key < compiled_.slots.size(); ++key) {
      for (const SlotPlan& plan : compiled_.slots[key]) {
        if (plan.first == compiled_.operators[at].slot) hash_uses_[at] = {key, &plan};
      }
    }
    return hash_uses_[at].plan;
  }

  bool CanHash(uint32_t first, uint32_t count) {
    for (uint32_t at = first; at < first + count; ++at) {
      const Operator& op = compiled_.operators[at];
      const bool has_slots = op.target != kNoIndex && HasKey(source_.variables[op.target].kind);
      if (has_slots && HashedKernelOf(op, *NoteHashUse(at)) == nullptr) return false;
    }
    return true;
  }

  bool CanHashGuard(uint32_t at, BurstSplit* split) {
    split->kernel = SplitKernelOf(compiled_.operators[at].kernel, NoteHashUse(at));
    return split->kernel != nullptr;
  }

  bool CanHashArm(BurstArm* arm) {
    if (arm->stop == nullptr) return CanHash(arm->first, arm->count);
    arm->stop = StopKernelOf(compiled_.operators[arm->first].kernel, NoteHashUse(arm->first));
    return arm->stop != nullptr;
  }

  // False unless all operators from `at` on are fit for an arm, and know no variable of `known`.
  bool FollowArm(uint32_t at, VariableSet* known, BurstArm* arm) const {
    arm->first = at;
    for (; !LeadsToEnd(at); ++at) {
      const Operator& op = compiled_.operators[at];
      if (op.is_shared || (*known & variables_[at]).any()) return false;
      *known |= variables_[at];
      arm->stop = arm->count == 0 ? StopKernelOf(op.kernel) : nullptr;
      if (arm->stop != nullptr) return LeadsToEnd(at + op.skip);
      if (op.burst_kernel == nullptr || IsGuard(op)) return false;
      arm->count++;
    }
    return true;
  }

  bool LeadsToEnd(uint32_t at) const {
    while (compiled_.operators[at].kernel == Jump) at += compiled_.operators[at].skip;
    return compiled_.operators[at].kernel == EndProgram;
  }

  VariableSet VariablesOf(MeasureIndex expr) const {
    if (expr == kNoIndex) return {};
    const MeasureExpr& of = source_.exprs[expr];
    VariableSet variables = VariablesOf(of.a) | VariablesOf(of.b);
    if (of.variable != kNoIndex) variables.set(of.variable);
    return variables;
  }

  // Of those with burst kernels, which read no variable.
  static bool IsGuard(const Operator& op) { return op.target == kNoIndex; }

  // Whether nothing else in the program writes the variable of `op`, nor reads it unless it is
  // viewed.  What a burst adds to a shared variable at once is what packets add one after the other
  // while other threads wait; as long as there is no second one, nobody can tell.
  bool IsAlone(const Operator& op) const {
    const MeasureIndex variable = op.target;
    const auto writes = [variable](const MeasureNode& node) {
      return node.target == variable &&
             (node.kind == MeasureNodeKind::kUpdate || node.kind == MeasureNodeKind::kTimestamp);
    };
    const auto reads = [variable](const MeasureExpr& expr) {
      return expr.variable == variable && expr.kind != MeasureExprKind::kWrittenCell;
    };
    const auto is_shared = [](const VariablePlace& place) { return place.region == kSharedRegion; };
    const auto is_cleared = [variable](const MeasureWindow& window) {
      return window.task != kNoIndex &&
             std::count(window.variables.begin(), window.variables.end(), variable) != 0;
    };
    const auto& nodes = source_.nodes;
    const auto& exprs = source_.exprs;
    const auto& places = compiled_.variables;
    if (std::count_if(nodes.begin(), nodes.end(), writes) != 1) return false;
    if (std::any_of(source_.windows.begin(), source_.windows.end(), is_cleared)) return false;
    if (std::none_of(exprs.begin(), exprs.end(), reads)) return true;
    return op.is_viewed &&
           (!op.is_shared || std::count_if(places.begin(), places.end(), is_shared) == 1);
  }

  // -- Cost --

  uint64_t OperatorCount() const { return compiled_.operators.size() + compiled_.steps.size(); }

  void CountLines(MeasureIndex variable) {
    const MeasureVariable& of = source_.variables[variable];
    stream_costs_.back().cache_lines += of.evicts         ? 2
                                        : HasKey(of.kind) ? compiled_.variables[variable].slot_count
                                                          : 1;
  }

  void CountLinesOf(MeasureIndex expr) {
    if (expr == kNoIndex) return;
    if (source_.exprs[expr].variable != kNoIndex) CountLines(source_.exprs[expr].variable);
    CountLinesOf(source_.exprs[expr].a);
    CountLinesOf(source_.exprs[expr].b);
  }

  uint64_t HashesOf(MeasureIndex key) const {
    if (compiled_.family == MeasureHashFamily::kFast) return 1;
    uint64_t hashes = 0;
    for (const SlotPlan& plan : compiled_.slots[key]) hashes += plan.rows;
    return hashes;
  }

  // A packet is of pkts or of ctrl, and its copies come on top.
  void AddUpCost() {
    const std::vector<size_t> copies = CountCopies(source_);
    CostCertificate* cost = &compiled_.cost;
    for (MeasureIndex stream = 0; stream < stream_costs_.size(); ++stream) {
      const CostCertificate& one = stream_costs_[stream];
      const uint64_t times = stream <= kCtrlStream ? 1 : copies[stream];
      cost->operators += times * one.operators;
      cost->hashes += times * one.hashes;
      cost->cache_lines += times * one.cache_lines;
    }
    for (MeasureIndex key = 0; key < compiled_.keys.size(); ++key) {
      const bool is_early = !compiled_.keys[key].is_late && !compiled_.slots[key].empty();
      if (is_early) cost->hashes += HashesOf(key);
    }
    for (const WindowPlan& window : compiled_.windows) {
      if (!window.flips) cost->cache_lines += window.quantum / 8 + 1;
    }
    cost->bytes = uint64_t{compiled_.own_bytes} + compiled_.shared_bytes +
                  compiled_.max_copies * sizeof(PacketValues) +
                  compiled_.max_log * sizeof(WriteLogEntry);
  }

  // -- Tasks --

  void EmitStream(MeasureIndex stream) {
    stream_ = stream;
    stream_collects_ = false;
    stream_costs_.emplace_back();
    const uint64_t before = OperatorCount();
    EmitTasks(stream);
    stream_costs_.back().operators = OperatorCount() - before;
  }

  void EmitTasks(MeasureIndex stream) {
    const uint32_t entry = Here();
    for (MeasureIndex i = 0; i < source_.tasks.size(); ++i) {
      if (source_.tasks[i].stream == stream) EmitTask(i);
    }
    if (Here() == entry) return;
    compiled_.entries[stream] = entry;
    Push(EndProgram);
  }

  void EmitTask(MeasureIndex index) {
    const MeasureTask& task = source_.tasks[index];
    Jumps leave;
    Operator enter;
    enter.mask = task.role == kNoIndex ? UINT64_MAX : uint64_t{1} << task.role;
    enter.target = task.window == kNoIndex ? UINT32_MAX : task.window;
    enter.constant = WindowsOver(task);
    enter.kernel = task.window == kNoIndex ? EnterTaskWithoutWindow : EnterTask;
    const bool is_free = task.role == kNoIndex && task.window == kNoIndex && enter.constant == 0 &&
                         !stream_collects_;
    // A burst that operators take has no window that clears.
    if (task.window == kNoIndex) {
      enter.burst_kernel = task.role == kNoIndex ? EnterTaskAlways : EnterTaskByRole;
    }
    if (!is_free) leave.push_back(Push(enter));
    EmitNode(task.root, false, &leave);
    LandHere(leave);
  }

  // Bit per window of its scope that keeps the task from running while it clears.
  uint64_t WindowsOver(const MeasureTask& task) const {
    uint64_t windows = 0;
    for (MeasureIndex i = 0; i < source_.windows.size(); ++i) {
      const MeasureWindow& window = source_.windows[i];
      if (window.task != kNoIndex) continue;
      if (window.role == kNoIndex || window.role == task.role) windows |= uint64_t{1} << i;
    }
    return windows;
  }

  // -- Steps --

  // `leave`: where packets go that the step does not yield.  If nobody needs to know whether it
  // yields, it may go on either way.
  void EmitNode(MeasureIndex index, bool needs_yield, Jumps* leave) {
    const MeasureNode& node = source_.nodes[index];
    switch (node.kind) {
      case MeasureNodeKind::kSeq:
        for (size_t i = 0; i < node.children.size(); ++i) {
          const bool is_last = i + 1 == node.children.size();
          EmitNode(node.children[i], needs_yield || !is_last, leave);
        }
        return;
      case MeasureNodeKind::kPar:
        return EmitPar(node, needs_yield, leave);
      case MeasureNodeKind::kMatch:
        return EmitMatch(node, leave);
      default:
        return EmitPrimitive(node, leave);
    }
  }

  void EmitMatch(const MeasureNode& node, Jumps* leave) {
    Jumps* leading = leading_;
    leading_ = nullptr;
    if (drops_guard_) {
      drops_guard_ = false;
      return;
    }
    LoadLateKeys(node);
    CountLinesOf(node.expr);
    (leading != nullptr ? leading : leave)
        ->push_back(PushMatch(ChooseMatch(node.expr, &compiled_), VariablesOf(node.expr)));
  }

  // A sum whose least is asked for at once takes one operator.
  uint32_t PushMatch(const Operator& match, const VariableSet& variables) {
    if (match.kernel != MatchLeastRatio || landed_ == Here() || Here() == 0) {
      return Push(match, variables);
    }
    Operator* last = &compiled_.operators.back();
    const bool is_sum = AddsFieldToFourCells(last->kernel) && last->region == match.region &&
                        last->slot == match.slot;
    if (!is_sum) return Push(match, variables);
    const uint16_t addend = last->field;
    *last = match;
    last->kernel = AddAndMatchLeastRatio;
    last->expression = addend;
    variables_.back() |= variables;
    return Here() - 1;
  }

  void EmitPrimitive(const MeasureNode& node, Jumps* leave) {
    LoadLateKeys(node);
    CountLinesOf(node.expr);
    switch (node.kind) {
      case MeasureNodeKind::kTag:
        CountWrites(1);
        if (stream_ <= kCtrlStream) compiled_.tagged_fields |= uint64_t{1} << node.field;
        Push(ChooseTag(node, is_logged_, &compiled_));
        return;
      case MeasureNodeKind::kDuplicate:
        Push(DuplicatePacket, node.target);
        return;
      case MeasureNodeKind::kCollect:
        compiled_.collects = true;
        stream_collects_ = true;
        leave->push_back(Push(CollectPacket, node.target));
        return;
      default:
        break;
    }
    CountLines(node.target);
    EmitClaim(node.target);
    const Operator op = node.kind == MeasureNodeKind::kTimestamp
                            ? ChooseStamp(node, is_logged_, compiled_)
                            : ChooseUpdate(node, is_logged_, &compiled_);
    CountWrites(op.rows);
    Push(op, VariablesOf(node.expr) | VariableSet().set(node.target));
  }

  void EmitClaim(MeasureIndex variable) {
    if (!source_.variables[variable].evicts) return;
    const VariablePlace& place = compiled_.variables[variable];
    Operator op;
    op.kernel = ClaimKernel(is_logged_);
    op.region = place.region;
    op.log2 = place.log2;
    op.mask = place.mask;
    op.slot = place.first_slot;
    CountWrites(1);
    Push(op);
  }

  void CountWrites(uint32_t writes) {
    if (is_logged_) log_ += writes;
  }

  // Keys that tags change are computed before each use.
  void LoadLateKeys(const MeasureNode& node) {
    uint64_t late = LateKeysOf(node.expr);
    const bool writes =
        node.kind == MeasureNodeKind::kTimestamp || node.kind == MeasureNodeKind::kUpdate;
    if (writes) late |= LateKeyOf(node.target);
    for (; late != 0; late &= late - 1) {
      const auto key = static_cast<uint32_t>(__builtin_ctzll(late));
      stream_costs_.back().hashes += HashesOf(key);
      Push(LoadKey, key);
    }
  }

  uint64_t LateKeyOf(MeasureIndex variable) const {
    const MeasureIndex key = source_.variables[variable].key;
    return key != kNoIndex && compiled_.keys[key].is_late ? uint64_t{1} << key : 0;
  }

  uint64_t LateKeysOf(MeasureIndex index) const {
    if (index == kNoIndex) return 0;
    const MeasureExpr& expr = source_.exprs[index];
    const bool has_cells =
        expr.kind == MeasureExprKind::kCell || expr.kind == MeasureExprKind::kAggregate;
    return (has_cells ? LateKeyOf(expr.variable) : 0) | LateKeysOf(expr.a) | LateKeysOf(expr.b);
  }

  // -- Forks --

  // For each branch: the branch to go on with once its guard has let the packet in, because the
  // ones between are excluded by it; 0: simply the next one.  Empty: branches must be logged.
  std::vector<size_t> PlanBranches(const MeasureNode& node) const {
    const size_t count = node.children.size();
    std::vector<StepAccess> access;
    std::vector<MeasureIndex> guards;
    for (const MeasureIndex child : node.children) {
      access.push_back(AccessOf(source_, child));
      guards.push_back(LeadingGuard(source_, child));
    }
    std::vector<size_t> next(count, 0);
    for (size_t i = 0; i < count; ++i) {
      size_t excluded_end = i + 1;
      while (excluded_end < count && AreExclusive(source_, guards[i], guards[excluded_end])) {
        excluded_end++;
      }
      for (size_t j = i + 1; j < count; ++j) {
        if (!access[j].reads.Meets(access[i].writes)) continue;
        if (j >= excluded_end) return {};
        next[i] = excluded_end;
      }
    }
    return next;
  }

  void EmitPar(const MeasureNode& node, bool needs_yield, Jumps* leave) {
    const uint32_t flag = flags_;
    if (needs_yield) {
      flags_++;
      if (flags_ > kMaxFlags) is_too_deep_ = true;
      Push(LowerFlag, flag % kMaxFlags);
    }
    Jumps* leading = leading_;  // the guard of a branch is not that of what is around the fork
    leading_ = nullptr;
    const std::vector<size_t> next = PlanBranches(node);
    if (next.empty()) {
      EmitLogged(node, needs_yield, flag);
    } else {
      EmitOneByOne(node, next, needs_yield, flag);
    }
    leading_ = leading;
    if (!needs_yield) return;
    flags_--;
    leave->push_back(Push(SkipUnlessFlag, flag % kMaxFlags));
  }

  void EmitOneByOne(const MeasureNode& node, const std::vector<size_t>& next, bool needs_yield,
                    uint32_t flag) {
    const size_t count = node.children.size();
    std::vector<Jumps> to(count + 1);  // each branch, and the end
    for (size_t i = 0; i < count; ++i) {
      LandHere(to[i]);
      const size_t after = next[i] != 0 ? next[i] : i + 1;
      leading_ = next[i] != 0 ? &to[i + 1] : nullptr;
      drops_guard_ = i > 0 && next[i - 1] != 0 &&
                     AreComplements(source_, LeadingGuard(source_, node.children[i - 1]),
                                    LeadingGuard(source_, node.children[i]));
      if (drops_guard_) leading_ = nullptr;
      EmitNode(node.children[i], needs_yield, &to[after]);
      leading_ = nullptr;
      if (needs_yield) Push(RaiseFlag, flag % kMaxFlags);
      if (after != i + 1) to[after].push_back(Push(Jump));
    }
    LandHere(to[count]);
  }

  void EmitLogged(const MeasureNode& node, bool needs_yield, uint32_t flag) {
    const bool was_logged = is_logged_;
    const uint32_t log = log_;
    is_logged_ = true;
    const uint32_t depth = forks_++;
    Push(BeginFork, depth);
    for (const MeasureIndex child : node.children) {
      Jumps leave;
      Push(BeginBranch, depth);
      EmitNode(child, needs_yield, &leave);
      if (needs_yield) Push(RaiseFlag, flag % kMaxFlags);
      LandHere(leave);
      Push(EndBranch, depth);
    }
    Push(CommitFork, depth);
    forks_--;
    compiled_.max_log = std::max(compiled_.max_log, log_);
    is_logged_ = was_logged;
    if (!was_logged) log_ = log;
  }

  CompiledProgram& compiled_;
  const MeasureProgram& source_;
  std::vector<VariableSet> variables_;         // of each operator
  std::vector<HashUse> hash_uses_;             // of each operator, as far as they are known
  bool stream_collects_ = false;               // a task so far, which ends packets
  MeasureIndex stream_ = 0;                    // whose tasks are compiled
  std::vector<CostCertificate> stream_costs_;  // of one packet on each stream; no bytes
  bool is_logged_ = false;
  bool drops_guard_ = false;  // the first match to come is known to be true
  Jumps* leading_ = nullptr;  // of the first match to come
  bool is_too_deep_ = false;
  uint32_t landed_ = 0;  // where jumps last came in
  uint32_t flags_ = 0;   // in use
  uint32_t forks_ = 0;   // that are logged, around here
  uint32_t log_ = 0;     // entries of the outermost of them
};

}  // namespace

Status CompileTasks(CompiledProgram* compiled) { return TaskCompiler(compiled).Run(); }

}  // namespace trumpet
