// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What monitor_fuzz makes of bytes: events from a fixed list, and frames of a few flows, whole, cut
// and damaged.

#ifndef TRUMPET_LIB_TPM_MONITOR_FUZZ_KIT_H
#define TRUMPET_LIB_TPM_MONITOR_FUZZ_KIT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/packet/test_frames.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet::fuzz {

// The input, a piece at a time; 0 after its end.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  bool is_at_end() const { return data_ == end_; }
  uint8_t Byte() { return is_at_end() ? uint8_t{0} : *data_++; }
  uint16_t Two() {
    const unsigned high = Byte();
    return static_cast<uint16_t>(high << 8 | Byte());
  }
  std::vector<uint8_t> Take(size_t count) {
    const size_t there = std::min(count, static_cast<size_t>(end_ - data_));
    std::vector<uint8_t> taken(data_, data_ + there);
    data_ += there;
    return taken;
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

// --- events ----------------------------------------------------------------

using kit::Agg;
using kit::Var;

inline Expr Node(ExprOp op, std::vector<Expr> args) {
  Expr expr;
  expr.op = op;
  expr.args = std::move(args);
  return expr;
}

inline Expr Literal(const Number& number) {
  Expr expr;
  expr.number = number;
  return expr;
}

inline Expr Positive(const Expr& expr) {
  return Node(ExprOp::kGreater, {expr, Literal(Number::Integer(0))});
}

inline FilterExpr Test(Field field, uint64_t low, uint64_t high,
                       ValueKind kind = ValueKind::kNumber) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, Level::kInnermost};
  filter.test.ranges.push_back({kind, low, high});
  return filter;
}

inline FilterExpr Any(Field field, Level level) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, level};
  filter.test.is_any = true;
  return filter;
}

inline FilterExpr Logic(FilterOp op, std::vector<FilterExpr> args) {
  FilterExpr filter;
  filter.op = op;
  filter.args = std::move(args);
  return filter;
}

// Event 0 counts every packet; the others use every variable, aggregate and kind of granularity.
inline HostVerdicts::Plans AllPlans() {
  struct Row {
    FilterExpr filter;
    Expr predicate;
    Granularity granularity;
    uint32_t interval_ms;
  };
  const FilterExpr all;
  const Granularity none;
  const Granularity flow{true, {}};
  const auto fields = [](std::vector<GranularityField> list) { return Granularity{false, list}; };
  const auto at = [](Field field, Level level = Level::kInnermost, uint8_t prefix = kFullPrefix) {
    return GranularityField{{field, level}, prefix};
  };
  const auto sum = [](Variable variable) {
    return Positive(Agg(AggregateKind::kSum, Var(variable)));
  };
  const Expr lost_share =
      Node(ExprOp::kDivide, {Agg(AggregateKind::kSum, Var(Variable::kLostInBurst)),
                             Agg(AggregateKind::kSum, Var(Variable::kPackets))});
  const Expr seventh = Node(ExprOp::kDivide, {Var(Variable::kVolume), Literal(Number::Integer(7))});
  const Expr window_left = Node(ExprOp::kSubtract, {Var(Variable::kRwnd), Var(Variable::kDup)});
  const Expr congestion =
      Node(ExprOp::kDivide,
           {Node(ExprOp::kSubtract, {Var(Variable::kAck), Var(Variable::kAckLastEpoch)}),
            Node(ExprOp::kSubtract, {Var(Variable::kSeqLastEpoch), Var(Variable::kDupLastEpoch)})});
  const FilterExpr tcp = Test(Field::kProtocol, kProtocolTcp, kProtocolTcp);
  const FilterExpr rack = Test(Field::kDstIp, 0x0a000000, 0x0a0000ff, ValueKind::kIpv4);
  const Row rows[] = {
      {all, sum(Variable::kPackets), none, 1},
      {all, sum(Variable::kBytes), flow, 10},
      {rack, sum(Variable::kVolume), fields({at(Field::kSrcIp, Level::kInnermost, 24)}), 2},
      {tcp, Positive(lost_share), flow, 10},
      {tcp, sum(Variable::kIsLost), none, 1},
      {tcp, Positive(Agg(AggregateKind::kMax, Var(Variable::kRtt))), flow, 1},
      {all, Positive(Agg(AggregateKind::kStddev, Var(Variable::kRtt))), none, 3},
      {all, Positive(congestion), flow, 10},
      {tcp, Positive(Agg(AggregateKind::kMin, window_left)),
       fields({at(Field::kDstPort), at(Field::kTcpFlags)}), 5},
      {all, Positive(Agg(AggregateKind::kStddev, seventh)), fields({at(Field::kProtocol)}), 2},
      {Logic(FilterOp::kNot, {rack}), Positive(Agg(AggregateKind::kAvg, Var(Variable::kTtl))),
       fields({at(Field::kTtl), at(Field::kDscp), at(Field::kEcn)}), 1},
      {all, sum(Variable::kIsBurst), fields({at(Field::kVlan), at(Field::kEthType)}), 10},
      {Logic(FilterOp::kOr, {Any(Field::kTunnelId, Level::kOuter), tcp}),
       Positive(Agg(AggregateKind::kCount, Var(Variable::kEcn))),
       fields({at(Field::kTunnelId), at(Field::kSrcIp, Level::kOuter, 8)}), 4},
      {Logic(FilterOp::kAnd, {all, Any(Field::kInPort, Level::kInnermost)}),
       sum(Variable::kPackets), fields({at(Field::kInPort)}), 1},
      {all, sum(Variable::kBytes),
       fields({at(Field::kSrcMac), at(Field::kDstMac), at(Field::kDstIp, Level::kInner)}), 1000},
      {tcp,
       Positive(Agg(AggregateKind::kMax,
                    Node(ExprOp::kAdd, {Var(Variable::kSeq), Var(Variable::kAck)}))),
       flow, 7},
  };
  HostVerdicts::Plans plans;
  for (const Row& row : rows) {
    EventSpec spec;
    spec.id = static_cast<uint32_t>(plans.size());
    spec.name = "event-" + std::to_string(spec.id);
    spec.filter = row.filter;
    spec.predicate = row.predicate;
    spec.granularity = row.granularity;
    spec.interval_ms = row.interval_ms;
    plans.push_back(std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec)));
  }
  return plans;
}

