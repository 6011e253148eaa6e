// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The tree of a measurement program as it is written: aliases are replaced by the names they stand
// for, and nothing is resolved.  Offsets are bytes of the text.

#ifndef TRUMPET_LIB_LANG_MAFIA_AST_H
#define TRUMPET_LIB_LANG_MAFIA_AST_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/model/measure_program.h"

namespace trumpet::mafia {

struct Word {
  std::string text;
  size_t offset = 0;
};

enum class ExprKind : uint8_t {
  kInteger,
  kDecimal,
  kDuration,
  kIpv4,
  kName,
  kField,   // dotted
  kMethod,  // name.method([expr])
  kUnary,
  kBinary,
  kMin,
  kMax,
  kRandom,
};

struct Expr {
  ExprKind kind = ExprKind::kInteger;
  MeasureOp op = MeasureOp::kPlus;
  uint8_t base = 10;  // kInteger
  uint32_t depth = 1;
  size_t offset = 0;  // of an operator for kUnary and kBinary
  MeasureNumber number;
  std::string name;
  Word method;
  std::vector<Expr> operands;
};

// A primitive, or a composition of steps.
struct Step {
  MeasureNodeKind kind = MeasureNodeKind::kMatch;
  uint32_t depth = 1;
  size_t offset = 0;
  Word name;    // of a field, variable, stream or endpoint
  Word method;  // kUpdate
  std::optional<Expr> expr;
  std::vector<Step> children;
};

struct Window {
  size_t offset = 0;
  Expr duration;
  std::optional<Expr> quantum;
  Word mode;  // may be empty
};

// A keyword and its value: one of the three.
struct Argument;

struct Constructor {
  Word type;                 // "Key", "Counter", ...
  std::vector<Word> fields;  // of a Key
  std::vector<Argument> arguments;
};

struct Argument {
  Word keyword;
  Word word;  // of key, alg, collide
  std::optional<Expr> expr;
  std::vector<Constructor> type;  // 0 or 1
};

struct HeaderField {
  Word name;
  uint64_t bits = 0;
};

enum class ItemKind : uint8_t {
  kConst,
  kParam,
  kEndpoint,
  kRole,
  kWindow,
  kHeader,
  kDeclaration,
  kTask,
};

struct Item {
  ItemKind kind = ItemKind::kTask;
  size_t offset = 0;
  std::vector<Word> names;       // several of kEndpoint; the stream of kTask; none of kWindow
  std::optional<Expr> expr;      // kConst, kParam; the guard of kHeader
  std::optional<Window> window;  // kWindow, kTask
  Constructor constructor;       // kDeclaration
  Step pipeline;                 // kTask
  std::vector<Item> items;       // kRole
  uint64_t header_offset = 0;    // kHeader
  std::vector<HeaderField> header_fields;
};

struct Tree {
  std::vector<Item> items;
};

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_AST_H
