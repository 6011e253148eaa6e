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

  void PlaceVariables() {
    compiled_.variables.resize(source_.variables.size());
    for (MeasureIndex i = 0; i < source_.variables.size(); ++i) {
      const MeasureVariable& variable = source_.variables[i];
      if (variable.window != kNoIndex && compiled_.windows[variable.window].flips) continue;
      const bool is_shared = IsShared(variable);
      Place(i, is_shared ? kSharedRegion : kOwnRegion, is_shared ? &shared_ : &own_);
    }
    uint16_t region = kFirstFlipRegion;
    for (WindowPlan& window : compiled_.windows) {
      if (!window.flips) continue;
      own_ = RoundUp(own_, kLineBytes);
      const uint64_t begin = own_;
      for (const MeasureIndex variable : window.variables) Place(variable, region, &own_);
      own_ = RoundUp(own_, kLineBytes);
      const uint64_t bytes = std::min(own_ - begin, kMaxRegionBytes);
      window.bytes = static_cast<uint32_t>(bytes);
      own_ += bytes;  // the other epoch
      region++;
    }
  }

  void Place(MeasureIndex index, uint16_t region, uint64_t* at) {
    const MeasureVariable& variable = source_.variables[index];
    VariablePlace* place = &compiled_.variables[index];
    place->region = region;
    place->log2 = CellLog2(variable.bits);
    place->mask = BitMask(variable.bits);
    place->cell_count = static_cast<uint32_t>(variable.CellCount());
    const uint64_t bytes = uint64_t{place->cell_count} << place->log2;
    *at = AlignFor(*at, bytes);
    place->offset = static_cast<uint32_t>(*at);
    *at += bytes;
    if (!variable.evicts) return;
    *at = RoundUp(*at, 8);
    place->owners = static_cast<uint32_t>(*at);
    *at += uint64_t{place->cell_count} * sizeof(uint64_t);
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
      const MeasureVariable& variable = source_.variables[i];
      if (!HasKey(variable.kind)) continue;
      VariablePlace* place = &compiled_.variables[i];
      std::vector<SlotPlan>* plans = &compiled_.slots[variable.key];
      SlotPlan plan;
      plan.form = FormOf(variable);
      plan.rows = HasRows(plan.form) ? variable.hashes : 1;
      plan.size = static_cast<uint32_t>(variable.size);
      plan.is_sliced = plan.rows <= kSlicedRows && plan.size <= kMaxSlicedCells;
      plan.log2 = place->log2;
      plan.bits = variable.bits;
      plan.region = place->region;
      plan.number = static_cast<uint32_t>(plans->size());
      plan.offset = place->offset;
      plan.owners = place->owners;
      plan.first = compiled_.slot_count;
      place->first_slot = plan.first;
      place->slot_count = plan.rows;
      compiled_.slot_count += SlotsOf(plan);
      plans->push_back(plan);
    }
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
