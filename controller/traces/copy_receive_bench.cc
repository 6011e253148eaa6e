// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the analyzer takes from an interface and from a port of DPDK: copies of packets that crossed
// four switches come at a given rate, and are put together, judged and stored as trumpet-analyzer
// does.  To AF_PACKET they come at `lo` of a network namespace of its own, to DPDK through
// net_ring, as a card would put them into memory; both in turn at each rate.  One processor sends,
// the other receives; DPDK's polling thread may run on either.  What the kernel does to receive,
// from the backlog of `lo` to AF_PACKET's ring, runs on the processor that receives (RPS), as with
// a card whose interrupts go there: a rate is what one processor takes end to end.
//
// usage: copy_receive_bench [SECONDS [REPEATS]]      (as root; 3, 1)
//
// Prints for each rate what was sent, what the kernel's backlog and the ring had no room for,
// packets whose verdict is that they were delivered, how busy the receiving processor was while
// copies came, by the kernel's ticks, and of a copy the processor time of the receiving thread,
// with what interrupts it, and of the polling thread.

#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "controller/analyzer/copy_receiver.h"
#include "controller/analyzer/dpdk_eal.h"
#include "controller/analyzer/loopback_kit_test.h"
#include "controller/traces/bench_copies.h"
#include "controller/traces/bench_loopback.h"
#include "controller/traces/bench_port.h"
#include "controller/traces/live_traces.h"
#include "controller/traces/trace_routes.h"
#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

using bench_copies::Copies;
using bench_copies::kHops;

constexpr size_t kBatch = 64;
constexpr size_t kFrameRoom = 256;

void Check(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "copy_receive_bench: %s\n", what.c_str());
  std::exit(1);
}

Nanos ReadClock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return Nanos{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

void StayOn(size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor % std::thread::hardware_concurrency(), &set);
  Check(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0, "no such processor");
}

// The receiver's processor, and the sender's.
constexpr size_t kReceiving = 0;
constexpr size_t kSending = 1;

// Since the machine came up, kReceiving's ticks: in all, and of them without work.
struct Ticks {
  uint64_t all = 0;
  uint64_t idle = 0;
};

Ticks ReadTicks() {
  std::ifstream file("/proc/stat");
  const std::string name = "cpu" + std::to_string(kReceiving);
  std::string word;
  while (file >> word && word != name) {
  }
  Ticks ticks;
  // user nice system idle iowait irq softirq steal; guests are within user.
  for (int column = 0; column < 8; ++column) {
    uint64_t count = 0;
    file >> count;
    ticks.all += count;
    if (column == 3 || column == 4) ticks.idle += count;
  }
  Check(file.good(), "/proc/stat: cannot be read");
  return ticks;
}

double BusySince(const Ticks& before) {
  const Ticks now = ReadTicks();
  const auto all = static_cast<double>(now.all - before.all);
  return all > 0 ? 100 - static_cast<double>(now.idle - before.idle) * 100 / all : 0;
}

// The next copies, of one packet after the other; all four of it at once.
class Batch {
 public:
  void Next() {
    for (size_t i = 0; i < kBatch; ++i) {
      const uint32_t packet = next_packet_ + static_cast<uint32_t>(i / kHops);
      copies_.Write(static_cast<uint16_t>(i % kHops), packet, packet, frames_[i].data());
    }
    next_packet_ += kBatch / kHops;
  }
  uint8_t* frame(size_t i) { return frames_[i].data(); }
  size_t bytes() const { return copies_.bytes(); }

 private:
  const Copies copies_;
  uint32_t next_packet_ = 0;
  std::array<std::array<uint8_t, kFrameRoom>, kBatch> frames_{};
};

// So many copies a second by `port`, a BenchPort or BenchLoopback; how many were sent.  A sender
// that was kept from sending makes up for half a millisecond of it, not for more: a burst would say
// what a queue holds, not what is taken.
template <typename Port>
uint64_t SendFor(uint64_t rate, Nanos length, Port* port) {
  Batch batch;
  const Nanos gap = Nanos{kBatch} * kNanosPerSecond / static_cast<Nanos>(rate);
  const Nanos end = ReadClock(CLOCK_MONOTONIC) + length;
  Nanos due = end - length;
  uint64_t sent = 0;
  for (Nanos now = due; now < end; now = ReadClock(CLOCK_MONOTONIC)) {
    if (now < due) continue;
    batch.Next();
    for (size_t i = 0; i < kBatch;) {
      i += port->Put(batch.frame(i), kFrameRoom, batch.bytes(), kBatch - i);
    }
    sent += kBatch;
    due = std::max(due, now - kNanosPerMilli / 2) + gap;
  }
  return sent;
}

