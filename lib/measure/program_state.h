// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramState: what one measurement program keeps for one packet thread.
//
// Cells lie in an arena that is taken when the state is made, off the packet thread; so are the
// queue of copies, the log of writes and the ring of collected packets.
//
// Threads: Run() is for the packet thread; ReadCollected() and ClearRetired() for one other; cells
// may be read by any.  Lifetime: the program and the shared cells must outlive the state.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_STATE_H
#define TRUMPET_LIB_MEASURE_PROGRAM_STATE_H

#include <atomic>
#include <memory>
#include <vector>

#include "lib/base/page_buffer.h"
#include "lib/base/status.h"
#include "lib/measure/cell_runs.h"
#include "lib/measure/collected_ring.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/copy_layout.h"
#include "lib/measure/measured_packet.h"

namespace trumpet {

// The interval that the threads of a program are in together: of them, one clears what they share.
class SharedInterval {
 public:
  // A thread's first packet comes at `now`: when the interval began, and its `number`.
  uint64_t Join(uint64_t now, uint64_t* number);
  // The interval `number` is over: whether this thread begins the next, which `number` is now.
  bool Begin(uint64_t* number) {
    uint64_t expected = *number;
    const bool is_first = count_.compare_exchange_strong(expected, expected + 1);
    *number = is_first ? expected + 1 : expected;
    return is_first;
  }
  bool IsIn(uint64_t number) const { return count_.load(std::memory_order_acquire) == number; }
  // By the thread that began it: then, and when all is cleared.
  void SetStart(uint64_t start) { start_.store(start, std::memory_order_release); }
  uint64_t start() const { return start_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> count_{0};  // of intervals so far
  std::atomic<uint64_t> start_{0};
};

// Cells that all packet threads of a program write.
class SharedCells {
 public:
  [[nodiscard]] bool Init(const CompiledProgram& program, PageSource* source = nullptr) {
    intervals_.reset(new SharedInterval[program.windows.size()]);
    return cells_.Allocate(program.shared_bytes, source);
  }
  uint8_t* data() { return cells_.data(); }
  SharedInterval* intervals() { return intervals_.get(); }  // by window

 private:
  PageBuffer<uint8_t> cells_;
  std::unique_ptr<SharedInterval[]> intervals_;
};

class ProgramState {
 public:
  struct Options {
    uint64_t random_seed = 0;  // only for the fast family; the reference one starts at 12345
    size_t ring_bytes = 1 << 18;
    // Windows begin anew when packets come from longer before their interval, as the clock was set
    // back; before that they wait.
    uint64_t most_back_ns = UINT64_MAX;
    PageSource* source = nullptr;
  };
  struct Counters {
    std::atomic<uint64_t> collected{0};
    std::atomic<uint64_t> lost{0};        // collected packets that the ring had no room for
    std::atomic<uint64_t> evictions{0};   // owners of slots of maps that gave way to others
    std::atomic<uint64_t> late_flips{0};  // packets that found the retired epoch not yet cleared
  };

  // Null if the machine has no memory.
  static std::unique_ptr<ProgramState> Create(const CompiledProgram* program, SharedCells* shared,
                                              const Options& options);

  // Runs packets of the streams kPktsStream and kCtrlStream through the program, one after the
  // other, each followed by its copies; all slots must be there.
  void RunEach(const ProgramBurst& burst);
  // The same of packets of kPktsStream at a time at which the state is quiet, by stages.
  void RunBurst(ProgramBurst* burst);
  // Whether no window of a scope has anything to do with packets that come at `now`, or, unless the
  // clock was set back, before.
  bool IsQuietAt(uint64_t now) const { return now < quiet_until_ && now >= quiet_from_; }

  // The oldest collected packet; false when there is none.
  bool ReadCollected(CollectedPacket* packet) { return ring_ != nullptr && ring_->Read(packet); }

  // Clears the epochs that flipping windows have retired.
  void ClearRetired();

  // Cell `index` of a variable, of the current epoch or of the retired one.
  uint64_t ReadCell(MeasureIndex variable, uint32_t index, bool is_retired = false) const;
  // Of a map that evicts: the number of the key that cell `index` belongs to; 0: nobody.
  uint64_t ReadOwner(MeasureIndex variable, uint32_t index) const;

  // Of a state that no packet thread runs.
  void WriteCell(MeasureIndex variable, uint32_t index, uint64_t value);
  void WriteOwner(MeasureIndex variable, uint32_t index, uint64_t owner);

  const CompiledProgram& program() const { return *program_; }
  const Counters& counters() const { return counters_; }
  uint8_t* const* regions() const { return regions_.data(); }

  // For kernels.
  uint64_t Draw(uint64_t low, uint64_t high) {
    const uint64_t range = RangeOf(low, high);
    if (program_->family == MeasureHashFamily::kReference) return low + DrawReference(range);
    return low + DrawFast(&random_, range);
  }
  // One for each packet that takes the operator: work(packet, number).
  template <typename Work>
  void DrawForChosen(const BurstContext& context, uint64_t low, uint64_t high, const Work& work) {
    if (program_->family == MeasureHashFamily::kReference) {
      return ForChosen(context, [&](uint32_t packet) { work(packet, Draw(low, high)); });
    }
    const uint64_t range = RangeOf(low, high);
    uint64_t random = random_;  // stays in a register
    ForChosen(context, [&](uint32_t packet) { work(packet, low + DrawFast(&random, range)); });
    random_ = random;
  }
  void PushCopy(MeasureIndex stream, const PacketValues& packet);
  void Collect(MeasureIndex endpoint, const RunContext& context);
  void CountEviction() { Count(&counters_.evictions); }
  // Lets a window look at a packet: its bit in `clearing` says whether the packet is spent on it.
  void AdvanceWindow(uint32_t window, RunContext* context);
  uint32_t* log_marks() { return log_marks_.data(); }

