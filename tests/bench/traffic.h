// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Traffic: an endless stream of frames in a ring of 2,048 buffers, the same for the same spec.
//
// Flow k goes to 10.0.4.0 + perm[k mod 65536] from 10.0.5.4 + k / 65536.  Frames carry a sequence
// number, 1 in a flow's first packet.  Under attack a packet is with the given probability the
// only one of a flow from 128.0.0.0 on to 120.0.4.0 on, which no trigger wants.
//
// Threads: one.  Cost: a few nanoseconds per frame, see the contender "traffic".

#ifndef TRUMPET_TESTS_BENCH_TRAFFIC_H
#define TRUMPET_TESTS_BENCH_TRAFFIC_H

#include <cstdint>
#include <vector>

#include "lib/packet/parse.h"
#include "tests/bench/frames.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {

enum class Order {
  kSequential,  // round robin
  kRandom,      // uniform
  kBurst16,     // 16 packets in a row of each flow
  kZipf,        // rank r with probability about 1 / r
};

struct TrafficSpec {
  uint32_t flows = 300;
  Order order = Order::kSequential;
  Encapsulation encapsulation = Encapsulation::kIpv4;
  uint32_t new_flows_per_second = 0;  // each replaces the oldest; at 14.88 million packets a second
  double attack_share = 0;            // of the packets
};

class Traffic {
 public:
  explicit Traffic(const TrafficSpec& spec);

  // Writes, all of them anew, and returns the next kBatch frames; valid until 2,048 more were made.
  const Frame* Next();

  // Of a frame of Next(): the last 32 bits of its destination.
  uint32_t DestinationOf(const Frame& frame) const;

 private:
  // Addresses as they lie in the frame.
  struct ActiveFlow {
    uint32_t src = 0;
    uint32_t dst = 0;
    uint32_t sequence = 0;
  };

  void MakeBuffers();
  void MakeZipf();
  ActiveFlow FlowNumber(uint32_t number) const;
  ActiveFlow& NextFlow();
  ActiveFlow NextAttackFlow();
  void Churn();
  void WriteFlow(uint8_t* frame, const ActiveFlow& flow) const;
  uint64_t Random();

  const TrafficSpec spec_;
  const FrameShape shape_;
  alignas(64) uint8_t template_[kMaxFrameBytes];
  std::vector<uint8_t> buffers_;
  std::vector<Frame> frames_;
  std::vector<uint32_t> permutation_;
  std::vector<ActiveFlow> active_;
  std::vector<uint32_t> zipf_;     // precomputed choices among the active flows
  uint64_t attack_threshold_ = 0;  // of 2^32
  uint32_t attack_flows_ = 0;
  uint32_t next_buffer_ = 0;
  uint32_t next_active_ = 0;
  uint32_t next_zipf_ = 0;
  uint32_t next_new_flow_ = 0;
  uint32_t churn_slot_ = 0;
  uint32_t burst_left_ = 0;
  uint64_t packets_ = 0;
  uint64_t churn_every_ = 0;
  uint64_t random_state_ = 88172645463325252ull;
};

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_TRAFFIC_H
