// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What two threads share of a packet monitor: the ring, the hand-over of programs, published
// counters.  All else is in PacketThread.

#include "lib/tpm/packet_monitor.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "lib/base/spsc_ring.h"
#include "lib/tpm/delivery.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/kept_records.h"
#include "lib/tpm/next_flows.h"
#include "lib/tpm/packet_thread.h"
#include "lib/tpm/trigger_sums.h"

namespace trumpet {
namespace {

constexpr size_t kPrograms = 4;  // running, the one before, pending, and handed over
constexpr uint32_t kHistoryRecordsPerBlock = 4;

size_t SetBytesPerProgram(const MonitorOptions& options) {
  return (size_t{options.set_kilobytes} << 10) / kPrograms;
}

constexpr size_t kCounterCount = sizeof(MonitorCounters) / sizeof(uint64_t);
static_assert(sizeof(MonitorCounters) % sizeof(uint64_t) == 0);

Status CheckOptions(const MonitorOptions& options) {
  const uint32_t ring = options.ring_bytes;
  if (ring < 4096 || (ring & (ring - 1)) != 0) {
    return Status::Error("ring_bytes is " + std::to_string(ring) +
                         "; it takes a power of two from 4096 up");
  }
  if (options.max_flows < 16) {
    return Status::Error("max_flows is " + std::to_string(options.max_flows) +
                         "; it takes 16 or more");
  }
  return Status::Ok();
}

// A record that never fits would stop every sweep at its place.
Status CheckRecords(const TriggerProgram& program, const SpscRing& ring) {
  for (const auto& plan : program.plans()) {
    const size_t bytes = MaxPartialBytes(*plan);
    if (bytes <= ring.max_record()) continue;
    return Status::Error("a record of event \"" + plan->spec.name + "\" takes up to " +
                         std::to_string(bytes) + " bytes; a ring of " +
                         std::to_string(ring.capacity()) + " bytes takes " +
                         std::to_string(ring.max_record()));
  }
  return Status::Ok();
}

}  // namespace

struct PacketMonitor::Impl {
  Impl(const MonitorOptions& options, PageSource* source)
      : ring(options.ring_bytes), thread(options, &ring, source) {}

  Status Init(const MonitorOptions& options, PageSource* source);

