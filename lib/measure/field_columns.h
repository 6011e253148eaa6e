// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FieldColumns: single fields of all packets of a burst, side by side, for all programs that read
// them.
//
// Threads: one thread owns it.

#ifndef TRUMPET_LIB_MEASURE_FIELD_COLUMNS_H
#define TRUMPET_LIB_MEASURE_FIELD_COLUMNS_H

#include <algorithm>
#include <cstdint>

#include "lib/measure/measured_packet.h"

namespace trumpet {

class FieldColumns {
 public:
  using Column = uint64_t[kMaxMeasureBurst];

  FieldColumns() { Forget(); }

  // A burst comes, which is borrowed until the next one.
  void Begin(const MeasuredPacket* packets, uint32_t count, const BurstSource& source) {
    packets_ = packets;
    count_ = count;
    source_ = source;
    Forget();
  }

  // By packet; good until as many other fields were asked for as there are columns.
  const Column& Of(MeasureFieldId field) {
    for (uint32_t i = 0; i < kColumns; ++i) {
      if (fields_[i] == field) return values_[i];
    }
    return Read(field);
  }

  // Packets were tagged, or what a field is was changed.
  void Forget() { std::fill(fields_, fields_ + kColumns, kNone); }

 private:
  static constexpr uint32_t kColumns = 4;
  static constexpr MeasureFieldId kNone = kMaxPacketFields;

  // The size of frames comes straight from them.
  const Column& Read(MeasureFieldId field) {
    const uint32_t column = next_++ % kColumns;
    Column& values = values_[column];
    fields_[column] = field;
    if (source_.frames != nullptr && field == kPktSize) {
      for (uint32_t i = 0; i < count_; ++i) values[i] = source_.frames[i].wire_length;
    } else {
      for (uint32_t i = 0; i < count_; ++i) values[i] = packets_[i].values->value[field];
    }
    return values;
  }

  const MeasuredPacket* packets_ = nullptr;
  uint32_t count_ = 0;
  BurstSource source_;
  uint32_t next_ = 0;  // column to give up
  MeasureFieldId fields_[kColumns];
  Column values_[kColumns] = {};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_FIELD_COLUMNS_H
