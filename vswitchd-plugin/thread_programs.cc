// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/thread_programs.h"

#include <algorithm>
#include <utility>

#include "lib/measure/payload_tags.h"

namespace trumpet {
namespace {

// Of a port, as programs read it.
uint16_t PortValue(uint32_t port) { return static_cast<uint16_t>(port); }

// After the program: puts its tags in, or at the last hop those of all hops out.
void Rewrite(const TagCarriage& carriage, const MeasuredPacket& packet, trumpet_sent_frame* frame) {
  const PacketValues& values = *packet.values;
  uint8_t* const header = frame->bytes + (values.ipv4 - frame->bytes);
  const bool is_first = (packet.hops & kFirstHopBit) != 0;
  if ((packet.hops & kLastHopBit) != 0) {
    if (is_first) return;  // it has never been tagged on the way
    RemoveCarriedTags(carriage, header);
  } else {
    if (values.tagged == 0) return;
    WriteCarriedTags(carriage, values, header);
  }
  frame->is_changed = true;
}

void CountOne(std::atomic<uint64_t>* counter) {
  counter->store(counter->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

ThreadPrograms::ThreadPrograms(const std::vector<PlacedProgram>& programs) {
  std::vector<std::pair<uint8_t, std::vector<ProgramState*>>> by_switch;
  for (const PlacedProgram& placed : programs) {
    if (placed.way.is_sent) {
      sent_.push_back({ProgramSet({placed.state}, {}), placed});
      continue;
    }
    const auto same = std::find_if(by_switch.begin(), by_switch.end(), [&](const auto& group) {
      return group.first == placed.way.switch_id;
    });
    if (same != by_switch.end()) {
      same->second.push_back(placed.state);
    } else {
      by_switch.push_back({placed.way.switch_id, {placed.state}});
    }
  }
  for (const auto& [switch_id, states] : by_switch) {
    received_.push_back({FramePrograms(states), switch_id});
  }
}

void ThreadPrograms::Receive(const Frame* frames, int count, uint32_t in_port,
                             uint16_t queue_length, Nanos now) {
  queue_length_ = queue_length;
  for (ReceivedPrograms& received : received_) {
    received.programs.Run(frames, static_cast<uint32_t>(count),
                          {PortValue(in_port), 0, queue_length, received.switch_id},
                          static_cast<uint64_t>(now));
  }
}

void ThreadPrograms::Send(trumpet_sent_frame* frames, int count, uint32_t out_port, Nanos now) {
  if (sent_.empty()) return;
  for (int i = 0; i < count; ++i) {
    const trumpet_sent_frame& frame = frames[i];
    ReadPacketValues({frame.bytes, frame.captured_length, frame.wire_length},
                     &values_[static_cast<size_t>(i)]);
  }
  for (SentProgram& program : sent_) Run(&program, frames, count, out_port, now);
}

bool ThreadPrograms::Takes(const PlacedProgram& placed, const trumpet_sent_frame& frame,
                           const PacketValues& values, uint8_t hops) {
  if (!placed.way.carriage.has_any()) return true;
  const bool is_first = (hops & kFirstHopBit) != 0;
  if (values.ipv4 == nullptr) return false;
  if (!is_first) return CarriesTags(values.ipv4);
  if (!frame.is_fixed && CanCarryTags(placed.way.carriage, values.ipv4)) return true;
  CountOne(placed.untagged);
  return false;
}

void ThreadPrograms::Run(SentProgram* program, trumpet_sent_frame* frames, int count,
                         uint32_t out_port, Nanos now) {
  const PlacedProgram& placed = program->placed;
  const uint8_t last = placed.edges->Has(out_port) ? kLastHopBit : 0;
  std::array<trumpet_sent_frame*, kMaxMeasureBurst> taken;
  uint32_t taken_count = 0;
  for (int i = 0; i < count; ++i) {
    PacketValues* const values = &values_[static_cast<size_t>(i)];
    const uint8_t first = placed.edges->Has(frames[i].in_port) ? kFirstHopBit : 0;
    const auto hops = static_cast<uint8_t>(first | last);
    if (!Takes(placed, frames[i], *values, hops)) continue;
    PlacePacket(
        {PortValue(frames[i].in_port), PortValue(out_port), queue_length_, placed.way.switch_id},
        values);
    taken[taken_count] = &frames[i];
    packets_[taken_count++] = {values, static_cast<uint64_t>(now), kPktsStream, hops};
  }
  program->set.Run(packets_.data(), taken_count);
  if (placed.way.carriage.has_payload) {
    for (uint32_t i = 0; i < taken_count; ++i) {
      if (taken[i]->is_fixed) continue;
      WritePayloadTags(placed.state->program(), *packets_[i].values, taken[i]->makes_checksum,
                       taken[i]->bytes, taken[i]->captured_length);
    }
  }
  if (!placed.way.carriage.has_any()) return;
  for (uint32_t i = 0; i < taken_count; ++i) {
    Rewrite(placed.way.carriage, packets_[i], taken[i]);
  }
}

}  // namespace trumpet
