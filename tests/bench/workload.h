// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Workload: the traffic and the triggers of the Trumpet paper's experiments, as frames in memory.
//
// 60-byte UDP frames; flow k goes to 10.0.4.0 + perm[k mod 65536] from 10.0.5.4 + k / 65536; epochs
// are counted in packets: 148,800 of them are 10 ms at 14.88 million packets per second, so the
// work per epoch does not depend on the machine.  The constants are the authors' (their release:
// receiver and sender).

#ifndef TRUMPET_TESTS_BENCH_WORKLOAD_H
#define TRUMPET_TESTS_BENCH_WORKLOAD_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/model/event_spec.h"
#include "lib/packet/parse.h"

namespace trumpet::bench {

constexpr uint32_t kEpochPackets = 148800;
constexpr Nanos kEpochNs = 10 * kNanosPerMilli;
constexpr int kBatch = 32;
constexpr uint32_t kFrameBytes = 60;
constexpr uint32_t kBuffers = 2048;

enum class Order { kSequential, kRandom, kZipf };
enum class Encapsulation { kIpv4, kIpv6, kVxlan };

struct TrafficSpec {
  uint32_t flows = 300;
  Order order = Order::kSequential;
  Encapsulation encapsulation = Encapsulation::kIpv4;
  uint32_t new_flows_per_second = 0;  // at 14.88 million packets per second
};

// Writes frames into a ring of buffers, batch by batch.
class Traffic {
 public:
  explicit Traffic(const TrafficSpec& spec);

  // Fills and returns the next kBatch frames; valid until 2,048 more were made.
  const Frame* Next();

 private:
  uint32_t NextFlow();
  void Churn();
  void WriteFlow(uint8_t* frame, uint32_t flow);
  uint64_t Random();

  const TrafficSpec spec_;
  std::vector<uint8_t> buffers_;
  std::vector<Frame> frames_;
  std::vector<uint32_t> permutation_;
  std::vector<uint32_t> active_;  // flow numbers
  std::vector<uint32_t> zipf_;    // precomputed choices among the active flows
  uint32_t frame_stride_ = 64;
  uint32_t next_buffer_ = 0;
  uint32_t next_active_ = 0;
  uint32_t next_zipf_ = 0;
  uint32_t next_new_flow_ = 0;
  uint32_t churn_slot_ = 0;
  uint64_t packets_ = 0;
  uint64_t churn_every_ = 0;
  uint64_t random_state_ = 88172645463325252ull;
};

struct TriggerSpec {
  uint32_t triggers = 4096;
  uint32_t per_packet = 8;  // how many of them each packet matches
  uint32_t patterns = 32;   // distinct masks
  Encapsulation encapsulation = Encapsulation::kIpv4;
};

// Counts, volumes and losses by turns over address groups that tile the destinations; each group's
// triggers differ in their port mask, so that a look-up must search all patterns.  Thresholds are
// never reached.
std::vector<EventSpec> MakeEvents(const TriggerSpec& spec);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_WORKLOAD_H
