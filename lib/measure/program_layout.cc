// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_layout.h"

#include <algorithm>
#include <string>

#include "lib/measure/cell.h"
#include "lib/measure/key_slots.h"
#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kMaxRegionBytes = uint64_t{1} << 31;

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Small variables lie together, large ones start a cache line.
uint64_t AlignFor(uint64_t at, uint64_t bytes) { return RoundUp(at, bytes < kLineBytes ? 8 : 64); }

KeyShape ShapeOf(const std::vector<KeyPart>& parts) {
  const auto has_bytes = [&parts](std::initializer_list<uint8_t> bytes) {
    return std::equal(parts.begin(), parts.end(), bytes.begin(), bytes.end(),
                      [](const KeyPart& part, uint8_t count) { return part.bytes == count; });
  };
  if (parts.size() == 1) return KeyShape::kOneField;
  if (has_bytes({4, 4})) return KeyShape::kTwoAddresses;
  if (has_bytes({4, 4, 2, 2, 1})) return KeyShape::kFiveTuple;
  return KeyShape::kAny;
}

KeyPlan PlanKey(const MeasureProgram& program, const MeasureKey& key, uint64_t tagged) {
  KeyPlan plan;
  uint32_t used = 64;  // bits of the last word
  for (const MeasureFieldId field : key.fields) {
    const uint32_t bytes = (FieldBits(program, field) + 7u) / 8;
    if (used + 8 * bytes > 64) {
      plan.words++;
      used = 0;
    }
    plan.parts.push_back({field, static_cast<uint8_t>(plan.words - 1), static_cast<uint8_t>(used),
                          static_cast<uint8_t>(bytes)});
    used += 8 * bytes;
    plan.fields |= uint64_t{1} << field;
  }
  plan.shape = ShapeOf(plan.parts);
  plan.is_late = (plan.fields & tagged) != 0;
  return plan;
}

SlotForm FormOf(const MeasureVariable& variable) {
  switch (variable.kind) {
    case MeasureKind::kBloomMembership:
    case MeasureKind::kBloomCounting:
      return SlotForm::kFilter;
    case MeasureKind::kCountMin:
    case MeasureKind::kStore:
      return SlotForm::kRows;
    case MeasureKind::kPcsa:
      return SlotForm::kBitmap;
    case MeasureKind::kHyperLogLog:
      return SlotForm::kRegister;
    default:
      return variable.evicts ? SlotForm::kOwnedMap : SlotForm::kMap;
  }
}

// Sliced rows are written all four in one go.
uint32_t SlotsOf(const SlotPlan& plan) {
  if (HasRows(plan.form)) return plan.is_sliced ? kSlicedRows : plan.rows;
  if (plan.form == SlotForm::kOwnedMap) return 4;
  return plan.form == SlotForm::kMap ? 1 : 2;
}

class Layout {
 public:
  Layout(uint32_t thread_count, CompiledProgram* compiled)
      : thread_count_(thread_count), compiled_(*compiled), source_(compiled->source) {}

  Status Run() {
    PlanWindows();
    if (Status status = CheckFlips(); !status.ok()) return status;
    PlaceVariables();
    ChooseViewed();
    if (own_ > kMaxRegionBytes || shared_ > kMaxRegionBytes) {
      return Status::Error("the program's variables take " + std::to_string(own_ + shared_) +
                           " bytes; a switch takes " + std::to_string(kMaxRegionBytes));
    }
    compiled_.own_bytes = static_cast<uint32_t>(own_);
    compiled_.shared_bytes = static_cast<uint32_t>(shared_);
    uint64_t tagged = 0;
    for (const MeasureNode& node : source_.nodes) {
      if (node.kind == MeasureNodeKind::kTag) tagged |= uint64_t{1} << node.field;
    }
    for (const MeasureKey& key : source_.keys) {
      compiled_.keys.push_back(PlanKey(source_, key, tagged));
    }
    PlanSlots();
    return Status::Ok();
  }

 private:
  void PlanWindows() {
    const uint64_t all = ~uint64_t{0};
    for (const MeasureWindow& window : source_.windows) {
      WindowPlan plan;
      plan.duration = window.duration;
      plan.quantum = window.quantum;
      plan.flips = window.mode == MeasureWindowMode::kFlip;
      plan.is_of_scope = window.task == kNoIndex;
      plan.roles = window.role == kNoIndex ? all : uint64_t{1} << window.role;
      plan.variables = window.variables;
      compiled_.windows.push_back(plan);
    }
  }

