// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/program_run.h"

#include <algorithm>
#include <cinttypes>
#include <string>
#include <utility>

#include "lib/measure/header_fields.h"
#include "utilities/replay/program_file.h"

namespace trumpet {
namespace {

constexpr size_t kRingBytes = size_t{1} << 23;  // what a burst can collect fits
constexpr uint64_t kHopDelay = 5000;            // ns
constexpr uint16_t kVolumeRequest = 7;          // what packets of ctrl ask for
constexpr size_t kThreeHops = 3;

}  // namespace

size_t ProgramRun::SwitchCountOf(const CompiledProgram& program) {
  return program.source.roles.empty() ? 1 : kThreeHops;
}

ProgramRun::ProgramRun(const CompiledProgram* program, OnCollected on_collected,
                       OnForwarded on_forwarded)
    : program_(program),
      on_collected_(std::move(on_collected)),
      on_forwarded_(std::move(on_forwarded)),
      hop_count_(SwitchCountOf(*program)) {
  const auto flips = [](const WindowPlan& window) { return window.flips; };
  const auto& windows = program->windows;
  burst_ = std::any_of(windows.begin(), windows.end(), flips) ? 1 : kMaxMeasureBurst;
}

Status ProgramRun::Start(uint32_t batch) {
  burst_ = std::min<size_t>(burst_, batch);
  for (size_t i = 0; i < hop_count_; ++i) {
    ProgramState::Options options;
    options.random_seed = kReplaySeed + i;
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

void ProgramRun::Add(const TimedFrame& frame, const PacketMeta& meta) {
  Traveller traveller;
  ReadPacketValues(frame.frame, &traveller.values);
  const uint8_t* payload = traveller.values.payload;
  if (payload != nullptr) {
    traveller.payload.assign(payload, payload + traveller.values.payload_bytes);
  }
  traveller.time = static_cast<uint64_t>(frame.time);
  traveller.meta = meta;
  waiting_.push_back(std::move(traveller));
  if (waiting_.size() == burst_) Flush();
}

void ProgramRun::Flush() {
  for (size_t i = 0; i < hop_count_; ++i) RunHop(i);
  for (const Traveller& traveller : waiting_) on_forwarded_(traveller.values);
  waiting_.clear();
}

std::vector<const ProgramState*> ProgramRun::states() const {
  std::vector<const ProgramState*> states;
  for (const Hop& hop : hops_) states.push_back(hop.state.get());
  return states;
}

void ProgramRun::PrintStats(std::FILE* err) const {
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

void ProgramRun::RunHop(size_t index) {
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
  while (hop->state->ReadCollected(&collected)) on_collected_(index, collected);
  for (Traveller& traveller : waiting_) {
    WriteHeaderFields(*program_, traveller.values, traveller.payload.data());
  }
}

bool ProgramRun::IsAsked(const Traveller& traveller) const {
  return hop_count_ == 1 && traveller.meta.is_ctrl != 0 &&
         program_->entries[kCtrlStream] != CompiledProgram::kNoCode;
}

void ProgramRun::PlaceAt(size_t index, Traveller* traveller) const {
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

}  // namespace trumpet
