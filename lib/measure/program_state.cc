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

// In the ring, before the values.
struct CollectedHeader {
  uint64_t now;
  uint64_t present;
  uint64_t endpoint;
};

// A number in [0, range) out of `bits` even bits.
uint64_t Scale(uint64_t random, uint64_t range, uint32_t bits) {
  return static_cast<uint64_t>(Uint128{random} * range >> bits);
}

inline void RunFrom(const Operator* op, RunContext* context) {
  do op = op->kernel(op, context);
  while (op != nullptr);
}

}  // namespace

std::unique_ptr<ProgramState> ProgramState::Create(const CompiledProgram* program,
                                                   SharedCells* shared, const Options& options) {
  std::unique_ptr<ProgramState> state(new ProgramState());
  state->program_ = program;
  if (!state->arena_.Allocate(program->own_bytes, options.source)) return nullptr;
  state->regions_ = {state->arena_.data(), shared != nullptr ? shared->data() : nullptr, nullptr};
  state->regions_[kViewRegion] = state->ViewedCell();
  for (const WindowPlan& window : program->windows) {
    if (window.flips) state->regions_.push_back(state->arena_.data());
  }
  if (program->windows.empty()) state->quiet_until_ = UINT64_MAX;
  state->windows_.reset(new Window[program->windows.size()]);
  state->copies_.resize(program->max_copies);
  state->log_.resize(program->max_log);
  state->log_marks_.resize(2 * (kMaxMeasureDepth + 1));
  if (program->collects) state->ring_ = std::make_unique<SpscRing>(options.ring_bytes);
  state->random_ =
      program->family == MeasureHashFamily::kReference ? kReferenceRandom : options.random_seed;
  RunContext& context = state->context_;
  context.regions = state->regions_.data();
  context.program = program;
  context.state = state.get();
  context.log = state->log_.data();
  return state;
}

inline void ProgramState::RunStream(MeasureIndex stream, RunContext* context) {
  const uint32_t entry = program_->entries[stream];
  if (entry == CompiledProgram::kNoCode) return;
  context->is_collected = false;
  RunFrom(&program_->operators[entry], context);
}

inline void ProgramState::RunOne(const Operator* op, const ProgramBurst& burst, uint32_t number) {
  const MeasuredPacket& packet = burst.packets[number];
  context_.packet = packet.values;
  context_.frame = nullptr;
  context_.now = packet.now;
  if (burst.source.frames != nullptr) {
    context_.frame = burst.source.frames + number;
    context_.now = burst.packets[0].now;
    context_.packet->value[kPktSize] = context_.frame->wire_length;
  }
  context_.slots = burst.slots + size_t{number} * burst.stride;
  context_.roles = burst.roles[packet.hops];
  context_.clearing = 0;
  context_.is_collected = false;
  if (context_.now >= quiet_until_) AdvanceWindows();
  if (op == nullptr) {
    const uint32_t entry = program_->entries[packet.stream];
    if (entry == CompiledProgram::kNoCode) return;
    op = &program_->operators[entry];
  }
  RunFrom(op, &context_);
  if (copy_count_ != 0) RunCopies();
}

void ProgramState::Run(const ProgramBurst& burst, bool by_burst) {
  if (by_burst) return RunBurst(burst);
  for (uint32_t i = 0; i < burst.count; ++i) RunOne(nullptr, burst, i);
}

void ProgramState::RunBurst(const ProgramBurst& burst) {
  uint64_t views[kMaxMeasureBurst];
  FieldColumn column(burst.packets, burst.source.frames, burst.count);
  BurstContext context;
  context.packets = burst.packets;
  context.column = &column;
  context.slots = burst.slots;
  context.stride = burst.stride;
  context.regions = regions_.data();
  context.roles = burst.roles;
  context.same_fields = burst.source.frames != nullptr ? kPlaceFields : 0;
  context.views = views;
  context.count = burst.count;
  const Operator* op = &program_->operators[program_->entries[kPktsStream]];
  const Operator* const rest = op + program_->burst_operators;
  for (; op != rest && context.count != 0; ++op) {
    PointTo(op, burst, &context);
    op->burst_kernel(*op, &context);
  }
  if (context.count == 0 || rest->kernel == EndProgram) return;
  if (program_->adds_viewed_by_burst) context.view_bytes = sizeof views[0];
  if (program_->split.kernel != nullptr) {
    RunArms(burst, context);
  } else {
    RunRest(rest, burst, context, 0);
  }
  regions_[kViewRegion] = ViewedCell();
}

// The chosen packets from `first` on, one after the other.
void ProgramState::RunRest(const Operator* op, const ProgramBurst& burst,
                           const BurstContext& context, uint32_t first) {
  ForChosen(context, [&](uint32_t number) {
    if (number < first) return;
    ShowView(context, number);
    RunOne(op, burst, number);
  });
}

