// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/program_replay.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/header_fields.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/program_set.h"
#include "lib/packet/pcap_reader.h"
#include "utilities/replay/packet_meta.h"
#include "utilities/replay/program_report.h"
#include "utilities/replay/text_file.h"

namespace trumpet {
namespace {

constexpr size_t kMaxMetaBytes = size_t{1} << 30;
constexpr uint64_t kSeed = 0x5bd1e9955bd1e995u;  // runs repeat
constexpr size_t kRingBytes = size_t{1} << 23;   // what a burst can collect fits
constexpr uint64_t kHopDelay = 5000;             // ns
constexpr uint16_t kVolumeRequest = 7;           // what packets of ctrl ask for
constexpr uint32_t kThreeHops = 3;

struct Hop {
  std::unique_ptr<ProgramState> state;
  std::unique_ptr<ProgramSet> set;
};

// A packet between two hops.
struct Traveller {
  PacketValues values;
  std::vector<uint8_t> payload;
  uint64_t time = 0;
  PacketMeta meta;
};

class ProgramRun {
 public:
  ProgramRun(const CompiledProgram* program, const ReplayOptions& options, std::FILE* out)
      : program_(program),
        wants_state_(options.wants_state),
        out_(out),
        hop_count_(program->source.roles.empty() ? 1 : kThreeHops),
        report_(program, BaseName(options.program_path), hop_count_) {
    const auto flips = [](const WindowPlan& window) { return window.flips; };
    const auto& windows = program->windows;
    burst_ = std::any_of(windows.begin(), windows.end(), flips) ? 1 : kMaxMeasureBurst;
  }

  Status Start() {
    for (uint32_t i = 0; i < hop_count_; ++i) {
      ProgramState::Options options;
      options.random_seed = kSeed + i;
      options.ring_bytes = kRingBytes;
      Hop hop;
      hop.state = ProgramState::Create(program_, nullptr, options);
      if (hop.state == nullptr) return Status::Error("no memory for the program's variables");
      hop.set = std::make_unique<ProgramSet>(std::vector<ProgramState*>{hop.state.get()},
                                             std::vector<std::string>{});
      hops_.push_back(std::move(hop));
    }
    return Status::Ok();
  }

  void Add(const TimedFrame& frame, const PacketMeta& meta) {
    Traveller traveller;
    ReadPacketValues(frame.frame, &traveller.values);
    const uint8_t* payload = traveller.values.payload;
    if (payload != nullptr) {
      traveller.payload.assign(payload, payload + traveller.values.payload_bytes);
    }
    traveller.time = static_cast<uint64_t>(frame.time);
    traveller.meta = meta;
    waiting_.push_back(std::move(traveller));
    if (waiting_.size() == burst_) RunWaiting();
  }

  Status Finish() {
    RunWaiting();
    if (wants_state_) {
      std::vector<const ProgramState*> states;
      for (const Hop& hop : hops_) states.push_back(hop.state.get());
      Print(report_.StateJson(states));
    }
    if (std::fflush(out_) == 0 && std::ferror(out_) == 0) return Status::Ok();
    return Status::Error(std::string("cannot write: ") + std::strerror(errno));
  }

  void PrintStats(std::FILE* err) const {
    const CostCertificate& cost = program_->cost;
    std::fprintf(err, "%-28s %" PRIu64 "\n", "operators a packet", cost.operators);
    std::fprintf(err, "%-28s %" PRIu64 "\n", "hashes a packet", cost.hashes);
    std::fprintf(err, "%-28s %" PRIu64 "\n", "cache lines a packet", cost.cache_lines);
    std::fprintf(err, "%-28s %" PRIu64 "\n", "bytes", cost.bytes);
    for (const Hop& hop : hops_) {
      const ProgramState::Counters& counters = hop.state->counters();
      std::fprintf(err, "%-28s %" PRIu64 "\n", "packets collected", counters.collected.load());
      std::fprintf(err, "%-28s %" PRIu64 "\n", "packets lost", counters.lost.load());
      std::fprintf(err, "%-28s %" PRIu64 "\n", "evictions", counters.evictions.load());
    }
  }

 private:
  static std::string BaseName(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
  }

  void Print(const std::string& line) { std::fprintf(out_, "%s\n", line.c_str()); }

  void RunWaiting() {
    for (uint32_t i = 0; i < hop_count_; ++i) RunHop(i);
    for (const Traveller& traveller : waiting_) report_.AddForwarded(traveller.values);
    waiting_.clear();
  }

