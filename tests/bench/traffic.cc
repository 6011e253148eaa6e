// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/traffic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace trumpet::bench {
namespace {

constexpr uint32_t kZipfDraws = 1u << 20;
constexpr uint32_t kBurstPackets = 16;

}  // namespace

Traffic::Traffic(const TrafficSpec& spec)
    : spec_(spec), shape_(ShapeOf(spec.encapsulation)), permutation_(kDestinations) {
  std::iota(permutation_.begin(), permutation_.end(), 0);
  for (uint32_t i = kDestinations - 1; i > 0; i--) {
    std::swap(permutation_[i], permutation_[Random() % (i + 1)]);
  }
  MakeBuffers();
  for (uint32_t i = 0; i < spec.flows; i++) active_.push_back(FlowNumber(i));
  next_new_flow_ = spec.flows;
  next_active_ = spec.flows - 1;  // the first packet is of flow 0
  if (spec.new_flows_per_second != 0) churn_every_ = kPacketsPerSecond / spec.new_flows_per_second;
  attack_threshold_ = static_cast<uint64_t>(spec.attack_share * 4294967296.0);
  if (spec.order == Order::kZipf) MakeZipf();
}

void Traffic::MakeBuffers() {
  const uint32_t stride = shape_.stride;
  buffers_.resize(kBuffers * stride + kMaxFrameBytes);
  auto* base =
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(buffers_.data()) + 63) / 64 * 64);
  WriteTemplate(spec_.encapsulation, template_);
  for (uint32_t i = 0; i < kBuffers; i++) {
    frames_.push_back({base + i * stride, shape_.length, shape_.length});
  }
}

// The inverse of the distribution, by uniform draws.
void Traffic::MakeZipf() {
  for (uint32_t i = 0; i < kZipfDraws; i++) {
    const double uniform = static_cast<double>(Random() >> 11) / 9007199254740992.0;
    const double rank = std::exp(uniform * std::log(static_cast<double>(spec_.flows)));
    zipf_.push_back(std::min(spec_.flows - 1, static_cast<uint32_t>(rank) - 1));
  }
}

uint64_t Traffic::Random() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}

Traffic::ActiveFlow Traffic::FlowNumber(uint32_t number) const {
  return {__builtin_bswap32(kSrcBase + number / kDestinations),
          __builtin_bswap32(kDstBase + permutation_[number % kDestinations]), 0};
}

Traffic::ActiveFlow Traffic::NextAttackFlow() {
  const uint32_t number = attack_flows_++;
  return {__builtin_bswap32(kAttackSrcBase + number / kDestinations),
          __builtin_bswap32(kAttackDstBase + number % kDestinations), 1};
}

inline Traffic::ActiveFlow& Traffic::NextFlow() {
  switch (spec_.order) {
    case Order::kRandom:
      return active_[Random() % spec_.flows];
    case Order::kZipf:
      next_zipf_ = (next_zipf_ + 1) & (kZipfDraws - 1);
      return active_[zipf_[next_zipf_]];
    case Order::kBurst16:
      if (burst_left_ != 0) {
        burst_left_--;
        return active_[next_active_];
      }
      burst_left_ = kBurstPackets - 1;
      break;
    case Order::kSequential:
      break;
  }
  if (++next_active_ >= spec_.flows) next_active_ = 0;
  return active_[next_active_];
}

void Traffic::Churn() {
  if (churn_every_ == 0 || packets_ % churn_every_ >= kBatch) return;
  active_[churn_slot_] = FlowNumber(next_new_flow_++);
  churn_slot_ = (churn_slot_ + 1) % spec_.flows;
}

inline void Traffic::WriteFlow(uint8_t* frame, const ActiveFlow& flow) const {
  std::memcpy(frame, template_, 64);
  if (shape_.length > 64) std::memcpy(frame + 64, template_ + 64, kMaxFrameBytes - 64);
  std::memcpy(frame + shape_.src_at, &flow.src, 4);
  std::memcpy(frame + shape_.dst_at, &flow.dst, 4);
  if (shape_.sequence_at == 0) return;
  const uint32_t sequence = __builtin_bswap32(flow.sequence);
  std::memcpy(frame + shape_.sequence_at, &sequence, 4);
}

const Frame* Traffic::Next() {
  const Frame* batch = &frames_[next_buffer_];
  for (int i = 0; i < kBatch; i++) {
    auto* frame = const_cast<uint8_t*>(batch[i].data);
    if (attack_threshold_ != 0 && (Random() >> 32) < attack_threshold_) {
      WriteFlow(frame, NextAttackFlow());
      continue;
    }
    ActiveFlow& flow = NextFlow();
    flow.sequence++;
    WriteFlow(frame, flow);
  }
  next_buffer_ = (next_buffer_ + kBatch) % kBuffers;
  packets_ += kBatch;
  Churn();
  return batch;
}

uint32_t Traffic::DestinationOf(const Frame& frame) const {
  uint32_t dst;
  std::memcpy(&dst, frame.data + shape_.dst_at, 4);
  return __builtin_bswap32(dst);
}

}  // namespace trumpet::bench
