// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/contenders.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory_resource>
#include <unordered_map>

#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_program.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {
namespace {

// Adds up what the sweeps deliver, to see that nothing was left out.
class CountingSink : public DeliverySink {
 public:
  void OnPartial(const PartialView& partial) override { matched_packets += partial.words[0]; }
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t reasons) override { incomplete_epochs += reasons != 0; }

  uint64_t matched_packets = 0;
  uint64_t incomplete_epochs = 0;
};

class MonitorContender : public Contender {
 public:
  MonitorContender(std::unique_ptr<PacketMonitor> monitor, uint32_t matches_per_packet)
      : monitor_(std::move(monitor)), matches_per_packet_(matches_per_packet) {}

  void OnBatch(const Frame* frames, Nanos now) override {
    last_ = now;
    monitor_->OnIdle(now);
    monitor_->OnBatch(frames, kBatch, false, 0, 0, now);
  }
  void OutsideEpoch() override { monitor_->Drain(&sink_); }

  std::string Facts() const override {
    const MonitorCounters counters = monitor_->counters();
    const double all =
        std::max(1.0, static_cast<double>(counters.batch_cycles + counters.sweep_cycles));
    char text[200];
    std::snprintf(text, sizeof text,
                  ",\"sweep_share\":%.3f,\"epochs\":%llu,\"epochs_skipped\":%llu",
                  static_cast<double>(counters.sweep_cycles) / all,
                  static_cast<unsigned long long>(counters.epochs),
                  static_cast<unsigned long long>(counters.epochs_skipped));
    return text;
  }
  // Every packet must have been counted by every trigger that it matches.
  std::string Problem() const override {
    monitor_->CloseEpoch(last_ + kEpochNs);
    while (monitor_->OnIdle(last_ + kEpochNs)) monitor_->Drain(&sink_);
    monitor_->Drain(&sink_);
    const uint64_t expected = monitor_->counters().packets * matches_per_packet_;
    if (sink_.matched_packets == expected) return "";
    return "counted " + std::to_string(sink_.matched_packets) + " matches instead of " +
           std::to_string(expected);
  }

 private:
  std::unique_ptr<PacketMonitor> monitor_;
  const uint32_t matches_per_packet_;
  mutable CountingSink sink_;
  Nanos last_ = 0;
};

class ParseContender : public Contender {
 public:
  void OnBatch(const Frame* frames, Nanos) override {
    for (int i = 0; i < kBatch; i++) {
      ParsePacket(frames[i], options_, &packet_);
      sum_ += packet_.volume + packet_.innermost.dst_ip[3];
    }
  }
  std::string Facts() const override { return ",\"check\":" + std::to_string(sum_); }

 private:
  const ParseOptions options_{};
  ParsedPacket packet_;
  uint64_t sum_ = 0;
};

struct Tuple {
  uint64_t addresses;
  uint64_t rest;
  bool operator==(const Tuple& other) const {
    return addresses == other.addresses && rest == other.rest;
  }
};

struct TupleHash {
  size_t operator()(const Tuple& tuple) const {
    uint64_t hash = tuple.addresses * 0x9e3779b97f4a7c15 ^ (tuple.rest + (tuple.addresses >> 29));
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93;
    return hash ^ (hash >> 32);
  }
};

// Memory in rising order in the steps of a common malloc(), none taken back: the nodes of a map lie
// as they do in a program that made nothing else before.
class RisingMemory : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    return blocks_.allocate((bytes + 8 + 15) / 16 * 16, std::max<size_t>(alignment, 16));
  }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::monotonic_buffer_resource blocks_;
};

using TupleMap = std::pmr::unordered_map<Tuple, uint64_t, TupleHash>;

// Not inlined, with the tuple in memory: so the yardstick's compiled loop calls the map.
[[gnu::noinline, gnu::flatten]] uint64_t& BytesOf(TupleMap* map, const Tuple& tuple) {
  return (*map)[tuple];
}

// IPv4 without options only; for other traffic it reads the same offsets.
class YardstickContender : public Contender {
 public:
  explicit YardstickContender(uint32_t flows) { bytes_.reserve(flows); }
  bool times_frames() const override { return false; }
  void OnBatch(const Frame* frames, Nanos) override {
    for (int i = 0; i < kBatch; i++) {
      const uint8_t* frame = frames[i].data;
      Tuple tuple{0, 0};
      std::memcpy(&tuple.addresses, frame + 26, 8);
      std::memcpy(&tuple.rest, frame + 34, 4);
      // The half word must be in memory before the whole word is read: that is the stall.
      __asm__ volatile("" : "+m"(tuple));
      tuple.rest |= static_cast<uint64_t>(frame[23]) << 32;
      BytesOf(&bytes_, tuple) += frame[17];
    }
  }

 private:
  RisingMemory memory_;
  TupleMap bytes_{&memory_};
};

class MapContender : public Contender {
 public:
  explicit MapContender(uint32_t flows) { bytes_.reserve(flows); }
  bool times_frames() const override { return false; }
  void OnBatch(const Frame* frames, Nanos) override {
    for (int i = 0; i < kBatch; i++) {
      const uint8_t* frame = frames[i].data;
      uint64_t addresses;
      uint32_t ports;
      std::memcpy(&addresses, frame + 26, 8);
      std::memcpy(&ports, frame + 34, 4);
      bytes_[{addresses, ports | static_cast<uint64_t>(frame[23]) << 32}] += frame[17];
    }
  }

 private:
  RisingMemory memory_;
  TupleMap bytes_{&memory_};
};

class TrafficContender : public Contender {
 public:
  void OnBatch(const Frame* frames, Nanos) override { last_ = frames; }

 private:
  const Frame* volatile last_ = nullptr;
};

}  // namespace

std::unique_ptr<Contender> MakeMonitorContender(const std::vector<EventSpec>& events,
                                                uint32_t flows, uint32_t matches_per_packet) {
  HostVerdicts::Plans plans;
  for (const EventSpec& event : events) {
    plans.push_back(std::make_shared<const TriggerPlan>(MakeTriggerPlan(event)));
  }
  MonitorOptions options;
  options.max_flows = std::max(1u << 17, 2 * flows);
  options.stat_megabytes = std::max(64u, options.max_flows >> 11);
  auto monitor = PacketMonitor::Create(options);
  if (!monitor.ok()) {
    std::fprintf(stderr, "bench-monitor: %s\n", monitor.message().c_str());
    return nullptr;
  }
  const Status status = (*monitor)->Publish(TriggerProgram::Make(plans, 1, INT64_MIN));
  if (!status.ok()) {
    std::fprintf(stderr, "bench-monitor: %s\n", status.message().c_str());
    return nullptr;
  }
  return std::make_unique<MonitorContender>(std::move(*monitor), matches_per_packet);
}

std::unique_ptr<Contender> MakeParseContender() { return std::make_unique<ParseContender>(); }
std::unique_ptr<Contender> MakeYardstickContender(uint32_t flows) {
  return std::make_unique<YardstickContender>(flows);
}
std::unique_ptr<Contender> MakeMapContender(uint32_t flows) {
  return std::make_unique<MapContender>(flows);
}
std::unique_ptr<Contender> MakeTrafficContender() { return std::make_unique<TrafficContender>(); }

}  // namespace trumpet::bench
