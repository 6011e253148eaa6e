// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/burst_stages.h"

#include <algorithm>

#include "lib/measure/kernels.h"
#include "lib/measure/stage_cutter.h"

namespace trumpet {
namespace {

class StagePlanner {
 public:
  StagePlanner(const std::vector<KnownSet>& known, CompiledProgram* compiled)
      : compiled_(*compiled),
        entry_(compiled->entries[kPktsStream]),
        cutter_(known, *compiled, entry_) {}

  void Run() {
    // A burst that is parted runs its few copies in the last stage.
    ranges_ = cutter_.Cut(false);
    BurstStage parted;
    const bool is_parted = FindArms(&parted);
    if (!is_parted) {
      waits_ = cutter_.HasCopies() && cutter_.MayCopiesWait();
      ranges_ = cutter_.Cut(waits_);
    }
    if (waits_) ranges_.pop_back();  // the copies
    const StageRange arms = is_parted ? ranges_.back() : StageRange();
    if (is_parted) ranges_.pop_back();
    FindRuns();
    FindPairs();
    if (is_parted) ranges_.push_back(arms);
    NumberStages();
    for (const StageRange& range : ranges_) {
      if (cutter_.IsJump(range)) continue;
      const bool is_last = &range == &ranges_.back();
      compiled_.stages.push_back(is_last && is_parted                ? parted
                                 : IsPair(range)                     ? Pair(range)
                                 : IsOfRun(range)                    ? InRun(range.first)
                                 : cutter_.IsTogether(range, waits_) ? Together(range.first)
                                                                     : OneByOne(range));
    }
    for (const Runs& runs : runs_) MarkRuns(runs);
    if (!waits_) return;
    compiled_.copy_keys = KeysOf(cutter_.end());
    const auto& copies = compiled_.burst_copies;
    compiled_.has_plain_copies = std::all_of(copies.begin(), copies.end(),
                                             [](const BurstCopy& copy) { return copy.is_plain; });
  }

 private:
  // Operators that are taken run by run.
  struct Runs {
    StageRange range;
    HashUse cells;
  };

  // Each of their operators becomes a stage of its own.
  void FindRuns() {
    std::vector<StageRange> ranges;
    for (const StageRange& range : ranges_) {
      HashUse cells;
      if (!cutter_.IsTogether(range, waits_)) cells = cutter_.RunCellsOf(range, waits_);
      if (cells.plan == nullptr) {
        ranges.push_back(range);
        continue;
      }
      runs_.push_back({range, cells});
      for (uint32_t at = range.first; at <= range.last; ++at) ranges.push_back({at, at});
    }
    ranges_ = ranges;
  }

  // Two additions to the record of a flow are done at once, where nobody comes to the second one
  // but by the first.
  void FindPairs() {
    std::vector<StageRange> ranges;
    for (const StageRange& range : ranges_) {
      const bool joins = !ranges.empty() && MayJoin(ranges.back(), range);
      if (joins) {
        ranges.back().last = range.first;
      } else {
        ranges.push_back(range);
      }
    }
    ranges_ = ranges;
  }

  bool MayJoin(const StageRange& first, const StageRange& second) const {
    const auto is_alone = [&](const StageRange& range) {
      return cutter_.IsTogether(range, waits_) && !IsOfRun(range);
    };
    if (!is_alone(first) || !is_alone(second)) return false;
    for (uint32_t at = 0; at < first.first; ++at) {
      if (cutter_.Resolve(at + cutter_.OperatorAt(at).skip) == second.first) return false;
    }
    return AddToSameCells(cutter_.OperatorAt(first.first), cutter_.OperatorAt(second.first));
  }

  bool IsPair(const StageRange& range) const {
    return range.first + 1 == range.last && range.last < cutter_.end() && !IsOfRun(range) &&
           AddToSameCells(cutter_.OperatorAt(range.first), cutter_.OperatorAt(range.last));
  }

  BurstStage Pair(const StageRange& range) {
    const Operator& first = cutter_.OperatorAt(range.first);
    BurstStage stage;
    stage.at = entry_ + range.first;
    stage.next = StageOf(range.last + 1);
    stage.hash = HashOf(first);
    if (stage.hash.plan != nullptr) stage.kernel = AddTwoKernel(first, stage.hash.plan);
    if (stage.kernel != nullptr) return stage;
    stage.hash = {};
    stage.kernel = AddTwoKernel(first, nullptr);
    stage.keys = KeysOf(range.first) | KeysOf(range.last);
    return stage;
  }

