// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/lower.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/mafia/lower_expr.h"
#include "lib/lang/mafia/names.h"
#include "lib/lang/mafia/resolve.h"

namespace trumpet::mafia {
namespace {

using event_lang::Quote;

class Lowering {
 public:
  Lowering(const Symbols& symbols, Problems* problems, MeasureProgram* program)
      : symbols_(symbols), problems_(*problems), program_(*program) {}

  void Run(const Tree& tree);

 private:
  void Guards(const std::vector<Item>& items);
  void Items(const std::vector<Item>& items, MeasureIndex role);
  void Task(const Item& item, MeasureIndex role);
  void TaskWindow(const Item& item, MeasureIndex task);
  // The node of a step; kNoIndex when a problem was told.
  MeasureIndex Node(const Step& step);
  bool Fill(const Step& step, MeasureNode* node);
  bool Children(const Step& step, MeasureNode* node);
  bool Match(const Step& step, MeasureNode* node);
  bool Tag(const Step& step, MeasureNode* node);
  bool CheckTarget(const Step& step, MeasureFieldId field);
  bool CheckWidth(const Step& step, const MeasureNode& node);
  bool Timestamp(const Step& step, MeasureNode* node);
  bool Duplicate(const Step& step, MeasureNode* node);
  bool Collect(const Step& step, MeasureNode* node);
  bool Update(const Step& step, MeasureNode* node);
  bool CheckUpdate(const Step& step, const MeasureVariable& variable, MeasureUpdate update);
  const Symbol* Require(const Word& name, SymbolKind kind, const char* what);
  MeasureIndex Stream(const Word& name);
  MeasureIndex Expression(const Expr& expr, MeasureIndex written = kNoIndex);
  bool Fail(size_t offset, const char* code, const std::string& message) {
    return problems_.Add(offset, code, message);
  }

