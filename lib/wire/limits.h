// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Limits: what no message of the protocol exceeds, checked by who sends and by who receives.
//
// Memory: decoding takes at most some 60 bytes per byte of frame for as long as it lasts (empty
// elements of lists are the worst: measured 56), so these bound what a peer can make us allocate.

#ifndef TRUMPET_LIB_WIRE_LIMITS_H
#define TRUMPET_LIB_WIRE_LIMITS_H

#include <cstddef>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

// Bytes of a frame, without its length: to an agent, to the controller, and the first one of either
// side, which comes from someone who has not said a word yet.
constexpr size_t kMaxFrameToAgent = 1024 * 1024;
constexpr size_t kMaxFrameToController = 256 * 1024;
constexpr size_t kMaxFirstFrame = 4096;

constexpr size_t kMaxTextBytes = 255;
constexpr size_t kMaxLongTextBytes = 1024;

constexpr int kMaxTreeHeight = 90;  // with what is around: below protobuf's own limit of 100
constexpr size_t kMaxTreeNodes = 65536;
constexpr uint32_t kMaxIntervalMs = 24 * 3600 * 1000;
constexpr uint32_t kMaxEventBuckets = 1u << 24;

constexpr size_t kMaxTriggerChanges = 65536;  // in all parts of a set
constexpr size_t kMaxEventErrors = 4096;
constexpr size_t kMaxShareAcks = 4096;
constexpr uint32_t kMaxWordsPerBucket = 1u << 14;
constexpr size_t kMaxIncompleteRanges = 256;
constexpr size_t kMaxPollQuestions = 4096;
constexpr size_t kMaxFlowStates = 4096;
constexpr uint64_t kMaxFlowTimeoutNs = 3600ull * 1000 * 1000 * 1000;  // a state rests, and lives
constexpr size_t kMaxKeyValues = 256;                                 // in one list
constexpr size_t kMaxBridges = 256;
constexpr size_t kMaxPorts = 65536;
constexpr size_t kMaxMacs = 256;  // of one port

constexpr uint64_t kMaxSliceNs = 3600ull * 1000 * 1000 * 1000;  // how long a slice may last

constexpr size_t kMaxPlacePrefixes = 65536;  // own, and monitored; of all parts together
constexpr size_t kMaxPlaceMacs = 131072;     // likewise
constexpr size_t kMaxPlaceParts = 65536;

// Of analyzers.  A slice's path has so many routers that its message fits into a frame.
constexpr size_t kMaxExpectedSlices = 1024;  // in one message
constexpr size_t kMaxSlicePath = 1024;
constexpr size_t kMaxSliceLocations = 1024;
constexpr size_t kMaxTallyTags = 4096;
constexpr size_t kMaxTallies = 1024;
constexpr size_t kMaxLatencies = 4096;
constexpr uint32_t kMaxAnswerParts = 4096;
constexpr uint32_t kMaxPacketsAsked = 4096;
constexpr size_t kMaxRecordBytes = 65535;
constexpr uint32_t kMaxPacketFileBytes = 128 * 1024;  // of a piece

// Of traces.
constexpr size_t kMaxTraceWords = 256;
constexpr size_t kMaxTraceRecords = 1000;  // of an answer
constexpr size_t kMaxTraceTextBytes = 65535;
constexpr size_t kMaxNetworkBytes = 16 * 1024 * 1024;
constexpr size_t kMaxNetworkPartBytes = 128 * 1024;
constexpr uint32_t kMaxNetworkParts = kMaxNetworkBytes / kMaxNetworkPartBytes;
constexpr Nanos kMaxAskedAgo = 60 * kNanosPerSecond;

// Of measurement programs, beside those of lib/model/measure_program.h.
constexpr size_t kMaxProgramsListed = 64;
constexpr uint32_t kMaxCellsAsked = 16384;  // in one message
constexpr size_t kMaxProgramCopies = 256;   // likewise

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_LIMITS_H
