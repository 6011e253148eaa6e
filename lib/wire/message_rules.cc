// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/message_rules.h"

namespace trumpet {

bool IsFromAgent(MessageKind kind) {
  switch (kind) {
    case MessageKind::kTriggerAck:
    case MessageKind::kHostFacts:
    case MessageKind::kPollReply:
    case MessageKind::kReport:
    case MessageKind::kPartials:
    case MessageKind::kFlowStates:
    case MessageKind::kIntervalEnd:
    case MessageKind::kSliceTallies:
    case MessageKind::kRunAnswer:
    case MessageKind::kPacketRecords:
    case MessageKind::kSliceAck:
    case MessageKind::kSliceEnd:
    case MessageKind::kPacketFilePiece:
    case MessageKind::kProgramAck:
    case MessageKind::kProgramList:
    case MessageKind::kCellsAnswer:
    case MessageKind::kProgramCounts:
    case MessageKind::kTraceAnswer:
      return true;
    default:
      return false;
  }
}

bool IsFromController(MessageKind kind) {
  switch (kind) {
    case MessageKind::kTriggerSet:
    case MessageKind::kPoll:
    case MessageKind::kHostPlace:
    case MessageKind::kExpectSlices:
    case MessageKind::kTallyRequest:
    case MessageKind::kFinishRun:
    case MessageKind::kPacketsRequest:
    case MessageKind::kProgramOn:
    case MessageKind::kProgramOff:
    case MessageKind::kCellsRequest:
    case MessageKind::kSliceOn:
    case MessageKind::kSliceOff:
    case MessageKind::kPacketFileRequest:
    case MessageKind::kTraceCounters:
    case MessageKind::kTraceRequest:
    case MessageKind::kTraceCancel:
    case MessageKind::kTraceNetwork:
    case MessageKind::kTraceSent:
      return true;
    default:
      return false;
  }
}

bool MayWait(MessageKind kind) {
  return kind == MessageKind::kReport || kind == MessageKind::kPartials ||
         kind == MessageKind::kFlowStates;
}

uint64_t CapabilityFor(MessageKind kind) {
  switch (kind) {
    case MessageKind::kPartials:
      return kCapabilityPartials;
    case MessageKind::kFlowStates:
      return kCapabilityFlowStates;
    case MessageKind::kPoll:
    case MessageKind::kPollReply:
      return kCapabilityPoll;
    case MessageKind::kHostPlace:
      return kCapabilityPlace;
    case MessageKind::kExpectSlices:
    case MessageKind::kTallyRequest:
    case MessageKind::kSliceTallies:
    case MessageKind::kFinishRun:
    case MessageKind::kRunAnswer:
    case MessageKind::kPacketsRequest:
    case MessageKind::kPacketRecords:
      return kCapabilityAnalyzer;
    case MessageKind::kPacketFileRequest:
    case MessageKind::kPacketFilePiece:
      return kCapabilityPacketFiles;
    case MessageKind::kTraceCounters:
      return kCapabilityTraceCounters;
    case MessageKind::kTraceRequest:
    case MessageKind::kTraceAnswer:
    case MessageKind::kTraceCancel:
    case MessageKind::kTraceNetwork:
      return kCapabilityTraces;
    case MessageKind::kTraceSent:
      return kCapabilityTraceSent;
    case MessageKind::kSliceOn:
    case MessageKind::kSliceOff:
    case MessageKind::kSliceAck:
    case MessageKind::kSliceEnd:
      return kCapabilitySlices;
    case MessageKind::kProgramOn:
    case MessageKind::kProgramOff:
    case MessageKind::kProgramAck:
    case MessageKind::kProgramList:
    case MessageKind::kCellsRequest:
    case MessageKind::kCellsAnswer:
      return kCapabilityPrograms;
    case MessageKind::kProgramCounts:
      return kCapabilityCollect;
    default:
      return 0;
  }
}

}  // namespace trumpet
