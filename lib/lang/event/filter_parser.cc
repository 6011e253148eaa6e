// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/filter_parser.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/lang/event/field_name.h"
#include "lib/lang/event/filter_value.h"
#include "lib/lang/event/token_stream.h"

namespace trumpet::event_lang {
namespace {

class Parser {
 public:
  explicit Parser(TokenStream* tokens) : tokens_(*tokens) {}

  bool ParseWhole(FilterNode* filter) {
    if (tokens_.At(TokenKind::kEnd)) {
      return tokens_.FailHere("the filter is missing; '*' stands for every packet");
    }
    if (!ParseOr(filter)) return false;
    return tokens_.At(TokenKind::kEnd) || FailAfterTest();
  }

 private:
  bool ParseOr(FilterNode* node) {
    return ParseChain("or", FilterOp::kOr, &Parser::ParseAnd, node);
  }
  bool ParseAnd(FilterNode* node) {
    return ParseChain("and", FilterOp::kAnd, &Parser::ParseNot, node);
  }

  bool ParseChain(std::string_view word, FilterOp op, bool (Parser::*parse_operand)(FilterNode*),
                  FilterNode* node) {
    if (!(this->*parse_operand)(node)) return false;
    if (!tokens_.At(word)) return true;
    FilterNode chain;
    chain.op = op;
    chain.offset = node->offset;
    chain.height = node->height;
    chain.args.push_back(std::move(*node));
    while (tokens_.Take(word)) {
      FilterNode operand;
      if (!(this->*parse_operand)(&operand)) return false;
      chain.height = std::max(chain.height, operand.height);
      chain.args.push_back(std::move(operand));
    }
    ++chain.height;
    *node = std::move(chain);
    return CheckHeight(*node);
  }

  bool ParseNot(FilterNode* node) {
    const size_t offset = tokens_.Peek().offset;
    if (!tokens_.Take("not")) return ParsePrimary(node);
    if (!tokens_.Enter()) return false;
    FilterNode operand;
    if (!ParseNot(&operand)) return false;
    tokens_.Leave();
    node->op = FilterOp::kNot;
    node->offset = offset;
    node->height = operand.height + 1;
    node->args.push_back(std::move(operand));
    return CheckHeight(*node);
  }

  bool ParsePrimary(FilterNode* node) {
    node->offset = tokens_.Peek().offset;
    if (tokens_.Take(TokenKind::kStar)) return true;  // kTrue
    if (!tokens_.Take(TokenKind::kLeftParen)) return ParseTest(node);
    if (!tokens_.Enter() || !ParseOr(node)) return false;
    tokens_.Leave();
    if (tokens_.Take(TokenKind::kRightParen)) return true;
    return FailAfterTest();
  }

  bool ParseTest(FilterNode* node) {
    if (!tokens_.At(TokenKind::kWord) || IsKeyword(tokens_.Peek())) {
      return tokens_.Expected("a test such as dstPort=80");
    }
    const Token& name = tokens_.Next();
    node->op = FilterOp::kTest;
    if (name.text == "port" && tokens_.Take(TokenKind::kColon)) {
      node->test.ref = FieldRef{Field::kDstPort, Level::kInnermost};
      return ParseTestValues(&tokens_, &node->test);
    }
    if (name.text == "port") {
      return tokens_.FailAt(name.offset,
                            "'port' is not a packet field; write dstPort=80 or port:80");
    }
    const Result<FieldRef> ref = ReadFieldRef(name.text);
    if (!ref.ok()) return tokens_.FailAt(name.offset, ref.message());
    node->test.ref = *ref;
    const Token& equal = tokens_.Peek();
    if (equal.kind != TokenKind::kEqual || equal.text != "=") return FailAtOperator(name.text);
    tokens_.Next();
    return ParseTestValues(&tokens_, &node->test);
  }

  bool FailAtOperator(std::string_view field) {
    switch (tokens_.Peek().kind) {
      case TokenKind::kNotEqual:
        return tokens_.FailHere("a filter compares with '=' only; write 'not " +
                                std::string(field) + "=...'");
      case TokenKind::kEqual:
        if (tokens_.Peek().text == "==") {
          return tokens_.FailHere("a filter compares with a single '='");
        }
        break;
      case TokenKind::kLess:
      case TokenKind::kLessEqual:
      case TokenKind::kGreater:
      case TokenKind::kGreaterEqual:
        return tokens_.FailHere("a filter compares with '=' only; a range is written " +
                                std::string(field) + "=low-high");
      default:
        break;
    }
    return tokens_.Expected("'=' after " + Quote(field));
  }

  bool FailAfterTest() const {
    switch (tokens_.Peek().kind) {
      case TokenKind::kAmpersand:
        return tokens_.FailHere("tests are joined by 'and' in a filter, not by '&'");
      case TokenKind::kBar:
        return tokens_.FailHere("tests are joined by 'or' in a filter, not by '|'");
      case TokenKind::kRightParen:
        return tokens_.FailHere("this ')' has no '('");
      default:
        return tokens_.Expected("'and' or 'or'");
    }
  }

  bool CheckHeight(const FilterNode& node) const {
    if (node.height <= kMaxDepth) return true;
    return tokens_.FailAt(node.offset, "the filter is nested more than " +
                                           std::to_string(kMaxDepth) + " levels deep");
  }

  TokenStream& tokens_;
};

}  // namespace

bool ParseFilter(std::string_view text, FilterNode* filter, Diagnostic* error) {
  std::vector<Token> tokens;
  if (!Lex(text, Part::kFilter, &tokens, error)) return false;
  TokenStream stream(std::move(tokens), Part::kFilter, error);
  return Parser(&stream).ParseWhole(filter);
}

}  // namespace trumpet::event_lang
