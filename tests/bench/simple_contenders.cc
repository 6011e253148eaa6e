// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/simple_contenders.h"

#include <cstdio>
#include <cstring>

#include "lib/base/hash.h"
#include "lib/tpm/flow_table.h"
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
      ParsePacket(frames[i], options_, &packet_);
      sum_ += packet_.volume + packet_.innermost.dst_ip[3];
    }
  }
  Json Facts() const override { return {{"check", sum_}}; }

 private:
  const ParseOptions options_{};
  ParsedPacket packet_;
  uint64_t sum_ = 0;
};

// In passes, as the monitor does it, each prefetching for the next.
class Lookup : public Contender {
 public:
  bool Init(uint32_t max_flows) { return flows_.Init(max_flows, 1 << 20); }

  void OnBatch(const Frame* frames, Nanos) override {
    for (int i = 0; i < kBatch; i++) {
      ParsePacket(frames[i], options_, &packet_);
      keys_[i] = EntryKeyOf(packet_, 0);
      hashes_[i] = HashOf(keys_[i]);
      flows_.Prefetch(hashes_[i]);
    }
    for (int i = 0; i < kBatch; i++) {
      guesses_[i] = flows_.Guess(hashes_[i]);
      if (guesses_[i] != kNoFlow) __builtin_prefetch(&flows_.At(guesses_[i]));
    }
    for (int i = 0; i < kBatch; i++) Touch(i);
  }
  void OnEpochEnd() override { epoch_++; }
  Json Facts() const override { return {{"flows", flows_.count()}, {"misses", misses_}}; }

 private:
  static constexpr uint16_t kGeneration = 1;

  // Two words tell IPv4 flows apart, as in the monitor.
  uint64_t HashOf(const FlowKey& key) const {
    uint64_t words[5];
    std::memcpy(words, &key, sizeof words);
    if ((key.ip_family & ~kHasPortsFlag) == 4) {
      return pair_hash_(words[0] | words[2] << 32, words[4]);
    }
    return HashBytes(words, sizeof words, 1);
  }

  void Touch(int i) {
    FlowIndex flow = guesses_[i];
    if (flow == kNoFlow || !flows_.IsFlow(flow, keys_[i], nullptr, 0, hashes_[i], kGeneration)) {
      flow = flows_.Find(keys_[i], nullptr, 0, hashes_[i], kGeneration);
      if (flow == kNoFlow) flow = flows_.Add(keys_[i], hashes_[i], kGeneration, 0, epoch_);
      misses_++;
    }
    if (flow != kNoFlow) flows_.At(flow).last_epoch = epoch_;
  }

  const ParseOptions options_{};
  const PairHash pair_hash_{1};
  FlowTable flows_;
  ParsedPacket packet_;
  FlowKey keys_[kBatch];
  uint64_t hashes_[kBatch] = {};
  FlowIndex guesses_[kBatch] = {};
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