// As tasks of packet `number` are to see the viewed variable.
inline void ProgramState::ShowView(const BurstContext& context, uint32_t number) {
  if (context.view_bytes == 0) return;
  regions_[kViewRegion] = reinterpret_cast<uint8_t*>(&context.views[number]);
}

// Shows the kernel of `op` the hashes that it takes.
inline void ProgramState::PointTo(const Operator* op, const ProgramBurst& burst,
                                  BurstContext* context) const {
  if (burst.hashes == nullptr) return;
  const HashUse& use = program_->hash_uses[static_cast<size_t>(op - program_->operators.data())];
  if (use.plan == nullptr) return;
  context->plan = use.plan;
  context->hashes = burst.hashes[use.key];
}

// The number of the packet that does not stop, or kMaxMeasureBurst.
inline uint32_t ProgramState::RunArm(const BurstArm& arm, const ProgramBurst& burst,
                                     BurstContext* context) {
  const Operator* const op = &program_->operators[arm.first];
  if (arm.stop != nullptr) {
    PointTo(op, burst, context);
    return arm.stop(*op, *context);
  }
  for (uint32_t i = 0; i < arm.count; ++i) {
    PointTo(op + i, burst, context);
    op[i].burst_kernel(op[i], context);
  }
  return kMaxMeasureBurst;
}

// Of packets that go on one after the other, from `first` on.
void ProgramState::FillSlots(const ProgramBurst& burst, uint32_t first) const {
  for (size_t key = 0; key < program_->slots.size(); ++key) {
    if (burst.hashes[key] == nullptr) continue;
    FillFastSlots(program_->slots[key], burst.hashes[key] + first, burst.count - first,
                  burst.stride, burst.slots + size_t{first} * burst.stride);
  }
}

// Up to the first packet that does not stop, both arms are done for all; that packet, and those
// behind it, go on one after the other.
void ProgramState::RunArms(const ProgramBurst& burst, const BurstContext& context) {
  const BurstSplit& split = program_->split;
  const Operator* const guard =
      &program_->operators[program_->entries[kPktsStream] + program_->burst_operators];
  BurstContext pass = context;
  PointTo(guard, burst, &pass);
  BurstContext fail = pass;
  split.kernel(*guard, &pass, &fail);
  ShowView(context, 0);  // kernels of bursts go on from there
  const bool is_fail_first = split.fail.stop != nullptr;
  const BurstArm& first = is_fail_first ? split.fail : split.pass;
  const BurstArm& second = is_fail_first ? split.pass : split.fail;
  BurstContext* const behind = is_fail_first ? &pass : &fail;
  const uint32_t stopped = RunArm(first, burst, is_fail_first ? &fail : &pass);
  while (behind->count != 0 && behind->chosen[behind->count - 1] > stopped) behind->count--;
  RunArm(second, burst, behind);
  if (stopped == kMaxMeasureBurst) return;
  if (burst.hashes != nullptr) FillSlots(burst, stopped);
  ShowView(context, stopped);
  RunOne(&program_->operators[first.first + 1], burst, stopped);
  RunRest(guard, burst, context, stopped + 1);
}

uint8_t* ProgramState::ViewedCell() const {
  if (program_->viewed == kNoIndex) return nullptr;
  const VariablePlace& place = program_->variables[program_->viewed];
  return regions_[place.region] + place.offset;
}

// Lets the windows of scopes look at the packet, and finds out how long they need not.
void ProgramState::AdvanceWindows() {
  quiet_until_ = UINT64_MAX;
  for (uint32_t i = 0; i < program_->windows.size(); ++i) {
    const WindowPlan& plan = program_->windows[i];
    if (!plan.is_of_scope) continue;
    if ((plan.roles & context_.roles) != 0) AdvanceWindow(i, &context_);
    const Window& window = windows_[i];
    const bool is_quiet = window.has_started && !window.is_clearing;
    quiet_until_ = std::min(quiet_until_, is_quiet ? window.start + uint64_t(plan.duration) : 0);
  }
}

void ProgramState::RunCopies() {
  for (uint32_t i = 0; i < copy_count_; ++i) {
    context_.packet = &copies_[i].values;
    context_.frame = nullptr;
    RunStream(copies_[i].stream, &context_);
  }
  copy_count_ = 0;
}

void ProgramState::PushCopy(MeasureIndex stream, const PacketValues& packet) {
  Copy& copy = copies_[copy_count_++];  // as many as the loader has counted
  copy.stream = stream;
  std::memcpy(static_cast<void*>(&copy.values), &packet,
              offsetof(PacketValues, value) + program_->field_count * sizeof(uint64_t));
}