  void MarkRuns(const Runs& runs) {
    const uint32_t first = stage_at_[runs.range.first];
    uint32_t end = first;
    for (uint32_t at = runs.range.first; at <= runs.range.last; ++at) {
      end += cutter_.IsJump({at, at}) ? 0 : 1;
    }
    compiled_.stages[first].runs_end = end;
    compiled_.stages[first].run_cells = runs.cells;
    compiled_.stages[first].keeps_order = !cutter_.KnowsOnlyCells(runs.range, runs.cells);
  }

  const Runs* RunsOf(uint32_t place) const {
    for (const Runs& runs : runs_) {
      if (place >= runs.range.first && place <= runs.range.last) return &runs;
    }
    return nullptr;
  }

  bool IsOfRun(const StageRange& range) const { return RunsOf(range.first) != nullptr; }

  uint32_t StageCount() const { return stage_count_; }

  void NumberStages() {
    stage_at_.assign(cutter_.end() + 1, 0);
    for (const StageRange& range : ranges_) {
      if (!cutter_.IsJump(range)) stage_at_[range.first] = stage_count_++;
    }
    stage_at_[cutter_.end()] = stage_count_;  // done
  }

  uint32_t StageOf(uint32_t place) const { return stage_at_[cutter_.Resolve(place)]; }

  uint64_t KeysOf(uint32_t place) const {
    uint64_t keys = 0;
    for (size_t i = 0; i < compiled_.source.variables.size(); ++i) {
      const MeasureIndex key = compiled_.source.variables[i].key;
      if (key != kNoIndex && cutter_.AllKnownAt(place).test(i)) keys |= uint64_t{1} << key;
    }
    return keys & compiled_.early_keys;
  }

  // The plan of the slots of an operator that has some, if their hash is that of the burst.
  HashUse HashOf(const Operator& op) const {
    if (compiled_.family != MeasureHashFamily::kFast) return {};
    for (uint32_t key = 0; key < compiled_.slots.size(); ++key) {
      if ((compiled_.early_keys >> key & 1) == 0) continue;
      for (const SlotPlan& plan : compiled_.slots[key]) {
        if (plan.first == op.slot) return {key, &plan};
      }
    }
    return {};
  }

  // By hashes, if there is a kernel that takes them; else `keys` has those whose slots it needs.
  BurstStep StepAt(uint32_t place, uint64_t* keys) const {
    const Operator& op = cutter_.OperatorAt(place);
    BurstStep step;
    step.at = entry_ + place;
    if (UsesSlots(op.slot_use)) {
      step.hash = HashOf(op);
      if (step.hash.plan != nullptr) step.kernel = HashedKernelOf(op, *step.hash.plan);
    }
    if (step.kernel != nullptr) return step;
    step.hash = {};
    step.kernel = op.burst_kernel;
    *keys |= KeysOf(place);
    return step;
  }

  BurstStage Together(uint32_t place) {
    const Operator& op = cutter_.OperatorAt(place);
    BurstStage stage;
    stage.next = StageOf(place + 1);
    stage.skip = StageOf(place + op.skip);
    stage.tags = op.is_tag;
    if (cutter_.IsCopy(place)) {
      stage.at = Append(Waiting(op));
      stage.kernel = MarkCopies;
      return stage;
    }
    const BurstStep step = StepAt(place, &stage.keys);
    stage.at = step.at;
    stage.kernel = step.kernel;
    stage.hash = step.hash;
    return stage;
  }

  // An operator that a run takes, whose slots are its cells.
  BurstStage InRun(uint32_t place) {
    BurstStage stage = Together(place);
    const uint32_t slot = RunsOf(place)->cells.plan->first;
    Operator op = compiled_.operators[stage.at];
    if (!UsesSlots(op.slot_use) || op.slot != slot) return stage;
    op.slot = 0;
    if (op.slot_use == SlotUse::kSetPair) op.expression = AppendPairOfRun(op.expression);
    stage.at = Append(op);
    stage.kernel = op.burst_kernel;
    stage.hash = {};
    stage.keys = 0;
    stage.takes_run_cells = true;
    return stage;
  }

