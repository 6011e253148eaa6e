// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TokenStream: a parser's cursor over the tokens of one part, and its bound on nesting.

#ifndef TRUMPET_LIB_LANG_EVENT_TOKEN_STREAM_H
#define TRUMPET_LIB_LANG_EVENT_TOKEN_STREAM_H

#include <string>
#include <utility>
#include <vector>

#include "lib/lang/event/lexer.h"
#include "lib/lang/token_list.h"

namespace trumpet::event_lang {

// So many operators may lie above each other in a tree.  Lowering adds a few levels to a predicate,
// and printing adds parentheses, so parsers go somewhat deeper before they give up; see lower.h.
constexpr int kMaxDepth = 64;
constexpr int kMaxParserDepth = 2 * kMaxDepth;

class TokenStream : public TokenList<Token> {
 public:
  TokenStream(std::vector<Token> tokens, Part part, Diagnostic* error)
      : TokenList(std::move(tokens)), part_(part), error_(error) {}

  bool At(TokenKind kind) const { return Peek().kind == kind; }
  bool At(std::string_view word) const { return Peek().Is(word); }
  bool Take(TokenKind kind) {
    if (!At(kind)) return false;
    Next();
    return true;
  }
  bool Take(std::string_view word) {
    if (!At(word)) return false;
    Next();
    return true;
  }

  bool FailAt(size_t offset, std::string message) const {
    return Fail(error_, part_, offset, std::move(message));
  }
  bool FailHere(std::string message) const { return FailAt(Peek().offset, std::move(message)); }
  // "expected a value, not ')'"
  bool Expected(const std::string& what) const {
    return FailHere("expected " + what + ", not " + Describe(Peek(), part_));
  }

  // Paired around every recursion; false, with the error set, when too deep.
  bool Enter() {
    if (++depth_ <= kMaxParserDepth) return true;
    return FailHere("nested too deep here; at most " + std::to_string(kMaxDepth) +
                    " levels are allowed");
  }
  void Leave() { --depth_; }

 private:
  const Part part_;
  Diagnostic* const error_;
  int depth_ = 0;
};

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_TOKEN_STREAM_H
