// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/collected_ring.h"

namespace trumpet {
namespace {

constexpr uint32_t kHalf = sizeof(uint32_t);

uint32_t CountBits(uint64_t bits) { return static_cast<uint32_t>(__builtin_popcountll(bits)); }

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
  packet->present = header.present;
  packet->endpoint = static_cast<uint32_t>(header.endpoint);
  const auto* const low =
      reinterpret_cast<const uint32_t*>(static_cast<const uint8_t*>(record.data) + sizeof header);
  const uint32_t count = CountBits(header.present);
  packet->values.assign(low, low + count);
  const uint32_t* high = low + count;
  if ((header.present & WideFields()) != 0) {
    uint64_t* value = packet->values.data();
    for (uint64_t left = header.present; left != 0; left &= left - 1, ++value) {
      const bool is_wide = (WideFields() >> __builtin_ctzll(left) & 1) != 0;
      if (is_wide) *value |= uint64_t{*high++} << 32;
    }
  }
  ring_.Release();
  return true;
}

}  // namespace trumpet
