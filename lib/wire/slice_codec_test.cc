// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/slice_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/wire/codec_kit_test.h"
#include "lib/wire/place_codec.h"

namespace trumpet {
namespace {

pb::SliceOn* SliceOnOf(pb::Frame* frame) {
  pb::SliceOn* on = frame->mutable_slice_on();
  on->set_tag(1);
  on->set_bridge("br0");
  on->set_duration_ns(1);
  on->mutable_filter()->set_op(pb::Filter::OP_TRUE);
  return on;
}

pb::SliceAck* SliceAckOf(pb::Frame* frame) {
  frame->mutable_slice_ack()->set_tag(1);
  frame->mutable_slice_ack()->set_is_on(true);
  return frame->mutable_slice_ack();
}

pb::SliceEnd* SliceEndOf(pb::Frame* frame) {
  frame->mutable_slice_end()->set_tag(1);
  return frame->mutable_slice_end();
}

pb::ExpectedSlice* ExpectedOf(pb::Frame* frame) {
  pb::ExpectedSlice* slice = frame->mutable_expect_slices()->add_slices();
  slice->set_tag(1);
  Write(AddressSet{{Prefix{}}, {}}, slice->mutable_prefix());
  return slice;
}

std::vector<BadCase> OrderCases() {
  return {
      {[](pb::Frame* f) { f->mutable_slice_on(); }, "slice_on.tag is 0; it takes 1 to 1048575"},
      {[](pb::Frame* f) { SliceOnOf(f)->set_tag(1 << 20); },
       "slice_on.tag is 1048576; it takes 1 to 1048575"},
      {[](pb::Frame* f) { SliceOnOf(f)->set_bridge(std::string(256, 'b')); },
       "slice_on.bridge has 256 bytes; at most 255 are allowed"},
      {[](pb::Frame* f) { SliceOnOf(f)->set_bridge("br\n0"); },
       "slice_on.bridge holds a control character"},
      {[](pb::Frame* f) { SliceOnOf(f)->set_duration_ns(0); },
       "slice_on.duration_ns is 0; it takes 1 to 3600000000000"},
      {[](pb::Frame* f) { SliceOnOf(f)->set_snap_bytes(65536); },
       "slice_on.snap_bytes is 65536; it takes 0 to 65535"},
      {[](pb::Frame* f) { SliceOnOf(f)->set_mark(4096); },
       "slice_on.mark is 4096; it takes 0 to 4095"},
      {[](pb::Frame* f) { SliceOnOf(f)->clear_filter(); },
       "slice_on.filter.op is 0; it takes 1 to 5"},
      {[](pb::Frame* f) { f->mutable_slice_off(); }, "slice_off.tag is 0; it takes 1 to 1048575"},
      {[](pb::Frame* f) { SliceAckOf(f)->set_bridge("\xff"); }, "slice_ack.bridge is not UTF-8"},
      {[](pb::Frame* f) { SliceAckOf(f)->set_error("x"); },
       "slice_ack.error stands with a slice that is on"},
      {[](pb::Frame* f) { SliceEndOf(f)->set_lasted_ns(kMaxSliceNs + 1); },
       "slice_end.lasted_ns is 3600000000001; it takes 0 to 3600000000000"},
      {[](pb::Frame* f) { SliceEndOf(f)->set_span_ns(kMaxSliceNs + 1); },
       "slice_end.span_ns is 3600000000001; it takes 0 to 3600000000000"},
  };
}

std::vector<BadCase> AnalyzerCases() {
  return {
      {[](pb::Frame* f) { ExpectedOf(f)->set_tag(0); },
       "expect_slices.slices[0].tag is 0; it takes 1 to 1048575"},
      {[](pb::Frame* f) { ExpectedOf(f)->clear_prefix(); },
       "expect_slices.slices[0].prefix is not one prefix"},
      {[](pb::Frame* f) { ExpectedOf(f)->add_path(""); },
       "expect_slices.slices[0].path is missing"},
      {[](pb::Frame* f) { ExpectedOf(f)->add_locations("A"); },
       "expect_slices.slices[0].numbers are not as many as locations"},
      {[](pb::Frame* f) { f->mutable_tally_request()->add_tags(0); },
       "tally_request.tags is 0; it takes 1 to 1048575"},
      {[](pb::Frame* f) { f->mutable_slice_tallies()->add_tallies()->set_tag(1); },
       "slice_tallies.tallies[0].switch_name is missing"},
      {[](pb::Frame* f) { f->mutable_finish_run()->add_latencies(); },
       "finish_run.latencies[0].switch_name is missing"},
      {[](pb::Frame* f) { f->mutable_run_answer()->set_text("\x01"); },
       "run_answer.text holds a control character"},
      {[](pb::Frame* f) { f->mutable_packets_request()->set_tag(1); },
       "packets_request.max_packets is 0; it takes 1 to 4096"},
      {[](pb::Frame* f) { f->mutable_packet_records()->add_records(); },
       "packet_records.records[0].switch_name is missing"},
      {[](pb::Frame* f) { f->mutable_packet_file_request(); },
       "packet_file_request.max_bytes is 0; it takes 1 to 131072"},
      {[](pb::Frame* f) { f->mutable_packet_file_request()->set_max_bytes(131073); },
       "packet_file_request.max_bytes is 131073; it takes 1 to 131072"},
      {[](pb::Frame* f) { f->mutable_packet_file_piece(); },
       "packet_file_piece goes on without bytes"},
      {[](pb::Frame* f) { f->mutable_packet_file_piece()->set_bytes(std::string(131073, 'x')); },
       "packet_file_piece.bytes has 131073 elements; at most 131072 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_packet_file_piece()->set_bytes("x");
         f->mutable_packet_file_piece()->set_error("why");
       },
       "packet_file_piece.error stands with bytes"},
  };
}

TEST(Codec, NamesThePlaceOfWhatIsWrongInSlicesOfTheDatapath) { ExpectErrors(OrderCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongWithAnalyzers) { ExpectErrors(AnalyzerCases()); }

TEST(Codec, TakesTheSlicesOfTheErrorCasesWhenNothingIsSpoiled) {
  pb::Frame frame;
  SliceOnOf(&frame);
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
  SliceAckOf(&frame);
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
  SliceEndOf(&frame);
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
  ExpectedOf(&frame);
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
}

}  // namespace
}  // namespace trumpet
