// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/collected_ring.h"

namespace trumpet {
namespace {

constexpr uint32_t kHalf = sizeof(uint32_t);

uint32_t CountBits(uint64_t bits) { return static_cast<uint32_t>(__builtin_popcountll(bits)); }

// Of these fields, a bit each, from the low half of the first one on.
void ReadFields(const uint32_t* low, uint64_t present, std::vector<uint64_t>* values) {
  const uint32_t count = CountBits(present);
  values->assign(low, low + count);
  if ((present & WideFields()) == 0) return;
  const uint32_t* high = low + count;
  uint64_t* value = values->data();
  for (uint64_t left = present; left != 0; left &= left - 1, ++value) {
    const bool is_wide = (WideFields() >> __builtin_ctzll(left) & 1) != 0;
    if (is_wide) *value |= uint64_t{*high++} << 32;
  }
}

}  // namespace

void FieldMoves::Become(uint64_t present) {
  present_ = present;
  count_ = wide_count_ = 0;
  uint16_t low = 0;
  auto high = static_cast<uint16_t>(kHalf * CountBits(present));
  uint32_t moved = 0;  // the field behind those that the last move has taken
  for (uint64_t left = present; left != 0; left &= left - 1) {
    const auto field = static_cast<uint32_t>(__builtin_ctzll(left));
    const auto from = static_cast<uint16_t>(field * sizeof(uint64_t));
    const bool is_moved = field < moved && (present >> (field - 1) & 1) != 0;
    if (!is_moved) {
      moves_[count_++] = {from, low};
      moved = field + kAtOnce;
    }
    low += kHalf;
    if ((WideFields() >> field & 1) == 0) continue;
    wide_[wide_count_++] = {static_cast<uint16_t>(from + kHalf), high};
    high += kHalf;
  }
  bytes_ = high;
}

RecordPlace FieldMoves::PlaceOf(MeasureFieldId field) const {
  const uint64_t before = present_ & ((uint64_t{1} << field) - 1);
  const uint32_t high = CountBits(present_) + CountBits(before & WideFields());
  return {static_cast<uint16_t>(kHalf * CountBits(before)), static_cast<uint16_t>(kHalf * high),
          (WideFields() >> field & 1) != 0};
}

bool CollectedRing::Read(CollectedPacket* packet) {
  const auto record = ring_.Peek();
  if (!record) return false;
  Header header;
  std::memcpy(&header, record.data, sizeof header);
  packet->now = header.now;
  const uint8_t* const rest = static_cast<const uint8_t*>(record.data) + sizeof header;
  if (header.frame_copy != 0) {
    ReadFrame(header, rest, packet);
  } else {
    packet->present = header.present;
    packet->endpoint = header.endpoint;
    ReadFields(reinterpret_cast<const uint32_t*>(rest), header.present, &packet->values);
  }
  ring_.Release();
  return true;
}

void CollectedRing::ReadFrame(const Header& header, const uint8_t* bytes,
                              CollectedPacket* packet) const {
  FrameCopy frame;
  std::memcpy(static_cast<void*>(&frame.place), &header.present, sizeof frame.place);
  frame.wire_length = header.endpoint;
  frame.bytes = header.frame_bytes;
  frame.data = bytes;
  const BurstCopy& copy = (*copies_)[header.frame_copy - size_t{1}];
  PacketValues read;
  ReadFrameCopy(frame, copy, &read);
  packet->present = read.present;
  packet->endpoint = copy.endpoint;
  packet->values.clear();
  for (uint64_t left = read.present; left != 0; left &= left - 1) {
    packet->values.push_back(read.value[__builtin_ctzll(left)]);
  }
}

}  // namespace trumpet
