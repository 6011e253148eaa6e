// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/simple_contenders.h"

#include <cstdio>
#include <cstring>

#include "lib/packet/plain_frame.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/key_hash.h"
#include "lib/tpm/key_layout.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {
namespace {

class TrafficOnly : public Contender {
 public:
  void OnBatch(const Frame* frames, Nanos) override { last_ = frames; }

 private:
  const Frame* volatile last_ = nullptr;
};

class Parse : public Contender {
 public:
  void OnBatch(const Frame* frames, Nanos) override {
    for (int i = 0; i < kBatch; i++) {
      PlainFrame plain;
      if (reader_.ReadIpv4(frames[i], &plain)) {
        sum_ += plain.volume_and_ecn + (plain.dst_ip() >> 24) + plain.src_ip() + plain.ports;
      } else {
        ParsePacket(frames[i], options_, &packet_);
        sum_ += packet_.volume + packet_.innermost.dst_ip[3];
      }
    }
  }
  Json Facts() const override { return {{"check", sum_}}; }

 private:
  const ParseOptions options_{};
  const PlainReader reader_{options_};
  ParsedPacket packet_;
  uint64_t sum_ = 0;
};

// In passes, as the monitor does it, each prefetching for the next.
class Lookup : public Contender {
 public:
  bool Init(uint32_t max_flows) {
    flows_.RunGeneration(kGeneration);
    return flows_.Init(max_flows, 1 << 20);
  }

  void OnBatch(const Frame* frames, Nanos) override {
    const FlowTable::Index index = flows_.index();
    const FlowTable::Lines lines = flows_.lines();
    for (int i = 0; i < kBatch; i++) {
      Prepare(frames[i], &slots_[i]);
      index.Prefetch(slots_[i].hash);
    }
    for (Slot& slot : slots_) {
      slot.guess = index.Guess(slot.hash);
      __builtin_prefetch(&lines.At(slot.guess));
    }
    for (const Slot& slot : slots_) Touch(slot);
  }
  void OnEpochEnd() override { epoch_++; }
  Json Facts() const override { return {{"flows_in_table", flows_.count()}, {"misses", misses_}}; }

 private:
  static constexpr uint16_t kGeneration = 1;

  struct Slot {
    FlowKey key;
    uint64_t hash = 0;
    FlowIndex guess = 0;
  };

  void Prepare(const Frame& frame, Slot* slot) {
    PlainFrame plain;
    if (reader_.ReadIpv4(frame, &plain) && !plain.is_tcp) {
      const uint64_t end = uint64_t{kUdpEnd} << 32 | plain.ports;
      auto* key = reinterpret_cast<uint8_t*>(&slot->key);
      std::memset(key, 0, 32);
      const uint32_t src_ip = plain.src_ip();
      const uint32_t dst_ip = plain.dst_ip();
      std::memcpy(key, &src_ip, 4);
      std::memcpy(key + 16, &dst_ip, 4);
      std::memcpy(key + 32, &end, 8);
      slot->hash = ipv4_hash_(src_ip, dst_ip, plain.ports, udp_factor_);
    } else {
      ParsePacket(frame, options_, &packet_);
      slot->key = EntryKeyOf(packet_, 0);
      slot->hash = key_hash_(slot->key);
    }
  }

  void Touch(const Slot& slot) {
    FlowIndex flow = slot.guess;
    if (!flows_.IsFlow(flow, slot.key, nullptr, 0, slot.hash, kGeneration)) {
      flow = flows_.Find(slot.key, nullptr, 0, slot.hash, kGeneration);
      if (flow == kNoFlow) flow = flows_.Add(slot.key, slot.hash, kGeneration, 0, epoch_);
      misses_++;
    }
    if (flow != kNoFlow) flows_.At(flow).last_epoch = epoch_;
  }

  // The last four bytes of the key of a UDP packet, as EntryKeyOf() writes them.
  static constexpr uint32_t kUdpEnd = kProtocolUdp | (4u | kHasPortsFlag) << 8;

  const ParseOptions options_{};
  const PlainReader reader_{options_};
  const KeyHash key_hash_{1};
  const KeyHash::OfIpv4 ipv4_hash_{key_hash_};
  const uint64_t udp_factor_ = ipv4_hash_.PortFactor(kUdpEnd);
  FlowTable flows_;
  ParsedPacket packet_;
  Slot slots_[kBatch];
  uint32_t epoch_ = FlowTable::kFirstEpoch;
  uint64_t misses_ = 0;
};

}  // namespace

std::unique_ptr<Contender> MakeTrafficOnly() { return std::make_unique<TrafficOnly>(); }
std::unique_ptr<Contender> MakeParse() { return std::make_unique<Parse>(); }

std::unique_ptr<Contender> MakeLookup(uint32_t max_flows) {
  auto lookup = std::make_unique<Lookup>();
  if (lookup->Init(max_flows)) return lookup;
  std::fprintf(stderr, "bench-monitor: no memory for a flow table of %u flows\n", max_flows);
  return nullptr;
}

}  // namespace trumpet::bench