  uint32_t AppendPairOfRun(uint32_t first) {
    const auto own = static_cast<uint32_t>(compiled_.steps.size());
    for (uint32_t i = 0; i < 4; ++i) {  // with kDone behind both operands
      ExpressionStep step = compiled_.steps[first + i];
      if (step.kind == StepKind::kCell) step.slot = 0;
      compiled_.steps.push_back(step);
    }
    return own;
  }

  // Leaves a mark in place of a copy.
  Operator Waiting(Operator op) {
    BurstCopy copy;
    copy.stream = op.target;
    for (const MeasureTask& task : compiled_.source.tasks) {
      if (task.stream == copy.stream) AddTagged(task.root, &copy.tagged);
    }
    op.kernel = MarkCopy;
    op.target = static_cast<uint32_t>(compiled_.burst_copies.size());
    FindPlainCopy(&copy);
    compiled_.burst_copies.push_back(copy);
    return op;
  }

  // Whether the stream does nothing but tag with what it finds, and collect.
  void FindPlainCopy(BurstCopy* copy) const {
    uint32_t at = compiled_.entries[copy->stream];
    if (at == CompiledProgram::kNoCode) return;
    for (; compiled_.operators[at].is_tag; ++at) {
      const Operator& op = compiled_.operators[at];
      PlainTag tag;
      tag.is_of_field = op.kernel == TagKernel(OperandKind::kField, false).one;
      if (!tag.is_of_field && op.kernel != TagKernel(OperandKind::kConstant, false).one) return;
      tag.field = static_cast<MeasureFieldId>(op.field);
      tag.from = static_cast<MeasureFieldId>(tag.is_of_field ? op.target : 0);
      tag.makes_present = op.makes_present;
      tag.constant = op.constant;
      tag.mask = op.mask;
      for (const PlainTag& before : copy->tags) {
        if (tag.is_of_field && before.field == tag.from) return;
      }
      copy->tags.push_back(tag);
    }
    copy->is_plain = compiled_.operators[at].kernel == CollectPacket && EndsAfter(at);
    copy->endpoint = compiled_.operators[at].target;
  }

  // Whether nothing is done to a packet that the operator has collected: tasks to come leave it
  // alone, other branches of its own do not.
  bool EndsAfter(uint32_t collect) const {
    const Operator* next = &compiled_.operators[collect];
    do {
      next += next->skip;
    } while (next->kernel == Jump);
    return next->kernel == EndProgram || next->kernel == EnterTask;
  }

  void AddTagged(MeasureIndex index, std::vector<MeasureFieldId>* fields) const {
    const MeasureNode& node = compiled_.source.nodes[index];
    const bool is_new = std::count(fields->begin(), fields->end(), node.field) == 0;
    if (node.kind == MeasureNodeKind::kTag && is_new) fields->push_back(node.field);
    for (const MeasureIndex child : node.children) AddTagged(child, fields);
  }

  uint32_t Append(const Operator& op) {
    compiled_.operators.push_back(op);
    return static_cast<uint32_t>(compiled_.operators.size() - 1);
  }

  BurstStage OneByOne(const StageRange& range) {
    BurstStage stage;
    for (uint32_t at = range.first; at <= range.last; ++at) {
      stage.keys |= KeysOf(at);
      stage.tags |= at < cutter_.end() && cutter_.OperatorAt(at).is_tag;
    }
    if (range.last == cutter_.end()) {  // with its copies, to the end of the program
      stage.at = entry_ + range.first;
    } else {
      stage.at = AppendOwnForm(range);
    }
    return stage;
  }

  // The operators of the range once more, with exits to other stages behind them.
  uint32_t AppendOwnForm(const StageRange& range) {
    const auto first = static_cast<uint32_t>(compiled_.operators.size());
    const uint32_t count = range.last - range.first + 1;
    std::vector<uint32_t> exits = {StageOf(range.last + 1)};  // where the last one goes on, first
    for (uint32_t i = 0; i < count; ++i) {
      Operator op = cutter_.OperatorAt(range.first + i);
      if (op.kernel == DuplicatePacket) op = Waiting(op);
      const uint32_t target = range.first + i + op.skip;
      if (target > range.last) {
        const uint32_t stage = StageOf(target);
        const auto exit = std::find(exits.begin(), exits.end(), stage);
        op.skip = count - i + static_cast<uint32_t>(exit - exits.begin());
        if (exit == exits.end()) exits.push_back(stage);
      }
      Append(op);
    }
    for (const uint32_t stage : exits) {
      Operator leave;
      leave.kernel = stage == StageCount() ? EndProgram : LeaveStage;
      leave.target = stage;
      Append(leave);
    }
    return first;
  }

