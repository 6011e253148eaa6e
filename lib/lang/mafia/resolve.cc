// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/resolve.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/mafia/constants.h"
#include "lib/lang/mafia/declare.h"
#include "lib/lang/mafia/names.h"

namespace trumpet::mafia {
namespace {

using event_lang::DidYouMean;
using event_lang::Quote;

MeasureRoleKind RoleKind(const std::string& name) {
  if (name == "first_hop") return MeasureRoleKind::kFirstHop;
  if (name == "intermediate") return MeasureRoleKind::kIntermediate;
  if (name == "last_hop") return MeasureRoleKind::kLastHop;
  if (name == "every") return MeasureRoleKind::kEvery;
  return MeasureRoleKind::kSite;
}

class Resolver {
 public:
  Resolver(const MafiaOptions& options, Symbols* symbols, Problems* problems,
           MeasureProgram* program)
      : options_(options), symbols_(*symbols), problems_(*problems), program_(*program) {}

  void Run(const Tree& tree);

 private:
  using Visit = void (Resolver::*)(const Item& item, MeasureIndex role);

  void Walk(const std::vector<Item>& items, MeasureIndex role, Visit visit);
  void Roles(const std::vector<Item>& items);
  void Globals(const Item& item, MeasureIndex role);
  void Keys(const Item& item, MeasureIndex role);
  void Variables(const Item& item, MeasureIndex role);
  void Windows(const Item& item, MeasureIndex role);
  void Number(const Item& item, MeasureIndex role);
  std::optional<MeasureNumber> Bound(const Item& item, MeasureIndex role);
  void Header(const Item& item);
  bool HeaderFields(const Item& item, MeasureHeader* header);
  void CheckBindings();
  // E12 when there is no room for one more.
  bool HasRoom(size_t count, size_t most, const char* what, size_t offset);

