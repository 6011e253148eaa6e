// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_set.h"

#include <algorithm>

#include "lib/measure/header_fields.h"
#include "lib/measure/key_slots.h"

namespace trumpet {
namespace {

// What lies in the second-level cache anyway need not be fetched.
constexpr uint32_t kPrefetchBytes = 256 * 1024;

uint64_t RolesAt(const MeasureProgram& program, uint32_t hops,
                 const std::vector<std::string>& site_roles) {
  uint64_t roles = uint64_t{1} << 63;  // of tasks without a role
  for (size_t i = 0; i < program.roles.size(); ++i) {
    const MeasureRole& role = program.roles[i];
    const bool plays =
        role.kind == MeasureRoleKind::kEvery ||
        (role.kind == MeasureRoleKind::kFirstHop && (hops & kFirstHopBit) != 0) ||
        (role.kind == MeasureRoleKind::kLastHop && (hops & kLastHopBit) != 0) ||
        (role.kind == MeasureRoleKind::kIntermediate && hops == 0) ||
        (role.kind == MeasureRoleKind::kSite &&
         std::find(site_roles.begin(), site_roles.end(), role.name) != site_roles.end());
    if (plays) roles |= uint64_t{1} << i;
  }
  return roles;
}

bool HaveSameHops(const MeasuredPacket* packets, uint32_t count) {
  uint32_t others = 0;
  for (uint32_t i = 1; i < count; ++i) others |= packets[i].hops ^ packets[0].hops;
  return others == 0;
}

void CountExprs(const MeasureProgram& program, MeasureIndex index, std::vector<uint32_t>* uses) {
  const MeasureNode& node = program.nodes[index];
  if (node.expr != kNoIndex) (*uses)[node.expr]++;
  for (const MeasureIndex child : node.children) CountExprs(program, child, uses);
}

// Fields that packets are looked at for, a bit each.  What plain copies are tagged with is left to
// whoever reads their frames (frame_copy.h), unless something else uses the same expression.
uint64_t FieldsOfExpressions(const CompiledProgram& program) {
  const MeasureProgram& source = program.source;
  std::vector<uint32_t> by_copies(source.exprs.size());
  std::vector<uint32_t> by_others(source.exprs.size());
  for (const MeasureTask& task : source.tasks) {
    const bool is_of_copy =
        program.has_plain_copies &&
        std::any_of(program.burst_copies.begin(), program.burst_copies.end(),
                    [&](const BurstCopy& copy) { return copy.stream == task.stream; });
    CountExprs(source, task.root, is_of_copy ? &by_copies : &by_others);
  }
  for (const MeasureExpr& expr : source.exprs) {
    for (const MeasureIndex operand : {expr.a, expr.b}) {
      if (operand < by_others.size()) by_others[operand]++;  // else the kind has none
    }
  }
  uint64_t fields = 0;
  for (size_t i = 0; i < source.exprs.size(); ++i) {
    if (source.exprs[i].kind != MeasureExprKind::kField) continue;
    if (by_copies[i] == 0 || by_others[i] != 0) fields |= uint64_t{1} << source.exprs[i].field;
  }
  return fields;
}

uint64_t LatestOf(const MeasuredPacket* packets, uint32_t count) {
  uint64_t latest = packets[0].now;
  for (uint32_t i = 1; i < count; ++i) latest = std::max(latest, packets[i].now);
  return latest;
}

}  // namespace

ProgramSet::ProgramSet(const std::vector<ProgramState*>& states,
                       const std::vector<std::string>& site_roles) {
  bool has_headers = false;  // a program so far
  for (ProgramState* state : states) {
    Entry entry;
    entry.state = state;
    entry.program = &state->program();
    for (uint32_t hops = 0; hops < 4; ++hops) {
      entry.roles[hops] = RolesAt(entry.program->source, hops, site_roles);
    }
    entry.prefetches = entry.program->own_bytes > kPrefetchBytes;
    entry.changed_fields = entry.program->tagged_fields;
    entry.forgets_fields = has_headers;
    if (entry.program->field_count > kMeasureFieldCount) {
      has_headers = true;
      entry.changed_fields |= ~kTableFieldBits;
    }
    entry.key_numbers.resize(entry.program->keys.size());
    for (uint32_t key = 0; key < entry.key_numbers.size(); ++key) {
      const bool is_early = (entry.program->early_keys >> key & 1) != 0;
      if (is_early) entry.key_numbers[key] = keys_.Share(*entry.program, key);
    }
    keys_.NoteTags(*entry.program);
    has_windows_ |= !entry.program->windows.empty();
    has_roles_ |= !entry.program->source.roles.empty();
    slot_stride_ = std::max(slot_stride_, entry.program->slot_count);
    entries_.push_back(std::move(entry));
  }
  slots_.resize(size_t{slot_stride_} * kMaxMeasureBurst);
}

void ProgramSet::Run(MeasuredPacket* packets, uint32_t count, const BurstSource& source) {
  static_assert(kPktsStream == 0);
  if (count == 0) return;
  BurstTraits traits;
  MeasureIndex streams = packets[0].stream;
  traits.latest = packets[0].now;
  if (source.frames == nullptr) {
    for (uint32_t i = 1; i < count; ++i) streams |= packets[i].stream;
    if (has_windows_) traits.latest = LatestOf(packets, count);
    if (has_roles_) traits.has_same_hops = HaveSameHops(packets, count);
  }
  traits.is_of_pkts = streams == kPktsStream;
  keys_.Begin(packets, count, source);
  columns_.Begin(packets, count, source);
  // Programs without keys have no slots at all.
  ProgramBurst burst{packets, count,  slots_.data(), slot_stride_, nullptr, traits.has_same_hops,
                     &source, &keys_, &columns_,     nullptr,      0};
  for (const Entry& entry : entries_) RunProgram(entry, packets, traits, &burst);
}

uint64_t ProgramSet::fields_read() const {
  uint64_t fields = 0;  // of expressions
  uint64_t key_fields = 0;
  for (const Entry& entry : entries_) {
    fields |= FieldsOfExpressions(*entry.program);
    for (size_t i = 0; i < entry.program->keys.size(); ++i) {
      const KeyPlan& key = entry.program->keys[i];
      const bool is_straight =
          entry.program->family == MeasureHashFamily::kFast && !key.is_late && IsUsualTuple(key);
      if (!is_straight && !entry.program->slots[i].empty()) key_fields |= key.fields;
    }
  }
  return (fields & ~(uint64_t{1} << kPktSize)) | key_fields;
}

bool ProgramSet::changes_packets() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.changed_fields != 0; });
}

