// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/predicate_parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/lang/event/suggest.h"
#include "lib/lang/event/token_stream.h"

namespace trumpet::event_lang {
namespace {

// Lowering adds at most four levels to a tree that is refused beyond kMaxDepth afterwards.
constexpr int kMaxTreeHeight = kMaxDepth + 8;

constexpr AggregateKind kAggregates[] = {AggregateKind::kSum, AggregateKind::kCount,
                                         AggregateKind::kMin, AggregateKind::kMax,
                                         AggregateKind::kAvg, AggregateKind::kStddev};

constexpr std::string_view kMeasure = "measure";
constexpr size_t kLongestMeasurement = 64;  // as they are installed

bool IsMeasurementName(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kLongestMeasurement && name[0] != '-' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), is_part);
}

// What it is of is checked against the program.
bool IsKeyValue(std::string_view text) {
  constexpr size_t kLongest = 64;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == 'x' ||
           c == '.' || c == ':';
  };
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), is_part);
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<Variable> VariableByName(std::string_view name) {
  for (int i = 0; i < kVariableCount; ++i) {
    const auto variable = static_cast<Variable>(i);
    if (variable != Variable::kLostInBurst && name == VariableName(variable)) return variable;
  }
  return std::nullopt;
}

std::optional<AggregateKind> AggregateByName(std::string_view name) {
  for (AggregateKind kind : kAggregates) {
    if (name == AggregateName(kind)) return kind;
  }
  return std::nullopt;
}

std::string NoSuchVariable(std::string_view name) {
  if (name == kMeasure) return "'measure' is written as measure(\"NAME\").STATE";
  if (AggregateByName(name)) {
    return Quote(name) + " needs an operand in parentheses, as in " + std::string(name) +
           "(volume)";
  }
  if (FieldByName(name)) {
    return Quote(name) +
           " is a packet field, which stands in filters and granularities; it is "
           "not a packet variable";
  }
  std::vector<std::string> names;
  for (int i = 0; i < kVariableCount; ++i) {
    if (static_cast<Variable>(i) == Variable::kLostInBurst) continue;
    names.emplace_back(VariableName(static_cast<Variable>(i)));
  }
  return Quote(name) + " is not a packet variable" + DidYouMean(name, names);
}

std::string NoSuchAggregate(std::string_view name) {
  std::vector<std::string> names;
  for (AggregateKind kind : kAggregates) names.emplace_back(AggregateName(kind));
  names.emplace_back(kMeasure);
  return Quote(name) + " is not an aggregate" + DidYouMean(name, names);
}

std::optional<ExprOp> ComparisonOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kGreater:
      return ExprOp::kGreater;
    case TokenKind::kGreaterEqual:
      return ExprOp::kGreaterEqual;
    case TokenKind::kLess:
      return ExprOp::kLess;
    case TokenKind::kLessEqual:
      return ExprOp::kLessEqual;
    case TokenKind::kEqual:
      return ExprOp::kEqual;
    case TokenKind::kNotEqual:
      return ExprOp::kNotEqual;
    default:
      return std::nullopt;
  }
}

std::optional<ExprOp> SumOf(TokenKind kind) {
  if (kind == TokenKind::kPlus) return ExprOp::kAdd;
  if (kind == TokenKind::kMinus) return ExprOp::kSubtract;
  return std::nullopt;
}

