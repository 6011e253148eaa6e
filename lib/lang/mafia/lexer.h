// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Lexer: the characters of a measurement program as tokens.

#ifndef TRUMPET_LIB_LANG_MAFIA_LEXER_H
#define TRUMPET_LIB_LANG_MAFIA_LEXER_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/lang/mafia/problems.h"

namespace trumpet::mafia {

enum class TokenKind {
  kEnd,
  kWord,
  kInteger,
  kDecimal,
  kDuration,
  kIpv4,
  kString,  // `text` is without its quotes
  kSign,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t offset = 0;
  std::string_view text;  // points into the lexed text
  MeasureNumber number;   // of the four kinds that have one; durations in ns
  int base = 10;          // kInteger: 2, 10 or 16
};

// "'+'", or "the end of the program".
std::string Describe(const Token& token);

// The tokens of `text`, kEnd last; what is no token is a problem and left out.
std::vector<Token> Lex(std::string_view text, Problems* problems);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_LEXER_H
