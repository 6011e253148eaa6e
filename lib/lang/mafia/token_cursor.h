// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TokenCursor: where a parser stands in the tokens of a program.

#ifndef TRUMPET_LIB_LANG_MAFIA_TOKEN_CURSOR_H
#define TRUMPET_LIB_LANG_MAFIA_TOKEN_CURSOR_H

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/lang/mafia/ast.h"
#include "lib/lang/mafia/lexer.h"
#include "lib/lang/token_list.h"

namespace trumpet::mafia {

class TokenCursor : public TokenList<Token> {
 public:
  TokenCursor(std::vector<Token> tokens, Problems* problems)
      : TokenList(std::move(tokens)), problems_(problems) {}

  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }
  bool AtWord(size_t ahead = 0) const { return Peek(ahead).kind == TokenKind::kWord; }
  bool At(std::string_view text, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    const bool has_text = token.kind == TokenKind::kSign || token.kind == TokenKind::kWord;
    return has_text && token.text == text;
  }
  bool Take(std::string_view text) {
    if (!At(text)) return false;
    Next();
    return true;
  }

  // No further mistake would be kept.
  bool HasEnough() const { return problems_->is_full(); }
  bool FailAt(size_t offset, std::string message) {
    return problems_->Add(offset, "", std::move(message));
  }
  // "expected a field, not ')'"
  bool Expected(const std::string& what) {
    return FailAt(Peek().offset, "expected " + what + ", not " + Describe(Peek()));
  }
  bool Expect(std::string_view text) {
    return Take(text) || Expected("'" + std::string(text) + "'");
  }
  bool ExpectWord(const std::string& what, Word* word) {
    if (!AtWord()) return Expected(what);
    const Token& token = Next();
    *word = {std::string(token.text), token.offset};
    return true;
  }

  // Paired around every recursion; false, with a problem, when too deep.  After a mistake some are
  // left open: who goes on behind it restores the depth.
  bool Enter() {
    if (++depth_ <= kMaxMeasureDepth) return true;
    return FailAt(Peek().offset, DepthMessage());
  }
  void Leave() { --depth_; }
  // Gives a node of the tree a child; a tree may only be so high.
  template <typename Node>
  bool Adopt(Node* parent, std::vector<Node> Node::*children, Node child) {
    parent->depth = std::max(parent->depth, child.depth + 1);
    (parent->*children).push_back(std::move(child));
    return CheckDepth(*parent);
  }
  size_t depth() const { return depth_; }
  void RestoreDepth(size_t depth) { depth_ = depth; }

 private:
  bool CheckDepth(const Step& step) {
    return step.depth <= kMaxMeasureDepth || FailAt(step.offset, DepthMessage());
  }
  // A chain is as high as it has operators, though nothing nests in it.
  bool CheckDepth(const Expr& expr) {
    if (expr.depth <= kMaxMeasureExprDepth) return true;
    return FailAt(expr.offset, "more than " + std::to_string(kMaxMeasureChain) +
                                   " operators in a row; put some of them into parentheses");
  }
  static std::string DepthMessage() {
    return "nested too deep here; at most " + std::to_string(kMaxMeasureDepth) +
           " levels are allowed";
  }

  Problems* const problems_;
  size_t depth_ = 0;
};

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_TOKEN_CURSOR_H
