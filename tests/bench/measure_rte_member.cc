// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The sketch of DPDK's membership library: NitroSketch with a heap of the largest flows.

#include <pthread.h>
#include <rte_eal.h>
#include <rte_member.h>
#include <rte_memory.h>

#include <cstring>
#include <iterator>
#include <string>

#include "tests/bench/measure_contenders.h"

namespace trumpet {
namespace {

constexpr uint32_t kTopFlows = 100;
constexpr float kErrorRate = 0.01F;

// The environment layer binds its caller to a processor; the bench stays where it was.
bool StartDpdk() {
  static const bool has_started = [] {
    cpu_set_t processors;
    pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
    const char* const words[] = {"bench-measure", "--no-huge",     "--no-pci", "--no-shconf",
                                 "--legacy-mem",  "--log-level=3", "-m",       "128"};
    char storage[std::size(words)][16];
    char* arguments[std::size(words) + 1] = {};  // ends with null
    for (size_t i = 0; i < std::size(words); ++i) {
      arguments[i] = std::strcpy(storage[i], words[i]);
    }
    const bool is_up = rte_eal_init(static_cast<int>(std::size(words)), arguments) >= 0;
    pthread_setaffinity_np(pthread_self(), sizeof processors, &processors);
    return is_up;
  }();
  return has_started;
}

class RteMemberSketch : public MeasureContender {
 public:
  explicit RteMemberSketch(rte_member_setsum* sketch) : sketch_(sketch) {}
  ~RteMemberSketch() override { rte_member_free(sketch_); }

  void Run(MeasuredPacket* packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t* value = packets[i].values->value;
      const uint64_t flow[2] = {value[kIpv4Src] | value[kIpv4Dst] << 32,
                                value[kTcpSrc] | value[kTcpDst] << 16 | value[kIpv4Proto] << 32};
      const auto bytes = static_cast<uint32_t>(value[kPktSize]);
      failures_ += rte_member_add_byte_count(sketch_, flow, bytes) < 0 ? 1 : 0;
    }
  }
  uint64_t Sum() const override { return failures_; }

 private:
  rte_member_setsum* sketch_;
  uint64_t failures_ = 0;
};

}  // namespace

std::unique_ptr<MeasureContender> MakeRteMember(float sample_rate) {
  static int count = 0;
  if (!StartDpdk()) return nullptr;
  const std::string name = "sketch-" + std::to_string(count++);
  rte_member_parameters parameters = {};
  parameters.name = name.c_str();
  parameters.type = RTE_MEMBER_TYPE_SKETCH;
  parameters.key_len = 2 * sizeof(uint64_t);
  parameters.prim_hash_seed = 1;
  parameters.sec_hash_seed = 11;
  parameters.error_rate = kErrorRate;
  parameters.sample_rate = sample_rate;
  parameters.top_k = kTopFlows;
  parameters.extra_flag = RTE_MEMBER_SKETCH_COUNT_BYTE;
  parameters.socket_id = SOCKET_ID_ANY;
  rte_member_setsum* sketch = rte_member_create(&parameters);
  return sketch == nullptr ? nullptr : std::make_unique<RteMemberSketch>(sketch);
}

}  // namespace trumpet
