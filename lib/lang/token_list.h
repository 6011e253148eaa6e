// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TokenList: the tokens of a text and where a parser stands in them.

#ifndef TRUMPET_LIB_LANG_TOKEN_LIST_H
#define TRUMPET_LIB_LANG_TOKEN_LIST_H

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace trumpet {

template <typename Token>
class TokenList {
 public:
  // The last token says that the text ends; nothing goes beyond it.
  explicit TokenList(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(index_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() {
    const Token& token = Peek();
    if (index_ + 1 < tokens_.size()) ++index_;
    return token;
  }

 private:
  const std::vector<Token> tokens_;
  size_t index_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_LANG_TOKEN_LIST_H