  const MafiaOptions& options_;
  Symbols& symbols_;
  Problems& problems_;
  MeasureProgram& program_;
  uint64_t cell_count_ = 0;
};

bool Resolver::HasRoom(size_t count, size_t most, const char* what, size_t offset) {
  if (count < most) return true;
  return problems_.Add(
      offset, "E12",
      std::string("too many ") + what + "; a program has at most " + std::to_string(most));
}

void Resolver::Walk(const std::vector<Item>& items, MeasureIndex role, Visit visit) {
  for (const Item& item : items) {
    (this->*visit)(item, role);
    if (item.kind != ItemKind::kRole) continue;
    Walk(item.items, FindRole(program_, item.names[0].text), visit);
  }
}

void Resolver::Roles(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (item.kind != ItemKind::kRole) continue;
    const std::string& name = item.names[0].text;
    if (FindRole(program_, name) != kNoIndex) continue;
    if (!HasRoom(program_.roles.size(), kMaxMeasureRoles, "roles", item.offset)) return;
    program_.roles.push_back({name, RoleKind(name)});
  }
  symbols_.SetEvery(FindRole(program_, "every"));
}

// What the installer says goes before what the text says.
std::optional<MeasureNumber> Resolver::Bound(const Item& item, MeasureIndex role) {
  const Word& name = item.names[0];
  const auto binding =
      item.kind == ItemKind::kParam ? options_.params.find(name.text) : options_.params.end();
  if (binding == options_.params.end()) {
    if (item.expr) return Evaluate(*item.expr, symbols_, role, &problems_);
    problems_.Add(name.offset, "E8",
                  Quote(name.text) + " has no value; write 'param " + name.text +
                      " = VALUE', or give one when it is installed");
    return std::nullopt;
  }
  const auto number = ReadNumber(binding->second);
  if (!number) {
    problems_.Add(name.offset, "E8",
                  Quote(name.text) + " is given as " + Quote(binding->second) +
                      "; it takes a number such as 5, 0.05, 10ms or 10.0.0.1");
  }
  return number;
}

void Resolver::Number(const Item& item, MeasureIndex role) {
  const bool is_param = item.kind == ItemKind::kParam;
  const MeasureIndex scope = is_param ? kNoIndex : role;
  const auto number = Bound(item, role);
  Symbol* symbol = symbols_.Declare(item.names[0], SymbolKind::kNumber, scope);
  if (symbol == nullptr || !number) return;
  symbol->number = *number;
  symbol->is_sound = true;
  if (!is_param) return;
  const std::string& name = item.names[0].text;
  if (!HasRoom(program_.params.size(), kMaxMeasureNames, "params", item.offset)) return;
  program_.params.push_back({name, *number, options_.params.count(name) > 0});
}

bool Resolver::HeaderFields(const Item& item, MeasureHeader* header) {
  bool is_right = true;
  const auto index = static_cast<MeasureIndex>(program_.headers.size());
  for (const HeaderField& field : item.header_fields) {
    const std::string name = item.names[0].text + "." + field.name.text;
    const auto is_same = [&name](const MeasureHeaderField& other) { return other.name == name; };
    if (std::any_of(program_.header_fields.begin(), program_.header_fields.end(), is_same)) {
      is_right = problems_.Add(
          field.name.offset, "E1",
          Quote(name) + " is declared a second time; give one of the two " + "another name");
    }
    const bool has_bits = field.bits >= 8 && field.bits <= 64 && field.bits % 8 == 0;
    if (!has_bits) {
      is_right = problems_.Add(field.name.offset, "E12",
                               Quote(name) + " has " + std::to_string(field.bits) +
                                   " bits; fields of headers have whole bytes, 8 to 64 bits");
    }
    if (!HasRoom(program_.header_fields.size(), kMaxMeasureHeaderFields, "fields of headers",
                 field.name.offset)) {
      return false;
    }
    // Where it is used, it is a field all the same.
    const auto bits = static_cast<uint8_t>(has_bits ? field.bits : 64);
    program_.header_fields.push_back({name, index, header->bytes, bits});
    header->bytes += bits / 8;
  }
  return is_right;
}

// Its guard is an expression: that comes when tasks do.
void Resolver::Header(const Item& item) {
  const Word& name = item.names[0];
  const auto is_known = [&name](const MeasureField& field) {
    const std::string_view known = field.name;
    return known.substr(0, known.find('.')) == name.text;
  };
  if (std::any_of(std::begin(kMeasureFields), std::end(kMeasureFields), is_known)) {
    problems_.Add(
        name.offset, "E1",
        Quote(name.text) + " is a header that is always there; give this one another " + "name");
    return;
  }
  Symbol* symbol = symbols_.Declare(name, SymbolKind::kHeader, kNoIndex);
  if (symbol == nullptr) return;
  if (!HasRoom(program_.headers.size(), kMaxMeasureNames, "headers", item.offset)) return;
  MeasureHeader header;
  header.name = name.text;
  symbol->index = static_cast<MeasureIndex>(program_.headers.size());
  symbol->is_sound = HeaderFields(item, &header);
  if (item.header_offset > kMaxMeasureHeaderOffset) {
    problems_.Add(item.offset, "E12",
                  "the header is at byte " + std::to_string(item.header_offset) +
                      " of the payload; at most " + std::to_string(kMaxMeasureHeaderOffset) +
                      " is looked at");
  }
  if (item.header_fields.empty()) {
    problems_.Add(item.offset, "E1", "this header has no field; it needs one, such as 'msg: 8;'");
  }
  header.offset = static_cast<uint32_t>(item.header_offset);
  program_.headers.push_back(std::move(header));
}

void Resolver::Globals(const Item& item, MeasureIndex role) {
  if (item.kind == ItemKind::kConst || item.kind == ItemKind::kParam) Number(item, role);
  if (item.kind == ItemKind::kHeader) Header(item);
  if (item.kind != ItemKind::kEndpoint) return;
  for (const Word& name : item.names) {
    Symbol* symbol = symbols_.Declare(name, SymbolKind::kEndpoint, kNoIndex);
    if (symbol == nullptr) continue;
    if (!HasRoom(program_.endpoints.size(), kMaxMeasureNames, "endpoints", name.offset)) return;
    symbol->index = static_cast<MeasureIndex>(program_.endpoints.size());
    symbol->is_sound = true;
    program_.endpoints.push_back(name.text);
  }
}

void Resolver::Keys(const Item& item, MeasureIndex role) {
  if (item.kind != ItemKind::kDeclaration || item.constructor.type.text != "Key") return;
  const Word& name = item.names[0];
  auto key = ResolveKey(item.constructor, program_, &problems_);
  Symbol* symbol = symbols_.Declare(name, SymbolKind::kKey, role);
  if (symbol == nullptr || !key) return;
  if (!HasRoom(program_.keys.size(), kMaxMeasureKeys, "keys", name.offset)) return;
  key->name = name.text;
  key->role = role;
  symbol->index = static_cast<MeasureIndex>(program_.keys.size());
  symbol->is_sound = true;
  program_.keys.push_back(std::move(*key));
}

void Resolver::Variables(const Item& item, MeasureIndex role) {
  if (item.kind != ItemKind::kDeclaration || item.constructor.type.text == "Key") return;
  const Word& name = item.names[0];
  auto variable = ResolveVariable(item.constructor, symbols_, role, &problems_);
  Symbol* symbol = symbols_.Declare(name, SymbolKind::kVariable, role);
  if (symbol == nullptr || !variable) return;
  if (!HasRoom(program_.variables.size(), kMaxMeasureVariables, "variables", name.offset)) return;
  cell_count_ += variable->CellCount();  // each is small enough for the sum
  if (cell_count_ > kMaxMeasureCells) {
    problems_.Add(name.offset, "E12",
                  "with this the program has " + std::to_string(cell_count_) +
                      " cells of state; at most " + std::to_string(kMaxMeasureCells) +
                      " are allowed");
    return;
  }
  variable->name = name.text;
  variable->role = role;
  variable->place = problems_.places().At(name.offset);
  symbol->index = static_cast<MeasureIndex>(program_.variables.size());
  symbol->is_sound = true;
  program_.variables.push_back(std::move(*variable));
}

void Resolver::Windows(const Item& item, MeasureIndex role) {
  if (item.kind != ItemKind::kWindow) return;
  auto window = ResolveWindow(*item.window, symbols_, role, &problems_);
  if (!window) return;
  window->role = role;
  for (MeasureIndex i = 0; i < program_.variables.size(); ++i) {
    if (program_.variables[i].role == role) window->variables.push_back(i);
  }
  AddWindow(std::move(*window), item.offset, &problems_, &program_);
}

void Resolver::CheckBindings() {
  std::vector<std::string> names;
  for (const MeasureParam& param : program_.params) names.push_back(param.name);
  for (const auto& [name, value] : options_.params) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const Symbol* symbol = symbols_.Find(name, kNoIndex);
    if (symbol != nullptr && !symbol->is_sound) continue;
    problems_.Add(0, "E8",
                  Quote(name) + " is given a value, but is no param of the program" +
                      DidYouMean(name, names));
  }
}

