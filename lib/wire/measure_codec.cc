// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/measure_codec.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxDenominator = 1000000000000000000;

// The last ones of both sides stand for all of them: they are numbered alike, from 0 here.
static_assert(pb::MeasureRole::KIND_SITE == static_cast<int>(MeasureRoleKind::kSite) + 1);
static_assert(pb::MeasureVariable::KIND_HYPERLOGLOG ==
              static_cast<int>(MeasureKind::kHyperLogLog) + 1);
static_assert(pb::MeasureVariable::MERGE_SHARED == static_cast<int>(MeasureMerge::kShared) + 1);
static_assert(pb::MeasureNode::KIND_UPDATE == static_cast<int>(MeasureNodeKind::kUpdate) + 1);
static_assert(pb::MeasureNode::UPDATE_INIT == static_cast<int>(MeasureUpdate::kInit) + 1);
static_assert(pb::MeasureExpr::KIND_RANDOM == static_cast<int>(MeasureExprKind::kRandom) + 1);
static_assert(pb::MeasureExpr::OP_COMPLEMENT == static_cast<int>(MeasureOp::kComplement) + 1);
static_assert(pb::MeasureExpr::AGGREGATE_MAX == static_cast<int>(MeasureAggregate::kMax) + 1);
static_assert(kMeasureFieldCount == 28, "trumpet.proto says where fields of headers begin");

template <typename ToEnum, typename Enum>
ToEnum ToWire(Enum value) {
  return static_cast<ToEnum>(static_cast<int>(value) + 1);
}

template <typename ToEnum>
ToEnum FromWire(int value) {
  return static_cast<ToEnum>(value - 1);
}

// kNoIndex is the highest number, so it becomes 0, and back.
uint32_t ToWire(MeasureIndex index) { return index + 1; }
MeasureIndex FromWire(uint32_t number) { return number - 1; }

// Calls `check(element, its place)` for each element, if there are not too many.
template <typename List, typename Check>
bool CheckEach(const List& list, size_t most, const Place& place, const char* name,
               Checker* checker, const Check& check) {
  if (!checker->Count(place, name, static_cast<size_t>(list.size()), most)) return false;
  for (int i = 0; i < list.size(); ++i) {
    if (!check(list[i], Place(place, name, i))) return false;
  }
  return true;
}

bool CheckField(const Place& place, uint32_t field, Checker* checker) {
  return checker->Range(place, "field", field, 0, UINT16_MAX);
}

bool CheckParam(const pb::MeasureParam& param, const Place& place, Checker* checker) {
  return checker->Name(place, "name", param.name()) &&
         checker->Range(place, "denominator", param.denominator(), 1, kMaxDenominator);
}

bool CheckRole(const pb::MeasureRole& role, const Place& place, Checker* checker) {
  return checker->Name(place, "name", role.name()) &&
         checker->Enum(place, "kind", role.kind(), pb::MeasureRole::KIND_SITE);
}

bool CheckKey(const pb::MeasureKey& key, const Place& place, Checker* checker) {
  return checker->Name(place, "name", key.name()) &&
         checker->Count(place, "fields", static_cast<size_t>(key.fields_size()),
                        kMaxMeasureKeyBytes) &&
         std::all_of(key.fields().begin(), key.fields().end(),
                     [&](uint32_t field) { return CheckField(place, field, checker); });
}

bool CheckHeaderField(const pb::MeasureHeaderField& field, const Place& place, Checker* checker) {
  return checker->Name(place, "name", field.name()) &&
         checker->Range(place, "bits", field.bits(), 0, 64);
}

bool CheckVariable(const pb::MeasureVariable& variable, const Place& place, Checker* checker) {
  return checker->Name(place, "name", variable.name()) &&
         checker->Enum(place, "kind", variable.kind(), pb::MeasureVariable::KIND_HYPERLOGLOG) &&
         checker->Enum(place, "merge", variable.merge(), pb::MeasureVariable::MERGE_SHARED) &&
         checker->Range(place, "bits", variable.bits(), 0, 64);
}