  const Symbols& symbols_;
  Problems& problems_;
  MeasureProgram& program_;
  MeasureTask task_;  // the one under way
};

MeasureIndex Lowering::Stream(const Word& name) {
  auto& streams = program_.streams;
  for (MeasureIndex i = 0; i < streams.size(); ++i) {
    if (streams[i].name == name.text) return i;
  }
  if (streams.size() < kMaxMeasureStreams) {
    streams.push_back({name.text});
    return static_cast<MeasureIndex>(streams.size() - 1);
  }
  Fail(name.offset, "E12",
       "too many streams; a program has at most " + std::to_string(kMaxMeasureStreams));
  return kNoIndex;
}

MeasureIndex Lowering::Expression(const Expr& expr, MeasureIndex written) {
  const ExprScope scope{task_.role, written, false};
  return LowerExpr(expr, scope, symbols_, &problems_, &program_);
}

const Symbol* Lowering::Require(const Word& name, SymbolKind kind, const char* what) {
  const Symbol* symbol = symbols_.Require(name, task_.role);
  if (symbol == nullptr || symbol->kind == kind) return symbol;
  Fail(name.offset, "E2", Quote(name.text) + " is no " + what);
  return nullptr;
}

bool Lowering::Children(const Step& step, MeasureNode* node) {
  if (step.kind == MeasureNodeKind::kPar && step.children.size() > kMaxMeasureBranches) {
    return Fail(step.offset, "E12",
                "this '++' has " + std::to_string(step.children.size()) + " branches; at most " +
                    std::to_string(kMaxMeasureBranches) + " are run side by side");
  }
  bool is_right = true;
  for (const Step& child : step.children) {
    node->children.push_back(Node(child));
    is_right = is_right && node->children.back() != kNoIndex;
  }
  return is_right;
}

bool Lowering::Match(const Step& step, MeasureNode* node) {
  node->expr = Expression(*step.expr);
  return node->expr != kNoIndex;
}

bool Lowering::CheckTarget(const Step& step, MeasureFieldId id) {
  if (id >= kMeasureFieldCount) return true;
  const MeasureField& field = kMeasureFields[id];
  if (field.write == MeasureWrite::kNever) {
    return Fail(step.name.offset, "E3",
                Quote(field.name) + " is not written; it tells where the packet is");
  }
  if (field.write == MeasureWrite::kForward || task_.stream != kPktsStream) return true;
  return Fail(step.name.offset, "E12",
              Quote(field.name) +
                  " is not written on forwarded packets, which would change where " +
                  "they go; write ipv4.tos, ipv4.id, vlan.vid or geneve.option, or duplicate() " +
                  "first and write on the copy");
}

// E11, or a warning: the value is cut.
bool Lowering::CheckWidth(const Step& step, const MeasureNode& node) {
  const uint32_t field_bits = FieldBits(program_, node.field);
  const uint32_t filter_bits = FilterBitsOf(program_, node.expr);
  if (filter_bits > field_bits) {
    const std::string field = Quote(step.name.text);
    const std::string room = std::to_string(field_bits);
    const bool is_bare = program_.exprs[node.expr].kind == MeasureExprKind::kFilterBits;
    return Fail(step.expr->offset, "E11",
                is_bare
                    ? "a filter of " + std::to_string(filter_bits) + " bits does not fit into " +
                          field + ", which has " + room + " bits; declare it with size=" + room
                    : "the bits of a filter go up to " + std::to_string(filter_bits) +
                          " here, and " + field + " has " + room + " bits");
  }
  if (BitsOf(program_, node.expr) <= field_bits) return true;
  MeasureDiagnostic diagnostic;
  diagnostic.finding = MeasureFinding::kTruncation;
  diagnostic.name = step.name.text;
  diagnostic.role = task_.role;
  diagnostic.place = node.place;
  program_.diagnostics.push_back(std::move(diagnostic));
  return true;
}

bool Lowering::Tag(const Step& step, MeasureNode* node) {
  const auto field = RequireField(program_, step.name, &problems_);
  const bool is_target = field && CheckTarget(step, *field);
  node->expr = Expression(*step.expr);
  if (!is_target || node->expr == kNoIndex) return false;
  node->field = *field;
  return CheckWidth(step, *node);
}

bool Lowering::Timestamp(const Step& step, MeasureNode* node) {
  const Symbol* symbol = Require(step.name, SymbolKind::kVariable, "variable");
  if (symbol == nullptr) return false;
  const MeasureKind kind = program_.variables[symbol->index].kind;
  node->target = symbol->index;
  if (kind == MeasureKind::kTimestamp || kind == MeasureKind::kTimestampMap) return true;
  return Fail(step.name.offset, "E2",
              Quote(step.name.text) + " is a " + std::string(NameOf(kind)) +
                  "; timestamp() writes Timestamp() and HashMap of Timestamp");
}

bool Lowering::Duplicate(const Step& step, MeasureNode* node) {
  const std::string& name = step.name.text;
  if (name == "pkts" || name == "ctrl") {
    return Fail(step.name.offset, "E6",
                "copies do not go to " + Quote(name) + ", which is what the switch receives; " +
                    "name a stream of your own");
  }
  node->target = Stream(step.name);
  return node->target != kNoIndex;
}

bool Lowering::Collect(const Step& step, MeasureNode* node) {
  const Symbol* symbol =
      Require(step.name, SymbolKind::kEndpoint, "endpoint; 'endpoint NAME' declares one");
  if (symbol == nullptr) return false;
  node->target = symbol->index;
  if (task_.stream != kPktsStream) return true;
  return Fail(step.offset, "E5",
              "collect() would take the packet away from its receiver; duplicate(STREAM) first, "
              "and 'STREAM >> collect(" +
                  step.name.text + ")'");
}

bool Lowering::CheckUpdate(const Step& step, const MeasureVariable& variable,
                           MeasureUpdate update) {
  const std::string method = step.method.text + "()";
  if (!HasUpdate(variable.kind, update)) {
    return Fail(step.method.offset, "E2",
                Quote(step.name.text) + " is a " + std::string(NameOf(variable.kind)) +
                    ", which has no " + method + "; it has " + UpdatesOf(variable.kind));
  }
  const bool is_insertion =
      update == MeasureUpdate::kSet && variable.kind == MeasureKind::kBloomMembership;
  const bool takes_value =
      !is_insertion && (update == MeasureUpdate::kSet || update == MeasureUpdate::kAdd ||
                        update == MeasureUpdate::kInit);
  if (takes_value == step.expr.has_value()) return true;
  if (!takes_value) {
    return Fail(step.expr->offset, "E2",
                method + " of a " + std::string(NameOf(variable.kind)) + " takes no value");
  }
  return Fail(step.method.offset, "E2",
              method + " of a " + std::string(NameOf(variable.kind)) + " takes a value");
}

bool Lowering::Update(const Step& step, MeasureNode* node) {
  const Symbol* symbol = Require(step.name, SymbolKind::kVariable, "variable");
  if (symbol == nullptr) return false;
  const MeasureVariable& variable = program_.variables[symbol->index];
  const bool is_filter = variable.kind == MeasureKind::kBloomMembership;
  node->target = symbol->index;
  node->update = *UpdateByName(step.method.text);
  const bool is_right = CheckUpdate(step, variable, node->update);
  if (step.expr) node->expr = Expression(*step.expr, symbol->index);
  if (!is_right || (step.expr && node->expr == kNoIndex)) return false;
  if (is_filter && node->update == MeasureUpdate::kSet) node->update = MeasureUpdate::kInsert;
  if (!is_filter || node->update != MeasureUpdate::kInit || variable.size <= 64) return true;
  return Fail(step.method.offset, "E11",
              Quote(step.name.text) + " has " + std::to_string(variable.size) +
                  " bits; init() loads a filter of at most 64");
}

bool Lowering::Fill(const Step& step, MeasureNode* node) {
  switch (step.kind) {
    case MeasureNodeKind::kSeq:
    case MeasureNodeKind::kPar:
      return Children(step, node);
    case MeasureNodeKind::kMatch:
      return Match(step, node);
    case MeasureNodeKind::kTag:
      return Tag(step, node);
    case MeasureNodeKind::kTimestamp:
      return Timestamp(step, node);
    case MeasureNodeKind::kDuplicate:
      return Duplicate(step, node);
    case MeasureNodeKind::kCollect:
      return Collect(step, node);
    case MeasureNodeKind::kUpdate:
      return Update(step, node);
  }
  return false;
}

MeasureIndex Lowering::Node(const Step& step) {
  MeasureNode node;
  node.kind = step.kind;
  node.place = problems_.places().At(step.offset);
  if (!Fill(step, &node)) return kNoIndex;
  if (program_.nodes.size() >= kMaxMeasureNodes) {
    Fail(step.offset, "E12",
         "too many steps; a program has at most " + std::to_string(kMaxMeasureNodes));
    return kNoIndex;
  }
  program_.nodes.push_back(std::move(node));
  return static_cast<MeasureIndex>(program_.nodes.size() - 1);
}

// It covers what the task writes.
void Lowering::TaskWindow(const Item& item, MeasureIndex task) {
  auto window = ResolveWindow(*item.window, symbols_, task_.role, &problems_);
  if (!window) return;
  std::set<MeasureIndex> written;
  std::vector<MeasureIndex> open = {task_.root};
  while (!open.empty()) {
    const MeasureNode& node = program_.nodes[open.back()];
    open.pop_back();
    open.insert(open.end(), node.children.begin(), node.children.end());
    const bool is_write =
        node.kind == MeasureNodeKind::kUpdate || node.kind == MeasureNodeKind::kTimestamp;
    if (is_write) written.insert(node.target);
  }
  window->role = task_.role;
  window->task = task;
  window->variables.assign(written.begin(), written.end());
  task_.window = static_cast<MeasureIndex>(program_.windows.size());
  AddWindow(std::move(*window), item.window->offset, &problems_, &program_);
}

void Lowering::Task(const Item& item, MeasureIndex role) {
  const auto index = static_cast<MeasureIndex>(program_.tasks.size());
  if (index >= kMaxMeasureTasks) {
    Fail(item.offset, "E12",
         "too many tasks; a program has at most " + std::to_string(kMaxMeasureTasks));
    return;
  }
  task_ = MeasureTask();
  task_.role = role;
  task_.stream = Stream(item.names[0]);
  if (task_.stream == kNoIndex) return;
  task_.place = problems_.places().At(item.offset);
  task_.root = Node(item.pipeline);
  if (task_.root != kNoIndex && item.window) TaskWindow(item, index);
  program_.tasks.push_back(task_);
}

void Lowering::Items(const std::vector<Item>& items, MeasureIndex role) {
  for (const Item& item : items) {
    if (item.kind == ItemKind::kTask) Task(item, role);
    if (item.kind == ItemKind::kRole) {
      Items(item.items, FindRole(program_, item.names[0].text));
    }
  }
}

void Lowering::Guards(const std::vector<Item>& items) {
  for (const Item& item : items) {
    Guards(item.items);
    if (item.kind != ItemKind::kHeader) continue;
    const Symbol* symbol = symbols_.Find(item.names[0].text, kNoIndex);
    if (symbol == nullptr || symbol->kind != SymbolKind::kHeader || !symbol->is_sound) continue;
    const ExprScope scope{kNoIndex, kNoIndex, true};
    program_.headers[symbol->index].guard =
        LowerExpr(*item.expr, scope, symbols_, &problems_, &program_);
  }
}

void Lowering::Run(const Tree& tree) {
  program_.streams = {{"pkts"}, {"ctrl"}};
  Guards(tree.items);
  Items(tree.items, kNoIndex);
}

}  // namespace

void Lower(const Tree& tree, const Symbols& symbols, Problems* problems, MeasureProgram* program) {
  Lowering(symbols, problems, program).Run(tree);
}

}  // namespace trumpet::mafia
