// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketValues: the fields of one packet, as measurement programs read and tag them.
//
// Fields that the packet lacks read as 0.  A tag changes the value here and marks the field in
// `tagged`; who forwards or exports the packet puts it into the bytes.
//
// Threads: values.

#ifndef TRUMPET_LIB_MEASURE_PACKET_VALUES_H
#define TRUMPET_LIB_MEASURE_PACKET_VALUES_H

#include <cstdint>

#include "lib/model/measure_program.h"
#include "lib/packet/parse.h"

namespace trumpet {

// Of the table and of a program's own headers together.
constexpr uint32_t kMaxPacketFields = 64;
static_assert(kMeasureFieldCount + kMaxMeasureHeaderFields <= kMaxPacketFields);

constexpr uint64_t kTableFieldBits = (uint64_t{1} << kMeasureFieldCount) - 1;

// What tells where a packet is, a bit per field.
constexpr uint64_t kPlaceFields = uint64_t{1} << kPktInputPort | uint64_t{1} << kPktOutputPort |
                                  uint64_t{1} << kPktInQueueLength | uint64_t{1} << kSwitchId;

struct PacketValues {
  // Who reads a value may read as many words behind it, too.
  static constexpr uint32_t kReadAhead = 3;

  uint64_t present = 0;  // bit per field
  uint64_t tagged = 0;
  const uint8_t* ipv4 = nullptr;     // the header, if it was captured whole; borrowed
  const uint8_t* payload = nullptr;  // of TCP or UDP; borrowed with the frame
  uint32_t payload_bytes = 0;        // that were captured
  uint64_t value[kMaxPacketFields + kReadAhead] = {};

  bool Has(MeasureFieldId field) const { return (present >> field & 1) != 0; }
  void Set(MeasureFieldId field, uint64_t number) {
    value[field] = number;
    present |= uint64_t{1} << field;
  }
  // Those that one program's headers have may be others in the next one.
  void ForgetHeaderFields() {
    present &= kTableFieldBits;
    tagged &= kTableFieldBits;
  }
};

// What the switch knows of a packet beyond its bytes.
struct PacketPlace {
  uint16_t input_port = 0;
  uint16_t output_port = 0;
  uint16_t in_queue_length = 0;
  uint8_t switch_id = 0;

  bool operator==(const PacketPlace& other) const {
    return input_port == other.input_port && output_port == other.output_port &&
           in_queue_length == other.in_queue_length && switch_id == other.switch_id;
  }
  bool operator!=(const PacketPlace& other) const { return !(*this == other); }
};

// Overwrites `values` with the fields of the frame; its metadata are absent but pkt.size, and so
// are the headers of programs, whose values stay as they are until ReadHeaderFields().  Headers are
// taken as they are: lengths and checksums are not verified.  IPv4 only behind Ethernet and at most
// two VLAN tags; ports only of first fragments.  vlan.vid can be read, and is absent.  The segway
// header only with all its bytes.
void ReadPacketValues(const Frame& frame, PacketValues* values);

// The same for a packet whose place is set already, and stays: input port, queue and switch.
void ReadPlacedPacket(const Frame& frame, PacketValues* values);

// Sets pkt.* and switch.id; the latter is readable, and no field of the packet.
void PlacePacket(const PacketPlace& place, PacketValues* values);

// The same for a packet of which it is not known yet where it leaves.
void PlaceReceived(const PacketPlace& place, PacketValues* values);

// Width of a field of the table or of the program's own headers.
inline uint8_t FieldBits(const MeasureProgram& program, MeasureFieldId field) {
  return field < kMeasureFieldCount ? kMeasureFields[field].bits
                                    : program.header_fields[field - kMeasureFieldCount].bits;
}

inline const char* MeasureFieldName(const MeasureProgram& program, MeasureFieldId field) {
  return field < kMeasureFieldCount
             ? kMeasureFields[field].name
             : program.header_fields[field - kMeasureFieldCount].name.c_str();
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PACKET_VALUES_H