 private:
  struct Window {
    bool has_started = false;
    bool is_clearing = false;
    bool clears_shared = true;  // while clearing
    uint64_t start = 0;
    uint64_t interval = 0;       // of the shared one: its number
    uint32_t next_variable = 0;  // while clearing
    uint32_t next_cell = 0;
    std::atomic<uint32_t> epoch{0};
    std::atomic<bool> is_retired_clean{true};
  };
  struct Copy {
    MeasureIndex stream = 0;
    PacketValues values;
  };

  ProgramState() = default;
  static uint64_t RangeOf(uint64_t low, uint64_t high) { return high > low ? high - low : 0; }
  // In [0, range).
  uint64_t DrawReference(uint64_t range);
  static uint64_t DrawFast(uint64_t* random, uint64_t range) {
    *random += 0x9e3779b97f4a7c15u;
    return static_cast<uint64_t>(Uint128{MixBits(*random)} * range >> 64);
  }
  static void Count(std::atomic<uint64_t>* counter, uint64_t more = 1) {
    counter->store(counter->load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void Begin();
  void RunStream(MeasureIndex stream);
  void RunFrom(const Operator* op);
  void PointTo(const ProgramBurst& burst, uint32_t number);
  void RunOne(const Operator* op, const ProgramBurst& burst, uint32_t number);
  void RunStages(uint32_t first, uint32_t end, ProgramBurst* burst, BurstContext* context);
  void RunStage(const BurstStage& stage, ProgramBurst* burst, BurstContext* context);
  void RunTogether(const BurstStage& stage, const ProgramBurst& burst, BurstContext* context);
  void RunByRuns(uint32_t first, ProgramBurst* burst, BurstContext* context);
  void ShowCells(const BurstStage& stage, ProgramBurst* burst, BurstContext* context);
  void RunOfRun(uint32_t first, ProgramBurst* burst, BurstContext* context);
  void FindCells(const HashUse& map, ProgramBurst* burst);
  void RunArms(const BurstStage& stage, ProgramBurst* burst, BurstContext* context);
  uint32_t RunArm(const BurstArm& arm, const ProgramBurst& burst, BurstContext* context);
  void RunCopiesOf(ProgramBurst* burst, const BurstContext& context);
  void CollectCopies(const MeasuredPacket* packets, uint32_t copied);
  void CollectFrames(const ProgramBurst& burst, uint32_t copied);
  void RunCopiesOfOne(const ProgramBurst& burst, uint32_t number, const BurstContext& context);
  void RunOnPacket(const BurstCopy& copy);
  void CollectPlain(const PacketValues& packet, uint64_t now, CopyLayout* layout,
                    CollectedRing::Batch* batch);
  void ShowView(const BurstContext& context, uint32_t number);
  uint8_t* ViewedCell() const;
  void AdvanceWindows();
  void RunCopies();
  SharedInterval* IntervalOf(uint32_t window) const;
  bool IsOver(const Window& window, Nanos duration, uint64_t now) const;
  void BeginInterval(uint32_t number, Window* window, uint64_t now) const;
  bool ClearCells(const WindowPlan& plan, Window* window);
  void ClearRange(MeasureIndex variable, uint32_t first, uint32_t count);
  void Flip(uint32_t number, const WindowPlan& plan, RunContext* context);
  uint8_t* EpochOf(uint32_t window, uint32_t epoch) const;
  const uint8_t* RegionOf(MeasureIndex variable, bool is_retired) const;

  const CompiledProgram* program_ = nullptr;
  const BurstStage* stages_ = nullptr;  // of the program
  uint32_t stage_count_ = 0;
  PageBuffer<uint8_t> arena_;
  std::vector<uint8_t*> regions_;
  std::unique_ptr<Window[]> windows_;
  std::vector<Copy> copies_;
  uint32_t copy_count_ = 0;
  std::vector<WriteLogEntry> log_;
  std::vector<uint32_t> log_marks_;      // two per depth of forks
  std::unique_ptr<CollectedRing> ring_;  // null: the program collects nothing
  std::vector<uint32_t> arrivals_;       // RunContext's
  std::vector<uint32_t> marks_;          // RunContext's
  FieldMoves moves_;                 // of the packet that was collected last, other than by these
  std::vector<CopyLayout> layouts_;  // by BurstCopy, of the packet that left the last one
  CellRuns runs_;
  uint64_t random_ = 0;
  uint64_t quiet_from_ = 0;   // and
  uint64_t quiet_until_ = 0;  // between them no window of a scope has anything to do
  uint64_t most_back_ns_ = UINT64_MAX;
  SharedInterval* intervals_ = nullptr;  // by window; null: one thread
  RunContext context_;
  Counters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_STATE_H
