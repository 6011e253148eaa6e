// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of several packet threads: a host with some monitors and the verdicts over all of them,
// driven by hand from one thread.

#ifndef TRUMPET_LIB_TPM_PACKET_THREADS_TEST_KIT_H
#define TRUMPET_LIB_TPM_PACKET_THREADS_TEST_KIT_H

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lib/model/report.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/peer_exchange.h"
#include "lib/tpm/tcp_test_kit.h"
#include "lib/tpm/trigger_program.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet::testing {

// An Ethernet, IPv4 frame of the shot.
class ShotFrame {
 public:
  ShotFrame(const FlowKey& flow, const Shot& shot, uint8_t ttl = 64) {
    const bool is_tcp = flow.protocol == kProtocolTcp;
    const size_t options =
        !is_tcp ? 0 : (shot.tcp.has_mss ? 4 : 0) + (shot.tcp.has_window_shift ? 4 : 0);
    const size_t header = is_tcp ? 20 + options : 8;
    Put16(12, 0x0800);
    bytes_[14] = 0x45;
    const size_t cut = is_tcp && !shot.tcp.is_present ? 8 : 0;  // bytes of the header not captured
    Put16(16, 20 + header + shot.tcp.payload_bytes);
    bytes_[22] = ttl;
    bytes_[23] = flow.protocol;
    std::memcpy(&bytes_[26], flow.src_ip.data(), 4);
    std::memcpy(&bytes_[30], flow.dst_ip.data(), 4);
    Put16(34, flow.src_port);
    Put16(36, flow.dst_port);
    if (is_tcp) PutTcp(shot.tcp, header);
    if (!is_tcp) Put16(38, 8);
    frame_.data = bytes_.data();
    frame_.captured_length = static_cast<uint32_t>(34 + header - cut);
    frame_.wire_length = static_cast<uint32_t>(34 + header + shot.tcp.payload_bytes);
  }
  ShotFrame(const ShotFrame&) = delete;
  ShotFrame& operator=(const ShotFrame&) = delete;
  const Frame& frame() const { return frame_; }

 private:
  void PutTcp(const TcpSegment& tcp, size_t header) {
    Put32(38, tcp.seq);
    Put32(42, tcp.ack);
    Put16(46, static_cast<uint32_t>(header / 4 << 12) | tcp.flags);
    Put16(48, tcp.window);
    size_t at = 54;
    if (tcp.has_mss) {
      bytes_[at] = 2;
      bytes_[at + 1] = 4;
      Put16(at + 2, tcp.mss);
      at += 4;
    }
    if (tcp.has_window_shift) {
      bytes_[at] = 3;
      bytes_[at + 1] = 3;
      bytes_[at + 2] = tcp.window_shift;
      bytes_[at + 3] = 1;
    }
  }
  void Put16(size_t at, size_t value) {
    bytes_[at] = static_cast<uint8_t>(value >> 8);
    bytes_[at + 1] = static_cast<uint8_t>(value);
  }
  void Put32(size_t at, uint32_t value) {
    Put16(at, value >> 16);
    Put16(at + 2, value & 0xffff);
  }

  std::array<uint8_t, 96> bytes_{};
  Frame frame_;
};

class ThreadsHost : public DeliverySink {
 public:
  ThreadsHost(const HostVerdicts::Plans& plans, size_t threads,
              const MonitorOptions& options = SmallOptions())
      : plans_(plans),
        options_(options),
        exchange_(512, options.connections.flow_timeout_ns),
        verdicts_(options.connections.flow_timeout_ns) {
    program_ = TriggerProgram::Make(plans_, 1, INT64_MIN);
    verdicts_.Apply(plans_, 0, /*is_offline=*/true);
    for (size_t i = 0; i < threads; i++) AddThread();
  }

  static MonitorOptions SmallOptions() {
    MonitorOptions options;
    options.max_flows = 512;
    options.stat_megabytes = 1;
    options.ring_bytes = 1 << 18;
    options.set_kilobytes = 128;
    options.sweeps_unbounded = true;
    options.connections.max_connections = 128;
    options.connections.max_history_records = 1 << 12;
    return options;
  }

  void AddThread() {
    MonitorOptions options = options_;
    options.peers = &exchange_;
    monitors_.push_back(std::move(*PacketMonitor::Create(options)));
    EXPECT_TRUE(monitors_.back()->Publish(program_).ok());
  }
  // The thread ends: what it counted is delivered first.
  void EndThread(size_t thread, Nanos now) {
    Visit(thread, now);
    monitors_[thread]->CloseEpoch(now);
    Visit(thread, now);
    monitors_[thread] = nullptr;
  }

  void See(size_t thread, const FlowKey& flow, const Shot& shot, Nanos now, uint8_t ttl = 64) {
    const ShotFrame frame(flow, shot, ttl);
    monitors_[thread]->OnBatch(&frame.frame(), 1, false, 0, flow.zone, now);
  }