  bool IsShared(const MeasureVariable& variable) const {
    return thread_count_ > 1 && variable.merge == MeasureMerge::kShared;
  }

  // Each thread flips when it likes.
  Status CheckFlips() const {
    for (const MeasureVariable& variable : source_.variables) {
      if (!IsShared(variable) || variable.window == kNoIndex) continue;
      if (!compiled_.windows[variable.window].flips) continue;
      return Status::Error("packet threads share '" + variable.name +
                           "', and a window that flips has cells of each thread; mode=reset "
                           "clears what they share");
    }
    return Status::Ok();
  }

  void PlaceVariables() {
    compiled_.variables.resize(source_.variables.size());
    for (MeasureIndex i = 0; i < source_.variables.size(); ++i) {
      const MeasureVariable& variable = source_.variables[i];
      const bool flips = variable.window != kNoIndex && compiled_.windows[variable.window].flips;
      compiled_.variables[i].region = flips                ? FlipRegion(variable.window)
                                      : IsShared(variable) ? kSharedRegion
                                                           : kOwnRegion;
      if (compiled_.variables[i].region == kSharedRegion && variable.window != kNoIndex) {
        compiled_.windows[variable.window].is_shared = true;
      }
    }
    PlaceRegion(kOwnRegion, &own_);
    PlaceRegion(kSharedRegion, &shared_);
    for (MeasureIndex i = 0; i < compiled_.windows.size(); ++i) {
      WindowPlan* const window = &compiled_.windows[i];
      if (!window->flips) continue;
      own_ = RoundUp(own_, kLineBytes);
      const uint64_t begin = own_;
      PlaceRegion(FlipRegion(i), &own_);
      own_ = RoundUp(own_, kLineBytes);
      const uint64_t bytes = std::min(own_ - begin, kMaxRegionBytes);
      window->bytes = static_cast<uint32_t>(bytes);
      own_ += bytes;  // the other epoch
    }
  }

  uint16_t FlipRegion(MeasureIndex window) const {
    uint16_t region = kFirstFlipRegion;
    for (MeasureIndex i = 0; i < window; ++i) {
      if (compiled_.windows[i].flips) region++;
    }
    return region;
  }

  // Maps of one key and size lie side by side, so that a key has one place in all of them.
  void PlaceRegion(uint16_t region, uint64_t* at) {
    std::vector<bool> is_placed(source_.variables.size());
    for (MeasureIndex i = 0; i < source_.variables.size(); ++i) {
      if (is_placed[i] || compiled_.variables[i].region != region) continue;
      std::vector<MeasureIndex> group = {i};
      for (MeasureIndex j = i + 1; j < source_.variables.size(); ++j) {
        if (compiled_.variables[j].region == region && LieTogether(i, j)) group.push_back(j);
      }
      for (const MeasureIndex variable : group) is_placed[variable] = true;
      Place(group, at);
    }
  }

  bool LieTogether(MeasureIndex i, MeasureIndex j) const {
    const MeasureVariable& a = source_.variables[i];
    const MeasureVariable& b = source_.variables[j];
    const auto is_map = [](const MeasureVariable& of) {
      return HasKey(of.kind) && FormOf(of) == SlotForm::kMap;
    };
    return is_map(a) && is_map(b) && a.key == b.key && a.size == b.size;
  }

  // One cell of each behind the other, the widest first.
  void Place(std::vector<MeasureIndex> group, uint64_t* at) {
    std::stable_sort(group.begin(), group.end(), [this](MeasureIndex a, MeasureIndex b) {
      return source_.variables[a].bits > source_.variables[b].bits;
    });
    uint64_t stride = 0;
    for (const MeasureIndex index : group) {
      stride += uint64_t{1} << CellLog2(source_.variables[index].bits);
    }
    stride = RoundUp(stride, uint64_t{1} << CellLog2(source_.variables[group[0]].bits));
    const auto cell_count = static_cast<uint32_t>(source_.variables[group[0]].CellCount());
    *at = AlignFor(*at, stride * cell_count);
    uint64_t offset = *at;
    for (const MeasureIndex index : group) {
      const MeasureVariable& variable = source_.variables[index];
      VariablePlace* const place = &compiled_.variables[index];
      place->log2 = CellLog2(variable.bits);
      place->mask = BitMask(variable.bits);
      place->cell_count = cell_count;
      place->stride = static_cast<uint32_t>(stride);
      place->offset = static_cast<uint32_t>(offset);
      offset += uint64_t{1} << place->log2;
    }
    *at += stride * cell_count;
    if (!source_.variables[group[0]].evicts) return;
    *at = RoundUp(*at, 8);
    compiled_.variables[group[0]].owners = static_cast<uint32_t>(*at);
    *at += uint64_t{cell_count} * sizeof(uint64_t);
  }

