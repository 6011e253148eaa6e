// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a script for PacketMonitor: batches of any frames, idle rounds, clocks that leap and
// run backwards, changes of program, a ring that is drained or left to fill up.
//
// Besides not crashing: every packet is accounted for; the partials of each event and bucket add
// up to the packets that belong there, or to less when the counters say that something was left
// out; in the end nothing is held back.

#include <map>
#include <string>
#include <utility>

#include "lib/base/fuzz_require.h"
#include "lib/model/bucket_key.h"
#include "lib/tpm/monitor_fuzz_kit.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet::fuzz {
namespace {

using trumpet::Require;

constexpr int kMaxSteps = 1000;
constexpr int kMaxRounds = 1 << 20;

using Totals = std::map<std::pair<uint32_t, std::string>, uint64_t>;  // event and bucket

class Sink : public DeliverySink {
 public:
  explicit Sink(const HostVerdicts::Plans* plans) : plans_(plans) {}

  void OnPartial(const PartialView& partial) override {
    Require(partial.event_id < plans_->size(), "a partial of an event that never was");
    const TriggerPlan& plan = *(*plans_)[partial.event_id];
    Require(partial.bucket_key.size() <= MaxBucketKeyBytes(plan.spec.granularity),
            "a bucket key longer than its event's longest");
    Require(partial.epoch_start <= partial.epoch_end, "an epoch that ends before it starts");
    for (uint16_t i = 0; i < plan.word_count; i++) words ^= partial.words[i];  // all are readable
    packets[{partial.event_id, std::string(partial.bucket_key)}] += partial.words[0];
    partials++;
  }
  void OnFlowState(const FlowStateUpdate& update) override {
    Require(update.epoch_start <= update.epoch_end, "a state of an epoch that ends too early");
  }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t) override {
    Require(start <= end, "an end of an epoch before its start");
  }

  Totals packets;
  uint64_t partials = 0;
  uint64_t words = 0;

 private:
  const HostVerdicts::Plans* plans_;
};

class Script {
 public:
  Script(Bytes* in, const MonitorOptions& options, uint16_t events,
         const HostVerdicts::Plans* plans)
      : in_(in), options_(options), plans_(plans), sink_(plans) {
    auto monitor = PacketMonitor::Create(options);
    Require(monitor.ok(), "no monitor");
    monitor_ = std::move(*monitor);
    Publish(events, INT64_MIN);
  }

  void Run() {
    for (int step = 0; step < kMaxSteps && !in_->is_at_end(); step++) {
      Step(in_->Byte());
      CheckCounters();
    }
    Finish();
  }

 private:
  void Step(uint8_t what) {
    switch (what & 15) {
      case 8:
      case 9:
        return AdvanceClock(what >> 4);
      case 10:
      case 11:
        for (int i = 0; i <= what >> 4; i++) monitor_->OnIdle(now_);
        return;
      case 12:
        monitor_->Drain(&sink_);
        return;
      case 13:
        return Publish(in_->Two(),
                       (what & 0x80) != 0 ? now_ + (what >> 4 & 7) * kNanosPerMilli : INT64_MIN);
      case 14:
        return monitor_->CloseEpoch(now_);
      case 15:
        if ((what & 0x80) != 0) monitor_->NoteGap(now_);
        return monitor_->CollectRetired();
      default:
        return Batch(what);
    }
  }

  // The time is any that a capture may have, but its very ends: no interval lies around them.
  void AdvanceClock(int how) {
    constexpr Nanos kLast = INT64_MAX - 4000 * kNanosPerMilli;
    const Nanos amount = in_->Two();
    Nanos leap = amount;
    if (how >= 4) leap = amount * kNanosPerMicro;
    if (how >= 8) leap = amount * 100 * kNanosPerMicro;
    if (how == 13) leap = -amount * kNanosPerMicro;
    if (how == 14) leap = amount << 46;
    if (how == 15) leap = -(amount << 46);
    now_ = leap >= 0 ? (now_ > kLast - leap ? kLast : now_ + leap)
                     : (now_ < -kLast - leap ? -kLast : now_ + leap);
  }

  // Any subset of the events, but always event 0 or none at all.
  void Publish(uint16_t mask, Nanos from) {
    HostVerdicts::Plans chosen;
    if (mask != 0) chosen.push_back(plans_->front());
    for (size_t i = 1; i < plans_->size(); i++) {
      if ((mask >> i & 1) != 0) chosen.push_back((*plans_)[i]);
    }
    const auto program = TriggerProgram::Make(chosen, ++generation_, from);
    programs_[generation_] = chosen;
    Require(monitor_->Publish(program).ok(), "a program that is not taken");
  }

