// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_state.h"

#include <algorithm>
#include <cstring>

#include "lib/measure/cell.h"
#include "lib/measure/kernels.h"
#include "lib/measure/key_slots.h"

namespace trumpet {
namespace {

constexpr uint32_t kReferenceRandom = 12345;

}  // namespace

uint64_t SharedInterval::Join(uint64_t now, uint64_t* number) {
  *number = 0;
  if (Begin(number)) {
    SetStart(now);
    return now;
  }
  const uint64_t start = this->start();
  return start == 0 ? now : start;  // 0: another thread is about to say
}

std::unique_ptr<ProgramState> ProgramState::Create(const CompiledProgram* program,
                                                   SharedCells* shared, const Options& options) {
  std::unique_ptr<ProgramState> state(new ProgramState());
  state->program_ = program;
  state->stages_ = program->stages.data();
  state->stage_count_ = static_cast<uint32_t>(program->stages.size());
  if (!state->arena_.Allocate(program->own_bytes, options.source)) return nullptr;
  state->regions_ = {state->arena_.data(), shared != nullptr ? shared->data() : nullptr, nullptr};
  state->regions_[kViewRegion] = state->ViewedCell();
  for (const WindowPlan& window : program->windows) {
    if (window.flips) state->regions_.push_back(state->arena_.data());
  }
  if (program->windows.empty()) state->quiet_until_ = UINT64_MAX;
  if (shared != nullptr) state->intervals_ = shared->intervals();
  state->most_back_ns_ = options.most_back_ns;
  state->windows_.reset(new Window[program->windows.size()]);
  state->copies_.resize(program->max_copies);
  state->log_.resize(program->max_log);
  state->log_marks_.resize(2 * (kMaxMeasureDepth + 1));
  if (program->collects) {
    state->ring_ = std::make_unique<CollectedRing>(options.ring_bytes, &program->burst_copies);
  }
  state->random_ =
      program->family == MeasureHashFamily::kReference ? kReferenceRandom : options.random_seed;
  RunContext& context = state->context_;
  context.regions = state->regions_.data();
  context.program = program;
  context.state = state.get();
  context.log = state->log_.data();
  state->arrivals_.resize(program->stages.size() + 1);
  state->marks_.resize(program->burst_copies.size());
  for (const BurstCopy& copy : program->burst_copies) {
    state->layouts_.emplace_back(copy);
  }
  context.arrivals = state->arrivals_.data();
  context.marks = state->marks_.data();
  return state;
}

uint8_t* ProgramState::ViewedCell() const {
  if (program_->viewed == kNoIndex) return nullptr;
  const VariablePlace& place = program_->variables[program_->viewed];
  return regions_[place.region] + place.offset;
}

// Lets the windows of scopes look at the packet, and finds out how long they need not.
void ProgramState::AdvanceWindows() {
  quiet_from_ = 0;
  quiet_until_ = UINT64_MAX;
  for (uint32_t i = 0; i < program_->windows.size(); ++i) {
    const WindowPlan& plan = program_->windows[i];
    if (!plan.is_of_scope) continue;
    if ((plan.roles & context_.roles) != 0) AdvanceWindow(i, &context_);
    const Window& window = windows_[i];
    const bool is_quiet = window.has_started && !window.is_clearing;
    quiet_until_ = std::min(quiet_until_, is_quiet ? window.start + uint64_t(plan.duration) : 0);
    quiet_from_ = std::max(quiet_from_, window.start - std::min(window.start, most_back_ns_));
  }
}

void ProgramState::PushCopy(MeasureIndex stream, const PacketValues& packet) {
  Copy& copy = copies_[copy_count_++];  // as many as the loader has counted
  copy.stream = stream;
  std::memcpy(static_cast<void*>(&copy.values), &packet,
              offsetof(PacketValues, value) + program_->field_count * sizeof(uint64_t));
}

// A number in [0, range) by xorshift.
uint64_t ProgramState::DrawReference(uint64_t range) {
  auto x = static_cast<uint32_t>(random_);
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  random_ = x;
  return static_cast<uint64_t>(Uint128{x} * range >> 32);
}

void ProgramState::AdvanceWindow(uint32_t number, RunContext* context) {
  const WindowPlan& plan = program_->windows[number];
  Window* window = &windows_[number];
  context->clearing &= ~(uint64_t{1} << number);
  // Most packets.
  const bool is_running = window->has_started && !window->is_clearing;
  if (is_running && !IsOver(*window, plan.duration, context->now)) return;
  SharedInterval* const shared = IntervalOf(number);
  if (!window->has_started) {
    window->has_started = true;
    window->start =
        shared == nullptr ? context->now : shared->Join(context->now, &window->interval);
  }
  if (!window->is_clearing) {
    if (!IsOver(*window, plan.duration, context->now)) return;
    if (plan.flips) return Flip(number, plan, context);
    window->is_clearing = true;
    window->clears_shared = shared == nullptr || shared->Begin(&window->interval);
    if (shared != nullptr && window->clears_shared) shared->SetStart(context->now);
  }
  // Another thread has gone on meanwhile, and cleared what is left.
  if (shared != nullptr) window->clears_shared &= shared->IsIn(window->interval);
  context->clearing |= uint64_t{1} << number;
  if (!ClearCells(plan, window)) return;
  window->is_clearing = false;
  BeginInterval(number, window, context->now);
}

// Null: threads have nothing of the window in common.
SharedInterval* ProgramState::IntervalOf(uint32_t window) const {
  return intervals_ != nullptr && program_->windows[window].is_shared ? &intervals_[window]
                                                                      : nullptr;
}

bool ProgramState::IsOver(const Window& window, Nanos duration, uint64_t now) const {
  if (now < window.start) return window.start - now > most_back_ns_;
  return now - window.start >= uint64_t(duration);
}

// All has been cleared that this thread clears.  Where another one has begun the interval, it is in
// that from now on.
void ProgramState::BeginInterval(uint32_t number, Window* window, uint64_t now) const {
  SharedInterval* const shared = IntervalOf(number);
  window->start = now;
  if (shared == nullptr) return;
  if (window->clears_shared) return shared->SetStart(now);
  Window begun;
  begun.start = shared->start();
  const bool is_known =
      begun.start <= now && !IsOver(begun, program_->windows[number].duration, now);
  if (is_known) window->start = begun.start;
}

// The next `quantum` cells; true if these were the last ones.
bool ProgramState::ClearCells(const WindowPlan& plan, Window* window) {
  uint32_t left = plan.quantum;
  while (window->next_variable < plan.variables.size() && left > 0) {
    const MeasureIndex variable = plan.variables[window->next_variable];
    const VariablePlace& place = program_->variables[variable];
    if (place.region == kSharedRegion && !window->clears_shared) {
      window->next_variable++;
      continue;
    }
    const uint32_t cell_count = place.cell_count;
    const uint32_t count = std::min(left, cell_count - window->next_cell);
    ClearRange(variable, window->next_cell, count);
    left -= count;
    window->next_cell += count;
    if (window->next_cell < cell_count) continue;
    window->next_cell = 0;
    window->next_variable++;
  }
  if (window->next_variable < plan.variables.size()) return false;
  window->next_variable = 0;
  return true;
}

void ProgramState::ClearRange(MeasureIndex variable, uint32_t first, uint32_t count) {
  const VariablePlace& place = program_->variables[variable];
  uint8_t* const region = regions_[place.region];
  ZeroCells(region + place.offset + size_t{first} * place.stride, place.log2, place.stride, count);
  if (!program_->source.variables[variable].evicts) return;
  ZeroCells(region + place.owners + size_t{first} * sizeof(uint64_t), 3, sizeof(uint64_t), count);
}

uint8_t* ProgramState::EpochOf(uint32_t window, uint32_t epoch) const {
  uint8_t* arena = const_cast<uint8_t*>(arena_.data());
  return arena + (epoch == 0 ? 0 : program_->windows[window].bytes);
}

void ProgramState::Flip(uint32_t number, const WindowPlan& plan, RunContext* context) {
  Window* window = &windows_[number];
  if (!window->is_retired_clean.load(std::memory_order_acquire)) {
    return Count(&counters_.late_flips);  // the interval goes on
  }
  const uint32_t epoch = 1 - window->epoch.load(std::memory_order_relaxed);
  for (const MeasureIndex variable : plan.variables) {  // all of them have the window's region
    regions_[program_->variables[variable].region] = EpochOf(number, epoch);
  }
  window->epoch.store(epoch, std::memory_order_release);
  window->is_retired_clean.store(false, std::memory_order_release);
  window->start = context->now;
}

void ProgramState::ClearRetired() {
  for (uint32_t i = 0; i < program_->windows.size(); ++i) {
    Window* window = &windows_[i];
    const WindowPlan& plan = program_->windows[i];
    if (!plan.flips) continue;
    if (window->is_retired_clean.load(std::memory_order_acquire)) continue;
    const uint32_t epoch = window->epoch.load(std::memory_order_acquire);
    uint8_t* retired = EpochOf(i, 1 - epoch);
    for (const MeasureIndex variable : plan.variables) {
      const VariablePlace& place = program_->variables[variable];
      ZeroCells(retired + place.offset, place.log2, place.stride, place.cell_count);
      if (!program_->source.variables[variable].evicts) continue;
      ZeroCells(retired + place.owners, 3, sizeof(uint64_t), place.cell_count);
    }
    window->is_retired_clean.store(true, std::memory_order_release);
  }
}

// As others than the packet thread see it.
const uint8_t* ProgramState::RegionOf(MeasureIndex variable, bool is_retired) const {
  const MeasureIndex window = program_->source.variables[variable].window;
  if (window == kNoIndex || !program_->windows[window].flips) {
    return regions_[program_->variables[variable].region];
  }
  const uint32_t epoch = windows_[window].epoch.load(std::memory_order_acquire);
  return EpochOf(window, is_retired ? 1 - epoch : epoch);
}

uint64_t ProgramState::ReadCell(MeasureIndex variable, uint32_t index, bool is_retired) const {
  const VariablePlace& place = program_->variables[variable];
  const uint8_t* region = RegionOf(variable, is_retired);
  return LoadCell(region + place.offset + size_t{index} * place.stride, place.log2);
}

uint64_t ProgramState::ReadOwner(MeasureIndex variable, uint32_t index) const {
  const uint32_t owners = program_->variables[variable].owners;
  return LoadCell<uint64_t>(RegionOf(variable, false) + owners + size_t{index} * sizeof(uint64_t));
}

void ProgramState::WriteCell(MeasureIndex variable, uint32_t index, uint64_t value) {
  const VariablePlace& place = program_->variables[variable];
  uint8_t* const region = regions_[place.region];
  StoreCell(region + place.offset + size_t{index} * place.stride, place.log2, value);
}

void ProgramState::WriteOwner(MeasureIndex variable, uint32_t index, uint64_t owner) {
  const VariablePlace& place = program_->variables[variable];
  StoreCell<uint64_t>(regions_[place.region] + place.owners + size_t{index} * sizeof owner, owner);
}

}  // namespace trumpet