bool CheckWindow(const pb::MeasureWindow& window, const Place& place, Checker* checker) {
  return checker->Range(place, "duration_ns", static_cast<uint64_t>(window.duration_ns()), 1,
                        static_cast<uint64_t>(kMaxMeasureWindow)) &&
         checker->Count(place, "variables", static_cast<size_t>(window.variables_size()),
                        kMaxMeasureVariables);
}

bool CheckNode(const pb::MeasureNode& node, const Place& place, Checker* checker) {
  return checker->Enum(place, "kind", node.kind(), pb::MeasureNode::KIND_UPDATE) &&
         checker->Enum(place, "update", node.update(), pb::MeasureNode::UPDATE_INIT) &&
         CheckField(place, node.field(), checker) &&
         checker->Count(place, "children", static_cast<size_t>(node.children_size()),
                        kMaxMeasureNodes);
}

bool CheckExpr(const pb::MeasureExpr& expr, const Place& place, Checker* checker) {
  return checker->Enum(place, "kind", expr.kind(), pb::MeasureExpr::KIND_RANDOM) &&
         checker->Enum(place, "op", expr.op(), pb::MeasureExpr::OP_COMPLEMENT) &&
         checker->Enum(place, "aggregate", expr.aggregate(), pb::MeasureExpr::AGGREGATE_MAX) &&
         CheckField(place, expr.field(), checker) &&
         checker->Range(place, "denominator", expr.denominator(), 1, UINT64_MAX);
}

}  // namespace

bool Check(const pb::MeasureProgram& program, const Place& place, Checker* checker) {
  const auto each = [&](const auto& list, size_t most, const char* name, auto check) {
    return CheckEach(list, most, place, name, checker,
                     [&](const auto& one, const Place& here) { return check(one, here, checker); });
  };
  const auto is_name = [](const std::string& text, const Place& here, Checker* with) {
    return with->Name(here, "name", text);
  };
  const auto has_name = [](const pb::MeasureHeader& header, const Place& here, Checker* with) {
    return with->Name(here, "name", header.name());
  };
  const auto any = [](const pb::MeasureTask&, const Place&, Checker*) { return true; };
  return checker->Text(place, "name", program.name(), kMaxTextBytes) &&
         each(program.params(), kMaxMeasureNames, "params", CheckParam) &&
         each(program.endpoints(), kMaxMeasureNames, "endpoints", is_name) &&
         each(program.roles(), kMaxMeasureNames, "roles", CheckRole) &&
         each(program.keys(), kMaxMeasureKeys, "keys", CheckKey) &&
         each(program.headers(), kMaxMeasureNames, "headers", has_name) &&
         each(program.header_fields(), kMaxMeasureNames, "header_fields", CheckHeaderField) &&
         each(program.variables(), kMaxMeasureVariables, "variables", CheckVariable) &&
         each(program.windows(), kMaxMeasureVariables, "windows", CheckWindow) &&
         each(program.streams(), kMaxMeasureStreams, "streams", is_name) &&
         each(program.tasks(), kMaxMeasureTasks, "tasks", any) &&
         each(program.nodes(), kMaxMeasureNodes, "nodes", CheckNode) &&
         each(program.exprs(), kMaxMeasureExprs, "exprs", CheckExpr);
}

