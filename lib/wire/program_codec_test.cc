// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/program_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/wire/codec_kit_test.h"

namespace trumpet {
namespace {

// A frame that says what is not spoiled.
pb::MeasureProgram* ProgramOf(pb::Frame* frame) {
  pb::ProgramOn* on = frame->mutable_program_on();
  on->set_name("hh");
  on->set_id(7);
  return on->mutable_program();
}

pb::MeasureVariable* VariableOf(pb::Frame* frame) {
  pb::MeasureVariable* variable = ProgramOf(frame)->add_variables();
  variable->set_name("total");
  variable->set_kind(pb::MeasureVariable::KIND_COUNTER);
  variable->set_merge(pb::MeasureVariable::MERGE_SUM);
  variable->set_bits(32);
  return variable;
}

pb::MeasureNode* NodeOf(pb::Frame* frame) {
  pb::MeasureNode* node = ProgramOf(frame)->add_nodes();
  node->set_kind(pb::MeasureNode::KIND_MATCH);
  node->set_update(pb::MeasureNode::UPDATE_SET);
  return node;
}

pb::MeasureExpr* ExprOf(pb::Frame* frame) {
  pb::MeasureExpr* expr = ProgramOf(frame)->add_exprs();
  expr->set_kind(pb::MeasureExpr::KIND_FIELD);
  expr->set_op(pb::MeasureExpr::OP_PLUS);
  expr->set_aggregate(pb::MeasureExpr::AGGREGATE_SUM);
  expr->set_denominator(1);
  return expr;
}

pb::CellsRequest* RequestOf(pb::Frame* frame) {
  frame->mutable_cells_request()->set_name("hh");
  frame->mutable_cells_request()->set_id(7);
  frame->mutable_cells_request()->set_max_cells(1);
  return frame->mutable_cells_request();
}

pb::ProgramAck* AckOf(pb::Frame* frame) {
  frame->mutable_program_ack()->set_name("hh");
  frame->mutable_program_ack()->set_id(7);
  frame->mutable_program_ack()->set_is_on(true);
  return frame->mutable_program_ack();
}

std::vector<BadCase> MessageCases() {
  return {
      {[](pb::Frame* f) { f->mutable_program_on(); }, "program_on.name is missing"},
      {[](pb::Frame* f) { ProgramOf(f), f->mutable_program_on()->set_id(0); },
       "program_on.id is 0; it takes 1 to 4294967295"},
      {[](pb::Frame* f) { ProgramOf(f), f->mutable_program_on()->clear_program(); },
       "program_on.program is missing"},
      {[](pb::Frame* f) {
         ProgramOf(f);
         f->mutable_program_on()->mutable_place()->add_edges("");
       },
       "program_on.place.edges[0].name is missing"},
      {[](pb::Frame* f) {
         ProgramOf(f);
         f->mutable_program_on()->mutable_place()->set_number(256);
       },
       "program_on.place.number is 256; it takes 0 to 255"},
      {[](pb::Frame* f) { f->mutable_program_off(); }, "program_off.name is missing"},
      {[](pb::Frame* f) { AckOf(f)->set_error("x"); },
       "program_ack.error stands with a program that is on"},
      {[](pb::Frame* f) { f->mutable_program_list()->add_programs(); },
       "program_list.programs[0].name is missing"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 65; ++i) f->mutable_program_list()->add_programs();
       },
       "program_list.programs has 65 elements; at most 64 are allowed"},
      {[](pb::Frame* f) { RequestOf(f)->set_max_cells(16385); },
       "cells_request.max_cells is 16385; it takes 1 to 16384"},
      {[](pb::Frame* f) { RequestOf(f)->set_max_cells(0); },
       "cells_request.max_cells is 0; it takes 1 to 16384"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 65; ++i) RequestOf(f)->add_key(0);
       },
       "cells_request.key has 65 elements; at most 64 are allowed"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 16385; ++i) f->mutable_cells_answer()->add_cells(0);
       },
       "cells_answer.cells has 16385 elements; at most 16384 are allowed"},
      {[](pb::Frame* f) {
         f->mutable_cells_answer()->add_cells(0);
         f->mutable_cells_answer()->set_error("x");
       },
       "cells_answer.error stands with cells"},
  };
}

pb::MeasurePlace* PlaceOf(pb::Frame* frame) {
  ProgramOf(frame);
  return frame->mutable_program_on()->mutable_place();
}

pb::MeasureEndpoint* EndpointOf(pb::Frame* frame) {
  pb::MeasureEndpoint* endpoint = PlaceOf(frame)->add_endpoints();
  endpoint->set_name("C");
  endpoint->set_address("udp:10.0.0.9:4729");
  return endpoint;
}

pb::ProgramCopy* CopyOf(pb::Frame* frame) {
  pb::ProgramCopy* copy = frame->mutable_cells_answer()->add_copies();
  copy->set_present(5);
  copy->add_values(1);
  copy->add_values(2);
  return copy;
}