// --- frames ----------------------------------------------------------------

// One of 64 TCP connections, in one of its directions, with numbers near the wrap.
inline std::vector<uint8_t> TcpFrame(Bytes* in) {
  const uint8_t which = in->Byte();
  const uint8_t seq = in->Byte();
  const uint8_t ack = in->Byte();
  const uint8_t flags = in->Byte();
  const bool is_back = (which & 0x40) != 0;
  test_frames::Ipv4Header ip;
  ip.ttl = static_cast<uint8_t>(64 - (which >> 7));
  ip.tos = static_cast<uint8_t>(flags >> 6);
  if (is_back) std::swap(ip.src, ip.dst);
  test_frames::TcpHeader tcp;
  tcp.src_port = static_cast<uint16_t>(is_back ? 80 : 1000 + (which & 0x3f));
  tcp.dst_port = static_cast<uint16_t>(is_back ? 1000 + (which & 0x3f) : 80);
  tcp.flags = flags & 0x1f;
  if ((flags & 0x20) != 0) tcp.options = {2, 4, 5, 0xb4, 3, 3, seq, 1};
  std::vector<uint8_t> segment = test_frames::Tcp(tcp, test_frames::Zeros(seq % 5 * 10u));
  const uint32_t seq_number = 0xffffff00u + 10u * seq;
  const uint32_t ack_number = 0xffffff00u + 10u * ack;
  for (size_t i = 0; i < 4; i++) {
    segment[4 + i] = static_cast<uint8_t>(seq_number >> (24 - 8 * i));
    segment[8 + i] = static_cast<uint8_t>(ack_number >> (24 - 8 * i));
  }
  segment[14] = ack % 3;  // a window that is sometimes closed
  segment[15] = 0;
  return test_frames::Ethernet(0x0800, test_frames::Ipv4(ip, segment));
}

// Many flows, for full tables.
inline std::vector<uint8_t> UdpFrame(Bytes* in, uint16_t dst_port,
                                     const std::vector<uint8_t>& payload) {
  test_frames::Ipv4Header ip;
  ip.protocol = kProtocolUdp;
  ip.src = 0x0a000000u + in->Two();
  return test_frames::Ethernet(
      0x0800, test_frames::Ipv4(ip, test_frames::Udp(in->Byte(), dst_port, payload)));
}

inline std::vector<uint8_t> WholeFrame(Bytes* in, uint8_t kind) {
  switch (kind & 7) {
    case 0:
      return in->Take(in->Byte());
    case 1:
    case 2:
      return TcpFrame(in);
    case 3:
      return UdpFrame(in, 53, test_frames::Zeros(in->Byte()));
    case 4:
      return UdpFrame(in, 4789, test_frames::Vxlan(in->Byte(), TcpFrame(in)));
    case 5: {
      const uint8_t tci = in->Byte();
      const test_frames::Ipv6Header ip{kProtocolUdp, {}, tci, tci};
      return test_frames::Ethernet(
          0x8100,
          test_frames::Tag(tci, 0x86dd, test_frames::Ipv6(ip, test_frames::Udp(tci, 9, {}))));
    }
    case 6: {
      test_frames::Ipv4Header ip;
      ip.fragment = in->Two();
      return test_frames::Ethernet(0x0800, test_frames::Ipv4(ip, test_frames::Zeros(24)));
    }
    default:
      return test_frames::Ethernet(0x0806, test_frames::Zeros(28));
  }
}

inline std::vector<uint8_t> NextFrame(Bytes* in) {
  const uint8_t kind = in->Byte();
  std::vector<uint8_t> frame = WholeFrame(in, kind);
  if ((kind & 0x40) != 0 && !frame.empty()) frame[in->Byte() % frame.size()] ^= in->Byte();
  if ((kind & 0x80) != 0) frame.resize(std::min<size_t>(frame.size(), in->Byte()));
  return frame;
}

}  // namespace trumpet::fuzz

#endif  // TRUMPET_LIB_TPM_MONITOR_FUZZ_KIT_H