void ProgramState::Collect(MeasureIndex endpoint, const RunContext& context) {
  const PacketValues& packet = *context.packet;
  Count(&counters_.collected);
  const auto count = static_cast<size_t>(__builtin_popcountll(packet.present));
  auto* room =
      static_cast<uint8_t*>(ring_->Reserve(sizeof(CollectedHeader) + count * sizeof(uint64_t)));
  if (room == nullptr) return Count(&counters_.lost);
  const CollectedHeader header = {context.now, packet.present, endpoint};
  std::memcpy(room, &header, sizeof header);
  auto* values = reinterpret_cast<uint64_t*>(room + sizeof header);
  for (uint64_t left = packet.present; left != 0; left &= left - 1) {
    *values++ = packet.value[__builtin_ctzll(left)];
  }
  ring_->Commit();
}

bool ProgramState::ReadCollected(CollectedPacket* packet) {
  if (ring_ == nullptr) return false;
  const auto record = ring_->Peek();
  if (!record) return false;
  CollectedHeader header;
  std::memcpy(&header, record.data, sizeof header);
  packet->now = header.now;
  packet->present = header.present;
  packet->endpoint = static_cast<uint32_t>(header.endpoint);
  packet->values.resize((record.size - sizeof header) / sizeof(uint64_t));
  std::memcpy(packet->values.data(), static_cast<const uint8_t*>(record.data) + sizeof header,
              record.size - sizeof header);
  ring_->Release();
  return true;
}

uint64_t ProgramState::Draw(uint64_t low, uint64_t high) {
  const uint64_t range = high > low ? high - low : 0;
  if (program_->family == MeasureHashFamily::kReference) {
    auto x = static_cast<uint32_t>(random_);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    random_ = x;
    return low + Scale(x, range, 32);
  }
  random_ += 0x9e3779b97f4a7c15u;
  return low + Scale(MixBits(random_), range, 64);
}

void ProgramState::AdvanceWindow(uint32_t number, RunContext* context) {
  const WindowPlan& plan = program_->windows[number];
  Window* window = &windows_[number];
  context->clearing &= ~(uint64_t{1} << number);
  if (!window->has_started) {
    window->has_started = true;
    window->start = context->now;
  }
  const bool is_over =
      context->now >= window->start && context->now - window->start >= uint64_t(plan.duration);
  if (!window->is_clearing && !is_over) return;
  if (plan.flips) return Flip(number, plan, context);
  window->is_clearing = true;
  context->clearing |= uint64_t{1} << number;
  if (!ClearCells(plan, window)) return;
  window->is_clearing = false;
  window->start = context->now;
}

// The next `quantum` cells; true if these were the last ones.
bool ProgramState::ClearCells(const WindowPlan& plan, Window* window) {
  uint32_t left = plan.quantum;
  while (window->next_variable < plan.variables.size() && left > 0) {
    const MeasureIndex variable = plan.variables[window->next_variable];
    ClearCell(variable, window->next_cell++);
    left--;
    if (window->next_cell < program_->variables[variable].cell_count) continue;
    window->next_cell = 0;
    window->next_variable++;
  }
  if (window->next_variable < plan.variables.size()) return false;
  window->next_variable = 0;
  return true;
}

void ProgramState::ClearCell(MeasureIndex variable, uint32_t index) {
  const VariablePlace& place = program_->variables[variable];
  uint8_t* region = regions_[place.region];
  StoreCell(region + place.offset + (size_t{index} << place.log2), place.log2, 0);
  if (program_->source.variables[variable].evicts) {
    StoreCell<uint64_t>(region + place.owners + size_t{index} * sizeof(uint64_t), 0);
  }
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
      std::memset(retired + place.offset, 0, size_t{place.cell_count} << place.log2);
      if (!program_->source.variables[variable].evicts) continue;
      std::memset(retired + place.owners, 0, size_t{place.cell_count} * sizeof(uint64_t));
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
  return LoadCell(region + place.offset + (size_t{index} << place.log2), place.log2);
}

uint64_t ProgramState::ReadOwner(MeasureIndex variable, uint32_t index) const {
  const uint32_t owners = program_->variables[variable].owners;
  return LoadCell<uint64_t>(RegionOf(variable, false) + owners + size_t{index} * sizeof(uint64_t));
}

void ProgramState::WriteCell(MeasureIndex variable, uint32_t index, uint64_t value) {
  const VariablePlace& place = program_->variables[variable];
  uint8_t* const region = regions_[place.region];
  StoreCell(region + place.offset + (size_t{index} << place.log2), place.log2, value);
}

void ProgramState::WriteOwner(MeasureIndex variable, uint32_t index, uint64_t owner) {
  const VariablePlace& place = program_->variables[variable];
  StoreCell<uint64_t>(regions_[place.region] + place.owners + size_t{index} * sizeof owner, owner);
}

}  // namespace trumpet
