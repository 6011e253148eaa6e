// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace trumpet::bench {
namespace {

constexpr uint32_t kDstBase = 0x0a000400;  // 10.0.4.0
constexpr uint32_t kSrcBase = 0x0a000504;  // 10.0.5.4
constexpr uint16_t kSrcPort = 58513;
constexpr uint16_t kDstPort = 2500;
constexpr uint32_t kDestinations = 65536;
constexpr uint64_t kPacketsPerSecond = 14880000;

void Put16(uint8_t* at, uint32_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}
void Put32(uint8_t* at, uint32_t value) {
  Put16(at, value >> 16);
  Put16(at + 2, value & 0xffff);
}

// Ethernet, IPv4, UDP in 46 bytes of payload, as the authors' sender makes them.
void WriteIpv4(uint8_t* frame) {
  static constexpr uint8_t kHead[] = {0x68, 0x05, 0xca, 0x1e, 0xa5, 0xe4, 0x68, 0x05,
                                      0xca, 0x2a, 0x95, 0x62, 0x08, 0x00, 0x45, 0x00,
                                      0x00, 46,   0x8d, 0x4a, 0x40, 0x00, 64,   17};
  std::memcpy(frame, kHead, sizeof kHead);
  Put16(frame + 34, kSrcPort);
  Put16(frame + 36, kDstPort);
  Put16(frame + 38, 26);
}

constexpr uint32_t kIpv6FrameBytes = 62;  // the least that holds a UDP header

void WriteIpv6(uint8_t* frame) {
  WriteIpv4(frame);
  std::memset(frame + 12, 0, 42);
  Put16(frame + 12, 0x86dd);
  frame[14] = 0x60;
  Put16(frame + 18, 8);
  frame[20] = 17;
  frame[21] = 64;
  Put32(frame + 22, 0x20010db8);
  Put32(frame + 38, 0x20010db8);
  Put16(frame + 54, kSrcPort);
  Put16(frame + 56, kDstPort);
  Put16(frame + 58, 8);
}

constexpr uint32_t kVxlanHead = 50;

void WriteVxlan(uint8_t* frame) {
  WriteIpv4(frame);
  Put16(frame + 16, 36 + kFrameBytes);
  Put32(frame + 26, 0xc0a80001);
  Put32(frame + 30, 0xc0a80002);
  Put16(frame + 36, 4789);
  Put16(frame + 38, 16 + kFrameBytes);
  std::memset(frame + 42, 0, 8);
  frame[42] = 0x08;
  frame[48] = 7;
  WriteIpv4(frame + kVxlanHead);
}

FilterExpr RangeTest(Field field, ValueKind kind, Uint128 low, Uint128 high) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, Level::kInnermost};
  filter.test.ranges.push_back({kind, low, high});
  return filter;
}

// The first `bits` of a 16-bit port.
FilterExpr PortPrefix(Field field, uint16_t port, uint32_t bits) {
  const uint32_t low = bits == 0 ? 0 : port & (0xffffu << (16 - bits));
  return RangeTest(field, ValueKind::kNumber, low, low | (0xffffu >> bits));
}

// Pattern p masks the 32 bits of both ports with 0xffffffff << p.
FilterExpr GroupFilter(uint32_t group, uint32_t groups, uint32_t pattern,
                       Encapsulation encapsulation) {
  const uint32_t size = kDestinations / groups;
  const uint32_t first = kDstBase + group * size;
  const bool is_ipv6 = encapsulation == Encapsulation::kIpv6;
  const Uint128 base = is_ipv6 ? static_cast<Uint128>(0x20010db8) << 96 : 0;
  FilterExpr filter;
  filter.op = FilterOp::kAnd;
  filter.args.push_back(RangeTest(Field::kDstIp, is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4,
                                  base | first, base | (first + size - 1)));
  const uint32_t bits = 32 - pattern % 32;
  filter.args.push_back(PortPrefix(Field::kSrcPort, kSrcPort, std::min(bits, 16u)));
  filter.args.push_back(PortPrefix(Field::kDstPort, kDstPort, bits > 16 ? bits - 16 : 0));
  return filter;
}

Expr SumReaches(Variable variable, int64_t threshold) {
  Expr operand;
  operand.op = ExprOp::kVariable;
  operand.variable = variable;
  Expr sum;
  sum.op = ExprOp::kAggregate;
  sum.args.push_back(operand);
  Expr number;
  number.number = Number::Integer(threshold);
  Expr predicate;
  predicate.op = ExprOp::kGreaterEqual;
  predicate.args = {sum, number};
  return predicate;
}

}  // namespace

