// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Symbols: what the names of a measurement program stand for.
//
// A role is a scope of its own, also over several blocks of the same role; what it declares is not
// seen elsewhere, and may not hide what the program declares outside of roles.  What `every`
// declares is seen in all roles, for a switch that has one of them has `every`, too; they may
// declare the name once more, for something of their own.  Params, endpoints
// and headers belong to the whole program wherever they stand: they are bound once.

#ifndef TRUMPET_LIB_LANG_MAFIA_SYMBOLS_H
#define TRUMPET_LIB_LANG_MAFIA_SYMBOLS_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/lang/mafia/ast.h"
#include "lib/lang/mafia/problems.h"

namespace trumpet::mafia {

enum class SymbolKind : uint8_t { kNumber, kEndpoint, kKey, kVariable, kHeader };

struct Symbol {
  SymbolKind kind = SymbolKind::kNumber;
  // False when its declaration has a mistake: whoever uses it keeps quiet.
  bool is_sound = false;
  MeasureIndex index = kNoIndex;  // in the program's vector of its kind; not of kNumber
  MeasureNumber number;           // kNumber: a const or a param
};

class Symbols {
 public:
  explicit Symbols(Problems* problems) : problems_(problems) {}

  // kNoIndex: the program has no role `every`.
  void SetEvery(MeasureIndex role) { every_ = role; }

  // E1 if the name is taken where it would be seen.  `role` is kNoIndex outside of roles.  Null
  // then, else the new symbol, which is not sound yet.
  Symbol* Declare(const Word& name, SymbolKind kind, MeasureIndex role);
  const Symbol* Find(const std::string& name, MeasureIndex role) const;
  // E1 when there is none; null then, or when it is not sound.
  const Symbol* Require(const Word& name, MeasureIndex role) const;

 private:
  // From the innermost one to that of the program.
  std::vector<MeasureIndex> ScopesOf(MeasureIndex role) const;
  const Symbol* FindIn(const std::vector<MeasureIndex>& scopes, const std::string& name) const;
  // What `role` sees, to suggest some of it.
  std::vector<std::string> NamesIn(MeasureIndex role) const;

  using Scope = std::map<std::string, Symbol>;

  Problems* const problems_;
  MeasureIndex every_ = kNoIndex;
  std::map<MeasureIndex, Scope> scopes_;  // kNoIndex is the program's
};

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_SYMBOLS_H
