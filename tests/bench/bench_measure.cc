// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Measurement programs per packet, beside the same tasks written by hand, an exact hash map and a
// sketch of DPDK: `make bench-measure`.
//
// Rows "of frames" read them, too, as in a switch; they contain what "frames alone" takes: to write
// the frames.
//
// All contenders of a load take turns, one short run each, many rounds; told are the least and the
// median over rounds of processor time per packet.  All other rows contain what "fields alone"
// takes: to set the fields of the packet.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "lib/base/text_file.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"
#include "tests/bench/measure_contenders.h"
#include "tests/bench/measure_hand.h"

namespace trumpet {
namespace {

constexpr uint32_t kPackets = 1 << 16;
constexpr size_t kSpanPackets = 1024;  // that the clock runs at a time
constexpr uint64_t kSpacing = 100;     // ns between packets
constexpr int kRounds = 25;

class Engine : public MeasureContender {
 public:
  Status Add(const std::string& path) {
    const auto text = ReadTextFile(path, kMaxMafiaTextBytes);
    if (!text.ok()) return text.status();
    const auto source = CompileMafia(*text, path);
    if (!source.ok()) return source.status();
    MeasureLoadOptions options;
    options.seed = 1;
    auto program = LoadMeasureProgram(*source, options);
    if (!program.ok()) return program.status();
    programs_.push_back(std::move(*program));
    states_.push_back(ProgramState::Create(programs_.back().get(), nullptr, {}));
    return states_.back() != nullptr ? Status::Ok() : Status::Error("no memory");
  }
  void Start(bool takes_frames) {
    std::vector<ProgramState*> states;
    for (const auto& state : states_) states.push_back(state.get());
    if (takes_frames) {
      frames_ = std::make_unique<FramePrograms>(states);
    } else {
      set_ = std::make_unique<ProgramSet>(states, std::vector<std::string>{});
    }
  }
  void Run(MeasuredPacket* packets, uint32_t count) override { set_->Run(packets, count); }
  void RunFrames(const Frame* frames, uint32_t count, uint64_t now) override {
    frames_->Run(frames, count, {1, 0, 0, 0}, now);
  }
  bool takes_frames() const override { return frames_ != nullptr; }
  void Drain() override {
    CollectedPacket packet;
    for (const auto& state : states_) {
      while (state->ReadCollected(&packet)) drained_++;
    }
  }
  uint64_t Sum() const override {
    uint64_t lost = 0;
    for (const auto& state : states_) lost += state->counters().lost.load();
    if (lost != 0) std::fprintf(stderr, "bench-measure: copies were lost\n");
    return drained_;
  }

 private:
  uint64_t drained_ = 0;
  std::vector<std::unique_ptr<const CompiledProgram>> programs_;
  std::vector<std::unique_ptr<ProgramState>> states_;
  std::unique_ptr<ProgramSet> set_;
  std::unique_ptr<FramePrograms> frames_;
};

struct FlowPacket {
  uint32_t src;
  uint32_t dst;
  uint16_t port;
  uint16_t size;
};

// One packet after the other; `is_zipf`: flow n as often as 1 / n says, else each as often.
std::vector<FlowPacket> MakePackets(uint32_t flows, bool is_zipf) {
  std::mt19937_64 random(1);
  std::vector<double> sums(flows);
  double sum = 0;
  for (uint32_t i = 0; i < flows; ++i) sums[i] = sum += is_zipf ? 1.0 / (i + 1) : 1.0;
  std::vector<FlowPacket> packets(kPackets);
  for (FlowPacket& packet : packets) {
    const double draw = std::uniform_real_distribution<double>(0, sum)(random);
    const auto flow =
        static_cast<uint32_t>(std::lower_bound(sums.begin(), sums.end(), draw) - sums.begin());
    packet = {static_cast<uint32_t>(MixBits(flow)), static_cast<uint32_t>(MixBits(flow) >> 32),
              static_cast<uint16_t>(flow), static_cast<uint16_t>(64 + flow % 1400)};
  }
  return packets;
}

// As a reader of frames does, into the same values burst by burst.
void SetFields(const FlowPacket& packet, PacketValues* values) {
  values->Set(kIpv4Src, packet.src);
  values->Set(kIpv4Dst, packet.dst);
  values->Set(kTcpSrc, packet.port);
  values->Set(kTcpDst, 80);
  values->Set(kIpv4Proto, 6);
  values->Set(kPktSize, packet.size);
  values->Set(kPktInputPort, 1);
}

constexpr uint32_t kFrameBytes = 60;

// Ethernet, IPv4 and TCP.
void WriteFrame(const FlowPacket& packet, uint8_t* bytes) {
  StoreBe32(bytes + 12, 0x08004500);
  StoreBe16(bytes + 20, 0);
  bytes[23] = 6;
  StoreBe32(bytes + 26, packet.src);
  StoreBe32(bytes + 30, packet.dst);
  StoreBe32(bytes + 34, uint32_t{packet.port} << 16 | 80);
}

class FramesAlone : public MeasureContender {
 public:
  void Run(MeasuredPacket*, uint32_t) override {}
  void RunFrames(const Frame* frames, uint32_t count, uint64_t) override {
    for (uint32_t i = 0; i < count; ++i) sum_ += frames[i].wire_length;
  }
  bool takes_frames() const override { return true; }
  uint64_t Sum() const override { return sum_; }

