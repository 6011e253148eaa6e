// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Cost of matching a new flow against 4,096 triggers under P masks, of which H match it, beside a
// plain tuple space search.  Triggers and flows are those of the Trumpet paper's experiments, see
// tests/bench/workload.h.  Arguments: P, H; H 0 asks for flows that no trigger wants, of triggers
// of which eight match each flow they are meant for.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <unordered_map>
#include <vector>

#include "lib/base/hash.h"
#include "lib/tpm/trigger_index.h"

namespace trumpet {
namespace {

constexpr uint32_t kTriggers = 4096;
constexpr uint32_t kDestinations = 65536;
constexpr uint32_t kDstBase = 0x0a000400;   // 10.0.4.0
constexpr uint32_t kMissBase = 0x78000400;  // 120.0.4.0
constexpr uint32_t kSrcBase = 0x0a000504;
constexpr uint16_t kSrcPort = 58513;
constexpr uint16_t kDstPort = 2500;
constexpr size_t kFlows = 20000;

FilterExpr PrefixTest(Field field, ValueKind kind, uint32_t value, uint32_t width, uint32_t bits) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, Level::kInnermost};
  const uint32_t rest = static_cast<uint32_t>((uint64_t{1} << (width - bits)) - 1);
  filter.test.ranges.push_back({kind, value & ~rest, value | rest});
  return filter;
}

// Pattern p masks the 32 bits of both ports with 0xffffffff << (p mod 32), and p / 32 bits of the
// source.
std::vector<FilterExpr> Filters(uint32_t patterns, uint32_t per_packet) {
  const uint32_t size = kDestinations / (kTriggers / per_packet);
  const auto dst_bits = static_cast<uint32_t>(33 - __builtin_ffs(static_cast<int>(size)));
  std::vector<FilterExpr> filters;
  for (uint32_t q = 0; q < kTriggers; q++) {
    const uint32_t pattern = q % patterns;
    const uint32_t port_bits = 32 - pattern % 32;
    const uint32_t dst = kDstBase + q / per_packet * size;
    FilterExpr filter;
    filter.op = FilterOp::kAnd;
    filter.args = {
        PrefixTest(Field::kDstIp, ValueKind::kIpv4, dst, 32, dst_bits),
        PrefixTest(Field::kSrcIp, ValueKind::kIpv4, kSrcBase, 32, pattern / 32),
        PrefixTest(Field::kSrcPort, ValueKind::kNumber, kSrcPort, 16, std::min(port_bits, 16u)),
        PrefixTest(Field::kDstPort, ValueKind::kNumber, kDstPort, 16,
                   port_bits > 16 ? port_bits - 16 : 0)};
    filters.push_back(filter);
  }
  return filters;
}

struct Flows {
  explicit Flows(uint32_t dst_base) {
    packet.innermost.ip_family = 4;
    packet.innermost.protocol = kProtocolUdp;
    packet.innermost.present = FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort);
    packet.innermost.src_port = kSrcPort;
    packet.innermost.dst_port = kDstPort;
    std::mt19937 random(1);
    for (size_t i = 0; i < kFlows; i++) {
      const uint32_t src = __builtin_bswap32(kSrcBase + random() % 1024);
      const uint32_t dst = __builtin_bswap32(dst_base + random() % kDestinations);
      std::memcpy(packet.innermost.src_ip.data(), &src, sizeof src);
      std::memcpy(packet.innermost.dst_ip.data(), &dst, sizeof dst);
      keys.push_back(FlowKeyOf(packet, 0));
    }
  }
  ParsedPacket packet;  // the addresses come with the keys
  std::vector<FlowKey> keys;
};

// One hash table per mask, all of them searched.  No term here needs its filter tested.
class PlainTupleSpace {
 public:
  explicit PlainTupleSpace(const std::vector<FilterExpr>& filters) {
    for (uint32_t trigger = 0; trigger < filters.size(); trigger++) {
      for (const MatchTerm& term : MakeMatchTerms(filters[trigger])) {
        TableOf(ShortKey(term.mask))[ShortKey(term.value)].push_back(trigger);
      }
    }
  }
  size_t Match(const FlowKey& flow, uint32_t* matches) const {
    const Short key = ShortKey(flow);
    size_t count = 0;
    for (const auto& [mask, table] : tables_) {
      const auto found = table.find({key.first & mask.first, key.second & mask.second});
      if (found == table.end()) continue;
      for (const uint32_t trigger : found->second) matches[count++] = trigger;
    }
    std::sort(matches, matches + count);
    return count;
  }

 private:
  using Short = std::pair<uint64_t, uint64_t>;
  struct Hash {
    size_t operator()(const Short& key) const {
      return MixBits(key.first * 0x9e3779b97f4a7c15u ^ key.second);
    }
  };
  using Table = std::unordered_map<Short, std::vector<uint32_t>, Hash>;

  static Short ShortKey(const FlowKey& key) {
    uint64_t words[5];
    std::memcpy(words, &key, sizeof words);
    return {words[0] | words[2] << 32, words[4] & 0xffffffff};
  }
  Table& TableOf(const Short& mask) {
    for (auto& [known, table] : tables_) {
      if (known == mask) return table;
    }
    tables_.push_back({mask, {}});
    return tables_.back().second;
  }
  std::vector<std::pair<Short, Table>> tables_;
};

struct Setting {
  explicit Setting(const benchmark::State& state)
      : hits(static_cast<uint32_t>(state.range(1))),
        filters(Filters(static_cast<uint32_t>(state.range(0)), hits == 0 ? 8 : hits)),
        flows(hits == 0 ? kMissBase : kDstBase) {}
  uint32_t hits;
  std::vector<FilterExpr> filters;
  Flows flows;
};

void BM_TriggerIndex(benchmark::State& state) {
  const Setting setting(state);
  std::vector<const FilterExpr*> pointers;
  for (const FilterExpr& filter : setting.filters) pointers.push_back(&filter);
  const TriggerIndex index = TriggerIndex::For(pointers);
  std::vector<uint64_t> marks(index.mark_word_count());
  std::vector<uint32_t> matches(index.trigger_count());
  size_t at = 0;
  for (auto _ : state) {
    const size_t count =
        index.Match(setting.flows.packet, setting.flows.keys[at], marks.data(), matches.data());
    if (count != setting.hits) state.SkipWithError("wrong number of matches");
    if (++at == kFlows) at = 0;
  }
}

void BM_PlainTupleSpace(benchmark::State& state) {
  const Setting setting(state);
  const PlainTupleSpace space(setting.filters);
  std::vector<uint32_t> matches(kTriggers);
  size_t at = 0;
  for (auto _ : state) {
    const size_t count = space.Match(setting.flows.keys[at], matches.data());
    if (count != setting.hits) state.SkipWithError("wrong number of matches");
    if (++at == kFlows) at = 0;
  }
}

void Arguments(benchmark::internal::Benchmark* bench) {
  for (const int64_t hits : {8, 1, 0}) {
    for (const int64_t patterns : {1, 4, 8, 16, 32, 64}) bench->Args({patterns, hits});
  }
}

BENCHMARK(BM_TriggerIndex)->Apply(Arguments);
BENCHMARK(BM_PlainTupleSpace)->Apply(Arguments);

}  // namespace
}  // namespace trumpet
