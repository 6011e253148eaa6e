// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/thread_programs.h"

#include <algorithm>
#include <utility>

#include "lib/measure/carrier_shim.h"
#include "lib/measure/payload_tags.h"

namespace trumpet {
namespace {

// Of a port, as programs read it.
uint16_t PortValue(uint32_t port) { return static_cast<uint16_t>(port); }

ShimFrame ShimFrameOf(const trumpet_sent_frame& frame) {
  return {frame.bytes, frame.captured_length};
}

uint32_t ShimBytes(const TagCarriage& carriage) {
  return (carriage.has_vid ? kVlanShimBytes : 0) + (carriage.has_option ? kOptionShimBytes : 0);
}

// Is this a packet that the program is about?  Others are not even counted.
bool IsOfInterest(const TagCarriage& carriage, const trumpet_sent_frame& frame,
                  const PacketValues& values, bool is_last) {
  if (carriage.has_header() && values.ipv4 == nullptr) return false;
  return !carriage.has_option || is_last || IsInGeneve(ShimFrameOf(frame));
}

// May the first hop tag it?  Nothing travels beside a packet that leaves by an edge port at once.
bool CanCarry(const TagCarriage& carriage, const trumpet_sent_frame& frame,
              const PacketValues& values, bool is_last, const ParseOptions& parse) {
  const bool is_its_own = !frame.is_fixed && !IsOfTunnel(values, parse);  // the header
  if (carriage.has_header() && (!is_its_own || !CanCarryTags(carriage, values.ipv4))) return false;
  if (!carriage.has_shim() || is_last) return true;
  const ShimFrame bytes = ShimFrameOf(frame);
  return frame.room >= ShimBytes(carriage) && (!carriage.has_vid || CanCarryVid(bytes)) &&
         (!carriage.has_option || CanCarryOption(bytes));
}

// Does it, as it came from another switch?
bool Carries(const TagCarriage& carriage, const trumpet_sent_frame& frame,
             const PacketValues& values) {
  if (carriage.has_header() && (values.ipv4 == nullptr || !CarriesTags(values.ipv4))) return false;
  return (!carriage.has_vid || frame.carried.has_vid) &&
         (!carriage.has_option || frame.carried.has_option);
}

void ReadCarried(const trumpet_carried& carried, PacketValues* values) {
  if (carried.has_vid) values->Set(kVlanVid, carried.vid);
  if (carried.has_option) values->Set(kGeneveOption, carried.option);
}

// After the program: what it has tagged goes along, until the last hop.  A packet that begins to
// carry something carries all that the program tags anywhere: by that it is known at other hops.
void CarryAlong(const TagCarriage& carriage, const MeasuredPacket& packet,
                trumpet_sent_frame* frame) {
  const PacketValues& values = *packet.values;
  const bool begins = (packet.hops & kFirstHopBit) != 0 && values.tagged != 0;
  const auto goes_along = [&values, begins](MeasureFieldId field) {
    return begins || (values.tagged >> field & 1) != 0;
  };
  trumpet_carried* const carried = &frame->carried;
  if ((packet.hops & kFirstHopBit) != 0) *carried = {};
  if ((packet.hops & kLastHopBit) != 0) return;
  if (carriage.has_vid && goes_along(kVlanVid)) {
    carried->has_vid = true;
    carried->vid = static_cast<uint16_t>(values.value[kVlanVid]);
  }
  if (carriage.has_option && goes_along(kGeneveOption)) {
    carried->has_option = true;
    carried->option = static_cast<uint32_t>(values.value[kGeneveOption]);
  }
}

void TakeTagsOut(const TagCarriage& carriage, const PacketValues& values,
                 trumpet_sent_frame* frame) {
  RemoveCarriedTags(carriage, frame->bytes + (values.ipv4 - frame->bytes));
  frame->is_changed = true;
}

// At the last hop, of a packet that the program does not see, as what it carried beside its bytes
// was lost on the way or the program is gone: its header is what it was all the same.
void TakeRestOut(const TagCarriage& carriage, const PacketValues& values,
                 trumpet_sent_frame* frame) {
  if (!carriage.has_header() || values.ipv4 == nullptr || !CarriesTags(values.ipv4)) return;
  TakeTagsOut(carriage, values, frame);
}

// After the program: puts its tags in, or at the last hop those of all hops out.
void Rewrite(const TagCarriage& carriage, const MeasuredPacket& packet, trumpet_sent_frame* frame) {
  const PacketValues& values = *packet.values;
  const bool is_first = (packet.hops & kFirstHopBit) != 0;
  if ((packet.hops & kLastHopBit) != 0) {
    if (!is_first) TakeTagsOut(carriage, values, frame);  // else it was never tagged on the way
  } else if (values.tagged != 0) {
    WriteCarriedTags(carriage, values, frame->bytes + (values.ipv4 - frame->bytes));
    frame->is_changed = true;
  }
}

void CountOne(std::atomic<uint64_t>* counter) {
  counter->store(counter->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

ThreadPrograms::ThreadPrograms(const std::vector<PlacedProgram>& programs,
                               std::vector<std::shared_ptr<const TagsLeft>> left,
                               const ParseOptions& parse)
    : left_(std::move(left)), parse_(parse) {
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
  if (sent_.empty() && left_.empty()) return;
  for (int i = 0; i < count; ++i) {
    const trumpet_sent_frame& frame = frames[i];
    ReadPacketValues({frame.bytes, frame.captured_length, frame.wire_length},
                     &values_[static_cast<size_t>(i)]);
    ReadCarried(frame.carried, &values_[static_cast<size_t>(i)]);
  }
  for (SentProgram& program : sent_) Run(&program, frames, count, out_port, now);
  for (const auto& left : left_) {
    if (!left->edges.Has(out_port)) continue;
    for (int i = 0; i < count; ++i) {
      if (left->edges.Has(frames[i].in_port)) continue;
      TakeRestOut(left->carriage, values_[static_cast<size_t>(i)], &frames[i]);
    }
  }
}

bool ThreadPrograms::Takes(const PlacedProgram& placed, const trumpet_sent_frame& frame,
                           const PacketValues& values, uint8_t hops) const {
  const TagCarriage& carriage = placed.way.carriage;
  if (!carriage.has_any()) return true;
  if ((hops & kFirstHopBit) == 0) return Carries(carriage, frame, values);
  const bool is_last = (hops & kLastHopBit) != 0;
  const bool begins = carriage.has_header() && !is_last;
  if (begins && placed.holds_tags->load(std::memory_order_relaxed)) return false;
  if (!IsOfInterest(carriage, frame, values, is_last)) return false;
  if (CanCarry(carriage, frame, values, is_last, parse_)) return true;
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
    if (!Takes(placed, frames[i], *values, hops)) {
      if (hops == kLastHopBit) TakeRestOut(placed.way.carriage, *values, &frames[i]);
      continue;
    }
    PlacePacket(
        {PortValue(frames[i].in_port), PortValue(out_port), queue_length_, placed.way.switch_id},
        values);
    values->tagged = 0;  // by programs before it
    values->ForgetHeaderFields();
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
  for (uint32_t i = 0; placed.way.carriage.has_shim() && i < taken_count; ++i) {
    CarryAlong(placed.way.carriage, packets_[i], taken[i]);
  }
  for (uint32_t i = 0; placed.way.carriage.has_header() && i < taken_count; ++i) {
    Rewrite(placed.way.carriage, packets_[i], taken[i]);
  }
}

}  // namespace trumpet