  void RunHop(uint32_t index) {
    std::vector<MeasuredPacket> packets;
    for (Traveller& traveller : waiting_) {
      traveller.values.payload = traveller.payload.data();
      PlaceAt(index, &traveller);
      MeasuredPacket packet;
      packet.values = &traveller.values;
      packet.now = traveller.time + index * kHopDelay;
      packet.stream = IsAsked(traveller) ? kCtrlStream : kPktsStream;
      if (hop_count_ > 1 && index == 0) packet.hops = kFirstHopBit;
      if (hop_count_ > 1 && index + 1 == hop_count_) packet.hops = kLastHopBit;
      packets.push_back(packet);
    }
    Hop* hop = &hops_[index];
    hop->set->Run(packets.data(), static_cast<uint32_t>(packets.size()));
    hop->state->ClearRetired();
    CollectedPacket collected;
    while (hop->state->ReadCollected(&collected)) Collect(index, collected);
    for (Traveller& traveller : waiting_) {
      WriteHeaderFields(*program_, traveller.values, traveller.payload.data());
    }
  }

  void Collect(uint32_t hop, const CollectedPacket& packet) {
    if (wants_state_) {
      report_.AddCollected(hop, packet);
    } else {
      Print(report_.CollectedJson(hop, packet));
    }
  }

  bool IsAsked(const Traveller& traveller) const {
    return hop_count_ == 1 && traveller.meta.is_ctrl != 0 &&
           program_->entries[kCtrlStream] != CompiledProgram::kNoCode;
  }

  void PlaceAt(uint32_t index, Traveller* traveller) const {
    const PacketMeta& meta = traveller->meta;
    PacketPlace place;
    place.switch_id = static_cast<uint8_t>(index + 1);
    place.in_queue_length = meta.queue_length[index];
    if (hop_count_ == 1) {
      place.input_port = meta.in_port;
      place.output_port = static_cast<uint16_t>(20 + meta.path);
    } else {
      place.input_port = static_cast<uint16_t>(10 * (index + 1) + meta.path);
      place.output_port = static_cast<uint16_t>(10 * (index + 2) + meta.path);
    }
    PlacePacket(place, &traveller->values);
    if (IsAsked(*traveller)) traveller->values.Set(kPktRequest, kVolumeRequest);
  }

  const CompiledProgram* program_;
  const bool wants_state_;
  std::FILE* out_;
  const uint32_t hop_count_;
  size_t burst_ = 1;
  ProgramReport report_;
  std::vector<Hop> hops_;
  std::vector<Traveller> waiting_;
};

Result<std::unique_ptr<const CompiledProgram>> LoadProgram(const ReplayOptions& options) {
  const auto text = ReadTextFile(options.program_path, kMaxMafiaTextBytes);
  if (!text.ok()) return text.status();
  MafiaOptions language;
  language.params = options.params;
  const auto program = CompileMafia(*text, options.program_path, language);
  if (!program.ok()) return program.status();
  MeasureLoadOptions load;
  load.family = options.hash;
  load.seed = kSeed;
  load.budget.bytes = uint64_t{1} << 31;  // offline, cost is time only
  load.budget.operators = load.budget.hashes = load.budget.cache_lines = UINT64_MAX;
  auto loaded = LoadMeasureProgram(*program, load);
  if (!loaded.ok()) return Status::Error(options.program_path + ": " + loaded.message());
  return loaded;
}

Status Play(const ReplayOptions& options, const std::vector<PacketMeta>& metas, ProgramRun* run) {
  auto reader = PcapReader::OpenFile(options.captures[0]);  // file order: that of the metadata
  if (!reader.ok()) return reader.status();
  for (;;) {
    TimedFrame frame;
    const auto has_frame = reader->Next(&frame);
    if (!has_frame.ok()) return has_frame.status();
    const uint64_t count = reader->frame_count();
    if (!*has_frame) {
      if (options.meta_path.empty() || count == metas.size()) return Status::Ok();
      return Status::Error(options.meta_path + ": describes " + std::to_string(metas.size()) +
                           " packets, but the capture has " + std::to_string(count));
    }
    if (!options.meta_path.empty() && count > metas.size()) {
      return Status::Error(options.meta_path + ": describes " + std::to_string(metas.size()) +
                           " packets, but the capture has more");
    }
    run->Add(frame, options.meta_path.empty() ? PacketMeta() : metas[count - 1]);
  }
}

}  // namespace

Status ReplayProgram(const ReplayOptions& options, std::FILE* out, std::FILE* err) {
  const auto program = LoadProgram(options);
  if (!program.ok()) return program.status();
  std::vector<PacketMeta> metas;
  if (!options.meta_path.empty()) {
    const auto text = ReadTextFile(options.meta_path, kMaxMetaBytes);
    if (!text.ok()) return text.status();
    auto parsed = ParsePacketMeta(*text, options.meta_path);
    if (!parsed.ok()) return parsed.status();
    metas = std::move(*parsed);
  }
  ProgramRun run(program->get(), options, out);
  Status status = run.Start();
  if (status.ok()) status = Play(options, metas, &run);
  if (status.ok()) status = run.Finish();
  if (status.ok() && options.wants_stats) run.PrintStats(err);
  return status;
}

}  // namespace trumpet