  // An idle round of a thread, and the agent's look at what it delivered.
  void Visit(size_t thread, Nanos now) {
    if (monitors_[thread] == nullptr) return;
    while (monitors_[thread]->OnIdle(now)) monitors_[thread]->Drain(this);
    monitors_[thread]->Drain(this);
  }
  void VisitAll(Nanos now) {
    for (int twice = 0; twice < 2; twice++) {  // questions, then answers
      for (size_t i = 0; i < monitors_.size(); i++) Visit(i, now);
    }
  }

  // Decides what every thread has delivered; all saw everything before `now`.
  void Decide(Nanos now) {
    for (const auto& monitor : monitors_) {
      if (monitor == nullptr) continue;
      if (monitor->messages_settled() < monitor->messages_sent_here()) return;
      now = std::min(now, monitor->clean_until());
    }
    verdicts_.Advance(now, &reports_);
  }

  void Finish(Nanos now) {
    VisitAll(now);
    Decide(now);
  }

  MonitorCounters Sum() const {
    MonitorCounters sum;
    for (const auto& monitor : monitors_) {
      if (monitor == nullptr) continue;
      const MonitorCounters one = monitor->counters();
      sum.packets += one.packets;
      sum.epochs_skipped += one.epochs_skipped;
      sum.rtt_samples += one.rtt_samples;
      sum.rtt_samples_orphaned += one.rtt_samples_orphaned;
      sum.peer_messages_sent += one.peer_messages_sent;
      sum.peer_messages_taken += one.peer_messages_taken;
      sum.peer_messages_lost += one.peer_messages_lost;
      sum.peer_backlogs += one.peer_backlogs;
      sum.directions_moved += one.directions_moved;
      sum.late_samples += one.late_samples;
    }
    return sum;
  }

  void OnPartial(const PartialView& partial) override { verdicts_.Add(partial); }
  void OnFlowState(const FlowStateUpdate& update) override { verdicts_.Add(update); }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    verdicts_.AddIncomplete(start, end, reasons);
  }

  const std::vector<Report>& reports() const { return reports_; }
  const VerdictCounters& verdict_counters() const { return verdicts_.counters(); }
  PacketMonitor* monitor(size_t thread) { return monitors_[thread].get(); }
  const PacketMonitor* monitor(size_t thread) const { return monitors_[thread].get(); }
  size_t thread_count() const { return monitors_.size(); }

 private:
  HostVerdicts::Plans plans_;
  MonitorOptions options_;
  PeerExchange exchange_;
  std::shared_ptr<const TriggerProgram> program_;
  HostVerdicts verdicts_;
  std::vector<std::unique_ptr<PacketMonitor>> monitors_;
  std::vector<Report> reports_;
};

constexpr uint32_t kCanary = 1;  // reported in every interval; uses TCP variables, so it is marked

struct Comparison {
  size_t reports = 0;
  size_t marked = 0;
  std::string failure;
};

class ReportComparer {
 public:
  ReportComparer(const ThreadsHost& one, const ThreadsHost& many)
      : expected_(ByKey(one)), found_(ByKey(many)) {}

  // Every report equal, or its interval marked.  A bucket may be missing, or too many, for as long
  // as it would be tested without packets.
  Comparison Compare() const {
    Comparison comparison;
    for (const auto& [key, report] : found_) {
      comparison.reports++;
      const auto truth = expected_.find(key);
      const bool is_known = truth != expected_.end();
      if (!report->is_complete()) {
        comparison.marked++;
      } else if (is_known ? !IsSame(*truth->second, *report) : !HasMarkUpTo(report->end_ns)) {
        comparison.failure = "expected " + (is_known ? ToJsonLine(*truth->second) : "nothing") +
                             "\n   found " + ToJsonLine(*report);
        return comparison;
      }
    }
    for (const auto& [key, report] : expected_) {
      if (found_.count(key) != 0 || HasMarkUpTo(report->end_ns)) continue;
      comparison.failure = "missing " + ToJsonLine(*report);
      return comparison;
    }
    return comparison;
  }

 private:
  using Key = std::tuple<Nanos, uint32_t, std::string_view>;
  using Reports = std::map<Key, const Report*>;

  static Reports ByKey(const ThreadsHost& host) {
    Reports reports;
    for (const Report& report : host.reports()) {
      reports[{report.end_ns, report.event_id, report.bucket_key}] = &report;
    }
    return reports;
  }

  static bool IsSame(const Report& a, const Report& b) {
    return a.value == b.value && a.is_unscaled == b.is_unscaled &&
           a.incomplete_reasons == b.incomplete_reasons;
  }

  // Was any interval marked from which a bucket could still be tested in the one that ends at
  // `end`?
  bool HasMarkUpTo(Nanos end) const {
    const Nanos reach = (kTailIntervals + 1) * 20 * kMs;
    auto canary = found_.lower_bound({end - reach, 0, ""});
    for (; canary != found_.end() && std::get<0>(canary->first) <= end; ++canary) {
      if (std::get<1>(canary->first) == kCanary && !canary->second->is_complete()) return true;
    }
    return false;
  }

  const Reports expected_;
  const Reports found_;
};

inline Comparison CompareHosts(const ThreadsHost& one, const ThreadsHost& many) {
  return ReportComparer(one, many).Compare();
}

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_PACKET_THREADS_TEST_KIT_H