void Resolver::Run(const Tree& tree) {
  Roles(tree.items);
  Walk(tree.items, kNoIndex, &Resolver::Globals);
  Walk(tree.items, kNoIndex, &Resolver::Keys);
  Walk(tree.items, kNoIndex, &Resolver::Variables);
  Walk(tree.items, kNoIndex, &Resolver::Windows);
  CheckBindings();
}

}  // namespace

std::string_view FieldName(const MeasureProgram& program, MeasureFieldId field) {
  if (field < kMeasureFieldCount) return kMeasureFields[field].name;
  return program.header_fields[field - kMeasureFieldCount].name;
}

uint32_t FieldBits(const MeasureProgram& program, MeasureFieldId field) {
  if (field < kMeasureFieldCount) return kMeasureFields[field].bits;
  return program.header_fields[field - kMeasureFieldCount].bits;
}

std::optional<MeasureFieldId> RequireField(const MeasureProgram& program, const Word& name,
                                           Problems* problems) {
  const size_t count = kMeasureFieldCount + program.header_fields.size();
  for (MeasureFieldId field = 0; field < count; ++field) {
    if (FieldName(program, field) == name.text) return field;
  }
  if (problems->is_full()) return std::nullopt;
  std::vector<std::string> names = AliasNames();
  for (MeasureFieldId field = 0; field < count; ++field) {
    names.emplace_back(FieldName(program, field));
  }
  problems->Add(name.offset, "E1",
                Quote(name.text) + " is no field" + DidYouMean(name.text, names));
  return std::nullopt;
}

MeasureIndex FindRole(const MeasureProgram& program, const std::string& name) {
  const auto found = std::find_if(program.roles.begin(), program.roles.end(),
                                  [&name](const MeasureRole& role) { return role.name == name; });
  if (found == program.roles.end()) return kNoIndex;
  return static_cast<MeasureIndex>(found - program.roles.begin());
}

void Resolve(const Tree& tree, const MafiaOptions& options, Symbols* symbols, Problems* problems,
             MeasureProgram* program) {
  Resolver(options, symbols, problems, program).Run(tree);
}

std::optional<MeasureWindow> ResolveWindow(const Window& window, const Symbols& symbols,
                                           MeasureIndex role, Problems* problems) {
  const auto duration = EvaluateBetween(window.duration, "the window in nanoseconds", 1,
                                        kMaxMeasureWindow, symbols, role, problems);
  MeasureWindow resolved;
  std::optional<uint64_t> quantum = resolved.quantum;
  if (window.quantum) {
    quantum =
        EvaluateBetween(*window.quantum, "quantum", 1, kMaxMeasureCells, symbols, role, problems);
  }
  const std::string& mode = window.mode.text;
  if (mode == "flip") resolved.mode = MeasureWindowMode::kFlip;
  const bool is_mode = mode.empty() || mode == "flip" || mode == "reset";
  if (!is_mode) {
    problems->Add(window.mode.offset, "E1",
                  Quote(mode) + " is no mode of a window; it is reset or flip" +
                      DidYouMean(mode, {"reset", "flip"}));
  }
  if (!duration || !quantum || !is_mode) return std::nullopt;
  resolved.duration = static_cast<Nanos>(*duration);
  resolved.quantum = static_cast<uint32_t>(*quantum);
  return resolved;
}

void AddWindow(MeasureWindow window, size_t offset, Problems* problems, MeasureProgram* program) {
  if (window.variables.empty()) {
    problems->Add(offset, "E10",
                  "this window covers no variable; it stands beside those that it covers");
    return;
  }
  if (program->windows.size() >= kMaxMeasureWindows) {
    problems->Add(offset, "E12",
                  "too many windows; a program has at most " + std::to_string(kMaxMeasureWindows));
    return;
  }
  const auto index = static_cast<MeasureIndex>(program->windows.size());
  for (const MeasureIndex i : window.variables) {
    MeasureVariable& variable = program->variables[i];
    if (variable.window != kNoIndex) {
      problems->Add(
          offset, "E10",
          Quote(variable.name) + " is in another window already; take one of the two " + "away");
      return;
    }
    variable.window = index;
  }
  program->windows.push_back(std::move(window));
}

}  // namespace trumpet::mafia