  // -- Arms --

  // Whether the last stage begins with a guard that parts it.  The guard and the operators of both
  // arms know no variable in common, so up to the first packet that does not stop all of them can
  // be done one by one.
  bool FindArms(BurstStage* stage) {
    if (ranges_.empty()) return false;
    const uint32_t at = ranges_.back().first;
    if (at == ranges_.back().last) return false;
    const Operator& guard = cutter_.OperatorAt(at);
    if (guard.slot_use != SlotUse::kFilter && guard.slot_use != SlotUse::kNotFilter) return false;
    const BurstStep step = StepAt(at, &stage->keys);
    stage->at = step.at;
    stage->kernel = step.kernel;
    stage->hash = step.hash;
    stage->parts = true;
    KnownSet known = cutter_.KnownAt(at);
    BurstArm pass;
    BurstArm fail;
    const bool are_fit = FollowArm(at + 1, &known, &pass, &stage->keys) &&
                         FollowArm(at + guard.skip, &known, &fail, &stage->keys) &&
                         (pass.stop == nullptr || fail.stop == nullptr);
    if (!are_fit) return false;
    compiled_.arms[0] = pass;
    compiled_.arms[1] = fail;
    return true;
  }

  // False unless all operators from `at` on are fit for an arm, and know nothing of `known`.
  bool FollowArm(uint32_t at, KnownSet* known, BurstArm* arm, uint64_t* keys) const {
    for (; cutter_.Resolve(at) != cutter_.end(); ++at) {
      const Operator& op = cutter_.OperatorAt(at);
      if (op.is_shared || op.is_tag || op.is_viewed) return false;
      if ((*known & cutter_.KnownAt(at)).any()) return false;
      *known |= cutter_.KnownAt(at);
      if (arm->steps.empty() && FindStop(at, arm, keys)) {
        return cutter_.Resolve(at + op.skip) == cutter_.end();
      }
      if (op.burst_kernel == nullptr || op.skip != 1) return false;
      arm->steps.push_back(StepAt(at, keys));
    }
    return true;
  }

  bool FindStop(uint32_t at, BurstArm* arm, uint64_t* keys) const {
    const Operator& op = cutter_.OperatorAt(at);
    if (StopKernelOf(op.kernel) == nullptr) return false;
    arm->stop_at = entry_ + at;
    arm->stop_hash = HashOf(op);
    if (arm->stop_hash.plan != nullptr) arm->stop = StopKernelOf(op.kernel, arm->stop_hash.plan);
    if (arm->stop != nullptr) return true;
    arm->stop_hash = {};
    arm->stop = StopKernelOf(op.kernel);
    *keys |= KeysOf(at);
    return true;
  }

  CompiledProgram& compiled_;
  const uint32_t entry_;
  StageCutter cutter_;
  std::vector<StageRange> ranges_;
  std::vector<Runs> runs_;
  bool waits_ = false;              // copies do
  std::vector<uint32_t> stage_at_;  // of the first place of each range
  uint32_t stage_count_ = 0;
};

// What comes by ctrl needs keys, too.
void NoteEarlyKeys(CompiledProgram* compiled) {
  for (uint32_t key = 0; key < compiled->keys.size(); ++key) {
    const bool is_early = !compiled->keys[key].is_late && !compiled->slots[key].empty();
    if (is_early) compiled->early_keys |= uint64_t{1} << key;
  }
}

}  // namespace

void PlanBurstStages(const std::vector<KnownSet>& known, CompiledProgram* compiled) {
  NoteEarlyKeys(compiled);
  if (compiled->entries[kPktsStream] == CompiledProgram::kNoCode) return;
  StagePlanner(known, compiled).Run();
}

}  // namespace trumpet