 private:
  uint64_t sum_ = 0;
};

class FieldsAlone : public MeasureContender {
 public:
  void Run(MeasuredPacket* packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) sum_ += packets[i].values->value[kPktSize];
  }
  uint64_t Sum() const override { return sum_; }

 private:
  uint64_t sum_ = 0;
};

double CpuNanos() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

struct Row {
  std::string name;
  std::unique_ptr<MeasureContender> contender;
  std::vector<double> nanos;
};

// Processor time per packet of `run_burst`.  What was collected is taken out in between, off the
// clock and before a ring is full, so that each copy is written.
template <typename RunBurst>
double TimeSpans(MeasureContender* contender, const std::vector<FlowPacket>& packets,
                 const RunBurst& run_burst) {
  double nanos = 0;
  for (size_t span = 0; span < packets.size(); span += kSpanPackets) {
    const double start = CpuNanos();
    for (size_t at = 0; at < kSpanPackets; at += kMaxMeasureBurst) run_burst(&packets[span + at]);
    nanos += CpuNanos() - start;
    contender->Drain();
  }
  return nanos / static_cast<double>(packets.size());
}

// As a driver does, into the same buffers burst by burst.
double RunFramesOnce(MeasureContender* contender, const std::vector<FlowPacket>& packets,
                     uint64_t* now) {
  static uint8_t bytes[kMaxMeasureBurst][2 * kFrameBytes];
  Frame burst[kMaxMeasureBurst];
  return TimeSpans(contender, packets, [&](const FlowPacket* from) {
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      WriteFrame(from[i], bytes[i]);
      burst[i] = {bytes[i], kFrameBytes, from[i].size};
    }
    *now += kSpacing * kMaxMeasureBurst;
    contender->RunFrames(burst, kMaxMeasureBurst, *now);
  });
}

double RunOnce(MeasureContender* contender, const std::vector<FlowPacket>& packets, uint64_t* now) {
  static PacketValues values[kMaxMeasureBurst];
  MeasuredPacket burst[kMaxMeasureBurst];
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) burst[i].values = &values[i];
  return TimeSpans(contender, packets, [&](const FlowPacket* from) {
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      SetFields(from[i], &values[i]);
      burst[i].now = *now += kSpacing;
    }
    contender->Run(burst, kMaxMeasureBurst);
  });
}

Status AddEngine(const std::string& name, const std::vector<std::string>& paths,
                 std::vector<Row>* rows, bool takes_frames = false) {
  auto engine = std::make_unique<Engine>();
  for (const std::string& path : paths) {
    Status status = engine->Add(path);
    if (!status.ok()) return status;
  }
  engine->Start(takes_frames);
  rows->push_back({name, std::move(engine), {}});
  return Status::Ok();
}

// Of these programs there are rows of frames, too.
constexpr uint32_t kOfFrames[] = {2, 4, 5, 6, 7, 10};

std::string NumberOf(uint32_t use_case) {
  const std::string number = std::to_string(use_case);
  return "uc" + std::string(2 - number.size(), '0') + number;
}

