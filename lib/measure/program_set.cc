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

bool IsSame(const KeyPlan& a, const KeyPlan& b) {
  const auto is_same = [](const KeyPart& x, const KeyPart& y) {
    return x.field == y.field && x.word == y.word && x.shift == y.shift;
  };
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), is_same);
}

}  // namespace

ProgramSet::ProgramSet(const std::vector<ProgramState*>& states,
                       const std::vector<std::string>& site_roles) {
  for (ProgramState* state : states) {
    Entry entry;
    entry.state = state;
    entry.program = &state->program();
    for (uint32_t hops = 0; hops < 4; ++hops) {
      entry.roles[hops] = RolesAt(entry.program->source, hops, site_roles);
    }
    entry.prefetches = entry.program->own_bytes > kPrefetchBytes;
    entry.takes_hashes = !entry.prefetches && !entry.program->hash_uses.empty();
    for (uint32_t key = 0; key < entry.program->keys.size(); ++key) {
      const KeyPlan& plan = entry.program->keys[key];
      if (plan.is_late || entry.program->slots[key].empty()) continue;
      KeyUse use;
      use.key = key;
      use.shared_key = ShareKey(*entry.program, plan, &use.is_first);
      entry.keys.push_back(use);
    }
    slot_stride_ = std::max(slot_stride_, entry.program->slot_count);
    for (SharedKey& key : keys_) key.changed |= entry.program->tagged_fields | ~kTableFieldBits;
    entries_.push_back(std::move(entry));
  }
  slots_.resize(size_t{slot_stride_} * kMaxMeasureBurst);
  for (Entry& entry : entries_) {  // where the keys lie is known from here on
    entry.hashes.resize(entry.program->keys.size());
    for (const KeyUse& use : entry.keys) entry.hashes[use.key] = keys_[use.shared_key].hashes;
  }
}

uint32_t ProgramSet::ShareKey(const CompiledProgram& program, const KeyPlan& plan, bool* is_first) {
  *is_first = false;
  for (uint32_t i = 0; i < keys_.size(); ++i) {
    const bool is_valid = keys_[i].seed == program.seed && (keys_[i].changed & plan.fields) == 0;
    if (is_valid && IsSame(*keys_[i].plan, plan)) return i;
  }
  *is_first = true;
  keys_.emplace_back();
  keys_.back().plan = &plan;
  keys_.back().seed = program.seed;
  keys_.back().is_straight = program.family == MeasureHashFamily::kFast && IsUsualTuple(plan);
  return static_cast<uint32_t>(keys_.size() - 1);
}

void ProgramSet::Run(MeasuredPacket* packets, uint32_t count, const BurstSource& source) {
  static_assert(kPktsStream == 0);
  if (count == 0) return;
  MeasureIndex streams = packets[0].stream;
  uint64_t latest = packets[0].now;
  for (uint32_t i = 1; source.frames == nullptr && i < count; ++i) {
    streams |= packets[i].stream;
    latest = std::max(latest, packets[i].now);
  }
  for (const Entry& entry : entries_) {
    RunProgram(entry, packets, count, source, streams == kPktsStream, latest);
  }
}

uint64_t ProgramSet::fields_read() const {
  uint64_t fields = 0;  // of expressions
  uint64_t key_fields = 0;
  for (const Entry& entry : entries_) {
    for (const MeasureExpr& expr : entry.program->source.exprs) {
      if (expr.kind == MeasureExprKind::kField) fields |= uint64_t{1} << expr.field;
    }
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
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.program->tagged_fields != 0 || entry.program->field_count > kMeasureFieldCount;
  });
}

void ProgramSet::RunProgram(const Entry& entry, MeasuredPacket* packets, uint32_t count,
                            const BurstSource& source, bool is_of_pkts, uint64_t latest) {
  if (entry.program->field_count > kMeasureFieldCount) {
    for (uint32_t i = 0; i < count; ++i) ReadHeaderFields(*entry.program, packets[i].values);
  }
  const bool by_burst =
      entry.program->burst_operators != 0 && is_of_pkts && entry.state->IsQuietAt(latest);
  const bool takes_hashes = by_burst && entry.takes_hashes;
  const ProgramBurst burst = {packets,
                              count,
                              SlotsOf(0),
                              slot_stride_,
                              entry.roles,
                              source,
                              takes_hashes ? entry.hashes.data() : nullptr};
  for (const KeyUse& use : entry.keys) {
    if (use.is_first) Hash(use, packets, count, source);
    if (!takes_hashes) FillSlots(entry, use, packets, count);
  }
  if (entry.prefetches) {
    const uint8_t* own = entry.state->regions()[kOwnRegion];
    for (uint32_t i = 0; i < count; ++i) {
      for (const KeyUse& use : entry.keys) {
        PrefetchSlots(entry.program->slots[use.key], own, SlotsOf(i));
      }
    }
  }
  entry.state->Run(burst, by_burst);
}

void ProgramSet::Hash(const KeyUse& use, const MeasuredPacket* packets, uint32_t count,
                      const BurstSource& source) {
  SharedKey* shared = &keys_[use.shared_key];
  if (source.frames != nullptr && shared->is_straight) {
    HashFrames(*shared->plan, source.frames, count, shared->seed, shared->hashes);
  } else {
    HashKeys(*shared->plan, packets, count, shared->seed, shared->hashes);
  }
}

void ProgramSet::FillSlots(const Entry& entry, const KeyUse& use, const MeasuredPacket* packets,
                           uint32_t count) {
  const SharedKey& shared = keys_[use.shared_key];
  if (entry.program->family == MeasureHashFamily::kFast) {
    return FillFastSlots(entry.program->slots[use.key], shared.hashes, count, slot_stride_,
                         SlotsOf(0));
  }
  PackedKey packed;
  for (uint32_t i = 0; i < count; ++i) {
    PackKeyWords(*shared.plan, *packets[i].values, &packed);
    packed.hash = shared.hashes[i];
    FillKeySlots(*entry.program, use.key, packed, SlotsOf(i));
  }
}

}  // namespace trumpet
