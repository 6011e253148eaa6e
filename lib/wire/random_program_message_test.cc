// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Of RandomMessages: measurement programs, and what they have measured.

#include "lib/wire/random_message_test.h"

#include <algorithm>

#include "lib/wire/check.h"
#include "lib/wire/limits.h"

namespace trumpet {

MeasurementPlace RandomMessages::AnyPlace() {
  MeasurementPlace place;
  if (Coin()) {
    place.edges.emplace(Below(4));
    for (std::string& port : *place.edges) port = Name();
  }
  if (Coin()) place.switch_id = static_cast<uint8_t>(Number());
  place.is_lab = Coin();
  place.holds_tags = Coin();
  for (size_t i = Below(4); i > 0; --i) place.endpoints.emplace(Name(), Name());
  if (Coin()) place.copies_per_second = static_cast<uint32_t>(1 + Below(kMaxCopiesPerSecond));
  return place;
}

Message RandomMessages::AnyOfPrograms(MessageKind kind) {
  const bool has_failed = Coin();
  switch (kind) {
    case MessageKind::kProgramOn:
      return ProgramOn{AnyProgramName(), Number(), AnyProgram(), AnyPlace()};
    case MessageKind::kProgramOff:
      return ProgramOff{AnyProgramName()};
    case MessageKind::kProgramAck:
      return ProgramAck{AnyProgramName(), !has_failed, has_failed ? Text(kMaxLongTextBytes) : ""};
    case MessageKind::kProgramList: {
      ProgramList list;
      list.programs.resize(Below(4));
      for (ProgramName& program : list.programs) program = AnyProgramName();
      return list;
    }
    case MessageKind::kCellsRequest:
      return AnyCellsRequest();
    case MessageKind::kCellsAnswer:
      if (has_failed) return CellsAnswer{Number(), {}, 0, Text(kMaxLongTextBytes)};
      return AnyCellsAnswer();
    case MessageKind::kProgramCounts: {
      ProgramCounts counts{AnyProgramName(), Instant(), {Number(), Number(), Number(), {}}};
      counts.copies.endpoints.resize(Below(4));
      for (EndpointCopies& one : counts.copies.endpoints) one = {Number(), Number(), Number()};
      return counts;
    }
    default:
      return KeepAlive();
  }
}

CellsRequest RandomMessages::AnyCellsRequest() {
  CellsRequest request{Number(),
                       AnyProgramName(),
                       static_cast<uint32_t>(Number()),
                       static_cast<uint32_t>(Number()),
                       static_cast<uint32_t>(1 + Below(kMaxCellsAsked)),
                       Words(5),
                       Coin()};
  request.is_request = Coin();
  if (!request.is_request) return request;
  for (size_t i = 0; i < request.key.size(); ++i) {
    request.fields.push_back(static_cast<MeasureFieldId>(random_()));
  }
  return request;
}

CellsAnswer RandomMessages::AnyCellsAnswer() {
  CellsAnswer answer{Number(), Words(50), static_cast<uint32_t>(Number()), ""};
  answer.left_out = static_cast<uint32_t>(Number());
  answer.copies.resize(Below(4));
  for (ProgramCopy& copy : answer.copies) {
    copy = {Instant(), static_cast<MeasureIndex>(Below(kMaxMeasureNames)), Number(), {}};
    for (uint64_t left = copy.present; left != 0; left &= left - 1) {
      copy.values.push_back(Number());
    }
  }
  return answer;
}

// Not a sound one: whatever has the form of a program.
MeasureProgram RandomMessages::AnyProgram() {
  MeasureProgram program;
  const auto index = [this] { return static_cast<MeasureIndex>(Number()); };
  const auto field = [this] { return static_cast<MeasureFieldId>(random_()); };
  const auto some = [this](auto* list, size_t count) { list->resize(Below(count)); };
  program.name = Text(kMaxTextBytes);
  some(&program.params, 3);
  for (MeasureParam& param : program.params) param = {Name(), {Number(), 1 + Below(1000)}, Coin()};
  some(&program.endpoints, 3);
  for (std::string& endpoint : program.endpoints) endpoint = Name();
  some(&program.roles, 4);
  for (MeasureRole& role : program.roles) role = {Name(), static_cast<MeasureRoleKind>(Below(5))};
  some(&program.keys, 4);
  for (MeasureKey& key : program.keys) {
    key = {Name(), index(), std::vector<MeasureFieldId>(Below(5)), index()};
    for (MeasureFieldId& one : key.fields) one = field();
  }
  some(&program.headers, 3);
  for (MeasureHeader& header : program.headers) header = {Name(), index(), index(), index()};
  some(&program.header_fields, 3);
  for (MeasureHeaderField& one : program.header_fields) {
    one = {Name(), index(), index(), static_cast<uint8_t>(Below(65))};
  }
  some(&program.variables, 4);
  for (MeasureVariable& variable : program.variables) {
    variable = {Name(),
                static_cast<MeasureKind>(Below(10)),
                static_cast<MeasureMerge>(Below(5)),
                Coin(),
                static_cast<uint8_t>(Below(65)),
                index(),
                Number(),
                index(),
                index(),
                index(),
                {}};
  }
  some(&program.windows, 3);
  for (MeasureWindow& window : program.windows) {
    window = {1 + static_cast<Nanos>(Below(static_cast<uint64_t>(kMaxMeasureWindow))),
              index(),
              Coin() ? MeasureWindowMode::kFlip : MeasureWindowMode::kReset,
              index(),
              index(),
              std::vector<MeasureIndex>(Below(4), index())};
  }
  some(&program.streams, 4);
  for (MeasureStream& stream : program.streams) stream.name = Name();
  some(&program.tasks, 4);
  for (MeasureTask& task : program.tasks) task = {index(), index(), index(), index(), {}};
  some(&program.nodes, 8);
  for (MeasureNode& node : program.nodes) {
    node = {static_cast<MeasureNodeKind>(Below(8)),
            static_cast<MeasureUpdate>(Below(6)),
            field(),
            index(),
            index(),
            std::vector<MeasureIndex>(Below(4), index()),
            {}};
  }
  some(&program.exprs, 8);
  for (MeasureExpr& expr : program.exprs) {
    expr = {static_cast<MeasureExprKind>(Below(12)),
            static_cast<MeasureOp>(Below(20)),
            static_cast<MeasureAggregate>(Below(7)),
            field(),
            index(),
            index(),
            index(),
            Number(),
            std::max<uint64_t>(1, Number())};
  }
  return program;
}

}  // namespace trumpet
