// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What it costs that packet threads tell each other of connections (docs/adr/0009), per packet: an
// event without TCP and one with, on one thread and on two, whose connections are whole or split by
// direction.  One processor plays all threads in turns, so the time is that of both; that messages
// go from cache to cache is not in it.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/peer_exchange.h"

namespace trumpet {
namespace {

constexpr uint32_t kConnections = 1024;  // a multiple of two batches
constexpr int kBatch = 32;
constexpr Nanos kPacketSpacing = 67;  // 10 Gbit/s of small packets
constexpr int kIdleEvery = 16;        // batches

class NoSink : public DeliverySink {
 public:
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t) override {}
};

Nanos Now(clockid_t id) {
  timespec time;
  clock_gettime(id, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

// Connections of which both sides send as much, and acknowledge what the other sent if it keeps up.
class Connections {
 public:
  Connections() : packets_(kConnections * 2) {
    for (uint32_t i = 0; i < kConnections; i++) {
      Write(&packets_[2 * i], 0x0a000000 + i, 0x0a010000 + i);
      Write(&packets_[2 * i + 1], 0x0a010000 + i, 0x0a000000 + i);
    }
  }

  // Of connection `i` the next packet of the side.
  Frame Next(uint32_t i, uint32_t side) {
    Packet& packet = packets_[2 * i + side];
    packet.next += kPayload;
    Put32(&packet, 38, packet.next);
    Put32(&packet, 42, packet.next);
    return {packet.bytes, sizeof packet.bytes, sizeof packet.bytes};
  }

 private:
  static constexpr uint32_t kPayload = 6;
  struct Packet {
    uint8_t bytes[60] = {};
    uint32_t next = 1;
  };
  static void Put16(Packet* packet, size_t at, uint32_t value) {
    packet->bytes[at] = static_cast<uint8_t>(value >> 8);
    packet->bytes[at + 1] = static_cast<uint8_t>(value);
  }
  static void Put32(Packet* packet, size_t at, uint32_t value) {
    Put16(packet, at, value >> 16);
    Put16(packet, at + 2, value & 0xffff);
  }
  static void Write(Packet* packet, uint32_t src, uint32_t dst) {
    Put16(packet, 12, 0x0800);
    packet->bytes[14] = 0x45;
    Put16(packet, 16, 46);
    packet->bytes[22] = 64;
    packet->bytes[23] = 6;
    Put32(packet, 26, src);
    Put32(packet, 30, dst);
    Put16(packet, 34, 1000);
    Put16(packet, 36, 1000);
    packet->bytes[46] = 0x50;
    packet->bytes[47] = 0x10;  // ACK
    Put16(packet, 48, 0xffff);
  }

  std::vector<Packet> packets_;
};

enum Split { kWhole, kByDirection };

// One or two monitors, which share an exchange unless there is but one that needs none.
class Host {
 public:
  Host(size_t threads, bool has_exchange, bool with_tcp) {
    MonitorOptions options;
    options.touches_memory = true;
    options.peers = has_exchange ? &exchange_ : nullptr;
    const Variable variable = with_tcp ? Variable::kIsLost : Variable::kVolume;
    const HostVerdicts::Plans plans = {testing::PlanOf(1, testing::DstPrefix(0, 0), variable, 10)};
    const auto program = TriggerProgram::Make(plans, 1, INT64_MIN);
    for (size_t i = 0; i < threads; i++) {
      monitors_.push_back(testing::MakeMonitor(options));
      if (!monitors_.back()->Publish(program).ok()) abort();
    }
  }

  // A batch of the thread: connections from `first` on, of its side if split, else of both.
  void Receive(size_t thread, Split split, uint32_t first, Nanos now, Connections* connections) {
    Frame frames[kBatch];
    for (uint32_t i = 0; i < kBatch; i++) {
      const uint32_t step = split == kByDirection ? i : i / 2;
      const uint32_t side = split == kByDirection ? static_cast<uint32_t>(thread) : i % 2;
      frames[i] = connections->Next((first + step) % kConnections, side);
    }
    monitors_[thread]->OnBatch(frames, kBatch, false, 0, 0, now);
  }
  void Idle(size_t thread, Nanos now) {
    while (monitors_[thread]->OnIdle(now)) monitors_[thread]->Drain(&sink_);
    monitors_[thread]->Drain(&sink_);
  }
  double MessagesPerPacket() const {
    uint64_t messages = 0;
    uint64_t packets = 0;
    for (const auto& monitor : monitors_) {
      const MonitorCounters counters = monitor->counters();
      messages += counters.peer_messages_sent;
      packets += counters.packets;
    }
    return static_cast<double>(messages) / static_cast<double>(packets);
  }

 private:
  PeerExchange exchange_{kConnections * 4, 10 * kNanosPerSecond};
  std::vector<std::unique_ptr<PacketMonitor>> monitors_;
  NoSink sink_;
};

// Of two threads each has every other batch; whole connections of the one are not the other's.
void BM_Peers(benchmark::State& state) {
  const bool with_tcp = state.range(0) != 0;
  const auto threads = static_cast<size_t>(state.range(1));
  const bool has_exchange = state.range(2) != 0;
  const auto split = static_cast<Split>(state.range(3));
  Host host(threads, has_exchange, with_tcp);
  Connections connections;
  Nanos now = kNanosPerSecond;
  uint32_t batch = 0;
  const auto play = [&] {
    for (int i = 0; i < kIdleEvery; i++, batch++) {
      const size_t thread = batch % threads;
      const uint32_t turn = batch / static_cast<uint32_t>(threads);
      uint32_t first = turn * kBatch;
      if (split == kWhole) {
        first = turn * kBatch / 2 % (kConnections / 2) +
                static_cast<uint32_t>(thread) * kConnections / 2;
      }
      now += kBatch * kPacketSpacing;
      host.Receive(thread, split, first, now, &connections);
    }
    for (size_t thread = 0; thread < threads; thread++) host.Idle(thread, now);
  };
  for (int i = 0; i < 1000; i++) play();
  constexpr int kTurns = 100;
  double fastest = 1e9;
  for (auto _ : state) {
    const Nanos before = Now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kTurns; i++) play();
    const auto spent = static_cast<double>(Now(CLOCK_THREAD_CPUTIME_ID) - before);
    state.SetIterationTime(spent * 1e-9);
    fastest = std::min(fastest, spent / (kTurns * kIdleEvery * kBatch));
  }
  state.counters["min_ns_per_packet"] = fastest;
  state.counters["messages"] = host.MessagesPerPacket();
}

void Arrangements(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"tcp", "threads", "exchange", "split"});
  for (const int tcp : {0, 1}) {
    bench->Args({tcp, 1, 0, kWhole});
    bench->Args({tcp, 1, 1, kWhole});
    bench->Args({tcp, 2, 1, kWhole});
    bench->Args({tcp, 2, 1, kByDirection});
  }
  bench->UseManualTime()->Iterations(60);
}
BENCHMARK(BM_Peers)->Apply(Arrangements);

}  // namespace
}  // namespace trumpet
