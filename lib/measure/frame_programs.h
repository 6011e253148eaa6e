// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FramePrograms: the measurement programs of one packet thread that take frames as they come in.
//
// Says what a ProgramSet says of packets whose fields were all read, but reads little: of most
// packets only the fields that expressions use, and keys of the usual kind straight from the
// headers; all others when a copy of the packet is run.  Reading all fields, and the lines of the
// cache that they take away from the switch, cost more than most programs.
//
// Threads: Run() is for the packet thread.  Lifetime: the states must outlive the object.

#ifndef TRUMPET_LIB_MEASURE_FRAME_PROGRAMS_H
#define TRUMPET_LIB_MEASURE_FRAME_PROGRAMS_H

#include <cstdint>
#include <vector>

#include "lib/measure/frame_headers.h"
#include "lib/measure/program_set.h"

namespace trumpet {

class FramePrograms {
 public:
  explicit FramePrograms(const std::vector<ProgramState*>& states);

  // At most kMaxMeasureBurst frames that came by the port of `place` at `now` (ns).  Where a packet
  // leaves is not known yet.
  void Run(const Frame* frames, uint32_t count, const PacketPlace& place, uint64_t now);

 private:
  // A field: `bytes` of a header, from `offset` on.
  struct FieldPlan {
    MeasureFieldId field;
    const uint8_t* FrameHeaders::*header;
    uint8_t offset;
    uint8_t bytes;
  };
  static const FieldPlan kHeaderFields[];

  void Place(const PacketPlace& place);
  void ReadFields(const Frame* frames, uint32_t count);

  ProgramSet set_;
  std::vector<FieldPlan> plans_;
  bool reads_all_ = false;  // fields; they may be tagged, or lie in the payload
  bool reads_size_ = false;
  PacketPlace place_;  // of all values
  std::vector<PacketValues> values_;
  std::vector<MeasuredPacket> packets_;
  std::vector<FrameHeaders> headers_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_FRAME_PROGRAMS_H
