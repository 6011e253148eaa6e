// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/collected_ring.h"

namespace trumpet {
namespace {

constexpr uint32_t kHalf = sizeof(uint32_t);

uint32_t CountBits(uint64_t bits) { return static_cast<uint32_t>(__builtin_popcountll(bits)); }

}  // namespace

RecordPlace RecordPlace::Of(uint64_t present, uint32_t field) {
  const uint64_t before = present & ((uint64_t{1} << field) - 1);
  const uint32_t high = CountBits(present) + CountBits(before & WideFields());
  return {static_cast<uint16_t>(kHalf * CountBits(before)), static_cast<uint16_t>(kHalf * high),
          (WideFields() >> field & 1) != 0};
}

FieldMoves::FieldMoves(uint64_t present)
    : bytes_(kHalf * (CountBits(present) + CountBits(present & WideFields()))) {
  uint32_t moved = 0;  // the field behind those that the last move has taken
  for (uint64_t left = present; left != 0; left &= left - 1) {
    const auto field = static_cast<uint32_t>(__builtin_ctzll(left));
    const RecordPlace place = RecordPlace::Of(present, field);
    const auto from = static_cast<uint16_t>(field * sizeof(uint64_t));
    if (place.is_wide) {
      wide_[wide_count_++] = {static_cast<uint16_t>(from + (kIsBig ? 0 : kHalf)), place.high};
    }
    const bool is_moved = field < moved && (present >> (field - 1) & 1) != 0;
    if (is_moved) continue;
    moves_[count_++] = {from, place.low};
    moved = field + kAtOnce;
  }
}

bool CollectedRing::Read(CollectedPacket* packet) {
  const auto record = ring_.Peek();
  if (!record) return false;
  Header header;
  std::memcpy(&header, record.data, sizeof header);
  packet->now = header.now;
  packet->present = header.present;
  packet->endpoint = static_cast<uint32_t>(header.endpoint);
  packet->values.clear();
  const uint8_t* const values = static_cast<const uint8_t*>(record.data) + sizeof header;
  for (uint64_t left = header.present; left != 0; left &= left - 1) {
    const auto field = static_cast<uint32_t>(__builtin_ctzll(left));
    packet->values.push_back(RecordPlace::Of(header.present, field).Load(values));
  }
  ring_.Release();
  return true;
}

}  // namespace trumpet
