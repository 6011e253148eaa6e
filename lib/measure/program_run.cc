// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// How packets go through a program: one after the other, or by stages.

#include <algorithm>

#include "lib/measure/burst_keys.h"
#include "lib/measure/kernels.h"
#include "lib/measure/key_slots.h"
#include "lib/measure/program_state.h"

namespace trumpet {
namespace {

// Shows a kernel the hashes that it takes.
inline void ShowHashes(const HashUse& use, const ProgramBurst& burst, BurstContext* context) {
  if (use.plan == nullptr) return;
  context->plan = use.plan;
  context->hashes = burst.keys->HashesOf(burst.key_numbers[use.key]);
}

// Bits 0 to `number`.
uint32_t BitsUpTo(uint32_t number) { return number >= 31 ? UINT32_MAX : (2u << number) - 1; }

}  // namespace

inline void ProgramState::RunFrom(const Operator* op) {
  do op = op->kernel(op, &context_);
  while (op != nullptr);
}

inline void ProgramState::RunStream(MeasureIndex stream) {
  const uint32_t entry = program_->entries[stream];
  if (entry == CompiledProgram::kNoCode) return;
  context_.is_collected = false;
  RunFrom(&program_->operators[entry]);
}

// Before the first packet of a burst.  Windows set their own bits in `clearing`, and those of
// scopes leave it alone in bursts.
inline void ProgramState::Begin() {
  context_.frame = nullptr;
  context_.clearing = 0;
  context_.is_collected = false;
}

// Shows kernels packet `number` of the burst.
inline void ProgramState::PointTo(const ProgramBurst& burst, uint32_t number) {
  const MeasuredPacket& packet = burst.packets[number];
  context_.packet = packet.values;
  if (burst.source->frames == nullptr) {
    context_.now = packet.now;
  } else {
    context_.frame = burst.source->frames + number;
    context_.now = burst.packets[0].now;
    context_.packet->value[kPktSize] = context_.frame->wire_length;
  }
  context_.slots = burst.slots + size_t{number} * burst.stride;
  context_.roles = burst.roles[packet.hops];
  context_.packet_bit = uint32_t{1} << number;
}

inline void ProgramState::RunOne(const Operator* op, const ProgramBurst& burst, uint32_t number) {
  PointTo(burst, number);
  RunFrom(op);
  if (copy_count_ != 0) RunCopies();
}

void ProgramState::RunEach(const ProgramBurst& burst) {
  for (uint32_t i = 0; i < burst.count; ++i) {
    Begin();
    PointTo(burst, i);
    if (!IsQuietAt(context_.now)) AdvanceWindows();
    RunStream(burst.packets[i].stream);
    if (copy_count_ != 0) RunCopies();
  }
}

void ProgramState::RunCopies() {
  for (uint32_t i = 0; i < copy_count_; ++i) {
    context_.packet = &copies_[i].values;
    context_.frame = nullptr;
    RunStream(copies_[i].stream);
  }
  copy_count_ = 0;
  context_.is_collected = false;
}

void ProgramState::Collect(MeasureIndex endpoint, const RunContext& context) {
  const PacketValues& packet = *context.packet;
  if (packet.present != moves_.present()) moves_.Become(packet.present);
  Count(&counters_.collected);
  CollectedRing::Batch batch(ring_.get());
  uint8_t* const values = batch.Add(context.now, endpoint, moves_);
  if (values == nullptr) return Count(&counters_.lost);
  moves_.Copy(packet, values);
}

void ProgramState::RunBurst(ProgramBurst* burst) {
  if (stage_count_ == 0) return;
  uint64_t views[kMaxMeasureBurst];
  BurstContext context(*burst);
  context.regions = regions_.data();
  context.views = views;
  context.marks = marks_.data();
  context.state = this;
  Begin();
  arrivals_[0] = context.all;
  RunStages(0, stage_count_, burst, &context);
  if (!marks_.empty()) RunCopiesOf(burst, context);
  regions_[kViewRegion] = ViewedCell();
}

inline void ProgramState::RunStages(uint32_t first, uint32_t end, ProgramBurst* burst,
                                    BurstContext* context) {
  for (uint32_t i = first; i < end; ++i) {
    if (arrivals_[i] == 0) continue;
    const BurstStage& stage = stages_[i];
    if (stage.runs_end != 0) {
      RunByRuns(i, burst, context);
      i = stage.runs_end - 1;
      continue;
    }
    context->chosen = arrivals_[i];
    arrivals_[i] = 0;
    RunStage(stage, burst, context);
  }
}

// Packets come to the first of these stages only.
void ProgramState::RunByRuns(uint32_t first, ProgramBurst* burst, BurstContext* context) {
  const BurstStage& stage = stages_[first];
  uint32_t left = arrivals_[first];
  FindCells(stage.run_cells, burst);
  while (left != 0) {
    arrivals_[first] = stage.keeps_order ? runs_.Next<true>(left) : runs_.Next<false>(left);
    left &= ~arrivals_[first];
    RunOfRun(first, burst, context);
  }
  context->slots = burst->slots;
  context->stride = burst->stride;
}

// The slots that the kernel of a stage takes that belongs to runs.
inline void ProgramState::ShowCells(const BurstStage& stage, ProgramBurst* burst,
                                    BurstContext* context) {
  context->slots = stage.takes_run_cells ? runs_.cells() : burst->slots;
  context->stride = stage.takes_run_cells ? 1 : burst->stride;
  if (stage.keys != 0) burst->FillSlots(*program_, stage.keys);
}

// The packets of one run, which have arrived at the first stage.
void ProgramState::RunOfRun(uint32_t first, ProgramBurst* burst, BurstContext* context) {
  for (uint32_t i = first; i < stages_[first].runs_end; ++i) {
    context->chosen = arrivals_[i];
    arrivals_[i] = 0;
    if (context->chosen == 0) continue;
    ShowCells(stages_[i], burst, context);
    RunTogether(stages_[i], *burst, context);
  }
}

// Of each packet of the burst, where it is in that map.
void ProgramState::FindCells(const HashUse& map, ProgramBurst* burst) {
  const SlotPlan& plan = *map.plan;
  uint32_t* const cells = runs_.cells();
  if (program_->family == MeasureHashFamily::kFast) {
    const uint64_t* const hashes = burst->keys->HashesOf(burst->key_numbers[map.key]);
    return FindMapCells(plan, hashes, burst->count, cells);
  }
  burst->FillSlots(*program_, uint64_t{1} << map.key);
  for (uint32_t i = 0; i < burst->count; ++i) {
    cells[i] = burst->slots[size_t{i} * burst->stride + plan.first];
  }
}

inline void ProgramState::RunStage(const BurstStage& stage, ProgramBurst* burst,
                                   BurstContext* context) {
  if (stage.keys != 0) burst->FillSlots(*program_, stage.keys);
  const Operator* const op = &program_->operators[stage.at];
  if (stage.parts) return RunArms(stage, burst, context);
  if (stage.kernel != nullptr) return RunTogether(stage, *burst, context);
  ForChosen(*context, [&](uint32_t number) {
    ShowView(*context, number);
    RunOne(op, *burst, number);
  });
  if (stage.tags) context->columns->Forget(program_->tagged_fields);
}

// By the kernel of the stage, which has one.
inline void ProgramState::RunTogether(const BurstStage& stage, const ProgramBurst& burst,
                                      BurstContext* context) {
  const uint32_t all = context->chosen;
  ShowHashes(stage.hash, burst, context);
  stage.kernel(program_->operators[stage.at], context);
  arrivals_[stage.next] |= context->chosen;
  arrivals_[stage.skip] |= all & ~context->chosen;
  if (stage.tags) context->columns->Forget(program_->tagged_fields);
}

// As tasks of packet `number` are to see the viewed variable.
inline void ProgramState::ShowView(const BurstContext& context, uint32_t number) {
  if (context.view_bytes == 0) return;
  regions_[kViewRegion] = reinterpret_cast<uint8_t*>(&context.views[number]);
}

// The number of the packet that does not stop, or kMaxMeasureBurst.
inline uint32_t ProgramState::RunArm(const BurstArm& arm, const ProgramBurst& burst,
                                     BurstContext* context) {
  if (context->chosen == 0) return kMaxMeasureBurst;
  if (arm.stop != nullptr) {
    ShowHashes(arm.stop_hash, burst, context);
    return arm.stop(program_->operators[arm.stop_at], *context);
  }
  for (const BurstStep& step : arm.steps) {
    ShowHashes(step.hash, burst, context);
    step.kernel(program_->operators[step.at], context);
  }
  return kMaxMeasureBurst;
}

// Up to the first packet that does not stop, both arms are done for all; that packet, and those
// behind it, go on one after the other.
void ProgramState::RunArms(const BurstStage& stage, ProgramBurst* burst, BurstContext* context) {
  const uint32_t all = context->chosen;
  const Operator* const guard = &program_->operators[stage.at];
  ShowHashes(stage.hash, *burst, context);
  stage.kernel(*guard, context);
  uint32_t chosen[2] = {context->chosen, all & ~context->chosen};
  ShowView(*context, 0);  // kernels of bursts go on from there
  const uint32_t first = program_->arms[1].stop != nullptr ? 1 : 0;
  context->chosen = chosen[first];
  const uint32_t stopped = RunArm(program_->arms[first], *burst, context);
  context->chosen = chosen[1 - first] & BitsUpTo(stopped);
  RunArm(program_->arms[1 - first], *burst, context);
  if (stopped == kMaxMeasureBurst) return;
  burst->FillSlots(*program_, program_->early_keys, stopped);
  ShowView(*context, stopped);
  RunOne(&program_->operators[program_->arms[first].stop_at + 1], *burst, stopped);
  ForEachBit(all & ~BitsUpTo(stopped), [&](uint32_t number) {
    ShowView(*context, number);
    RunOne(guard, *burst, number);
  });
}

// All packets have gone through the stages.
void ProgramState::RunCopiesOf(ProgramBurst* burst, const BurstContext& context) {
  uint32_t copied = 0;
  for (const uint32_t mark : marks_) copied |= mark;
  if (copied == 0) return;
  const bool are_read = burst->source->frames == nullptr;
  if (program_->has_plain_copies) {
    if (are_read) {
      CollectCopies(burst->packets, copied);
    } else {
      CollectFrames(*burst, copied);
    }
  } else {
    burst->FillSlots(*program_, program_->copy_keys);
    ForEachBit(copied, [&](uint32_t number) { RunCopiesOfOne(*burst, number, context); });
  }
  std::fill(marks_.begin(), marks_.end(), 0);
}

// All of them plain.
void ProgramState::CollectCopies(const MeasuredPacket* packets, uint32_t copied) {
  const auto count = static_cast<uint32_t>(marks_.size());
  const uint32_t* const marks = marks_.data();
  CopyLayout* const layouts = layouts_.data();
  uint64_t collected = 0;
  CollectedRing::Batch batch(ring_.get());
  for (; copied != 0; copied &= copied - 1) {
    const auto number = static_cast<uint32_t>(__builtin_ctz(copied));
    const MeasuredPacket& packet = packets[number];
    for (uint32_t i = 0; i < count; ++i) {
      if ((marks[i] >> number & 1) == 0) continue;
      collected++;
      CollectPlain(*packet.values, packet.now, &layouts[i], &batch);
    }
  }
  Count(&counters_.collected, collected);
}

// The same of frames.
void ProgramState::CollectFrames(const ProgramBurst& burst, uint32_t copied) {
  const auto count = static_cast<uint16_t>(marks_.size());
  const uint32_t* const marks = marks_.data();
  uint64_t collected = 0;
  uint64_t lost = 0;
  FrameCopy copy;
  copy.now = burst.packets[0].now;
  copy.place = burst.source->place;
  CollectedRing::Batch batch(ring_.get());
  ForEachBit(copied, [&](uint32_t number) {
    const Frame& frame = burst.source->frames[number];
    copy.wire_length = frame.wire_length;
    copy.bytes = static_cast<uint16_t>(FrameCopy::BytesOf(frame));
    copy.data = frame.data;
    for (copy.copy = 0; copy.copy < count; ++copy.copy) {
      if ((marks[copy.copy] >> number & 1) == 0) continue;
      collected++;
      lost += batch.AddFrame(copy) ? 0 : 1;
    }
  });
  Count(&counters_.collected, collected);
  if (lost != 0) Count(&counters_.lost, lost);
}

void ProgramState::RunCopiesOfOne(const ProgramBurst& burst, uint32_t number,
                                  const BurstContext& context) {
  ShowView(context, number);
  PointTo(burst, number);
  if (context_.frame != nullptr) ReadPlacedPacket(*context_.frame, context_.packet);
  context_.frame = nullptr;  // all is read, and tags of copies must stay
  for (size_t i = 0; i < marks_.size(); ++i) {
    if ((marks_[i] >> number & 1) == 0) continue;
    const BurstCopy& copy = program_->burst_copies[i];
    if (!copy.is_plain) {
      RunOnPacket(copy);
      continue;
    }
    Count(&counters_.collected);
    CollectedRing::Batch batch(ring_.get());
    CollectPlain(*context_.packet, context_.now, &layouts_[i], &batch);
  }
  if (copy_count_ != 0) RunCopies();
}

[[gnu::always_inline]] inline void ProgramState::CollectPlain(const PacketValues& packet,
                                                              uint64_t now, CopyLayout* layout,
                                                              CollectedRing::Batch* batch) {
  if (packet.present != layout->present()) layout->Become(packet.present);
  uint8_t* const values = batch->Add(now, layout->endpoint(), layout->moves());
  if (values == nullptr) return Count(&counters_.lost);
  layout->Fill(packet, values);
}

// The tasks of a copy, on the packet that it would be of.
inline void ProgramState::RunOnPacket(const BurstCopy& copy) {
  PacketValues* const packet = context_.packet;
  const uint64_t present = packet->present;
  const uint64_t tagged = packet->tagged;
  uint64_t before[kMaxPacketFields];
  for (size_t i = 0; i < copy.tagged.size(); ++i) before[i] = packet->value[copy.tagged[i]];
  RunStream(copy.stream);
  for (size_t i = 0; i < copy.tagged.size(); ++i) packet->value[copy.tagged[i]] = before[i];
  packet->present = present;
  packet->tagged = tagged;
}

}  // namespace trumpet
