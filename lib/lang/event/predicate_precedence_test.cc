// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Every short sequence of operators against an evaluator that knows binding only as a list
// of levels and splits text at the loosest operator, without tokens, trees or recursion by rule.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "lib/lang/event/event_language.h"
#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

// A value, or nothing: undefined.
using Value = std::optional<double>;

using Words = std::vector<std::string>;

Value FromBool(bool value) { return value ? 1.0 : 0.0; }

Value Combine(const std::string& op, Value a, Value b) {
  const bool a_false = a && *a == 0;
  const bool b_false = b && *b == 0;
  if (op == "and") {
    if (a_false || b_false) return 0.0;
    return a && b ? Value(1.0) : std::nullopt;
  }
  if (op == "or") {
    if ((a && !a_false) || (b && !b_false)) return 1.0;
    return a && b ? Value(0.0) : std::nullopt;
  }
  if (!a || !b) return std::nullopt;
  if (op == "<") return FromBool(*a < *b);
  if (op == ">=") return FromBool(*a >= *b);
  if (op == "=") return FromBool(*a == *b);
  if (op == "+") return *a + *b;
  if (op == "-") return *a - *b;
  if (op == "*") return *a * *b;
  if (*b == 0) return std::nullopt;
  return op == "/" ? *a / *b : std::fmod(*a, *b);
}

// Levels of two-sided operators, loosest first; `not` stands between "and" and comparisons.
const std::vector<Words>& Levels() {
  static const std::vector<Words> levels = {{"or"},           {"and"},    {"not"},
                                            {"<", ">=", "="}, {"+", "-"}, {"*", "/", "%"}};
  return levels;
}

bool IsOperator(const std::string& word) {
  for (const Words& level : Levels()) {
    for (const std::string& op : level) {
      if (op == word) return true;
    }
  }
  return false;
}

// The value of words[begin, end), which are operands and operators; a minus after an operator or
// at the start is unary.  Splits at the last loosest two-sided operator.
Value SlowEvaluate(const Words& words, size_t begin, size_t end) {
  for (const Words& level : Levels()) {
    if (level[0] == "not") {
      if (words[begin] != "not") continue;
      const Value value = SlowEvaluate(words, begin + 1, end);
      return value ? FromBool(*value == 0) : value;
    }
    for (size_t i = end; i-- > begin + 1;) {
      if (IsOperator(words[i - 1])) continue;  // unary
      for (const std::string& op : level) {
        if (words[i] != op) continue;
        return Combine(op, SlowEvaluate(words, begin, i), SlowEvaluate(words, i + 1, end));
      }
    }
  }
  if (words[begin] == "-") {
    const Value value = SlowEvaluate(words, begin + 1, end);
    return value ? Value(-*value) : value;
  }
  return std::stod(words[begin]);
}

bool IsComparison(const std::string& word) { return word == "<" || word == ">=" || word == "="; }

// The language refuses a < b < c, and `not` as the operand of anything but not, and, or.
bool IsAllowed(const Words& words) {
  bool has_comparison = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "and" || words[i] == "or") has_comparison = false;
    if (words[i] == "not") {
      has_comparison = false;
      if (i > 0 && words[i - 1] != "and" && words[i - 1] != "or" && words[i - 1] != "not") {
        return false;
      }
    }
    if (!IsComparison(words[i])) continue;
    if (has_comparison) return false;
    has_comparison = true;
  }
  return true;
}

// `%` before a minus ends a percentage, so that the minus has two sides.
Words WithoutPercentages(const Words& words) {
  Words plain;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "%" && words[i + 1] == "-") {
      plain.back() = "0.0" + plain.back();  // of one digit
    } else {
      plain.push_back(words[i]);
    }
  }
  return plain;
}

std::string Join(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void Check(const Words& words, int* checked) {
  const std::string text = Join(words);
  const Result<EventSpec> event = ParseEventLine("*, " + text + ", 1ms", "event");
  const Words plain = WithoutPercentages(words);
  ASSERT_EQ(event.ok(), IsAllowed(plain)) << text;
  if (!event.ok()) return;
  const Number fast = Evaluate(event->predicate, [](const Expr&) { return Number(); });
  const Value slow = SlowEvaluate(plain, 0, plain.size());
  ASSERT_EQ(fast.is_defined(), slow.has_value()) << text;
  if (slow) {
    ASSERT_EQ(fast.AsDouble(), *slow) << text;
  }
  const std::string printed = PrintEventLine(*event);
  const Result<EventSpec> again = ParseEventLine(printed, "printed");
  ASSERT_TRUE(again.ok()) << again.message();
  ASSERT_TRUE(SameParts(*event, *again)) << text << " is printed as " << printed;
  ++*checked;
}

TEST(PredicatePrecedence, AgreesWithSplittingAtTheLoosestOperator) {
  const Words binary = {"or", "and", "<", ">=", "=", "+", "-", "*", "/", "%"};
  const std::vector<Words> prefixes = {{}, {"-"}, {"not"}};
  const Words numbers = {"7", "2", "0", "3"};
  int checked = 0;
  for (const std::string& first : binary) {
    for (const std::string& second : binary) {
      for (const std::string& third : binary) {
        for (int prefix = 0; prefix < 81; ++prefix) {
          Words words;
          int digits = prefix;
          for (size_t i = 0; i < numbers.size(); ++i, digits /= 3) {
            const Words& before = prefixes[static_cast<size_t>(digits % 3)];
            words.insert(words.end(), before.begin(), before.end());
            words.push_back(numbers[i]);
            if (i == 0) words.push_back(first);
            if (i == 1) words.push_back(second);
            if (i == 2) words.push_back(third);
          }
          ASSERT_NO_FATAL_FAILURE(Check(words, &checked));
        }
      }
    }
  }
  EXPECT_GT(checked, 10000);
}

}  // namespace
}  // namespace trumpet::event_lang
