// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The keys of TupleMatcher for the triggers of the workload, read from a frame and made from a
// rule.
//
// Numbers lie in them as in a frame.

#ifndef TRUMPET_TESTS_BENCH_TUPLE_KEYS_H
#define TRUMPET_TESTS_BENCH_TUPLE_KEYS_H

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/bench/frames.h"
#include "tests/bench/triggers.h"
#include "tests/bench/tuple_matcher.h"

namespace trumpet::bench {

constexpr uint32_t kAnyProtocol = 0;
constexpr uint32_t kAll = 0xffffffff;

inline uint64_t InFrameOrder(uint32_t low, uint32_t high) {
  return __builtin_bswap32(low) | static_cast<uint64_t>(__builtin_bswap32(high)) << 32;
}

struct Ipv4Words {
  static constexpr int kCount = 2;
  using Key = TupleMatcher<kCount>::Key;

  static Key Read(const uint8_t* frame, const FrameShape& shape) {
    Key key;
    uint32_t ports;
    std::memcpy(&key[0], frame + shape.src_at, 8);
    std::memcpy(&ports, frame + shape.ports_at, 4);
    key[1] = ports | static_cast<uint64_t>(frame[shape.protocol_at]) << 32;
    return key;
  }
  static Key ValueOf(const PlainTrigger& trigger) {
    return {InFrameOrder(trigger.src, trigger.dst), InFrameOrder(trigger.ports, kAnyProtocol)};
  }
  static Key MaskOf(const PlainTrigger& trigger, uint32_t dst_mask) {
    return {InFrameOrder(trigger.src_mask, dst_mask),
            InFrameOrder(trigger.port_mask, kAnyProtocol)};
  }
};

struct Ipv6Words {
  static constexpr int kCount = 5;
  using Key = TupleMatcher<kCount>::Key;

  static Key Read(const uint8_t* frame, const FrameShape& shape) {
    Key key;
    uint32_t ports;
    std::memcpy(&key[0], frame + shape.src_at - 12, 32);
    std::memcpy(&ports, frame + shape.ports_at, 4);
    key[4] = ports | static_cast<uint64_t>(frame[shape.protocol_at]) << 32;
    return key;
  }
  static Key ValueOf(const PlainTrigger& trigger) {
    const uint32_t src_prefix = trigger.src_mask == 0 ? 0 : kIpv6Prefix;
    return {InFrameOrder(src_prefix, 0), InFrameOrder(0, trigger.src), InFrameOrder(kIpv6Prefix, 0),
            InFrameOrder(0, trigger.dst), InFrameOrder(trigger.ports, kAnyProtocol)};
  }
  // Before the bits that count, all of an address does, or nothing.
  static Key MaskOf(const PlainTrigger& trigger, uint32_t dst_mask) {
    const uint32_t src_rest = trigger.src_mask == 0 ? 0 : kAll;
    return {InFrameOrder(src_rest, src_rest), InFrameOrder(src_rest, trigger.src_mask),
            InFrameOrder(kAll, kAll), InFrameOrder(kAll, dst_mask),
            InFrameOrder(trigger.port_mask, kAnyProtocol)};
  }
};

// Trigger i is rule i.
template <typename Words>
std::vector<typename TupleMatcher<Words::kCount>::Rule> RulesOf(const TriggersSpec& spec) {
  std::vector<typename TupleMatcher<Words::kCount>::Rule> rules;
  const uint32_t dst_mask = ~(spec.group_size() - 1);
  for (uint32_t q = 0; q < spec.triggers; q++) {
    const PlainTrigger trigger = TriggerNumber(spec, q);
    rules.push_back({Words::MaskOf(trigger, dst_mask), Words::ValueOf(trigger)});
  }
  return rules;
}

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_TUPLE_KEYS_H
