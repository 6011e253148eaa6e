// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lib/wire/check.h"
#include "lib/wire/codec_kit_test.h"
#include "lib/wire/message_parts.h"

namespace trumpet {
namespace {

pb::Partials* PartialsOf(pb::Frame* frame) {
  pb::Partials* partials = frame->mutable_partials();
  partials->set_event_id(1);
  partials->set_end_ns(10);
  partials->set_words_per_bucket(1);
  partials->set_keys("ab");
  partials->add_key_sizes(2);
  partials->add_words(3);
  return partials;
}

std::vector<BadCase> CountCases() {
  return {
      {[](pb::Frame* f) { PartialsOf(f)->set_words_per_bucket(0); },
       "partials.words_per_bucket is 0; it takes 1 to 16384"},
      {[](pb::Frame* f) { PartialsOf(f)->add_words(1); },
       "partials.words has 2 elements; its buckets take 1"},
      {[](pb::Frame* f) { PartialsOf(f)->set_keys("abc"); },
       "partials.keys has 3 bytes; key_sizes say 2"},
      {[](pb::Frame* f) { PartialsOf(f)->add_key_sizes(257); },
       "partials.key_sizes is 257; it takes 0 to 256"},
      {[](pb::Frame* f) { PartialsOf(f)->add_unscaled(1); },
       "partials.unscaled holds 1; it takes positions of buckets, rising"},
      {[](pb::Frame* f) { PartialsOf(f)->set_start_ns(10); },
       "partials.end_ns is 0 ns after start_ns; it takes 1 to 86400000000000"},
      {[](pb::Frame* f) {
         f->mutable_report()->set_event_id(1);
         f->mutable_report()->set_bucket_key(std::string(257, 'k'));
       },
       "report.bucket_key has 257 bytes; at most 256 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_report()->set_event_id(1);
         f->mutable_report()->set_end_ns(1);
         f->mutable_report()->set_incomplete_reasons(kAllIncompleteReasons + 1);
       },
       "report.incomplete_reasons is 256; it takes 0 to 255"},
      {[](pb::Frame* f) {
         f->mutable_report()->set_event_id(1);
         f->mutable_report()->set_end_ns(1);
         f->mutable_report()->mutable_value()->set_real(std::nan(""));
       },
       "report.value.real is not finite"},
      {[](pb::Frame* f) {
         f->mutable_poll_reply()->add_answers()->set_status(pb::PollAnswer::STATUS_VALUES);
       },
       "poll_reply.answers[0].words is 0; it takes 1 to 16384"},
      {[](pb::Frame* f) {
         pb::PollAnswer* answer = f->mutable_poll_reply()->add_answers();
         answer->set_status(pb::PollAnswer::STATUS_NO_PACKETS);
         answer->add_words(1);
       },
       "poll_reply.answers[0].words is 1; it takes 0 to 0"},
      {[](pb::Frame* f) { f->mutable_poll()->add_questions(); },
       "poll.questions[0].event_id is 0; it takes 1 to 4294967295"},
      {[](pb::Frame* f) {
         for (size_t i = 0; i <= kMaxPollQuestions; ++i) f->mutable_poll()->add_questions();
       },
       "poll.questions has 4097 elements; at most 4096 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_flow_states()->set_end_ns(1);
         f->mutable_flow_states()->add_states()->set_src_ip("12345");
       },
       "flow_states.states[0].src_ip has 5 bytes; it takes 4 or 16"},
      {[](pb::Frame* f) {
         f->mutable_flow_states()->set_end_ns(1);
         pb::FlowState* state = f->mutable_flow_states()->add_states();
         state->set_src_ip("1234");
         state->set_dst_ip("1234");
         state->set_flags(64);
       },
       "flow_states.states[0].flags is 64; it takes 0 to 63"},
      {[](pb::Frame* f) {
         pb::IncompleteRange* range = f->mutable_interval_end()->add_incomplete();
         range->set_start_ns(2);
         range->set_end_ns(1);
         range->set_reasons(1);
       },
       "interval_end.incomplete[0].end_ns is before start_ns"},
  };
}

TEST(Codec, NamesThePlaceOfWhatIsWrongInCounts) { ExpectErrors(CountCases()); }

TEST(MaxBucketsInPartials, FitEvenWithTheLargestWords) {
  for (const uint32_t words : {1u, 4u, 100u, kMaxWordsPerBucket}) {
    Partials partials;
    partials.event_id = UINT32_MAX;
    partials.end_ns = 1;
    partials.words_per_bucket = words;
    const size_t count = MaxBucketsInPartials(words, 40, kMaxFrameToController);
    const std::vector<uint64_t> largest(words, UINT64_MAX);
    for (size_t i = 0; i < count; ++i) partials.Add(std::string(40, 'k'), largest.data(), true);
    std::string frame;
    EXPECT_TRUE(EncodeMessage(partials, kMaxFrameToController, &frame).ok()) << words;
    EXPECT_GT(frame.size(), kMaxFrameToController / 2) << words;
  }
}

// The tracker says "never" by the earliest instant there is.
TEST(FlowStates, OfConnectionsOfWhichOneDirectionWasSeenAreSent) {
  FlowStates states;
  states.end_ns = 1;
  states.states.resize(1);
  states.states[0].first.ip_family = 4;
  states.states[0].second.receiver_ns = INT64_MIN;
  std::string frame;
  const Status status = EncodeMessage(states, kMaxFrameToController, &frame);
  ASSERT_TRUE(status.ok()) << status.message();
  const Result<Message> message = DecodeMessage(frame);
  ASSERT_TRUE(message.ok()) << message.message();
  EXPECT_EQ(std::get<FlowStates>(*message).states[0].second.receiver_ns, 0);
}

TEST(Partials, VisitsBucketsAsTheyWereAdded) {
  Partials partials;
  partials.words_per_bucket = 2;
  const uint64_t first[] = {1, 2};
  const uint64_t second[] = {3, 4};
  partials.Add("a", first, false);
  partials.Add("", second, true);
  std::string seen;
  partials.Visit([&](std::string_view key, const uint64_t* words, bool is_unscaled) {
    seen += std::string(key) + ":" + std::to_string(words[0]) + "," + std::to_string(words[1]) +
            (is_unscaled ? "*" : "") + " ";
  });
  EXPECT_EQ(seen, "a:1,2 :3,4* ");
}

}  // namespace
}  // namespace trumpet
