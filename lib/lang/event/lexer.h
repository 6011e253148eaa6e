// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Lexer: the characters of one part of an event as tokens.
//
// The parts differ in what a word is: addresses in filters hold dots and colons,
// `5-tuple` in a granularity holds a minus, numbers in predicates carry units.

#ifndef TRUMPET_LIB_LANG_EVENT_LEXER_H
#define TRUMPET_LIB_LANG_EVENT_LEXER_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/number.h"

namespace trumpet::event_lang {

enum class TokenKind {
  kEnd,
  kWord,    // names; in filters and granularities also numbers and addresses
  kNumber,  // predicates and intervals only
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kPercent,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAmpersand,
  kBar,
  kText,  // "hh", without its quotes; predicates only
  kDot,   // before a letter; predicates only
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t offset = 0;
  std::string_view text;    // points into the lexed text
  std::string_view inner;   // kNumber: without the unit; kText: without the quotes
  Unit unit = Unit::kNone;  // kNumber
  Number number;            // kNumber: scaled by its unit

  bool Is(std::string_view word) const { return kind == TokenKind::kWord && text == word; }
};

// The words that are operators, never names.
bool IsKeyword(const Token& token);

// "'bytez'", or "the end of the predicate".
std::string Describe(const Token& token, Part part);

// The tokens of `text`, kEnd last.  False with `error` set at a character or
// number that no event has.  `text` must outlive the tokens.
bool Lex(std::string_view text, Part part, std::vector<Token>* tokens, Diagnostic* error);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_LEXER_H
