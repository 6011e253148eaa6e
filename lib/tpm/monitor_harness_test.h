// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the packet monitor share: frames, events, a sink that adds up, and a rig of
// these around a monitor.

#ifndef TRUMPET_LIB_TPM_MONITOR_HARNESS_TEST_H
#define TRUMPET_LIB_TPM_MONITOR_HARNESS_TEST_H

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet::testing {

// An Ethernet, IPv4, UDP frame of 60 bytes with `volume` bytes of stated payload.
struct UdpFrame {
  UdpFrame(uint32_t src_ip, uint32_t dst_ip, uint16_t src_port, uint16_t dst_port,
           uint16_t volume = 18) {
    bytes.fill(0);
    const auto put16 = [this](size_t at, uint16_t value) {
      bytes[at] = static_cast<uint8_t>(value >> 8);
      bytes[at + 1] = static_cast<uint8_t>(value);
    };
    const auto put32 = [&put16](size_t at, uint32_t value) {
      put16(at, static_cast<uint16_t>(value >> 16));
      put16(at + 2, static_cast<uint16_t>(value));
    };
    put16(12, 0x0800);
    bytes[14] = 0x45;
    put16(16, static_cast<uint16_t>(28 + volume));
    bytes[22] = 64;
    bytes[23] = 17;
    put32(26, src_ip);
    put32(30, dst_ip);
    put16(34, src_port);
    put16(36, dst_port);
    put16(38, static_cast<uint16_t>(8 + volume));
  }
  Frame frame() const { return {bytes.data(), 60, 60}; }

  std::array<uint8_t, 60> bytes;
};

inline Expr VariableExpr(Variable variable) {
  Expr expr;
  expr.op = ExprOp::kVariable;
  expr.variable = variable;
  return expr;
}

// `aggregate(variable) >= threshold`
inline Expr AtLeast(AggregateKind aggregate, Variable variable, int64_t threshold) {
  Expr sum;
  sum.op = ExprOp::kAggregate;
  sum.aggregate = aggregate;
  sum.args.push_back(VariableExpr(variable));
  Expr number;
  number.number = Number::Integer(threshold);
  Expr expr;
  expr.op = ExprOp::kGreaterEqual;
  expr.args = {sum, number};
  return expr;
}

// dstIP=prefix/length
inline FilterExpr DstPrefix(uint32_t prefix, int length) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {Field::kDstIp, Level::kInnermost};
  const uint32_t host_bits = length == 0 ? 0xffffffff : (uint64_t{1} << (32 - length)) - 1;
  filter.test.ranges.push_back({ValueKind::kIpv4, prefix & ~host_bits, prefix | host_bits});
  return filter;
}

inline std::shared_ptr<const TriggerPlan> PlanOf(uint32_t id, const FilterExpr& filter,
                                                 Variable variable, uint32_t interval_ms,
                                                 bool is_five_tuple = false) {
  EventSpec spec;
  spec.id = id;
  spec.name = "event-" + std::to_string(id);
  spec.filter = filter;
  spec.predicate = AtLeast(AggregateKind::kSum, variable, 0);
  spec.interval_ms = interval_ms;
  spec.granularity.is_five_tuple = is_five_tuple;
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

// Adds up packets (cell 0) per event, bucket and interval, and keeps the epoch marks.
class SummingSink : public DeliverySink {
 public:
  explicit SummingSink(const HostVerdicts::Plans& plans) { Know(plans); }
  void Know(const HostVerdicts::Plans& plans) {
    for (const auto& plan : plans) plans_[plan->spec.id] = plan;
  }

  void OnPartial(const PartialView& partial) override {
    const TriggerPlan& plan = *plans_.at(partial.event_id);
    const int64_t interval = CellOf(partial.epoch_start, plan.spec.interval_ns());
    packets[{partial.event_id, std::string(partial.bucket_key), interval}] += partial.words[0];
    total_packets[partial.event_id] += partial.words[0];
    for (const CellSpec& cell : plan.cells) {
      if (cell.kind == CellKind::kSum) total_sums[partial.event_id] += partial.words[cell.offset];
    }
  }
  void OnFlowState(const FlowStateUpdate&) override { flow_states++; }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t epoch_reasons) override {
    epochs++;
    reasons |= epoch_reasons;
    if (start < last_end) is_out_of_order = true;
    last_end = end;
  }

  std::map<std::tuple<uint32_t, std::string, int64_t>, uint64_t> packets;
  std::map<uint32_t, uint64_t> total_packets;
  std::map<uint32_t, uint64_t> total_sums;
  uint64_t flow_states = 0;
  uint64_t epochs = 0;
  uint32_t reasons = 0;
  Nanos last_end = INT64_MIN;
  bool is_out_of_order = false;

 private:
  std::map<uint32_t, std::shared_ptr<const TriggerPlan>> plans_;
};

