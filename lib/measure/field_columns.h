// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FieldColumns: single fields of all packets of a burst, side by side, for all programs that read
// them.
//
// Threads: one thread owns it.

#ifndef TRUMPET_LIB_MEASURE_FIELD_COLUMNS_H
#define TRUMPET_LIB_MEASURE_FIELD_COLUMNS_H

#include <cstdint>

#include "lib/measure/measured_packet.h"

namespace trumpet {

class FieldColumns {
 public:
  using Column = uint64_t[kMaxMeasureBurst];

  // A burst comes, which is borrowed until the next one.
  void Begin(const MeasuredPacket* packets, uint32_t count, const BurstSource& source) {
    packets_ = packets;
    count_ = count;
    source_ = &source;
    known_ = 0;
  }

  // By packet.
  const Column& Of(MeasureFieldId field) {
    if ((known_ >> field & 1) == 0) Read(field);
    return values_[field];
  }

  // These, a bit each, were tagged, or are of other headers now.
  void Forget(uint64_t fields) { known_ &= ~fields; }

 private:
  // The size of frames comes straight from them.
  void Read(MeasureFieldId field) {
    known_ |= uint64_t{1} << field;
    Column& values = values_[field];
    if (source_->frames != nullptr && field == kPktSize) {
      for (uint32_t i = 0; i < count_; ++i) values[i] = source_->frames[i].wire_length;
    } else {
      for (uint32_t i = 0; i < count_; ++i) values[i] = packets_[i].values->value[field];
    }
  }

  const MeasuredPacket* packets_ = nullptr;
  uint32_t count_ = 0;
  const BurstSource* source_ = nullptr;  // not copied: it was written a moment ago, by parts
  uint64_t known_ = 0;                   // a bit for each column that was read
  Column values_[kMaxPacketFields] = {};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_FIELD_COLUMNS_H
