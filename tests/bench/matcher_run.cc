// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/matcher_run.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "lib/tpm/trigger_index.h"
#include "tests/bench/lane.h"
#include "tests/bench/tuple_keys.h"

namespace trumpet::bench {
namespace {

constexpr uint32_t kFlowsPerRound = 20000;
constexpr uint32_t kWarmRounds = 5;
constexpr uint32_t kRounds = 45;  // of the usual number of repeats
constexpr uint32_t kSources = 1024;

using Matcher = TupleMatcher<Ipv4Words::kCount>;

// The flows of one round, as each side reads them.
class Flows {
 public:
  Flows(uint32_t seed, uint32_t dst_base) {
    packet.innermost.ip_family = 4;
    packet.innermost.protocol = kProtocolUdp;
    packet.innermost.present = FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort);
    packet.innermost.src_port = kSrcPort;
    packet.innermost.dst_port = kDstPort;
    const uint32_t ports = static_cast<uint32_t>(kSrcPort) << 16 | kDstPort;
    std::mt19937 random(seed);
    for (uint32_t i = 0; i < kFlowsPerRound; i++) {
      const uint32_t src = kSrcBase + random() % kSources;
      const uint32_t dst = dst_base + random() % kDestinations;
      const uint64_t addresses = InFrameOrder(src, dst);
      std::memcpy(packet.innermost.src_ip.data(), &addresses, 4);
      std::memcpy(packet.innermost.dst_ip.data(), reinterpret_cast<const char*>(&addresses) + 4, 4);
      ours.push_back(FlowKeyOf(packet, 0));
      plain.push_back({addresses, InFrameOrder(ports, kProtocolUdp)});
    }
  }
  ParsedPacket packet;  // the addresses come with the keys
  std::vector<FlowKey> ours;
  std::vector<Matcher::Key> plain;
};

// What a round found: how many, and a sum that tells other triggers apart.
struct Found {
  void Add(uint32_t flow, uint32_t trigger) {
    count++;
    sum += (flow + uint64_t{1}) * (trigger + uint64_t{1});
  }
  bool operator==(const Found& other) const { return count == other.count && sum == other.sum; }
  uint64_t count = 0;
  uint64_t sum = 0;
};

class Contest {
 public:
  explicit Contest(const TriggersSpec& spec)
      : events_(MakeEvents(spec, 1)),
        index_(TriggerIndex::For(FiltersOf(events_))),
        plain_(RulesOf<Ipv4Words>(spec)),
        marks_(index_.mark_word_count()),
        matches_(index_.trigger_count()) {}

  Found Ours(const Flows& flows) {
    Found found;
    for (uint32_t i = 0; i < kFlowsPerRound; i++) {
      const size_t count =
          index_.Match(flows.packet, flows.ours[i], marks_.data(), matches_.data());
      for (size_t m = 0; m < count; m++) found.Add(i, matches_[m]);
    }
    return found;
  }
  Found Plain(const Flows& flows, int batch) const {
    Found found;
    for (uint32_t i = 0; i < kFlowsPerRound; i += static_cast<uint32_t>(batch)) {
      plain_.Match(&flows.plain[i], batch, [&](int k, const uint32_t* triggers, uint32_t count) {
        for (uint32_t m = 0; m < count; m++) found.Add(i + static_cast<uint32_t>(k), triggers[m]);
      });
    }
    return found;
  }

 private:
  static std::vector<const FilterExpr*> FiltersOf(const std::vector<EventSpec>& events) {
    std::vector<const FilterExpr*> filters;
    for (const EventSpec& event : events) filters.push_back(&event.filter);
    return filters;
  }

  const std::vector<EventSpec> events_;
  const TriggerIndex index_;
  const Matcher plain_;
  std::vector<uint64_t> marks_;
  std::vector<uint32_t> matches_;
};
static_assert(kFlowsPerRound % kBatch == 0);

template <typename Match>
Found Timed(std::vector<double>* samples, Match match) {
  const double before = ThreadSeconds();
  const Found found = match();
  samples->push_back((ThreadSeconds() - before) * 1e9 / kFlowsPerRound);
  return found;
}

Json TimesOf(const std::vector<double>& samples) {
  const Spread spread = SpreadOf({samples.begin() + kWarmRounds, samples.end()});
  const auto rounded = [](double ns) {
    return static_cast<double>(static_cast<int>(ns * 10)) / 10;
  };
  return {{"ns_min", rounded(spread.min)}, {"ns_median", rounded(spread.median)}};
}

Json RunOne(const BenchCase& bench_case, uint32_t patterns, uint32_t hits) {
  BenchCase one = bench_case;
  one.triggers.patterns = patterns;
  one.triggers.per_packet = hits == 0 ? 8 : hits;
  Contest contest(one.triggers);
  std::vector<double> ours, plain, batched;
  std::string problem;
  const uint32_t rounds = kWarmRounds + std::max(1u, kRounds * bench_case.repeats / 7);
  for (uint32_t round = 0; round < rounds; round++) {
    const Flows flows(round + 1, hits == 0 ? kAttackDstBase : kDstBase);
    const Found a = Timed(&ours, [&] { return contest.Ours(flows); });
    const Found b = Timed(&plain, [&] { return contest.Plain(flows, 1); });
    const Found c = Timed(&batched, [&] { return contest.Plain(flows, kBatch); });
    if (!(a == b) || !(a == c) || a.count != uint64_t{hits} * kFlowsPerRound) {
      problem = "round " + std::to_string(round) + " found " + std::to_string(a.count) + ", " +
                std::to_string(b.count) + " and " + std::to_string(c.count) + " triggers";
    }
  }
  Json row = FieldsOf(one);
  row["run"] = "matcher";
  row["case"] = "matcher, " + std::to_string(patterns) + " masks, " + std::to_string(hits) +
                " hits: CPU nanoseconds per look-up";
  row["hits"] = hits;
  row["results"] = {
      {"ours", TimesOf(ours)}, {"plain", TimesOf(plain)}, {"plain by 32", TimesOf(batched)}};
  row["counts_right"] = problem.empty();
  if (!problem.empty()) row["problem"] = problem;
  return row;
}

}  // namespace

std::vector<Json> RunMatcher(const BenchCase& bench_case) {
  std::vector<Json> rows;
  for (const uint32_t hits : {8u, 1u, 0u}) {
    for (const uint32_t patterns : {1u, 4u, 8u, 16u, 32u, 64u}) {
      rows.push_back(RunOne(bench_case, patterns, hits));
    }
  }
  return rows;
}

}  // namespace trumpet::bench
