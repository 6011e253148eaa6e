// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a frame of protobuf may hold, kind by kind: its name, and the way from it and to it.  For
// the codec only.
//
// A new kind of message stands in each of the three lists, in the order of MessageKind.
//
// Threads: functions without state; any.

#ifndef TRUMPET_LIB_WIRE_FRAME_BODY_H
#define TRUMPET_LIB_WIRE_FRAME_BODY_H

#include <cstddef>

#include "lib/wire/count_codec.h"
#include "lib/wire/host_codec.h"
#include "lib/wire/message.h"
#include "lib/wire/order_codec.h"
#include "lib/wire/place_codec.h"
#include "lib/wire/program_codec.h"
#include "lib/wire/session_codec.h"
#include "lib/wire/slice_codec.h"
#include "lib/wire/trace_codec.h"
#include "lib/wire/trigger_codec.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {

inline constexpr const char* kFrameBodyNames[kMessageKindCount] = {
    "hello",
    "hello_reply",
    "refusal",
    "keep_alive",
    "bye",
    "trigger_set",
    "trigger_ack",
    "host_facts",
    "poll",
    "poll_reply",
    "report",
    "partials",
    "flow_states",
    "interval_end",
    "host_place",
    "expect_slices",
    "tally_request",
    "slice_tallies",
    "finish_run",
    "run_answer",
    "packets_request",
    "packet_records",
    "slice_on",
    "slice_off",
    "slice_ack",
    "slice_end",
    "packet_file_request",
    "packet_file_piece",
    "program_on",
    "program_off",
    "program_ack",
    "program_list",
    "cells_request",
    "cells_answer",
    "program_counts",
    "trace_counters",
    "trace_request",
    "trace_answer",
    "trace_cancel",
    "trace_network",
    "trace_sent",
};

static_assert(pb::Frame::kHello == static_cast<int>(MessageKind::kHello) + 1);
static_assert(pb::Frame::kBye == static_cast<int>(MessageKind::kBye) + 1);
static_assert(pb::Frame::kHostFacts == static_cast<int>(MessageKind::kHostFacts) + 1);
static_assert(pb::Frame::kReport == static_cast<int>(MessageKind::kReport) + 1);
static_assert(pb::Frame::kIntervalEnd == static_cast<int>(MessageKind::kIntervalEnd) + 1);
static_assert(pb::Frame::kHostPlace == static_cast<int>(MessageKind::kHostPlace) + 1);

// The kinds up to kHostPlace are numbered from 1, those of slices in the datapath from 40, those of
// analyzers from 50, those of measurement programs from 70, those of files from 80, and those of
// traces from 88 and 90.
constexpr size_t KindOfBody(int number) {
  const auto from = [number](int first, MessageKind kind) {
    return static_cast<size_t>(number - first) + static_cast<size_t>(kind);
  };
  return number < pb::Frame::kSliceOn        ? from(pb::Frame::kHello, MessageKind::kHello)
         : number < pb::Frame::kExpectSlices ? from(pb::Frame::kSliceOn, MessageKind::kSliceOn)
         : number < pb::Frame::kProgramOn
             ? from(pb::Frame::kExpectSlices, MessageKind::kExpectSlices)
         : number < pb::Frame::kPacketFileRequest
             ? from(pb::Frame::kProgramOn, MessageKind::kProgramOn)
         : number < pb::Frame::kTraceCounters
             ? from(pb::Frame::kPacketFileRequest, MessageKind::kPacketFileRequest)
         : number < pb::Frame::kTraceRequest
             ? from(pb::Frame::kTraceCounters, MessageKind::kTraceCounters)
             : from(pb::Frame::kTraceRequest, MessageKind::kTraceRequest);
}
static_assert(KindOfBody(pb::Frame::kSliceEnd) == static_cast<size_t>(MessageKind::kSliceEnd));
static_assert(KindOfBody(pb::Frame::kPacketRecords) ==
              static_cast<size_t>(MessageKind::kPacketRecords));
