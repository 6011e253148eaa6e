// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_compiler.h"

#include <algorithm>
#include <vector>

#include "lib/measure/access_sets.h"
#include "lib/measure/burst_stages.h"
#include "lib/measure/kernels.h"
#include "lib/measure/operator_choice.h"
#include "lib/measure/operator_fusion.h"
#include "lib/measure/packet_cost.h"
#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

constexpr uint32_t kMaxFlags = 64;

using Jumps = std::vector<uint32_t>;  // operators whose `skip` is still to be set

const KnownSet kFlags = KnownSet().set(kKnowsFlags);
const KnownSet kLog = KnownSet().set(kKnowsLog);

class TaskCompiler {
 public:
  explicit TaskCompiler(CompiledProgram* compiled)
      : compiled_(*compiled), source_(compiled->source) {}

  Status Run() {
    compiled_.entries.assign(source_.streams.size(), CompiledProgram::kNoCode);
    for (MeasureIndex stream = 0; stream < source_.streams.size(); ++stream) EmitStream(stream);
    if (is_too_deep_) return Status::Error("the program nests ++ too deep");
    AddUpCost();
    PlanBurstStages(known_, &compiled_);
    return Status::Ok();
  }

 private:
  // -- Emitting --

  uint32_t Here() const { return static_cast<uint32_t>(compiled_.operators.size()); }

  uint32_t Push(const Operator& op, const KnownSet& known = {}) {
    Charge(1);
    compiled_.operators.push_back(op);
    known_.push_back(known);
    return Here() - 1;
  }

  uint32_t Push(Kernel kernel, uint32_t target = 0, const KnownSet& known = {}) {
    Operator op;
    op.kernel = kernel;
    op.target = target;
    return Push(op, known);
  }

  void LandHere(const Jumps& jumps) {
    for (const uint32_t jump : jumps) compiled_.operators[jump].skip = Here() - jump;
    landed_ = Here();
    stamped_ = kNoIndex;
  }

  StepScope Scope() const { return {&compiled_, is_logged_, stamped_}; }

  KnownSet KnownTo(MeasureIndex expr) const {
    if (expr == kNoIndex) return {};
    const MeasureExpr& of = source_.exprs[expr];
    KnownSet known = KnownTo(of.a) | KnownTo(of.b);
    if (of.variable != kNoIndex && of.variable != stamped_) known.set(of.variable);
    if (of.kind == MeasureExprKind::kRandom) known.set(kKnowsRandom);
    return known;
  }

  // -- Cost --

  void Charge(uint64_t operators) { stream_costs_.back().operators += operators; }