  // The first variable that packets of pkts write, if it is one that they add to and read.
  void ChooseViewed() {
    for (const MeasureTask& task : source_.tasks) {
      if (task.stream != kPktsStream) continue;
      const MeasureIndex variable = FirstWritten(task.root);
      if (variable == kNoIndex) continue;
      const bool is_read =
          std::any_of(source_.exprs.begin(), source_.exprs.end(), [&](const MeasureExpr& expr) {
            return expr.kind == MeasureExprKind::kCell && expr.variable == variable;
          });
      const bool is_still = compiled_.variables[variable].region < kFirstFlipRegion;
      if (is_read && is_still && !HasKey(source_.variables[variable].kind)) {
        compiled_.viewed = variable;
      }
      return;
    }
  }

  MeasureIndex FirstWritten(MeasureIndex index) const {
    const MeasureNode& node = source_.nodes[index];
    if (node.kind == MeasureNodeKind::kUpdate || node.kind == MeasureNodeKind::kTimestamp) {
      return node.target;
    }
    for (const MeasureIndex child : node.children) {
      const MeasureIndex variable = FirstWritten(child);
      if (variable != kNoIndex) return variable;
    }
    return kNoIndex;
  }

  void PlanSlots() {
    compiled_.slots.resize(source_.keys.size());
    for (MeasureIndex i = 0; i < source_.variables.size(); ++i) {
      if (!HasKey(source_.variables[i].kind)) continue;
      VariablePlace* const place = &compiled_.variables[i];
      const SlotPlan& plan = SharePlan(PlanOf(i), &compiled_.slots[source_.variables[i].key]);
      place->first_slot = plan.first;
      place->slot_count = plan.rows;
      place->slot_base = plan.form == SlotForm::kOwnedMap ? 0 : place->offset;
    }
  }

  SlotPlan PlanOf(MeasureIndex index) const {
    const MeasureVariable& variable = source_.variables[index];
    const VariablePlace& place = compiled_.variables[index];
    SlotPlan plan;
    plan.form = FormOf(variable);
    plan.rows = HasRows(plan.form) ? variable.hashes : 1;
    plan.size = static_cast<uint32_t>(variable.size);
    plan.is_sliced = plan.rows <= kSlicedRows && plan.size <= kMaxSlicedCells;
    plan.log2 = place.log2;
    plan.bits = variable.bits;
    plan.stride = place.stride;
    if (plan.form == SlotForm::kOwnedMap) {
      plan.offset = place.offset;
      plan.owners = place.owners;
    }
    return plan;
  }

  // One that says the same, which may be there already.
  const SlotPlan& SharePlan(SlotPlan plan, std::vector<SlotPlan>* plans) {
    const bool has_rank = plan.form == SlotForm::kBitmap || plan.form == SlotForm::kRegister;
    for (const SlotPlan& old : *plans) {
      const bool is_same = plan.form != SlotForm::kOwnedMap && old.form == plan.form &&
                           old.rows == plan.rows && old.size == plan.size &&
                           old.stride == plan.stride && (!has_rank || old.bits == plan.bits);
      if (is_same) return old;
    }
    plan.number = static_cast<uint32_t>(plans->size());
    plan.first = compiled_.slot_count;
    compiled_.slot_count += SlotsOf(plan);
    plans->push_back(plan);
    return plans->back();
  }

  const uint32_t thread_count_;
  CompiledProgram& compiled_;
  const MeasureProgram& source_;
  uint64_t own_ = 0;
  uint64_t shared_ = 0;
};

}  // namespace

Status LayOutProgram(uint32_t thread_count, CompiledProgram* compiled) {
  return Layout(thread_count, compiled).Run();
}

}  // namespace trumpet