void ProgramSet::RunProgram(const Entry& entry, MeasuredPacket* packets, const BurstTraits& traits,
                            ProgramBurst* burst) {
  const uint32_t count = burst->count;
  if (entry.program->field_count > kMeasureFieldCount) {
    for (uint32_t i = 0; i < count; ++i) {
      if (!packets[i].has_all_fields) ReadHeaderFields(*entry.program, packets[i].values);
    }
  } else if (entry.forgets_fields) {
    for (uint32_t i = 0; i < count; ++i) packets[i].values->ForgetHeaderFields();
  }
  const bool by_burst = count > 1 && traits.is_of_pkts && entry.state->IsQuietAt(traits.latest);
  burst->roles = entry.roles;
  burst->key_numbers = entry.key_numbers.data();
  burst->filled = 0;
  if (entry.prefetches || !by_burst) {
    burst->FillSlots(*entry.program, entry.program->early_keys);
    if (entry.prefetches) Prefetch(entry, *burst);
  }
  if (by_burst) {
    entry.state->RunBurst(burst);
  } else {
    entry.state->RunEach(*burst);
  }
  columns_.Forget(entry.changed_fields);
}

void ProgramSet::Prefetch(const Entry& entry, const ProgramBurst& burst) {
  const uint8_t* const own = entry.state->regions()[kOwnRegion];
  for (uint32_t i = 0; i < burst.count; ++i) {
    PrefetchSlots(*entry.program, burst.filled, own, burst.slots + size_t{i} * burst.stride);
  }
}

}  // namespace trumpet
