// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The messages of slice_message.h on the wire: checked, written and read; long ones cut into parts.

#ifndef TRUMPET_LIB_WIRE_SLICE_CODEC_H
#define TRUMPET_LIB_WIRE_SLICE_CODEC_H

#include <cstddef>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/wire/check.h"
#include "lib/wire/codec.h"
#include "lib/wire/slice_message.h"

namespace trumpet {

namespace pb {
class ExpectSlices;
class TallyRequest;
class SliceTallies;
class FinishRun;
class RunAnswer;
class PacketsRequest;
class PacketRecords;
class PacketFileRequest;
class PacketFilePiece;
}  // namespace pb

bool Check(const pb::ExpectSlices& expect, const Place& place, Checker* checker);
bool Check(const pb::TallyRequest& request, const Place& place, Checker* checker);
bool Check(const pb::SliceTallies& tallies, const Place& place, Checker* checker);
bool Check(const pb::FinishRun& finish, const Place& place, Checker* checker);
bool Check(const pb::RunAnswer& answer, const Place& place, Checker* checker);
bool Check(const pb::PacketsRequest& request, const Place& place, Checker* checker);
bool Check(const pb::PacketRecords& records, const Place& place, Checker* checker);
bool Check(const pb::PacketFileRequest& request, const Place& place, Checker* checker);
bool Check(const pb::PacketFilePiece& piece, const Place& place, Checker* checker);

void Write(const ExpectSlices& expect, pb::ExpectSlices* out);
void Write(const TallyRequest& request, pb::TallyRequest* out);
void Write(const SliceTallies& tallies, pb::SliceTallies* out);
void Write(const FinishRun& finish, pb::FinishRun* out);
void Write(const RunAnswer& answer, pb::RunAnswer* out);
void Write(const PacketsRequest& request, pb::PacketsRequest* out);
void Write(const PacketRecords& records, pb::PacketRecords* out);
void Write(const PacketFileRequest& request, pb::PacketFileRequest* out);
void Write(const PacketFilePiece& piece, pb::PacketFilePiece* out);

ExpectSlices Read(const pb::ExpectSlices& in);
TallyRequest Read(const pb::TallyRequest& in);
SliceTallies Read(const pb::SliceTallies& in);
FinishRun Read(const pb::FinishRun& in);
RunAnswer Read(const pb::RunAnswer& in);
PacketsRequest Read(const pb::PacketsRequest& in);
PacketRecords Read(const pb::PacketRecords& in);
PacketFileRequest Read(const pb::PacketFileRequest& in);
PacketFilePiece Read(const pb::PacketFilePiece& in);

// In messages whose frames stay within the limits of the protocol.  Each slice must fit into one.
void SplitExpectSlices(std::vector<ExpectedSlice> slices, const SendMessage& send);
void SplitTallies(uint64_t number, std::vector<SliceTally> tallies, const SendMessage& send);
void SplitRunAnswer(uint64_t run, const std::string& text, const SendMessage& send);
void SplitPacketRecords(uint64_t number, uint64_t first, std::vector<PacketRecord> records,
                        const SendMessage& send);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SLICE_CODEC_H
