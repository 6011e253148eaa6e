// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CollectedRing: packets on their way to an endpoint, from a packet thread to the agent.
//
// A record is laid out for whoever writes it: the low halves of the values that are present, as
// they lie in the packet, and behind them the high halves of those that may have any.  Or it is a
// frame, of which Read() makes what the other kind would have held (frame_copy.h).
//
// Threads: batches are for the packet thread, Read() is for one other.
// Memory: taken at construction.

#ifndef TRUMPET_LIB_MEASURE_COLLECTED_RING_H
#define TRUMPET_LIB_MEASURE_COLLECTED_RING_H

#include <xmmintrin.h>

#include <cstring>
#include <new>
#include <vector>

#include "lib/base/spsc_ring.h"
#include "lib/measure/frame_copy.h"
#include "lib/measure/packet_values.h"

namespace trumpet {

// A packet on its way to an endpoint.
struct CollectedPacket {
  uint64_t now = 0;  // ns
  uint64_t present = 0;
  uint32_t endpoint = 0;
  std::vector<uint64_t> values;  // of the fields present, in their order
};

// Fields that may need more than 32 bits: some of the table, all of programs' own headers.
constexpr uint64_t WideFields() {
  uint64_t wide = ~kTableFieldBits;
  for (uint32_t field = 0; field < kMeasureFieldCount; ++field) {
    if (kMeasureFields[field].bits > 32) wide |= uint64_t{1} << field;
  }
  return wide;
}

// Where a record has the value of a field, by bytes.
struct RecordPlace {
  void Store(uint64_t value, uint8_t* record) const {
    const uint32_t halves[2] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
    std::memcpy(record + low, &halves[0], sizeof halves[0]);
    if (is_wide) std::memcpy(record + high, &halves[1], sizeof halves[1]);
  }

  uint16_t low = 0;
  uint16_t high = 0;
  bool is_wide = false;
};

// Takes the values of packets that have the same fields to where their records have them, several
// at a time.
class FieldMoves {
 public:
  static constexpr size_t kAtOnce = PacketValues::kReadAhead + 1;
  // What Copy() may write behind the record.
  static constexpr size_t kSlack = kAtOnce * sizeof(uint32_t);

  // Of packets that have these fields, a bit each.
  void Become(uint64_t present);

  uint64_t present() const { return present_; }
  size_t bytes() const { return bytes_; }
  RecordPlace PlaceOf(MeasureFieldId field) const;
  // What is copied too much lies where the next fields, or none, go.
  void Copy(const PacketValues& packet, uint8_t* to) const {
    const auto* const from = reinterpret_cast<const uint8_t*>(packet.value);
    for (uint32_t i = 0; i < count_; ++i) CopyLowHalves(from + moves_[i].from, to + moves_[i].to);
    for (uint32_t i = 0; i < wide_count_; ++i) {
      std::memcpy(to + wide_[i].to, from + wide_[i].from, sizeof(uint32_t));
    }
  }

 private:
  // By bytes.
  struct Move {
    uint16_t from;
    uint16_t to;
  };

  static void CopyLowHalves(const uint8_t* from, uint8_t* to) {
    const auto* const words = reinterpret_cast<const float*>(from);
    const __m128 first = _mm_loadu_ps(words);
    const __m128 second = _mm_loadu_ps(words + 4);
    const __m128 low = _mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0));
    _mm_storeu_ps(reinterpret_cast<float*>(to), low);
  }

  uint64_t present_ = 0;
  uint32_t bytes_ = 0;
  uint32_t count_ = 0;
  uint32_t wide_count_ = 0;
  Move moves_[kMaxPacketFields];
  Move wide_[kMaxPacketFields];
};

class CollectedRing {
 public:
  // `copies`: of the program whose frames it takes, if it takes some; borrowed.
  explicit CollectedRing(size_t bytes, const std::vector<BurstCopy>* copies = nullptr)
      : ring_(bytes), copies_(copies) {}

  // Packets that can be read when the batch is done with.
  class Batch {
   public:
    explicit Batch(CollectedRing* ring) : batch_(&ring->ring_) {}

    // The record of a packet, with room for the values of its fields, to be filled at once; null:
    // there is none.
    uint8_t* Add(uint64_t now, uint32_t endpoint, const FieldMoves& moves) {
      void* const room = batch_.Add(sizeof(Header) + moves.bytes(), FieldMoves::kSlack);
      if (room == nullptr) return nullptr;
      return reinterpret_cast<uint8_t*>(new (room) Header{now, moves.present(), endpoint} + 1);
    }

    // A frame, with copies of its bytes; false: there is no room.
    bool AddFrame(const FrameCopy& frame) {
      void* const room = batch_.Add(sizeof(Header) + frame.bytes);
      if (room == nullptr) return false;
      uint64_t place;
      std::memcpy(&place, &frame.place, sizeof place);
      const auto behind = static_cast<uint16_t>(frame.copy + 1);
      auto* const header =
          new (room) Header{frame.now, place, frame.wire_length, behind, frame.bytes};
      CopyFrameBytes(frame.data, frame.bytes, reinterpret_cast<uint8_t*>(header + 1));
      return true;
    }

   private:
    SpscRing::Batch batch_;
  };

  // The oldest packet; false when there is none.
  bool Read(CollectedPacket* packet);

 private:
  // Of a frame, `present` is its place, and `endpoint` how long it was on the wire.
  struct Header {
    uint64_t now;
    uint64_t present;
    uint32_t endpoint;
    uint16_t frame_copy = 0;  // behind the number of its copy; 0: it is no frame
    uint16_t frame_bytes = 0;
  };
  static_assert(sizeof(PacketPlace) == sizeof(uint64_t), "it takes the place of `present`");

  void ReadFrame(const Header& header, const uint8_t* bytes, CollectedPacket* packet) const;

  SpscRing ring_;
  const std::vector<BurstCopy>* const copies_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_COLLECTED_RING_H
