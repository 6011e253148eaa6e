// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/frame_programs.h"

namespace trumpet {
namespace {

// Those that are not at one place of a header that all frames of their kind have.
constexpr uint64_t OddFields() {
  return uint64_t{1} << kSegwayMsg | uint64_t{1} << kSegwayTs | uint64_t{1} << kSegwayTime |
         uint64_t{1} << kVlanVid | uint64_t{1} << kGeneveOption;
}

template <uint32_t kBytes>
uint64_t LoadField(const uint8_t* at) {
  switch (kBytes) {
    case 1:
      return *at;
    case 2:
      return LoadBe16(at);
    case 4:
      return LoadBe32(at);
    default:
      return uint64_t{LoadBe16(at)} << 32 | LoadBe32(at + 2);
  }
}

template <uint32_t kBytes>
void ReadColumn(const FrameHeaders* headers, const uint8_t* FrameHeaders::*header, uint32_t offset,
                uint32_t count, MeasureFieldId field, PacketValues* values) {
  for (uint32_t i = 0; i < count; ++i) {
    values[i].value[field] = LoadField<kBytes>(headers[i].*header + offset);
  }
}

}  // namespace

constexpr FramePrograms::FieldPlan FramePrograms::kHeaderFields[] = {
    {kEthDst, &FrameHeaders::ethernet, 0, 6},    {kEthSrc, &FrameHeaders::ethernet, 6, 6},
    {kEthType, &FrameHeaders::type, 0, 2},       {kIpv4Tos, &FrameHeaders::ipv4, 1, 1},
    {kIpv4Len, &FrameHeaders::ipv4, 2, 2},       {kIpv4Id, &FrameHeaders::ipv4, 4, 2},
    {kIpv4Ttl, &FrameHeaders::ipv4, 8, 1},       {kIpv4Proto, &FrameHeaders::ipv4, 9, 1},
    {kIpv4Checksum, &FrameHeaders::ipv4, 10, 2}, {kIpv4Src, &FrameHeaders::ipv4, 12, 4},
    {kIpv4Dst, &FrameHeaders::ipv4, 16, 4},      {kTcpSrc, &FrameHeaders::tcp, 0, 2},
    {kTcpDst, &FrameHeaders::tcp, 2, 2},         {kTcpFlags, &FrameHeaders::tcp, 13, 1},
    {kUdpSrc, &FrameHeaders::udp, 0, 2},         {kUdpDst, &FrameHeaders::udp, 2, 2},
};

FramePrograms::FramePrograms(const std::vector<ProgramState*>& states)
    : set_(states, {}),
      values_(kMaxMeasureBurst),
      packets_(kMaxMeasureBurst),
      headers_(kMaxMeasureBurst) {
  const uint64_t fields = set_.fields_read();
  reads_all_ = set_.changes_packets() || (fields & (OddFields() | ~kTableFieldBits)) != 0;
  reads_size_ = (fields >> kPktSize & 1) != 0;
  for (const FieldPlan& plan : kHeaderFields) {
    if ((fields >> plan.field & 1) != 0) plans_.push_back(plan);
  }
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) packets_[i].values = &values_[i];
  Place({});
}

void FramePrograms::Run(const Frame* frames, uint32_t count, const PacketPlace& place,
                        uint64_t now) {
  if (reads_all_) {
    for (uint32_t i = 0; i < count; ++i) {
      packets_[i].now = now;
      ReadPacketValues(frames[i], &values_[i]);
      PlaceReceived(place, &values_[i]);
    }
    return set_.Run(packets_.data(), count);
  }
  packets_[0].now = now;
  if (place != place_) Place(place);
  ReadFields(frames, count);
  set_.Run(packets_.data(), count, {frames, place_});
}

// All packets of a port have it in common, so it stays from burst to burst.
void FramePrograms::Place(const PacketPlace& place) {
  place_ = place;
  for (PacketValues& values : values_) PlaceReceived(place, &values);
}

void FramePrograms::ReadFields(const Frame* frames, uint32_t count) {
  PacketValues* const values = values_.data();
  if (reads_size_) {
    for (uint32_t i = 0; i < count; ++i) values[i].value[kPktSize] = frames[i].wire_length;
  }
  if (plans_.empty()) return;
  FrameHeaders* const headers = headers_.data();
  for (uint32_t i = 0; i < count; ++i) headers[i] = LocateHeaders(frames[i]);
  for (const FieldPlan& plan : plans_) {
    switch (plan.bytes) {
      case 1:
        ReadColumn<1>(headers, plan.header, plan.offset, count, plan.field, values);
        break;
      case 2:
        ReadColumn<2>(headers, plan.header, plan.offset, count, plan.field, values);
        break;
      case 4:
        ReadColumn<4>(headers, plan.header, plan.offset, count, plan.field, values);
        break;
      default:
        ReadColumn<6>(headers, plan.header, plan.offset, count, plan.field, values);
        break;
    }
  }
}

}  // namespace trumpet