  // What nobody has read goes with it: to keep it takes memory.
  ~Impl() {
    delete incoming.load();
    TakeRetired();
    while (to_free != nullptr) delete std::exchange(to_free, to_free->next_retired);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // --- packet thread ---
  // A change of program is a step of its own.  False if there was nothing to do.
  bool TakeIncoming(Nanos now, bool is_timed) {
    if (pending == nullptr && incoming.load(std::memory_order_relaxed) != nullptr) {
      pending.reset(incoming.exchange(nullptr, std::memory_order_acq_rel));
    }
    if (pending == nullptr || now < pending->program->effective_from()) return false;
    bool done = false;
    if (is_timed) thread.watch().Begin();
    std::unique_ptr<Generation> back = thread.TakeOver(std::move(pending), now, &done);
    if (is_timed) thread.watch().End(now);
    if (!done) {
      pending = std::move(back);
      return true;
    }
    if (back != nullptr) Retire(back.release());
    running_generation.store(thread.running_generation(), std::memory_order_release);
    return true;
  }

  void Retire(Generation* generation) {
    generation->next_retired = retired.load(std::memory_order_relaxed);
    while (!retired.compare_exchange_weak(generation->next_retired, generation,
                                          std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  // After every call on the packet thread, and after what it delivered.
  void PublishState() {
    clean_until.store(thread.clean_until(), std::memory_order_release);
    thread.peers().Settle();
  }

  void PublishCounters() {
    MonitorCounters now;
    thread.FillCounters(&now);
    PublishFirst(now, kCounterCount);
  }
  void PublishBatchCounters() { PublishFirst(thread.batch_counters(), kBatchCounters); }

  void PublishFirst(const MonitorCounters& now, size_t count) {
    for (size_t i = 0; i < count; i++) {
      uint64_t word;
      std::memcpy(&word, reinterpret_cast<const uint8_t*>(&now) + i * sizeof word, sizeof word);
      counters[i].store(word, std::memory_order_relaxed);
    }
  }

  // --- agent thread ---
  void TakeRetired() {
    Generation* const taken = retired.exchange(nullptr, std::memory_order_acquire);
    if (taken == nullptr) return;
    Generation* last = taken;
    while (last->next_retired != nullptr) last = last->next_retired;
    last->next_retired = std::exchange(to_free, taken);
  }

  // Without memory for what there is to keep, the generation stays where it is.
  void FreeRetired() {
    TakeRetired();
    while (to_free != nullptr) {
      // Records that name it, and with them those before.
      if (!ring.IsPassed(to_free->told_until)) DrainRecords(&ring, &sums, &kept);
      sums.GiveUp(to_free, &kept);
      const std::unique_ptr<Generation> freed(std::exchange(to_free, to_free->next_retired));
      Recycle(freed.get());
    }
  }

  void Recycle(Generation* generation) {
    generation->sets.Clear();
    spare_sets.push_back(std::move(generation->sets));  // there is room for all
  }

  SpscRing ring;
  PacketThread thread;
  std::unique_ptr<Generation> pending;  // waits for its instant
  MonitorMemory memory;
  std::vector<TriggerSetTable> spare_sets;  // the agent's
  EpochSums sums;                           // the agent's
  KeptRecords kept;                         // the agent's
  Generation* to_free = nullptr;            // the agent's: retired, and not freed yet

  std::atomic<Generation*> incoming{nullptr};
  std::atomic<Generation*> retired{nullptr};
  std::atomic<uint64_t> running_generation{0};
  std::atomic<Nanos> clean_until{INT64_MAX};
  std::atomic<uint64_t> counters[kCounterCount]{};
};

Status PacketMonitor::Impl::Init(const MonitorOptions& options, PageSource* source) {
  if (Status status = thread.Init(source); !status.ok()) return status;
  spare_sets.reserve(kPrograms);
  for (size_t i = 0; i < kPrograms; i++) {
    TriggerSetTable sets;
    if (!sets.InitWithin(SetBytesPerProgram(options), source)) {
      return Status::Error("no memory for " + std::to_string(options.set_kilobytes) +
                           " KiB of trigger sets");
    }
    sets.LimitPacketWork(options.packet_budget_ns);
    spare_sets.push_back(std::move(sets));
  }
  memory.bytes = source->bytes() + ring.capacity();
  memory.reserved_bytes = source->reserved_bytes();
  memory.transparent_bytes = source->CountTransparentBytes();
  memory.flows = options.max_flows;
  memory.connections = options.connections.max_connections;
  memory.history_blocks = options.connections.max_history_records / kHistoryRecordsPerBlock;
  memory.stat_bytes = uint64_t{options.stat_megabytes} << 20;
  memory.ring_bytes = ring.capacity();
  memory.sets = spare_sets.front().max_count();
  memory.set_bytes = spare_sets.front().arena_bytes();
  return Status::Ok();
}

Result<std::unique_ptr<PacketMonitor>> PacketMonitor::Create(const MonitorOptions& options) {
  if (Status status = CheckOptions(options); !status.ok()) return status;
  PageSource source({options.touches_memory, options.takes_reserved_pages});
  auto impl = std::make_unique<Impl>(options, &source);
  if (Status status = impl->Init(options, &source); !status.ok()) return status;
  return std::unique_ptr<PacketMonitor>(new PacketMonitor(std::move(impl)));
}

size_t PacketMonitor::BytesFor(const MonitorOptions& options) {
  return PacketThread::BytesFor(options) + kPrograms * SetBytesPerProgram(options) +
         options.ring_bytes;
}

const MonitorMemory& PacketMonitor::memory() const { return impl_->memory; }
size_t PacketMonitor::ring_used_bytes() const { return impl_->ring.used(); }

PacketMonitor::PacketMonitor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PacketMonitor::~PacketMonitor() = default;

void PacketMonitor::OnBatch(const Frame* frames, int count, bool has_in_port, uint32_t in_port,
                            uint16_t zone, Nanos now) {
  const bool had_incoming = impl_->TakeIncoming(now, true);
  const Arrival arrival{has_in_port, in_port, zone, now};
  const bool has_more = impl_->thread.OnBatch(frames, count, arrival);
  if (impl_->pending != nullptr) {
    impl_->thread.NoteOwed(impl_->pending->owed_from, now);
    impl_->thread.Prepare(impl_->pending.get(), frames, count, arrival);
  }
  impl_->PublishState();
  if (has_more || had_incoming) {
    impl_->PublishCounters();
  } else {
    impl_->PublishBatchCounters();
  }
}

bool PacketMonitor::OnIdle(Nanos now) {
  impl_->TakeIncoming(now, true);
  if (!impl_->thread.has_work(now)) {
    // Nothing to sweep and no epoch to end: idle rounds come every few tens of nanoseconds.
    impl_->thread.OnIdle(now);
    impl_->PublishState();
    return false;
  }
  const bool has_more = impl_->thread.OnIdle(now);
  impl_->PublishState();
  impl_->PublishCounters();
  return has_more;
}

bool PacketMonitor::StandIn(Nanos now) {
  impl_->TakeIncoming(now, false);
  const bool has_more = impl_->thread.StandIn(now);
  impl_->PublishState();
  impl_->PublishCounters();
  return has_more;
}

void PacketMonitor::CloseEpoch(Nanos now) {
  impl_->thread.CloseEpoch(now);
  impl_->PublishState();
  impl_->PublishCounters();
}

void PacketMonitor::NoteGap(Nanos until) { impl_->thread.NoteGap(until); }

Nanos PacketMonitor::next_work_ns() const {
  const Nanos work = impl_->thread.next_work_ns();
  if (impl_->pending == nullptr) return work;
  return std::min(work, impl_->pending->program->effective_from());
}

Status PacketMonitor::Publish(std::shared_ptr<const TriggerProgram> program) {
  if (Status status = CheckRecords(*program, impl_->ring); !status.ok()) return status;
  const std::unique_ptr<Generation> replaced(
      impl_->incoming.exchange(nullptr, std::memory_order_acq_rel));
  if (replaced != nullptr) impl_->Recycle(replaced.get());
  // Behind that: whoever took what was there had retired others before.  Of kPrograms tables the
  // packet thread can hold all but one: running, previous and pending.
  impl_->FreeRetired();
  assert(!impl_->spare_sets.empty());
  auto generation = std::make_unique<Generation>(std::move(program), &impl_->spare_sets.back());
  impl_->spare_sets.pop_back();
  if (replaced != nullptr) {
    generation->owed_from = std::min(generation->owed_from, replaced->owed_from);
  }
  impl_->incoming.store(generation.release(), std::memory_order_release);
  return Status::Ok();
}

void PacketMonitor::CollectRetired() { impl_->FreeRetired(); }

Nanos PacketMonitor::preparing_time() const {
  const MonitorCounters counted = counters();
  return NextFlows::WaitFor(std::min(counted.flows, counted.recent_packets));
}

uint64_t PacketMonitor::running_generation() const {
  return impl_->running_generation.load(std::memory_order_acquire);
}

size_t PacketMonitor::Drain(DeliverySink* sink) {
  const size_t kept = impl_->kept.HandOver(sink);
  return kept + DrainRecords(&impl_->ring, &impl_->sums, sink);
}

Nanos PacketMonitor::clean_until() const {
  return impl_->clean_until.load(std::memory_order_acquire);
}

StepCounts PacketMonitor::steps() const { return impl_->thread.watch().counts(); }

std::optional<StepOverruns> PacketMonitor::overruns() const {
  const StepWatch& watch = impl_->thread.watch();
  if (!watch.has_tripped()) return std::nullopt;
  return watch.overruns();
}

void PacketMonitor::ForgetOverruns() { impl_->thread.watch().Reset(); }

uint64_t PacketMonitor::messages_sent_here() const {
  return impl_->thread.peers().messages_sent_here();
}

uint64_t PacketMonitor::messages_settled() const {
  return impl_->thread.peers().messages_settled();
}

MonitorCounters PacketMonitor::counters() const {
  uint64_t words[kCounterCount];
  for (size_t i = 0; i < kCounterCount; i++) {
    words[i] = impl_->counters[i].load(std::memory_order_relaxed);
  }
  MonitorCounters counters;
  std::memcpy(&counters, words, sizeof counters);
  counters.partials += impl_->sums.partials();
  return counters;
}

}  // namespace trumpet