std::optional<ExprOp> ProductOf(TokenKind kind) {
  if (kind == TokenKind::kStar) return ExprOp::kMultiply;
  if (kind == TokenKind::kSlash) return ExprOp::kDivide;
  if (kind == TokenKind::kPercent) return ExprOp::kModulo;
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(TokenStream* tokens) : tokens_(*tokens) {}

  bool ParseWhole(PredicateNode* predicate) {
    if (tokens_.At(TokenKind::kEnd)) return tokens_.FailHere("the predicate is missing");
    if (!ParseOr(predicate)) return false;
    return tokens_.At(TokenKind::kEnd) || FailAfterOperand();
  }

 private:
  using ParseOperand = bool (Parser::*)(PredicateNode*);

  bool ParseOr(PredicateNode* node) {
    return ParseChain("or", TokenKind::kBar, ExprOp::kOr, &Parser::ParseAnd, node);
  }
  bool ParseAnd(PredicateNode* node) {
    return ParseChain("and", TokenKind::kAmpersand, ExprOp::kAnd, &Parser::ParseNot, node);
  }

  bool ParseChain(std::string_view word, TokenKind symbol, ExprOp op, ParseOperand parse_operand,
                  PredicateNode* node) {
    if (!(this->*parse_operand)(node)) return false;
    if (!tokens_.At(word) && !tokens_.At(symbol)) return true;
    PredicateNode chain;
    chain.op = op;
    chain.offset = node->offset;
    chain.height = node->height;
    chain.args.push_back(std::move(*node));
    while (tokens_.Take(word) || tokens_.Take(symbol)) {
      if (tokens_.At(symbol)) return FailAtDoubled();
      PredicateNode operand;
      if (!(this->*parse_operand)(&operand)) return false;
      chain.height = std::max(chain.height, operand.height) + 1;
      chain.args.push_back(std::move(operand));
      if (!CheckHeight(chain)) return false;
    }
    *node = std::move(chain);
    return true;
  }

  bool ParseNot(PredicateNode* node) {
    return ParsePrefixed(tokens_.At("not"), ExprOp::kNot, &Parser::ParseNot,
                         &Parser::ParseComparison, node);
  }

  bool ParseComparison(PredicateNode* node) {
    if (!ParseSum(node)) return false;
    const auto op = ComparisonOf(tokens_.Peek().kind);
    if (!op) return true;
    tokens_.Next();
    PredicateNode right;
    if (!ParseSum(&right) || !Join(*op, node, std::move(right))) return false;
    if (!ComparisonOf(tokens_.Peek().kind)) return true;
    return tokens_.FailHere("comparisons do not chain; join two of them by 'and'");
  }

  bool ParseSum(PredicateNode* node) { return ParseLeft(SumOf, &Parser::ParseProduct, node); }
  bool ParseProduct(PredicateNode* node) { return ParseLeft(ProductOf, &Parser::ParseMinus, node); }

  // A chain that associates to the left.
  bool ParseLeft(std::optional<ExprOp> (*op_of)(TokenKind), ParseOperand parse_operand,
                 PredicateNode* node) {
    if (!(this->*parse_operand)(node)) return false;
    while (const auto op = op_of(tokens_.Peek().kind)) {
      if (*op == ExprOp::kModulo && !IsModulo()) {
        return tokens_.FailHere(
            "'%' is modulo before a number, a name or '('; a percentage is a "
            "plain number with '%' after it");
      }
      tokens_.Next();
      PredicateNode right;
      if (!(this->*parse_operand)(&right) || !Join(*op, node, std::move(right))) return false;
    }
    return true;
  }

  bool ParseMinus(PredicateNode* node) {
    return ParsePrefixed(tokens_.At(TokenKind::kMinus), ExprOp::kNegate, &Parser::ParseMinus,
                         &Parser::ParsePrimary, node);
  }

  bool ParsePrefixed(bool is_prefixed, ExprOp op, ParseOperand parse_again,
                     ParseOperand parse_operand, PredicateNode* node) {
    if (!is_prefixed) return (this->*parse_operand)(node);
    if (!tokens_.Enter()) return false;
    node->op = op;
    node->offset = tokens_.Next().offset;
    node->args.emplace_back();
    if (!(this->*parse_again)(&node->args[0])) return false;
    tokens_.Leave();
    node->height = node->args[0].height + 1;
    return CheckHeight(*node);
  }

  bool ParsePrimary(PredicateNode* node) {
    const Token& token = tokens_.Peek();
    if (token.kind == TokenKind::kLeftParen) return ParseParentheses(node);
    if (token.kind == TokenKind::kNumber) return ParseNumber(node);
    if (token.kind != TokenKind::kWord || IsKeyword(token)) {
      return tokens_.Expected("a number, a variable or an aggregate");
    }
    tokens_.Next();
    node->offset = token.offset;
    node->text = token.text;
    if (tokens_.At(TokenKind::kLeftParen)) {
      return token.text == kMeasure ? ParseMeasured(node) : ParseAggregate(token, node);
    }
    const auto variable = VariableByName(token.text);
    if (!variable) return tokens_.FailAt(token.offset, NoSuchVariable(token.text));
    node->op = ExprOp::kVariable;
    node->variable = *variable;
    return true;
  }

  bool ParseParentheses(PredicateNode* node) {
    tokens_.Next();
    if (!tokens_.Enter() || !ParseOr(node)) return false;
    tokens_.Leave();
    return tokens_.Take(TokenKind::kRightParen) || FailAfterOperand();
  }

  bool ParseAggregate(const Token& name, PredicateNode* node) {
    const auto kind = AggregateByName(name.text);
    if (!kind) return tokens_.FailAt(name.offset, NoSuchAggregate(name.text));
    node->op = ExprOp::kAggregate;
    node->aggregate = *kind;
    const bool is_star = tokens_.Peek(1).kind == TokenKind::kStar;
    const bool is_empty = tokens_.Peek(1).kind == TokenKind::kRightParen;
    if (is_star || is_empty) {
      return tokens_.FailAt(tokens_.Peek(1).offset, Quote(name.text) + " needs an operand; " +
                                                        std::string(name.text) +
                                                        "(packets) is about every packet");
    }
    node->args.emplace_back();
    if (!ParseParentheses(&node->args[0])) return false;
    node->height = node->args[0].height + 1;
    return CheckHeight(*node);
  }

  // measure("NAME").STATE or measure("NAME").STATE("KEY"), whose first word was taken.
  bool ParseMeasured(PredicateNode* node) {
    tokens_.Next();
    const Token& name = tokens_.Peek();
    if (!tokens_.Take(TokenKind::kText)) {
      return tokens_.Expected("the name of a measurement in quotes, as in measure(\"hh\").flows");
    }
    if (!IsMeasurementName(name.inner)) {
      return tokens_.FailAt(name.offset, Quote(name.inner) +
                                             " is no name of a measurement, which has letters, "
                                             "digits, '-', '_' and '.'");
    }
    if (!tokens_.Take(TokenKind::kRightParen)) return tokens_.Expected("')'");
    if (!tokens_.Take(TokenKind::kDot)) {
      return tokens_.Expected("'.' and a state variable, as in measure(\"hh\").flows");
    }
    const Token& state = tokens_.Next();  // a dot stands before a letter only
    node->op = ExprOp::kMeasured;
    node->measured = {std::string(name.inner), std::string(state.text)};
    node->text = {node->text.data(),
                  static_cast<size_t>(state.text.data() - node->text.data()) + state.text.size()};
    return !tokens_.At(TokenKind::kLeftParen) || ParseKey(node);
  }

  // Values of the fields of a key, as `measure read` takes them; spaces beside them do not count.
  bool ParseKey(PredicateNode* node) {
    tokens_.Next();
    const Token& key = tokens_.Peek();
    if (!tokens_.Take(TokenKind::kText)) {
      return tokens_.Expected("the values of a key in quotes, as in (\"10.0.0.1,80\")");
    }
    std::string_view rest = key.inner;
    for (bool is_last = false; !is_last;) {
      const size_t comma = rest.find(',');
      is_last = comma == std::string_view::npos;
      const std::string_view value = Trimmed(rest.substr(0, comma));
      if (!IsKeyValue(value)) {
        return tokens_.FailAt(
            key.offset + static_cast<size_t>(value.data() - key.text.data()),
            Quote(value) + " is no value of a key, which is a number or an address");
      }
      node->measured.key += (node->measured.key.empty() ? "" : ",") + std::string(value);
      rest.remove_prefix(is_last ? rest.size() : comma + 1);
    }
    if (!tokens_.At(TokenKind::kRightParen)) return tokens_.Expected("')'");
    const Token& end = tokens_.Next();
    node->text = {node->text.data(),
                  static_cast<size_t>(end.text.data() - node->text.data()) + end.text.size()};
    return true;
  }

  bool ParseNumber(PredicateNode* node) {
    const Token& token = tokens_.Next();
    node->op = ExprOp::kNumber;
    node->offset = token.offset;
    node->text = token.text;
    node->number = token.number;
    node->unit = token.unit;
    if (!tokens_.At(TokenKind::kPercent) || IsModulo()) return true;
    if (token.unit != Unit::kNone) {
      return tokens_.FailHere("a percentage has no other unit");
    }
    tokens_.Next();
    const Result<Number> percentage = Percentage(token.inner);
    if (!percentage.ok()) return tokens_.FailAt(token.offset, percentage.message());
    node->number = *percentage;
    node->literal = Literal::kPercent;
    return true;
  }

  // Is the `%` at the cursor followed by an operand?
  bool IsModulo() const {
    const Token& next = tokens_.Peek(1);
    return next.kind == TokenKind::kNumber || next.kind == TokenKind::kLeftParen ||
           (next.kind == TokenKind::kWord && !IsKeyword(next));
  }

  // node = node op right
  bool Join(ExprOp op, PredicateNode* node, PredicateNode right) {
    PredicateNode joined;
    joined.op = op;
    joined.offset = node->offset;
    joined.height = std::max(node->height, right.height) + 1;
    joined.args.reserve(2);
    joined.args.push_back(std::move(*node));
    joined.args.push_back(std::move(right));
    *node = std::move(joined);
    return CheckHeight(*node);
  }

  bool CheckHeight(const PredicateNode& node) const {
    if (node.height <= kMaxTreeHeight) return true;
    return tokens_.FailAt(node.offset, "the predicate has more than " + std::to_string(kMaxDepth) +
                                           " operators nested or in a row");
  }

  bool FailAtDoubled() const {
    const std::string symbol(tokens_.Peek().text);
    return tokens_.FailHere("'" + symbol + symbol + "' is not an operator; write '" + symbol + "'");
  }

  bool FailAfterOperand() const {
    const Token& token = tokens_.Peek();
    if (token.kind == TokenKind::kWord && UnitByName(token.text)) {
      return tokens_.FailHere("the unit " + Quote(token.text) +
                              " must follow its number without a space");
    }
    if (token.kind == TokenKind::kRightParen) return tokens_.FailHere("this ')' has no '('");
    return tokens_.Expected("an operator");
  }

  TokenStream& tokens_;
};

}  // namespace

bool ParsePredicate(std::string_view text, PredicateNode* predicate, Diagnostic* error) {
  std::vector<Token> tokens;
  if (!Lex(text, Part::kPredicate, &tokens, error)) return false;
  TokenStream stream(std::move(tokens), Part::kPredicate, error);
  return Parser(&stream).ParseWhole(predicate);
}

}  // namespace trumpet::event_lang