// trumpet-analyzer's way, from the ring to the store.
class Receiver {
 public:
  Receiver(const std::string& folder, bool by_dpdk) : base_(NewPreciseLoop()) {
    LiveTracesOptions options;
    options.store.folder = folder;
    options.topology = *ParseTopology(bench_copies::kChain, "chain");
    Check(AddSwitches(options.topology, &options.switches).ok(), "switches");
    options.maker.copies.seed = 7;
    options.maker.copies.leaves_slices = true;
    options.maker.table.max_traces = 1 << 20;
    options.maker.table.max_hops = 1 << 22;
    auto traces = LiveTraces::Open(
        base_.get(), options, [] { return ReadClock(CLOCK_REALTIME); },
        [](const char*, const std::string& text) { Check(false, text); });
    Check(traces.ok(), traces.ok() ? "" : traces.message());
    traces_ = std::move(*traces);
    CopyReceiverOptions ring;
    ring.interface = "lo";
    LiveTraces* const to = traces_.get();
    const auto take = [to](const TimedFrame* frames, size_t count) {
      std::array<bool, kReceiveBurst> is_taken;
      to->Take(frames, count, is_taken.data());
    };
    if (by_dpdk) {
      auto port = BenchPort::Open(base_.get(), take);
      Check(port.ok(), port.ok() ? "" : port.message());
      port_ = std::move(*port);
      return;
    }
    auto receiver = CopyReceiver::Open(base_.get(), ring, take);
    Check(receiver.ok(), receiver.ok() ? "" : receiver.message());
    receiver_ = std::move(*receiver);
  }

  // Until `is_sent`, and as long again as traces need to be complete.
  void Run(const std::atomic<bool>& is_sent) {
    Nanos end = INT64_MAX;
    LoopEvent look(base_.get(), [&] {
      if (is_sent && end == INT64_MAX) end = ReadClock(CLOCK_MONOTONIC) + 3 * kNanosPerSecond;
      if (ReadClock(CLOCK_MONOTONIC) >= end) event_base_loopbreak(base_.get());
    });
    look.RunEvery(10 * kNanosPerMilli);
    event_base_dispatch(base_.get());
  }

  uint64_t dropped() { return port_ ? port_->dropped() : receiver_->dropped(); }
  BenchPort* port() { return port_.get(); }
  TraceSums sums() const { return traces_->maker().sums(); }

 private:
  OwnedLoop base_;
  std::unique_ptr<LiveTraces> traces_;
  std::unique_ptr<CopyReceiver> receiver_;
  std::unique_ptr<BenchPort> port_;
};

// By DPDK where there is no loopback.
void Measure(uint64_t rate, Nanos length, const std::string& folder, BenchLoopback* loopback) {
  const bool by_dpdk = loopback == nullptr;
  Receiver receiver(folder, by_dpdk);
  const uint64_t backlog = DroppedBeforeReceivers();
  std::atomic<bool> is_sent{false};
  uint64_t sent = 0;
  double busy = 0;
  std::thread sending([&] {
    StayOn(kSending);
    const Ticks begin = ReadTicks();
    sent = by_dpdk ? SendFor(rate, length, receiver.port()) : SendFor(rate, length, loopback);
    busy = BusySince(begin);
    is_sent = true;
  });
  cpu_set_t all;
  Check(pthread_getaffinity_np(pthread_self(), sizeof all, &all) == 0, "no processors");
  StayOn(kReceiving);
  const Nanos before = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  receiver.Run(is_sent);
  const Nanos taken = ReadClock(CLOCK_THREAD_CPUTIME_ID) - before;
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
  sending.join();
  const TraceSums sums = receiver.sums();
  const double seconds = static_cast<double>(length) / 1e9;
  const uint64_t delivered = sums.faults[static_cast<size_t>(TraceFault::kNone)];
  const Nanos polled = receiver.port() == nullptr ? 0 : receiver.port()->polling_time();
  const uint64_t missed = DroppedBeforeReceivers() - backlog;
  std::printf("| %s | %.0f | %llu | %llu | %llu | %llu of %llu | %.0f | %.0f | %.0f |\n",
              by_dpdk ? "DPDK" : "AF_PACKET", static_cast<double>(sent) / seconds / 1000,
              static_cast<unsigned long long>(sums.copies), static_cast<unsigned long long>(missed),
              static_cast<unsigned long long>(receiver.dropped()),
              static_cast<unsigned long long>(delivered),
              static_cast<unsigned long long>(sent / kHops), busy,
              static_cast<double>(taken) / static_cast<double>(sums.copies),
              static_cast<double>(polled) / static_cast<double>(sums.copies));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 1;
  Check(seconds > 0 && seconds <= 60 && repeats > 0,
        "usage: copy_receive_bench [SECONDS [REPEATS]]");
  // DPDK's thread begins with the processors of this one, before it stays on its own.
  std::string folder = "/tmp/trumpet-XXXXXX";
  Check(mkdtemp(folder.data()) != nullptr, "no folder can be made in /tmp");
  const auto loopback = BenchLoopback::Open(kReceiving, folder);
  Check(loopback.ok(), loopback.ok() ? "" : loopback.message());
  std::printf(
      "| from | 1,000 copies a second | taken | no room in the backlog | no room in the ring "
      "| packets delivered | processor busy, %% | ns of a copy | polling, ns of a copy |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  const auto length = static_cast<Nanos>(seconds * 1e9);
  int run = 0;
  for (int i = 0; i < repeats; ++i) {
    for (const uint64_t rate : {200, 400, 600, 800, 5000}) {
      for (BenchLoopback* const from : {loopback->get(), static_cast<BenchLoopback*>(nullptr)}) {
        if (from == nullptr && !HasDpdk()) continue;
        Measure(rate * 1000, length, folder + "/" + std::to_string(++run), from);
      }
    }
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