Status AddEngines(const std::string& directory, std::vector<Row>* rows) {
  static const char* const kNames[] = {
      "uc01_flow_volume_duration",   "uc02_flow_volume_cm", "uc03_cardinality_pcsa",
      "uc04_cardinality_hll",        "uc05_thresholds",     "uc06_sampling_stochastic",
      "uc07_sampling_deterministic", "uc08_postcards",      "uc09_trajectory",
      "uc10_two_phase_hh",           "uc11_topk_congested", "uc12_path_changes",
      "uc13_path_change_latency"};
  std::vector<std::string> all;
  for (const char* name : kNames) {
    all.push_back(directory + "/" + name + ".mafia");
    Status status = AddEngine(name, {all.back()}, rows);
    if (!status.ok()) return status;
  }
  Status status = AddEngine("all 13", all, rows);
  for (const uint32_t use_case : kOfFrames) {
    if (!status.ok()) return status;
    status = AddEngine(NumberOf(use_case) + " of frames", {all[use_case - 1]}, rows, true);
  }
  for (const size_t count : {4, 16}) {
    if (!status.ok()) return status;
    status =
        AddEngine(std::to_string(count) + " x uc02", std::vector<std::string>(count, all[1]), rows);
  }
  return status;
}

void AddByHand(std::vector<Row>* rows) {
  std::vector<uint32_t> all;
  for (uint32_t use_case = 1; use_case <= 13; ++use_case) {
    rows->push_back({"by hand: " + NumberOf(use_case), MakeHand(use_case), {}});
    all.push_back(use_case);
  }
  rows->push_back({"by hand: all 13", MakeHandTogether(all), {}});
  for (const size_t count : {4, 16}) {
    rows->push_back({"by hand: " + std::to_string(count) + " x uc02",
                     MakeHandTogether(std::vector<uint32_t>(count, 2)),
                     {}});
  }
  rows->push_back({"frames alone", std::make_unique<FramesAlone>(), {}});
  for (const uint32_t use_case : kOfFrames) {
    rows->push_back(
        {"by hand: " + NumberOf(use_case) + " of frames", MakeHand(use_case, true), {}});
  }
}

// `wanted`: only rows whose name holds it.
Status RunLoad(const std::string& directory, const std::string& wanted, const char* load,
               uint32_t flows, bool is_zipf) {
  std::vector<Row> rows;
  rows.push_back({"fields alone", std::make_unique<FieldsAlone>(), {}});
  AddByHand(&rows);
  rows.push_back({"exact hash map", MakeExactMap(flows), {}});
  for (const float rate : {1.0F, 0.01F}) {
    auto sketch = MakeRteMember(rate);
    const std::string name = rate == 1.0F ? "rte_member" : "rte_member, 1 % sampled";
    if (sketch != nullptr) rows.push_back({name, std::move(sketch), {}});
  }
  Status status = AddEngines(directory, &rows);
  if (!status.ok()) return status;
  rows.erase(std::remove_if(
                 rows.begin(), rows.end(),
                 [&wanted](const Row& row) { return row.name.find(wanted) == std::string::npos; }),
             rows.end());
  const std::vector<FlowPacket> packets = MakePackets(flows, is_zipf);
  uint64_t now = 1;
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) {
      MeasureContender* const contender = row.contender.get();
      row.nanos.push_back(contender->takes_frames() ? RunFramesOnce(contender, packets, &now)
                                                    : RunOnce(contender, packets, &now));
    }
  }
  std::printf("%s\n  %-30s %9s %9s\n", load, "ns per packet", "least", "median");
  uint64_t sum = 0;
  for (Row& row : rows) {
    std::sort(row.nanos.begin(), row.nanos.end());
    std::printf("  %-30s %9.1f %9.1f\n", row.name.c_str(), row.nanos[0], row.nanos[kRounds / 2]);
    sum += row.contender->Sum();
  }
  std::printf("  (sum %llu)\n", static_cast<unsigned long long>(sum));
  return Status::Ok();
}

int Main(const std::string& directory, const std::string& wanted) {
  Status status = RunLoad(directory, wanted, "10,000 flows, Zipf", 10000, true);
  if (status.ok()) status = RunLoad(directory, wanted, "1,000,000 flows, uniform", 1000000, false);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench-measure: %s\n", status.message().c_str());
  return 1;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) {
  if (argc == 2 || argc == 3) return trumpet::Main(argv[1], argc == 3 ? argv[2] : "");
  std::fputs("usage: bench-measure DIRECTORY-OF-PROGRAMS [PART-OF-A-ROW'S-NAME]\n", stderr);
  return 2;
}
