// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/symbols.h"

#include <algorithm>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"

namespace trumpet::mafia {

// Names that are asked whether a mistyped one was meant to be them.
constexpr size_t kMaxCandidates = 500;

using event_lang::DidYouMean;
using event_lang::Quote;

Symbol* Symbols::Declare(const Word& name, SymbolKind kind, MeasureIndex role) {
  // What the whole program sees must be new in every role, too.
  const bool is_taken =
      role == kNoIndex
          ? std::any_of(scopes_.begin(), scopes_.end(),
                        [&name](const auto& scope) { return scope.second.count(name.text) > 0; })
          : FindIn({role, kNoIndex}, name.text) != nullptr;
  if (is_taken) {
    problems_->Add(
        name.offset, "E1",
        Quote(name.text) + " is declared a second time; give one of the two another " + "name");
    return nullptr;
  }
  Symbol& symbol = scopes_[role][name.text];
  symbol.kind = kind;
  return &symbol;
}

std::vector<MeasureIndex> Symbols::ScopesOf(MeasureIndex role) const {
  if (role == kNoIndex) return {kNoIndex};
  if (role == every_ || every_ == kNoIndex) return {role, kNoIndex};
  return {role, every_, kNoIndex};
}

const Symbol* Symbols::Find(const std::string& name, MeasureIndex role) const {
  return FindIn(ScopesOf(role), name);
}

const Symbol* Symbols::FindIn(const std::vector<MeasureIndex>& scopes,
                              const std::string& name) const {
  for (const MeasureIndex role : scopes) {
    const auto scope = scopes_.find(role);
    if (scope == scopes_.end()) continue;
    const auto symbol = scope->second.find(name);
    if (symbol != scope->second.end()) return &symbol->second;
  }
  return nullptr;
}

const Symbol* Symbols::Require(const Word& name, MeasureIndex role) const {
  const Symbol* symbol = Find(name.text, role);
  if (symbol == nullptr && !problems_->is_full()) {
    problems_->Add(name.offset, "E1",
                   Quote(name.text) + " is not declared" + DidYouMean(name.text, NamesIn(role)));
  }
  return symbol != nullptr && symbol->is_sound ? symbol : nullptr;
}

std::vector<std::string> Symbols::NamesIn(MeasureIndex role) const {
  std::vector<std::string> names;
  for (const MeasureIndex scope_role : ScopesOf(role)) {
    const auto scope = scopes_.find(scope_role);
    if (scope == scopes_.end()) continue;
    for (const auto& [name, symbol] : scope->second) {
      if (names.size() < kMaxCandidates) names.push_back(name);
    }
  }
  return names;
}

}  // namespace trumpet::mafia