  // The cells of a packet in a variable stay the same, and what it has touched lies in the cache;
  // but not where tags change the key.
  void CountLines(MeasureIndex variable) {
    if (LateKeyOf(variable) == 0) {
      if (touched_[variable]) return;
      touched_[variable] = true;
    }
    stream_costs_.back().cache_lines += LinesOf(compiled_, variable);
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

  // A packet is of pkts or of ctrl, and its copies come on top.  A scope's window is looked at once
  // for each packet, a task's by each packet and copy of its stream.
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
      if (!is_early) continue;
      cost->hashes += HashesOf(key);
      cost->operators += CostOfKey(compiled_, key);
    }
    for (MeasureIndex i = 0; i < compiled_.windows.size(); ++i) {
      if (source_.windows[i].task == kNoIndex) AddWindow(i, cost);
    }
    cost->bytes = uint64_t{compiled_.own_bytes} + compiled_.shared_bytes +
                  compiled_.max_copies * sizeof(PacketValues) +
                  compiled_.max_log * sizeof(WriteLogEntry);
  }

  void AddWindow(MeasureIndex window, CostCertificate* cost) const {
    const CostCertificate one = CostOfWindow(compiled_, window);
    cost->operators += one.operators;
    cost->cache_lines += one.cache_lines;
  }

  // -- Tasks --

  void EmitStream(MeasureIndex stream) {
    stream_ = stream;
    stream_collects_ = false;
    stream_costs_.emplace_back();
    touched_.assign(source_.variables.size(), false);
    EmitTasks(stream);
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
    enter.target = kNoIndex;
    enter.constant = WindowsOver(task);
    enter.kernel = EnterTask;
    // A burst that operators take has no window of a scope that clears.
    enter.burst_kernel = task.role == kNoIndex ? EnterTaskAlways : EnterTaskByRole;
    if (task.role != kNoIndex || enter.constant != 0 || stream_collects_) {
      leave.push_back(Push(enter));
    }
    if (task.window != kNoIndex) {
      KnownSet cleared;
      for (const MeasureIndex variable : source_.windows[task.window].variables) {
        cleared.set(variable);
      }
      leave.push_back(Push(LookAtWindow, task.window, cleared));
      AddWindow(task.window, &stream_costs_.back());
    }
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
    Jumps* const to = leading_ != nullptr ? leading_ : leave;
    const MeasureIndex refuted = refuted_;
    leading_ = nullptr;
    refuted_ = kNoIndex;
    LoadLateKeys(node);
    CountLinesOf(node.expr);
    EmitGuard(node.expr, refuted, to);
  }

  // The parts of a && b one after the other; those are left out that are true because `refuted` is
  // not.
  void EmitGuard(MeasureIndex index, MeasureIndex refuted, Jumps* to) {
    if (AreComplements(source_, refuted, index)) return;
    const MeasureExpr& expr = source_.exprs[index];
    if (expr.kind == MeasureExprKind::kBinary && expr.op == MeasureOp::kAnd) {
      EmitGuard(expr.a, refuted, to);
      EmitGuard(expr.b, refuted, to);
      return;
    }
    const size_t steps = compiled_.steps.size();
    const Operator match = ChooseMatch(index, Scope());
    Charge(CostOfSteps(compiled_, steps) + CostOfCells(match.rows));
    to->push_back(PushMatch(match, KnownTo(index)));
  }

  uint32_t PushMatch(const Operator& match, const KnownSet& known) {
    if (landed_ == Here() || Here() == 0 || !AbsorbMatch(match, &compiled_.operators.back())) {
      return Push(match, known);
    }
    known_.back() |= known;
    return Here() - 1;
  }

  void EmitPrimitive(const MeasureNode& node, Jumps* leave) {
    LoadLateKeys(node);
    CountLinesOf(node.expr);
    const size_t steps = compiled_.steps.size();
    switch (node.kind) {
      case MeasureNodeKind::kTag: {
        if (stream_ <= kCtrlStream) compiled_.tagged_fields |= uint64_t{1} << node.field;
        const Operator tag = ChooseTag(node, Scope());
        Charge(CostOfSteps(compiled_, steps));
        CountLogged(1);
        Push(tag, KnownTo(node.expr));
        return;
      }
      case MeasureNodeKind::kDuplicate:
        Charge(kCopyCost);
        Push(DuplicatePacket, node.target);
        return;
      case MeasureNodeKind::kCollect:
        compiled_.collects = true;
        stream_collects_ = true;
        Charge(kCollectCost);
        leave->push_back(Push(CollectPacket, node.target));
        return;
      default:
        break;
    }
    CountLines(node.target);
    EmitClaim(node.target);
    const bool is_stamp = node.kind == MeasureNodeKind::kTimestamp;
    const Operator op = is_stamp ? ChooseStamp(node, Scope()) : ChooseUpdate(node, Scope());
    Charge(CostOfUpdate(node, op, CostOfSteps(compiled_, steps)));
    CountLogged(op.rows);
    Push(op, KnownTo(node.expr) | KnownSet().set(node.target));
    NoteStamp(node.target, is_stamp);
    FuseFilter();
  }

  // `steps`: of the expression, which is computed anew for each cell, if not for a whole filter.
  uint64_t CostOfUpdate(const MeasureNode& node, const Operator& op, uint64_t steps) const {
    const bool is_whole = node.update == MeasureUpdate::kInit &&
                          source_.variables[node.target].kind == MeasureKind::kBloomMembership;
    if (is_whole) return steps + CostOfFilter(op.rows);
    const bool is_locked = op.is_shared && AddsToCells(source_, node);
    return op.rows * steps + (is_locked ? CostOfSharedSums(op.rows) : CostOfCells(op.rows));
  }

  void FuseFilter() {
    if (Here() < landed_ + kCarriedFilterSteps) return;
    const uint32_t first = Here() - static_cast<uint32_t>(kCarriedFilterSteps);
    const Operator op = CarriedFilterOf(compiled_, &compiled_.operators[first]);
    if (op.kernel != nullptr) Replace(first, op);
  }

  // At the end of a fork, where all jumps of its branches have landed.
  void FuseStampOrSince() {
    if (Here() < kStampOrSinceSteps) return;
    const uint32_t first = Here() - static_cast<uint32_t>(kStampOrSinceSteps);
    for (uint32_t at = 0; at < first; ++at) {
      if (at + compiled_.operators[at].skip > first) return;  // from elsewhere
    }
    const Operator op = StampOrSinceOf(compiled_, &compiled_.operators[first]);
    if (op.kernel == nullptr) return;
    Replace(first, op);
    landed_ = Here();
  }

  // The operators from `first` on by one that does the same.
  void Replace(uint32_t first, const Operator& op) {
    KnownSet known;
    for (uint32_t at = first; at < Here(); ++at) known |= known_[at];
    compiled_.operators.resize(first);
    known_.resize(first);
    Push(op, known);
  }

  // Whoever reads the scalar next reads the time of the packet, whatever others have written.
  void NoteStamp(MeasureIndex target, bool is_stamp) {
    if (is_stamp && !HasKey(source_.variables[target].kind)) {
      stamped_ = is_logged_ ? kNoIndex : target;
    } else if (target == stamped_) {
      stamped_ = kNoIndex;
    }
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
    CountLogged(1);
    Push(op, KnownSet().set(variable));
  }

  void CountLogged(uint32_t writes) {
    if (!is_logged_) return;
    Charge(CostOfLogged(writes, forks_));
    log_ += writes;
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
      Charge(CostOfKey(compiled_, key));
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
      Push(LowerFlag, flag % kMaxFlags, kFlags);
    }
    Jumps* leading = leading_;  // the guard of a branch is not that of what is around the fork
    leading_ = nullptr;
    const std::vector<size_t> next = PlanBranches(node);
    if (next.empty()) {
      EmitLogged(node, needs_yield, flag);
    } else {
      EmitOneByOne(node, next, needs_yield, flag);
      FuseStampOrSince();
    }
    leading_ = leading;
    if (!needs_yield) return;
    flags_--;
    leave->push_back(Push(SkipUnlessFlag, flag % kMaxFlags, kFlags));
  }

  void EmitOneByOne(const MeasureNode& node, const std::vector<size_t>& next, bool needs_yield,
                    uint32_t flag) {
    const size_t count = node.children.size();
    std::vector<Jumps> to(count + 1);  // each branch, and the end
    for (size_t i = 0; i < count; ++i) {
      LandHere(to[i]);
      const size_t after = next[i] != 0 ? next[i] : i + 1;
      leading_ = next[i] != 0 ? &to[i + 1] : nullptr;
      const bool comes_from_guard = i > 0 && next[i - 1] != 0;
      const bool has_guard = LeadingGuard(source_, node.children[i]) != kNoIndex;
      refuted_ =
          comes_from_guard && has_guard ? LeadingGuard(source_, node.children[i - 1]) : kNoIndex;
      EmitNode(node.children[i], needs_yield, &to[after]);
      leading_ = nullptr;
      refuted_ = kNoIndex;
      if (needs_yield) Push(RaiseFlag, flag % kMaxFlags, kFlags);
      if (after != i + 1) to[after].push_back(Push(Jump));
    }
    LandHere(to[count]);
  }

  void EmitLogged(const MeasureNode& node, bool needs_yield, uint32_t flag) {
    const bool was_logged = is_logged_;
    const uint32_t log = log_;
    is_logged_ = true;
    const uint32_t depth = forks_++;
    Push(BeginFork, depth, kLog);
    for (const MeasureIndex child : node.children) {
      Jumps leave;
      Push(BeginBranch, depth, kLog);
      EmitNode(child, needs_yield, &leave);
      if (needs_yield) Push(RaiseFlag, flag % kMaxFlags, kFlags);
      LandHere(leave);
      Push(EndBranch, depth, kLog);
    }
    Push(CommitFork, depth, kLog);
    forks_--;
    compiled_.max_log = std::max(compiled_.max_log, log_);
    is_logged_ = was_logged;
    if (!was_logged) log_ = log;
  }

  CompiledProgram& compiled_;
  const MeasureProgram& source_;
  std::vector<KnownSet> known_;                // to each operator
  bool stream_collects_ = false;               // a task so far, which ends packets
  MeasureIndex stream_ = 0;                    // whose tasks are compiled
  std::vector<CostCertificate> stream_costs_;  // of one packet on each stream; no bytes
  std::vector<bool> touched_;                  // by variable: by packets of `stream_`
  bool is_logged_ = false;
  MeasureIndex refuted_ = kNoIndex;  // a guard that is known to be false at the next step
  Jumps* leading_ = nullptr;         // of the first match to come
  bool is_too_deep_ = false;
  uint32_t landed_ = 0;              // where jumps last came in
  MeasureIndex stamped_ = kNoIndex;  // a scalar that holds the time of the packet
  uint32_t flags_ = 0;               // in use
  uint32_t forks_ = 0;               // that are logged, around here
  uint32_t log_ = 0;                 // entries of the outermost of them
};

}  // namespace

Status CompileTasks(CompiledProgram* compiled) { return TaskCompiler(compiled).Run(); }

}  // namespace trumpet