static_assert(KindOfBody(pb::Frame::kPacketFilePiece) ==
              static_cast<size_t>(MessageKind::kPacketFilePiece));
static_assert(KindOfBody(pb::Frame::kTraceSent) == static_cast<size_t>(MessageKind::kTraceSent));
static_assert(KindOfBody(pb::Frame::kProgramCounts) ==
              static_cast<size_t>(MessageKind::kProgramCounts));

// Calls `visit` with the message that the frame holds; false if there is none.
template <typename Visitor>
bool VisitFrameBody(const pb::Frame& frame, const Visitor& visit) {
  switch (frame.body_case()) {
    case pb::Frame::kHello:
      return visit(frame.hello());
    case pb::Frame::kHelloReply:
      return visit(frame.hello_reply());
    case pb::Frame::kRefusal:
      return visit(frame.refusal());
    case pb::Frame::kKeepAlive:
      return visit(frame.keep_alive());
    case pb::Frame::kBye:
      return visit(frame.bye());
    case pb::Frame::kTriggerSet:
      return visit(frame.trigger_set());
    case pb::Frame::kTriggerAck:
      return visit(frame.trigger_ack());
    case pb::Frame::kHostFacts:
      return visit(frame.host_facts());
    case pb::Frame::kPoll:
      return visit(frame.poll());
    case pb::Frame::kPollReply:
      return visit(frame.poll_reply());
    case pb::Frame::kReport:
      return visit(frame.report());
    case pb::Frame::kPartials:
      return visit(frame.partials());
    case pb::Frame::kFlowStates:
      return visit(frame.flow_states());
    case pb::Frame::kIntervalEnd:
      return visit(frame.interval_end());
    case pb::Frame::kHostPlace:
      return visit(frame.host_place());
    case pb::Frame::kExpectSlices:
      return visit(frame.expect_slices());
    case pb::Frame::kTallyRequest:
      return visit(frame.tally_request());
    case pb::Frame::kSliceTallies:
      return visit(frame.slice_tallies());
    case pb::Frame::kFinishRun:
      return visit(frame.finish_run());
    case pb::Frame::kRunAnswer:
      return visit(frame.run_answer());
    case pb::Frame::kPacketsRequest:
      return visit(frame.packets_request());
    case pb::Frame::kPacketRecords:
      return visit(frame.packet_records());
    case pb::Frame::kSliceOn:
      return visit(frame.slice_on());
    case pb::Frame::kSliceOff:
      return visit(frame.slice_off());
    case pb::Frame::kSliceAck:
      return visit(frame.slice_ack());
    case pb::Frame::kSliceEnd:
      return visit(frame.slice_end());
    case pb::Frame::kPacketFileRequest:
      return visit(frame.packet_file_request());
    case pb::Frame::kPacketFilePiece:
      return visit(frame.packet_file_piece());
    case pb::Frame::kProgramOn:
      return visit(frame.program_on());
    case pb::Frame::kProgramOff:
      return visit(frame.program_off());
    case pb::Frame::kProgramAck:
      return visit(frame.program_ack());
    case pb::Frame::kProgramList:
      return visit(frame.program_list());
    case pb::Frame::kCellsRequest:
      return visit(frame.cells_request());
    case pb::Frame::kCellsAnswer:
      return visit(frame.cells_answer());
    case pb::Frame::kProgramCounts:
      return visit(frame.program_counts());
    case pb::Frame::kTraceCounters:
      return visit(frame.trace_counters());
    case pb::Frame::kTraceRequest:
      return visit(frame.trace_request());
    case pb::Frame::kTraceAnswer:
      return visit(frame.trace_answer());
    case pb::Frame::kTraceCancel:
      return visit(frame.trace_cancel());
    case pb::Frame::kTraceNetwork:
      return visit(frame.trace_network());
    case pb::Frame::kTraceSent:
      return visit(frame.trace_sent());
    case pb::Frame::BODY_NOT_SET:
      break;
  }
  return false;
}

struct FrameBodyWriter {
  pb::Frame* frame;