Traffic::Traffic(const TrafficSpec& spec) : spec_(spec), permutation_(kDestinations) {
  std::iota(permutation_.begin(), permutation_.end(), 0);
  for (uint32_t i = kDestinations - 1; i > 0; i--) {
    std::swap(permutation_[i], permutation_[Random() % (i + 1)]);
  }
  if (spec.encapsulation == Encapsulation::kVxlan) frame_stride_ = 128;
  uint32_t length = kFrameBytes;
  if (spec.encapsulation == Encapsulation::kVxlan) length += kVxlanHead;
  if (spec.encapsulation == Encapsulation::kIpv6) length = kIpv6FrameBytes;
  buffers_.resize(kBuffers * frame_stride_ + 64);
  frames_.resize(kBuffers);
  auto* base =
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(buffers_.data()) + 63) / 64 * 64);
  for (uint32_t i = 0; i < kBuffers; i++) {
    uint8_t* frame = base + i * frame_stride_;
    frames_[i] = {frame, length, length};
    if (spec.encapsulation == Encapsulation::kIpv4) WriteIpv4(frame);
    if (spec.encapsulation == Encapsulation::kIpv6) WriteIpv6(frame);
    if (spec.encapsulation == Encapsulation::kVxlan) WriteVxlan(frame);
  }
  active_.resize(spec.flows);
  std::iota(active_.begin(), active_.end(), 0);
  next_new_flow_ = spec.flows;
  if (spec.new_flows_per_second != 0) churn_every_ = kPacketsPerSecond / spec.new_flows_per_second;
  if (spec.order == Order::kZipf) {
    // Rank r with probability about 1 / r: the inverse of the distribution, by a uniform draw.
    zipf_.resize(1 << 20);
    for (uint32_t& choice : zipf_) {
      const double uniform = static_cast<double>(Random() >> 11) / 9007199254740992.0;
      const double rank = std::exp(uniform * std::log(static_cast<double>(spec.flows)));
      choice = std::min(spec.flows - 1, static_cast<uint32_t>(rank) - 1);
    }
  }
}

uint64_t Traffic::Random() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}

uint32_t Traffic::NextFlow() {
  switch (spec_.order) {
    case Order::kRandom:
      return active_[Random() % spec_.flows];
    case Order::kZipf:
      next_zipf_ = (next_zipf_ + 1) & ((1 << 20) - 1);
      return active_[zipf_[next_zipf_]];
    case Order::kSequential:
      break;
  }
  if (++next_active_ >= spec_.flows) next_active_ = 0;
  return active_[next_active_];
}

void Traffic::Churn() {
  if (churn_every_ == 0 || packets_ % churn_every_ >= kBatch) return;
  active_[churn_slot_] = next_new_flow_++;
  churn_slot_ = (churn_slot_ + 1) % spec_.flows;
}

void Traffic::WriteFlow(uint8_t* frame, uint32_t flow) {
  const uint32_t dst = kDstBase + permutation_[flow % kDestinations];
  const uint32_t src = kSrcBase + flow / kDestinations;
  if (spec_.encapsulation == Encapsulation::kIpv6) {
    Put32(frame + 34, src);
    Put32(frame + 50, dst);
    return;
  }
  if (spec_.encapsulation == Encapsulation::kVxlan) frame += kVxlanHead;
  Put32(frame + 26, src);
  Put32(frame + 30, dst);
}

const Frame* Traffic::Next() {
  const Frame* batch = &frames_[next_buffer_];
  for (int i = 0; i < kBatch; i++) {
    WriteFlow(const_cast<uint8_t*>(batch[i].data), NextFlow());
  }
  next_buffer_ = (next_buffer_ + kBatch) % kBuffers;
  packets_ += kBatch;
  Churn();
  return batch;
}

std::vector<EventSpec> MakeEvents(const TriggerSpec& spec) {
  static constexpr Variable kTypes[] = {Variable::kPackets, Variable::kVolume, Variable::kIsLost};
  const uint32_t groups = spec.triggers / spec.per_packet;
  std::vector<EventSpec> events;
  for (uint32_t q = 0; q < spec.triggers; q++) {
    EventSpec event;
    event.id = q + 1;
    event.name = "trigger-" + std::to_string(q);
    event.filter = GroupFilter(q / spec.per_packet, groups, q % spec.patterns, spec.encapsulation);
    event.predicate = SumReaches(kTypes[q % 3], 80000000);
    event.interval_ms = 10;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace trumpet::bench