pb::ProgramCounts* CountsOf(pb::Frame* frame) {
  frame->mutable_program_counts()->set_name("hh");
  frame->mutable_program_counts()->set_id(7);
  return frame->mutable_program_counts();
}

std::vector<BadCase> CopyCases() {
  return {
      {[](pb::Frame* f) { EndpointOf(f)->clear_address(); },
       "program_on.place.endpoints[0].address is missing"},
      {[](pb::Frame* f) { EndpointOf(f), EndpointOf(f); },
       "program_on.place.endpoints[1].name stands twice"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 257; ++i) EndpointOf(f);
       },
       "program_on.place.endpoints has 257 elements; at most 256 are allowed"},
      {[](pb::Frame* f) { PlaceOf(f)->set_copies_per_second(100001); },
       "program_on.place.copies_per_second is 100001; it takes 0 to 100000"},
      {[](pb::Frame* f) { RequestOf(f)->add_fields(1); },
       "cells_request.fields are not as many as values of a request"},
      {[](pb::Frame* f) {
         RequestOf(f)->set_is_request(true);
         RequestOf(f)->add_key(1);
       },
       "cells_request.fields are not as many as values of a request"},
      {[](pb::Frame* f) {
         RequestOf(f)->set_is_request(true);
         RequestOf(f)->add_key(1);
         RequestOf(f)->add_fields(65536);
       },
       "cells_request.fields[0].field is 65536; it takes 0 to 65535"},
      {[](pb::Frame* f) { CopyOf(f)->add_values(3); },
       "cells_answer.copies[0].values are not as many as fields that are present"},
      {[](pb::Frame* f) { CopyOf(f)->set_endpoint(256); },
       "cells_answer.copies[0].endpoint is 256; it takes 0 to 255"},
      {[](pb::Frame* f) { CopyOf(f)->set_time_ns(-1); },
       "cells_answer.copies[0].time_ns is -1; it takes 0 to 4611686018427387904"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 257; ++i) CopyOf(f);
       },
       "cells_answer.copies has 257 elements; at most 256 are allowed"},
      {[](pb::Frame* f) {
         CopyOf(f);
         f->mutable_cells_answer()->set_error("x");
       },
       "cells_answer.error stands with cells"},
      {[](pb::Frame* f) { f->mutable_program_counts(); }, "program_counts.name is missing"},
      {[](pb::Frame* f) { CountsOf(f)->set_since_ns(-1); },
       "program_counts.since_ns is -1; it takes 0 to 4611686018427387904"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 257; ++i) CountsOf(f)->add_endpoints();
       },
       "program_counts.endpoints has 257 elements; at most 256 are allowed"},
  };
}

std::vector<BadCase> ProgramCases() {
  return {
      {[](pb::Frame* f) { ProgramOf(f)->add_params()->set_name("p"); },
       "program_on.program.params[0].denominator is 0; it takes 1 to 1000000000000000000"},
      {[](pb::Frame* f) { ProgramOf(f)->add_endpoints("a\n"); },
       "program_on.program.endpoints[0].name holds a control character"},
      {[](pb::Frame* f) { ProgramOf(f)->add_roles()->set_name("r"); },
       "program_on.program.roles[0].kind is 0; it takes 1 to 5"},
      {[](pb::Frame* f) {
         pb::MeasureKey* key = ProgramOf(f)->add_keys();
         key->set_name("k");
         key->add_fields(65536);
       },
       "program_on.program.keys[0].field is 65536; it takes 0 to 65535"},
      {[](pb::Frame* f) { ProgramOf(f)->add_headers(); },
       "program_on.program.headers[0].name is missing"},
      {[](pb::Frame* f) {
         pb::MeasureHeaderField* field = ProgramOf(f)->add_header_fields();
         field->set_name("h.f");
         field->set_bits(65);
       },
       "program_on.program.header_fields[0].bits is 65; it takes 0 to 64"},
      {[](pb::Frame* f) { VariableOf(f)->set_kind(static_cast<pb::MeasureVariable::Kind>(11)); },
       "program_on.program.variables[0].kind is 11; it takes 1 to 10"},
      {[](pb::Frame* f) { VariableOf(f)->clear_merge(); },
       "program_on.program.variables[0].merge is 0; it takes 1 to 5"},
      {[](pb::Frame* f) { VariableOf(f)->set_bits(300); },
       "program_on.program.variables[0].bits is 300; it takes 0 to 64"},
      {[](pb::Frame* f) { ProgramOf(f)->add_windows(); },
       "program_on.program.windows[0].duration_ns is 0; it takes 1 to 86400000000000"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 65; ++i) ProgramOf(f)->add_streams("s");
       },
       "program_on.program.streams has 65 elements; at most 64 are allowed"},
      {[](pb::Frame* f) {
         for (int i = 0; i < 257; ++i) ProgramOf(f)->add_tasks();
       },
       "program_on.program.tasks has 257 elements; at most 256 are allowed"},
      {[](pb::Frame* f) { NodeOf(f)->clear_kind(); },
       "program_on.program.nodes[0].kind is 0; it takes 1 to 8"},
      {[](pb::Frame* f) { NodeOf(f)->clear_update(); },
       "program_on.program.nodes[0].update is 0; it takes 1 to 6"},
      {[](pb::Frame* f) { ExprOf(f)->set_op(static_cast<pb::MeasureExpr::Op>(21)); },
       "program_on.program.exprs[0].op is 21; it takes 1 to 20"},
      {[](pb::Frame* f) { ExprOf(f)->clear_aggregate(); },
       "program_on.program.exprs[0].aggregate is 0; it takes 1 to 7"},
      {[](pb::Frame* f) { ExprOf(f)->set_denominator(0); },
       "program_on.program.exprs[0].denominator is 0; it takes 1 to 18446744073709551615"},
  };
}

