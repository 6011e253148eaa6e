// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Of RandomMessages: what analyzers, slices and traces have.

#include "lib/wire/random_message_test.h"

#include "lib/model/slice_spec.h"
#include "lib/wire/limits.h"

namespace trumpet {

uint32_t RandomMessages::Tag() { return static_cast<uint32_t>(1 + Below(kMaxSliceTag)); }

ExpectedSlice RandomMessages::AnySlice() {
  ExpectedSlice slice;
  slice.tag = Tag();
  slice.run = Number();
  slice.slot = static_cast<uint32_t>(Number());
  slice.query = static_cast<uint32_t>(Number());
  slice.name = Text(kMaxTextBytes);
  slice.is_confine = Coin();
  slice.prefix.is_ipv6 = Coin();
  slice.prefix.length = static_cast<uint8_t>(Below(slice.prefix.is_ipv6 ? 129 : 33));
  slice.prefix.address = slice.prefix.is_ipv6 ? Uint128{Number()} << 64 | Number()
                                              : Uint128{static_cast<uint32_t>(Number())};
  slice.path.resize(Below(6));
  for (std::string& router : slice.path) router = Name();
  slice.locations.resize(Below(4));
  for (std::string& router : slice.locations) {
    router = Name();
    slice.numbers.push_back(static_cast<uint16_t>(Below(kMaxSwitchNumber + 1)));
  }
  slice.start = Instant();
  slice.end = Instant();
  return slice;
}

Message RandomMessages::AnyOfAnalyzers(MessageKind kind) {
  const size_t count = Below(4);
  switch (kind) {
    case MessageKind::kExpectSlices: {
      ExpectSlices expect;
      for (size_t i = 0; i < count; ++i) expect.slices.push_back(AnySlice());
      return expect;
    }
    case MessageKind::kTallyRequest: {
      TallyRequest request{Number(), {}};
      for (size_t i = 0; i < count; ++i) request.tags.push_back(Tag());
      return request;
    }
    case MessageKind::kSliceTallies: {
      SliceTallies tallies{Number(), Coin(), {}};
      for (size_t i = 0; i < count; ++i) {
        tallies.tallies.push_back(
            {Tag(), Name(), Number(), Number(), Number(), Instant(), Instant()});
      }
      return tallies;
    }
    case MessageKind::kFinishRun: {
      FinishRun finish{Number(), {}};
      for (size_t i = 0; i < count; ++i) finish.latencies.push_back({Name(), Instant(), Instant()});
      return finish;
    }
    case MessageKind::kRunAnswer:
      return RunAnswer{Number(), static_cast<uint32_t>(Below(kMaxAnswerParts)), Coin(),
                       Text(kMaxLongTextBytes)};
    case MessageKind::kPacketsRequest:
      return PacketsRequest{Number(), Tag(), Number(),
                            static_cast<uint32_t>(1 + Below(kMaxPacketsAsked))};
    case MessageKind::kPacketRecords: {
      PacketRecords records{Number(), Number(), Coin(), {}};
      for (size_t i = 0; i < count; ++i) {
        records.records.push_back(
            {Name(), Instant(), static_cast<uint32_t>(Number()), Coin(), Bytes(300)});
      }
      return records;
    }
    case MessageKind::kPacketFileRequest:
      return PacketFileRequest{Number(), Number(), FilePlace(),
                               static_cast<uint32_t>(1 + Below(kMaxPacketFileBytes))};
    case MessageKind::kPacketFilePiece:
      if (Coin()) {
        return PacketFilePiece{Number(), FilePlace(), Coin(), Bytes(300) + "x", ""};
      }
      return PacketFilePiece{Number(), FilePlace(), true, "", Text(kMaxLongTextBytes)};
    case MessageKind::kSliceOn:
      return AnySliceOn();
    case MessageKind::kSliceOff:
      return SliceOff{Text(kMaxTextBytes), Tag()};
    case MessageKind::kSliceAck:
      return AnySliceAck();
    case MessageKind::kSliceEnd:
      return HostSliceEnd{Text(kMaxTextBytes),
                          Tag(),
                          Number(),
                          Number(),
                          Number(),
                          static_cast<Nanos>(Below(kMaxSliceNs + 1)),
                          static_cast<Nanos>(Below(kMaxSliceNs + 1))};
    case MessageKind::kTraceCounters:
      return TraceCounters{static_cast<uint32_t>(Below(kMaxNetworkParts)), Coin(), Bytes(300)};
    case MessageKind::kTraceRequest:
      return AnyTraceRequest();
    case MessageKind::kTraceAnswer:
      return AnyTraceAnswer();
    case MessageKind::kTraceCancel:
      return TraceCancel{Number()};
    case MessageKind::kTraceNetwork:
      return TraceNetwork{static_cast<uint32_t>(Below(kMaxNetworkParts)), Coin(), Bytes(300)};
    case MessageKind::kTraceSent:
      return TraceSent{static_cast<uint16_t>(Below(kMaxSwitchNumber + 1)), Number(),
                       static_cast<Nanos>(Below(kMaxAskedAgo + 1))};
    default:
      return AnyOfPrograms(kind);
  }
}

PacketFilePlace RandomMessages::FilePlace() {
  return {static_cast<uint32_t>(Number()), static_cast<uint32_t>(Number()), Number()};
}

TraceRequest RandomMessages::AnyTraceRequest() {
  TraceRequest request{
      Number(), static_cast<TraceWhat>(Below(7)), static_cast<TracePackets>(Below(3)), {}};
  for (size_t i = Below(4); i > 0; --i) request.words.push_back({Name(), Text(kMaxLongTextBytes)});
  return request;
}

TraceAnswer RandomMessages::AnyTraceAnswer() {
  TraceAnswer answer;
  answer.number = Number();
  if (Coin()) {
    answer.error = Name();
    answer.is_wrong = Coin();
    return answer;
  }
  for (size_t i = Below(4); i > 0; --i) {
    answer.records.push_back({Instant(), Number(), Text(kMaxLongTextBytes)});
  }
  answer.has_more = Coin();
  answer.files = Number();
  answer.traces = Number();
  answer.bytes = Number();
  answer.left_out = Number();
  return answer;
}

SliceAck RandomMessages::AnySliceAck() {
  SliceAck ack{Text(kMaxTextBytes), Tag(), Coin(), ""};
  if (!ack.is_on) ack.error = Text(kMaxLongTextBytes);
  return ack;
}

SliceOn RandomMessages::AnySliceOn() {
  SliceOn on;
  on.slice.tag = Tag();
  on.slice.bridge = Text(kMaxTextBytes);
  on.slice.filter = Filter(3, FilterOp::kTrue);
  on.slice.duration = static_cast<Nanos>(1 + Below(kMaxSliceNs));
  on.slice.max_packets = Number();
  on.slice.max_bytes = Number();
  on.slice.packets_per_second = static_cast<uint32_t>(Number());
  on.slice.snap_bytes = static_cast<uint16_t>(Number());
  on.slice.mark = static_cast<uint16_t>(Below(kMaxSliceMark + 1));
  return on;
}

}  // namespace trumpet