namespace {

void WriteNames(const MeasureProgram& program, pb::MeasureProgram* out) {
  out->set_name(program.name);
  for (const MeasureParam& param : program.params) {
    pb::MeasureParam* one = out->add_params();
    one->set_name(param.name);
    one->set_numerator(param.value.numerator);
    one->set_denominator(param.value.denominator);
    one->set_is_bound(param.is_bound);
  }
  for (const std::string& endpoint : program.endpoints) out->add_endpoints(endpoint);
  for (const MeasureRole& role : program.roles) {
    pb::MeasureRole* one = out->add_roles();
    one->set_name(role.name);
    one->set_kind(ToWire<pb::MeasureRole::Kind>(role.kind));
  }
  for (const MeasureStream& stream : program.streams) out->add_streams(stream.name);
}

void WriteKeys(const MeasureProgram& program, pb::MeasureProgram* out) {
  for (const MeasureKey& key : program.keys) {
    pb::MeasureKey* one = out->add_keys();
    one->set_name(key.name);
    one->set_role(ToWire(key.role));
    for (const MeasureFieldId field : key.fields) one->add_fields(field);
    one->set_bytes(key.bytes);
  }
  for (const MeasureHeader& header : program.headers) {
    pb::MeasureHeader* one = out->add_headers();
    one->set_name(header.name);
    one->set_guard(header.guard);
    one->set_offset(header.offset);
    one->set_bytes(header.bytes);
  }
  for (const MeasureHeaderField& field : program.header_fields) {
    pb::MeasureHeaderField* one = out->add_header_fields();
    one->set_name(field.name);
    one->set_header(field.header);
    one->set_offset(field.offset);
    one->set_bits(field.bits);
  }
}

void WriteState(const MeasureProgram& program, pb::MeasureProgram* out) {
  for (const MeasureVariable& variable : program.variables) {
    pb::MeasureVariable* one = out->add_variables();
    one->set_name(variable.name);
    one->set_kind(ToWire<pb::MeasureVariable::Kind>(variable.kind));
    one->set_merge(ToWire<pb::MeasureVariable::Merge>(variable.merge));
    one->set_evicts(variable.evicts);
    one->set_bits(variable.bits);
    one->set_hashes(variable.hashes);
    one->set_size(variable.size);
    one->set_key(ToWire(variable.key));
    one->set_role(ToWire(variable.role));
    one->set_window(ToWire(variable.window));
  }
  for (const MeasureWindow& window : program.windows) {
    pb::MeasureWindow* one = out->add_windows();
    one->set_duration_ns(window.duration);
    one->set_quantum(window.quantum);
    one->set_flips(window.mode == MeasureWindowMode::kFlip);
    one->set_role(ToWire(window.role));
    one->set_task(ToWire(window.task));
    one->mutable_variables()->Add(window.variables.begin(), window.variables.end());
  }
}

void WriteCode(const MeasureProgram& program, pb::MeasureProgram* out) {
  for (const MeasureTask& task : program.tasks) {
    pb::MeasureTask* one = out->add_tasks();
    one->set_role(ToWire(task.role));
    one->set_stream(task.stream);
    one->set_window(ToWire(task.window));
    one->set_root(task.root);
  }
  for (const MeasureNode& node : program.nodes) {
    pb::MeasureNode* one = out->add_nodes();
    one->set_kind(ToWire<pb::MeasureNode::Kind>(node.kind));
    one->set_update(ToWire<pb::MeasureNode::Update>(node.update));
    one->set_field(node.field);
    one->set_target(ToWire(node.target));
    one->set_expr(ToWire(node.expr));
    one->mutable_children()->Add(node.children.begin(), node.children.end());
  }
  for (const MeasureExpr& expr : program.exprs) {
    pb::MeasureExpr* one = out->add_exprs();
    one->set_kind(ToWire<pb::MeasureExpr::Kind>(expr.kind));
    one->set_op(ToWire<pb::MeasureExpr::Op>(expr.op));
    one->set_aggregate(ToWire<pb::MeasureExpr::Aggregate>(expr.aggregate));
    one->set_field(expr.field);
    one->set_variable(ToWire(expr.variable));
    one->set_a(ToWire(expr.a));
    one->set_b(ToWire(expr.b));
    one->set_value(expr.value);
    one->set_denominator(expr.denominator);
  }
}

void ReadNames(const pb::MeasureProgram& in, MeasureProgram* program) {
  program->name = in.name();
  for (const pb::MeasureParam& one : in.params()) {
    program->params.push_back({one.name(), {one.numerator(), one.denominator()}, one.is_bound()});
  }
  program->endpoints.assign(in.endpoints().begin(), in.endpoints().end());
  for (const pb::MeasureRole& one : in.roles()) {
    program->roles.push_back({one.name(), FromWire<MeasureRoleKind>(one.kind())});
  }
  for (const std::string& name : in.streams()) program->streams.push_back({name});
}

void ReadKeys(const pb::MeasureProgram& in, MeasureProgram* program) {
  for (const pb::MeasureKey& one : in.keys()) {
    MeasureKey key{one.name(), FromWire(one.role()), {}, one.bytes()};
    for (const uint32_t field : one.fields()) {
      key.fields.push_back(static_cast<MeasureFieldId>(field));
    }
    program->keys.push_back(std::move(key));
  }
  for (const pb::MeasureHeader& one : in.headers()) {
    program->headers.push_back({one.name(), one.guard(), one.offset(), one.bytes()});
  }
  for (const pb::MeasureHeaderField& one : in.header_fields()) {
    program->header_fields.push_back(
        {one.name(), one.header(), one.offset(), static_cast<uint8_t>(one.bits())});
  }
}

MeasureVariable ReadVariable(const pb::MeasureVariable& in) {
  MeasureVariable variable;
  variable.name = in.name();
  variable.kind = FromWire<MeasureKind>(in.kind());
  variable.merge = FromWire<MeasureMerge>(in.merge());
  variable.evicts = in.evicts();
  variable.bits = static_cast<uint8_t>(in.bits());
  variable.hashes = in.hashes();
  variable.size = in.size();
  variable.key = FromWire(in.key());
  variable.role = FromWire(in.role());
  variable.window = FromWire(in.window());
  return variable;
}

MeasureWindow ReadWindow(const pb::MeasureWindow& in) {
  MeasureWindow window;
  window.duration = in.duration_ns();
  window.quantum = in.quantum();
  window.mode = in.flips() ? MeasureWindowMode::kFlip : MeasureWindowMode::kReset;
  window.role = FromWire(in.role());
  window.task = FromWire(in.task());
  window.variables.assign(in.variables().begin(), in.variables().end());
  return window;
}

MeasureNode ReadNode(const pb::MeasureNode& in) {
  MeasureNode node;
  node.kind = FromWire<MeasureNodeKind>(in.kind());
  node.update = FromWire<MeasureUpdate>(in.update());
  node.field = static_cast<MeasureFieldId>(in.field());
  node.target = FromWire(in.target());
  node.expr = FromWire(in.expr());
  node.children.assign(in.children().begin(), in.children().end());
  return node;
}

MeasureExpr ReadExpr(const pb::MeasureExpr& in) {
  MeasureExpr expr;
  expr.kind = FromWire<MeasureExprKind>(in.kind());
  expr.op = FromWire<MeasureOp>(in.op());
  expr.aggregate = FromWire<MeasureAggregate>(in.aggregate());
  expr.field = static_cast<MeasureFieldId>(in.field());
  expr.variable = FromWire(in.variable());
  expr.a = FromWire(in.a());
  expr.b = FromWire(in.b());
  expr.value = in.value();
  expr.denominator = in.denominator();
  return expr;
}

}  // namespace

void Write(const MeasureProgram& program, pb::MeasureProgram* out) {
  WriteNames(program, out);
  WriteKeys(program, out);
  WriteState(program, out);
  WriteCode(program, out);
}

MeasureProgram Read(const pb::MeasureProgram& in) {
  MeasureProgram program;
  ReadNames(in, &program);
  ReadKeys(in, &program);
  for (const auto& one : in.variables()) program.variables.push_back(ReadVariable(one));
  for (const auto& one : in.windows()) program.windows.push_back(ReadWindow(one));
  for (const auto& one : in.tasks()) {
    MeasureTask task;
    task.role = FromWire(one.role());
    task.stream = one.stream();
    task.window = FromWire(one.window());
    task.root = one.root();
    program.tasks.push_back(task);
  }
  for (const auto& one : in.nodes()) program.nodes.push_back(ReadNode(one));
  for (const auto& one : in.exprs()) program.exprs.push_back(ReadExpr(one));
  return program;
}

}  // namespace trumpet