  void operator()(const Hello& hello) const { Write(hello, frame->mutable_hello()); }
  void operator()(const HelloReply& reply) const { Write(reply, frame->mutable_hello_reply()); }
  void operator()(const Refusal& refusal) const { Write(refusal, frame->mutable_refusal()); }
  void operator()(const KeepAlive& alive) const { Write(alive, frame->mutable_keep_alive()); }
  void operator()(const Bye& bye) const { Write(bye, frame->mutable_bye()); }
  void operator()(const TriggerSet& set) const { Write(set, frame->mutable_trigger_set()); }
  void operator()(const TriggerAck& ack) const { Write(ack, frame->mutable_trigger_ack()); }
  void operator()(const HostFacts& facts) const { Write(facts, frame->mutable_host_facts()); }
  void operator()(const Poll& poll) const { Write(poll, frame->mutable_poll()); }
  void operator()(const PollReply& reply) const { Write(reply, frame->mutable_poll_reply()); }
  void operator()(const HostReport& report) const { Write(report, frame->mutable_report()); }
  void operator()(const Partials& partials) const { Write(partials, frame->mutable_partials()); }
  void operator()(const FlowStates& states) const { Write(states, frame->mutable_flow_states()); }
  void operator()(const IntervalEnd& end) const { Write(end, frame->mutable_interval_end()); }
  void operator()(const HostPlacePart& part) const { Write(part, frame->mutable_host_place()); }
  void operator()(const ExpectSlices& body) const { Write(body, frame->mutable_expect_slices()); }
  void operator()(const TallyRequest& body) const { Write(body, frame->mutable_tally_request()); }
  void operator()(const SliceTallies& body) const { Write(body, frame->mutable_slice_tallies()); }
  void operator()(const FinishRun& body) const { Write(body, frame->mutable_finish_run()); }
  void operator()(const RunAnswer& body) const { Write(body, frame->mutable_run_answer()); }
  void operator()(const PacketsRequest& body) const {
    Write(body, frame->mutable_packets_request());
  }
  void operator()(const PacketRecords& body) const { Write(body, frame->mutable_packet_records()); }
  void operator()(const SliceOn& body) const { Write(body, frame->mutable_slice_on()); }
  void operator()(const SliceOff& body) const { Write(body, frame->mutable_slice_off()); }
  void operator()(const SliceAck& body) const { Write(body, frame->mutable_slice_ack()); }
  void operator()(const HostSliceEnd& body) const { Write(body, frame->mutable_slice_end()); }
  void operator()(const PacketFileRequest& body) const {
    Write(body, frame->mutable_packet_file_request());
  }
  void operator()(const PacketFilePiece& body) const {
    Write(body, frame->mutable_packet_file_piece());
  }
  void operator()(const ProgramOn& body) const { Write(body, frame->mutable_program_on()); }
  void operator()(const ProgramOff& body) const { Write(body, frame->mutable_program_off()); }
  void operator()(const ProgramAck& body) const { Write(body, frame->mutable_program_ack()); }
  void operator()(const ProgramList& body) const { Write(body, frame->mutable_program_list()); }
  void operator()(const CellsRequest& body) const { Write(body, frame->mutable_cells_request()); }
  void operator()(const CellsAnswer& body) const { Write(body, frame->mutable_cells_answer()); }
  void operator()(const ProgramCounts& body) const { Write(body, frame->mutable_program_counts()); }
  void operator()(const TraceCounters& body) const { Write(body, frame->mutable_trace_counters()); }
  void operator()(const TraceRequest& body) const { Write(body, frame->mutable_trace_request()); }
  void operator()(const TraceAnswer& body) const { Write(body, frame->mutable_trace_answer()); }
  void operator()(const TraceCancel& body) const { Write(body, frame->mutable_trace_cancel()); }
  void operator()(const TraceNetwork& body) const { Write(body, frame->mutable_trace_network()); }
  void operator()(const TraceSent& body) const { Write(body, frame->mutable_trace_sent()); }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_FRAME_BODY_H