// A TCP segment between ports 5 and 6 with no payload in the frame but `volume` bytes stated.
inline UdpFrame Segment(uint32_t src_ip, uint32_t dst_ip, uint8_t seq, uint8_t ack,
                        uint16_t volume) {
  UdpFrame frame(src_ip, dst_ip, src_ip < dst_ip ? 5 : 6, src_ip < dst_ip ? 6 : 5,
                 static_cast<uint16_t>(12 + volume));
  frame.bytes[23] = 6;
  std::fill(frame.bytes.begin() + 38, frame.bytes.end(), uint8_t{0});
  frame.bytes[41] = seq;
  frame.bytes[45] = ack;
  frame.bytes[46] = 0x50;
  frame.bytes[47] = 0x10;
  frame.bytes[48] = 0x40;
  return frame;
}

inline void Send(PacketMonitor* monitor, const UdpFrame& udp, Nanos now) {
  const Frame frame = udp.frame();
  monitor->OnBatch(&frame, 1, false, 0, 0, now);
}

inline void SweepAll(PacketMonitor* monitor, Nanos now, DeliverySink* sink) {
  while (monitor->OnIdle(now)) monitor->Drain(sink);
  monitor->Drain(sink);
}

inline std::unique_ptr<PacketMonitor> MakeMonitor(const MonitorOptions& options = {}) {
  auto monitor = PacketMonitor::Create(options);
  return monitor.ok() ? std::move(*monitor) : nullptr;
}

constexpr uint32_t kRack = 0x0a008000;  // 10.0.128.0

// A monitor with one program after the other.
struct Rig {
  explicit Rig(const HostVerdicts::Plans& plans, const MonitorOptions& options = {})
      : sink(plans), monitor(MakeMonitor(options)) {
    Change(plans, INT64_MIN);
  }
  void Change(const HostVerdicts::Plans& plans, Nanos from) {
    sink.Know(plans);
    EXPECT_TRUE(monitor->Publish(TriggerProgram::Make(plans, ++generation, from)).ok());
  }
  // One packet of each flow.
  void SendAll(uint32_t flows, Nanos now) {
    for (uint32_t i = 0; i < flows; i++) Send(monitor.get(), UdpFrame(i, kRack, 5, 6), now);
  }
  void Sweep(Nanos now) { SweepAll(monitor.get(), now, &sink); }
  void Finish(Nanos now) {
    Sweep(now);
    monitor->CloseEpoch(now);
    Sweep(now);
  }
  uint64_t PacketsIn(uint32_t event, int64_t interval) {
    return sink.packets[{event, "", interval}];
  }
  MonitorCounters counters() const { return monitor->counters(); }

  SummingSink sink;
  std::unique_ptr<PacketMonitor> monitor;
  uint64_t generation = 0;
};

// Events that each have a set, and a flow, of their own.
inline HostVerdicts::Plans OneForEachAddress(uint32_t count) {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= count; id++) {
    plans.push_back(PlanOf(id, DstPrefix(kRack + id, 32), Variable::kVolume, 10));
  }
  return plans;
}

inline void SendToEachAddress(Rig* rig, uint32_t count, int packets, Nanos now) {
  for (uint32_t id = 1; id <= count; id++) {
    for (int i = 0; i < packets; i++) {
      Send(rig->monitor.get(), UdpFrame(1, kRack + id, 5, 6), now);
    }
  }
}

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_MONITOR_HARNESS_TEST_H