TEST(Codec, NamesThePlaceOfWhatIsWrongInMessagesOfPrograms) { ExpectErrors(MessageCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongInCopiesOfPrograms) { ExpectErrors(CopyCases()); }
TEST(Codec, NamesThePlaceOfWhatIsWrongInAProgram) { ExpectErrors(ProgramCases()); }

TEST(Codec, TakesTheProgramsOfTheErrorCasesWhenNothingIsSpoiled) {
  for (const auto& fill : std::vector<std::function<void(pb::Frame*)>>{
           [](pb::Frame* f) { VariableOf(f); }, [](pb::Frame* f) { NodeOf(f); },
           [](pb::Frame* f) { ExprOf(f); }, [](pb::Frame* f) { RequestOf(f); },
           [](pb::Frame* f) { AckOf(f); }, [](pb::Frame* f) { EndpointOf(f); },
           [](pb::Frame* f) { CopyOf(f); }, [](pb::Frame* f) { CountsOf(f); }}) {
    pb::Frame frame;
    fill(&frame);
    EXPECT_EQ(DecodeError(frame.SerializeAsString()), "");
  }
}

// What is on the wire stays: agents and controllers of other versions read it.
TEST(Codec, WritesProgramsAsEver) {
  EXPECT_EQ(Encoded(ProgramOff{{"hh", 7}}), "\xba\x04\x06\x0a\x02hh\x10\x07");
  EXPECT_EQ(Encoded(ProgramAck{{"hh", 7}, true, ""}), "\xc2\x04\x08\x0a\x02hh\x10\x07\x18\x01");
  EXPECT_EQ(Encoded(CellsAnswer{3, {1, 300}, 2, ""}),
            "\xda\x04\x09\x08\x03\x12\x03\x01\xac\x02\x18\x02");
  EXPECT_EQ(Encoded(CellsRequest{3, {"hh", 7}, 0, 5, 9, {1}}),
            "\xd2\x04\x0f\x08\x03\x12\x02hh\x18\x07\x28\x05\x30\x09\x3a\x01\x01");
  CellsRequest request{3, {"hh", 7}, 0, 0, 9, {300}};
  request.is_request = true;
  request.fields = {2};
  EXPECT_EQ(Encoded(request),
            "\xd2\x04\x13\x08\x03\x12\x02hh\x18\x07\x30\x09\x3a\x02\xac\x02\x48\x01\x52\x01\x02");
  EXPECT_EQ(Encoded(ProgramCounts{{"hh", 7}, 1, {5, 1, 2, {{2, 0, 0}}}}),
            "\xe2\x04\x12\x0a\x02hh\x10\x07\x18\x01\x20\x05\x28\x01\x30\x02\x3a\x02\x08\x02");
}

TEST(Codec, KeepsWhereCopiesGoAndSaysNothingOfTheUsualRate) {
  ProgramOn on{{"hh", 7}, 1, {}};
  const std::string usual = Encoded(on);
  on.place.endpoints = {{"A", "udp:10.0.0.9:4729"}, {"B", "erspan:[2001:db8::9]"}};
  on.place.copies_per_second = 7;
  const Result<Message> again = DecodeMessage(Encoded(on));
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(std::get<ProgramOn>(*again).place.endpoints, on.place.endpoints);
  EXPECT_EQ(std::get<ProgramOn>(*again).place.copies_per_second, 7u);
  on.place = {};
  EXPECT_EQ(Encoded(on), usual);
  EXPECT_EQ(std::get<ProgramOn>(*DecodeMessage(usual)).place.copies_per_second,
            kDefaultCopiesPerSecond);
}

TEST(Codec, KeepsThatAProgramHasNoKeyOrWindow) {
  ProgramOn on{{"hh", 7}, 1, {}};
  on.source.variables.resize(1);
  on.source.variables[0].name = "total";
  const Result<Message> again = DecodeMessage(Encoded(on));
  ASSERT_TRUE(again.ok()) << again.message();
  const MeasureVariable& variable = std::get<ProgramOn>(*again).source.variables[0];
  EXPECT_EQ(variable.key, kNoIndex);
  EXPECT_EQ(variable.window, kNoIndex);
}

}  // namespace
}  // namespace trumpet
