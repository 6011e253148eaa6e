// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Random messages of every kind, within what the protocol allows, and what is equal.

#ifndef TRUMPET_LIB_WIRE_RANDOM_MESSAGE_TEST_H
#define TRUMPET_LIB_WIRE_RANDOM_MESSAGE_TEST_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lib/wire/message.h"

namespace trumpet {

class RandomMessages {
 public:
  explicit RandomMessages(uint64_t seed) : random_(seed) {}

  Message Any();
  Message Of(MessageKind kind);
  EventSpec Event();

  // 0 to `limit` - 1.
  uint64_t Below(uint64_t limit) { return random_() % limit; }

 private:
  bool Coin() { return Below(2) == 0; }
  uint64_t Number();  // of any magnitude, ends of ranges more often than not
  uint32_t Id() { return static_cast<uint32_t>(1 + Below(UINT32_MAX)); }
  Nanos Instant();
  Nanos Length();
  std::string Text(size_t max_bytes);
  std::string Name();
  std::string Bytes(size_t max_bytes);
  std::vector<uint64_t> Words(size_t max_count);
  uint32_t Reasons() { return static_cast<uint32_t>(Below(kAllIncompleteReasons + 1)); }
  std::vector<KeyValue> KeyValues();

  FieldRef Ref(bool may_conflict_with_rtt);
  FieldTest Test();
  FilterExpr Filter(int height, FilterOp parent);
  Expr Leaf(bool in_aggregate, bool is_five_tuple);
  Expr Predicate(int height, bool in_aggregate, bool is_five_tuple);
  Granularity AnyGranularity();
  trumpet::Number AnyNumber();

  HostReport AnyReport();
  Partials AnyPartials();
  FlowStates AnyFlowStates();
  TriggerSet AnyTriggerSet();
  HostFacts AnyHostFacts();
  AddressSet AnyAddressSet();
  IntervalEnd AnyIntervalEnd();
  PollReply AnyPollReply();
  SliceOn AnySliceOn();
  SliceAck AnySliceAck();
  PacketFilePlace FilePlace();
  TraceRequest AnyTraceRequest();
  TraceAnswer AnyTraceAnswer();
  ExpectedSlice AnySlice();
  uint32_t Tag();
  Message AnyOfAnalyzers(MessageKind kind);
  MeasurementPlace AnyPlace();
  ProgramName AnyProgramName() { return {Name(), Id()}; }
  MeasureProgram AnyProgram();
  CellsRequest AnyCellsRequest();
  CellsAnswer AnyCellsAnswer();
  Message AnyOfPrograms(MessageKind kind);

  std::mt19937_64 random_;
  bool allows_rtt_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_RANDOM_MESSAGE_TEST_H
