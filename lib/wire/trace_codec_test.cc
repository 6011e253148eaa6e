// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/trace_codec.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/wire/codec_kit_test.h"

namespace trumpet {
namespace {

pb::TraceRequest* RequestOf(pb::Frame* frame) {
  pb::TraceRequest* const request = frame->mutable_trace_request();
  request->set_what(pb::TraceRequest::WHAT_TRACES);
  request->set_packets(pb::TraceRequest::PACKETS_NONE);
  return request;
}

TEST(Codec, NamesThePlaceOfWhatIsWrongWithTraces) {
  ExpectErrors({
      {[](pb::Frame* f) { f->mutable_trace_request(); },
       "trace_request.what is 0; it takes 1 to 7"},
      {[](pb::Frame* f) { RequestOf(f)->set_packets(pb::TraceRequest::PACKETS_UNSPECIFIED); },
       "trace_request.packets is 0; it takes 1 to 3"},
      {[](pb::Frame* f) { RequestOf(f)->add_words(); }, "trace_request.words[0].name is missing"},
      {[](pb::Frame* f) {
         pb::TraceWord* const word = RequestOf(f)->add_words();
         word->set_name("src");
         word->set_value(std::string(1025, 'x'));
       },
       "trace_request.words[0].value has 1025 bytes; at most 1024 are allowed"},
      {[](pb::Frame* f) {
         for (size_t i = 0; i <= kMaxTraceWords; ++i) RequestOf(f)->add_words()->set_name("src");
       },
       "trace_request.words has 257 elements; at most 256 are allowed"},
      {[](pb::Frame* f) { f->mutable_trace_answer()->add_records()->set_text("a\nb"); },
       "trace_answer.records[0].text holds a control character"},
      {[](pb::Frame* f) {
         f->mutable_trace_answer()->add_records()->set_text(std::string(65536, 'x'));
       },
       "trace_answer.records[0].text has 65536 bytes; at most 65535 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_trace_answer()->set_error("why");
         f->mutable_trace_answer()->set_is_wrong(true);
         f->mutable_trace_answer()->set_has_more(true);
       },
       "trace_answer.is_wrong stands with records"},
      {[](pb::Frame* f) { f->mutable_trace_answer()->set_is_wrong(true); },
       "trace_answer.is_wrong stands without an error"},
      {[](pb::Frame* f) { f->mutable_trace_counters()->set_part(128); },
       "trace_counters.part is 128; it takes 0 to 127"},
      {[](pb::Frame* f) { f->mutable_trace_counters()->set_text(std::string(131073, 'x')); },
       "trace_counters.text has 131073 elements; at most 131072 are allowed"},
      {[](pb::Frame* f) { f->mutable_trace_sent()->set_switch_number(1024); },
       "trace_sent.switch_number is 1024; it takes 0 to 1023"},
      {[](pb::Frame* f) { f->mutable_trace_sent()->set_asked_ago_ns(60'000'000'001); },
       "trace_sent.asked_ago_ns is 60000000001; it takes 0 to 60000000000"},
      {[](pb::Frame* f) { f->mutable_trace_network()->set_part(128); },
       "trace_network.part is 128; it takes 0 to 127"},
      {[](pb::Frame* f) { f->mutable_trace_network()->set_text(std::string(131073, 'x')); },
       "trace_network.text has 131073 elements; at most 131072 are allowed"},
  });
}

TEST(Codec, TakesTheTracesOfTheErrorCasesWhenNothingIsSpoiled) {
  pb::Frame frame;
  RequestOf(&frame)->add_words()->set_name("src");
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
  frame.mutable_trace_answer()->add_records();
  EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
}

}  // namespace
}  // namespace trumpet