  void Batch(uint8_t what) {
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<Frame> frames;
    const int count = (what & 7) == 7 ? 1 + in_->Byte() % 70 : what & 7;
    for (int i = 0; i < count; i++) bytes.push_back(NextFrame(in_));
    for (const auto& one : bytes) {
      const auto length = static_cast<uint32_t>(one.size());
      frames.push_back({one.data(), length, length + (what & 0x10)});
      sent_bytes_ += frames.back().wire_length;
    }
    const bool has_port = (what & 0x20) != 0;
    const auto zone = static_cast<uint16_t>(what >> 7);
    monitor_->OnBatch(frames.data(), count, has_port, what >> 6, zone, now_);
    sent_ += static_cast<uint64_t>(count);
    for (const Frame& frame : frames) Expect(frame, has_port, what >> 6);
  }

  // The slow way: parse again, try every event of the program that ran.
  void Expect(const Frame& frame, bool has_port, uint32_t port) {
    ParsedPacket packet;
    packet.has_in_port = has_port;
    packet.in_port = port;
    ParsePacket(frame, options_.parse, &packet);
    const HostVerdicts::Plans& plans = programs_[monitor_->running_generation()];
    if (plans.empty()) unwanted_++;
    for (const auto& plan : plans) {
      BucketKey key;
      const auto read = [&](const FieldRef& ref) { return ReadField(packet, ref); };
      if (!Matches(plan->spec.filter, packet)) continue;
      if (!MakeBucketKey(plan->spec.granularity, read, &key)) continue;
      expected_[{plan->spec.id, std::string(key.view())}]++;
    }
  }

  // Event 0 wants all packets that find room.
  void CheckCounters() {
    const MonitorCounters counters = monitor_->counters();
    Require(counters.packets == sent_, "packets are not those sent");
    Require(counters.bytes == sent_bytes_, "bytes are not those sent");
    Require(counters.matched_packets + counters.uncounted_packets + unwanted_ == sent_,
            "packets neither counted nor uncounted");
    Require(counters.flows <= options_.max_flows, "more flows than may be");
  }

  void Deliver() {
    int rounds = 0;
    while (monitor_->OnIdle(now_)) {
      monitor_->Drain(&sink_);
      Require(++rounds < kMaxRounds, "a sweep that never ends");
    }
    monitor_->Drain(&sink_);
  }

  void Finish() {
    Deliver();
    monitor_->CloseEpoch(now_);
    Deliver();
    const MonitorCounters counters = monitor_->counters();
    Require(monitor_->clean_until() == INT64_MAX, "something is held back");
    Require(counters.partials == sink_.partials, "partials are not those delivered");
    const bool is_complete = counters.partials_dropped == 0 && counters.uncounted_packets == 0;
    for (const auto& [place, packets] : sink_.packets) {
      if (packets != 0) Require(packets <= expected_[place], "more packets than there were");
    }
    for (const auto& [place, packets] : expected_) {
      if (is_complete) Require(sink_.packets[place] == packets, "packets that are missing");
    }
  }

  Bytes* in_;
  const MonitorOptions options_;
  const HostVerdicts::Plans* plans_;
  Sink sink_;
  std::unique_ptr<PacketMonitor> monitor_;
  std::map<uint64_t, HostVerdicts::Plans> programs_;
  Totals expected_;
  Nanos now_ = 1700000000 * kNanosPerSecond;
  uint64_t generation_ = 0;
  uint64_t sent_ = 0;
  uint64_t sent_bytes_ = 0;
  uint64_t unwanted_ = 0;  // while a program without events ran
};

MonitorOptions OptionsOf(uint8_t bits) {
  MonitorOptions options;
  options.max_flows = 16u << (bits & 3) * 2;
  options.stat_megabytes = 1;
  options.takes_quads = (bits & 2) == 0;
  options.ring_bytes = (bits & 4) != 0 ? 1u << 12 : 1u << 16;
  options.sweep_budget_ns = (bits & 8) != 0 ? 1 : 5 * kNanosPerMicro;
  options.sweeps_unbounded = (bits & 16) != 0;
  options.connections.max_connections = (bits & 32) != 0 ? 16 : 256;
  options.connections.max_history_records = (bits & 32) != 0 ? 16 : 1024;
  options.connections.flow_timeout_ns = (bits & 64) != 0 ? kNanosPerMilli : 10 * kNanosPerSecond;
  return options;
}

}  // namespace
}  // namespace trumpet::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto plans = trumpet::fuzz::AllPlans();
  trumpet::fuzz::Bytes in(data, size);
  const uint8_t bits = in.Byte();
  const uint16_t events = (bits & 0x80) != 0 ? 0xffff : in.Two();
  trumpet::fuzz::Script(&in, trumpet::fuzz::OptionsOf(bits), events, &plans).Run();
  return 0;
}
