// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the sources of tests/mutation/mutants are compiled with: every change stands beside the
// original, and `running` says at run time which one is in force.  `a < b` becomes
// `a < mutants::Less(17) < b`, which has the same precedence and types.
//
// Threads: any; `running` is set before they begin, and marks in `reached` may meet.

#ifndef TRUMPET_TESTS_MUTATION_MUTANT_H
#define TRUMPET_TESTS_MUTATION_MUTANT_H

#include <type_traits>

namespace mutants {

constexpr int kMost = 20000;
extern int running;  // 0: the original
extern volatile unsigned char reached[kMost];

inline bool Is(int number) {
  reached[number] = 1;
  return number == running;
}

// A left operand that waits for the right one.
template <typename A, typename Operator>
struct Left {
  const A& operand;
  int number;
};

// OPERATOR gives way to OTHER; both must have the same type.
#define TRUMPET_MUTANT(NAME, OPERATOR, OTHER)                                        \
  struct NAME {                                                                      \
    explicit NAME(int number_given) : number(number_given) {}                        \
    int number;                                                                      \
  };                                                                                 \
  template <typename A>                                                              \
  Left<A, NAME> operator OPERATOR(const A& left, NAME name) {                        \
    return {left, name.number};                                                      \
  }                                                                                  \
  template <typename A, typename B>                                                  \
  auto operator OPERATOR(Left<A, NAME> left, const B& right)                         \
      ->std::enable_if_t<std::is_same_v<decltype(left.operand OPERATOR right),       \
                                        decltype(left.operand OTHER right)>,         \
                         decltype(left.operand OPERATOR right)> {                    \
    return Is(left.number) ? left.operand OTHER right : left.operand OPERATOR right; \
  }

TRUMPET_MUTANT(Less, <, <=)
TRUMPET_MUTANT(LessOrEqual, <=, <)
TRUMPET_MUTANT(Greater, >, >=)
TRUMPET_MUTANT(GreaterOrEqual, >=, >)
TRUMPET_MUTANT(Equal, ==, !=)
TRUMPET_MUTANT(Unequal, !=, ==)
TRUMPET_MUTANT(Plus, +, -)
TRUMPET_MUTANT(Minus, -, +)
#undef TRUMPET_MUTANT

}  // namespace mutants

#endif  // TRUMPET_TESTS_MUTATION_MUTANT_H
