// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What two threads share of a packet monitor: the ring, the hand-over of programs, published
// counters.  All else is in PacketThread.

#include "lib/tpm/packet_monitor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "lib/base/spsc_ring.h"
#include "lib/tpm/delivery.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/packet_thread.h"

namespace trumpet {
namespace {

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
  explicit Impl(const MonitorOptions& options) : ring(options.ring_bytes), thread(options, &ring) {}

  ~Impl() {
    delete incoming.load();
    FreeRetired();
  }

  // --- packet thread ---
  // A change of program is a step of its own.
  void TakeIncoming(Nanos now, bool is_timed) {
    if (pending == nullptr && incoming.load(std::memory_order_relaxed) != nullptr) {
      pending.reset(incoming.exchange(nullptr, std::memory_order_acquire));
    }
    if (pending == nullptr || now < pending->program->effective_from()) return;
    bool done = false;
    if (is_timed) thread.watch().Begin();
    std::unique_ptr<Generation> back = thread.TakeOver(std::move(pending), now, &done);
    if (is_timed) thread.watch().End(now);
    if (!done) {
      pending = std::move(back);
      return;
    }
    if (back != nullptr) Retire(back.release());
    running_generation.store(thread.running_generation(), std::memory_order_release);
  }

  void Retire(Generation* generation) {
    generation->next_retired = retired.load(std::memory_order_relaxed);
    while (!retired.compare_exchange_weak(generation->next_retired, generation,
                                          std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  // After every call on the packet thread, and after what it delivered.
  void PublishState() { clean_until.store(thread.clean_until(), std::memory_order_release); }

  void PublishCounters() {
    MonitorCounters now;
    thread.FillCounters(&now);
    uint64_t words[kCounterCount];
    std::memcpy(words, &now, sizeof words);
    for (size_t i = 0; i < kCounterCount; i++) {
      counters[i].store(words[i], std::memory_order_relaxed);
    }
  }

  // --- agent thread ---
  void FreeRetired() {
    Generation* generation = retired.exchange(nullptr, std::memory_order_acquire);
    while (generation != nullptr) {
      Generation* next = generation->next_retired;
      delete generation;
      generation = next;
    }
  }

  SpscRing ring;
  PacketThread thread;
  std::unique_ptr<Generation> pending;  // waits for its instant

  std::atomic<Generation*> incoming{nullptr};
  std::atomic<Generation*> retired{nullptr};
  std::atomic<uint64_t> running_generation{0};
  std::atomic<Nanos> clean_until{INT64_MAX};
  std::atomic<uint64_t> counters[kCounterCount]{};
};

Result<std::unique_ptr<PacketMonitor>> PacketMonitor::Create(const MonitorOptions& options) {
  if (Status status = CheckOptions(options); !status.ok()) return status;
  auto impl = std::make_unique<Impl>(options);
  if (Status status = impl->thread.Init(); !status.ok()) return status;
  return std::unique_ptr<PacketMonitor>(new PacketMonitor(std::move(impl)));
}

PacketMonitor::PacketMonitor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PacketMonitor::~PacketMonitor() = default;

void PacketMonitor::OnBatch(const Frame* frames, int count, bool has_in_port, uint32_t in_port,
                            uint16_t zone, Nanos now) {
  impl_->TakeIncoming(now, true);
  impl_->thread.OnBatch(frames, count, {has_in_port, in_port, zone, now});
  impl_->PublishState();
  impl_->PublishCounters();
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
  std::unique_ptr<Generation> generation = Generation::Make(std::move(program));
  if (generation == nullptr) {
    return Status::Error("no memory for the trigger sets of a new program");
  }
  const std::unique_ptr<Generation> replaced(
      impl_->incoming.exchange(nullptr, std::memory_order_acquire));
  if (replaced != nullptr) {
    generation->owed_from = std::min(generation->owed_from, replaced->owed_from);
  }
  impl_->incoming.store(generation.release(), std::memory_order_release);
  impl_->FreeRetired();
  return Status::Ok();
}

void PacketMonitor::CollectRetired() { impl_->FreeRetired(); }

uint64_t PacketMonitor::running_generation() const {
  return impl_->running_generation.load(std::memory_order_acquire);
}

size_t PacketMonitor::Drain(DeliverySink* sink) { return DrainRecords(&impl_->ring, sink); }

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

MonitorCounters PacketMonitor::counters() const {
  uint64_t words[kCounterCount];
  for (size_t i = 0; i < kCounterCount; i++) {
    words[i] = impl_->counters[i].load(std::memory_order_relaxed);
  }
  MonitorCounters counters;
  std::memcpy(&counters, words, sizeof counters);
  return counters;
}

}  // namespace trumpet
