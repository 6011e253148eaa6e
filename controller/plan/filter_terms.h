// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A filter as a list of terms: a packet passes the filter if it passes one of them.  What a term is
// depends on who takes it: a flow of OpenFlow, a rule of SONiC.
//
// Threads: pure functions.  Memory: no list grows beyond TermRules::most.

#ifndef TRUMPET_CONTROLLER_PLAN_FILTER_TERMS_H
#define TRUMPET_CONTROLLER_PLAN_FILTER_TERMS_H

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/filter.h"

namespace trumpet {

template <typename Term>
struct TermRules {
  std::function<Result<std::vector<Term>>(const FieldTest&)> of_test;
  // What passes both; none: nothing does.
  std::function<std::optional<Term>(const Term&, const Term&)> both;
  size_t most = 0;  // terms
  Status too_many = Status::Ok();
  Status no_not = Status::Ok();  // what is wrong with `not`
};

template <typename Term>
Result<std::vector<Term>> TermsOfFilter(const FilterExpr& filter, const TermRules<Term>& rules) {
  if (filter.op == FilterOp::kTrue) return std::vector<Term>(1);
  if (filter.op == FilterOp::kTest) return rules.of_test(filter.test);
  if (filter.op == FilterOp::kNot) return rules.no_not;
  std::vector<Term> all;
  if (filter.op == FilterOp::kAnd) all.emplace_back();
  for (const FilterExpr& arg : filter.args) {
    const Result<std::vector<Term>> more = TermsOfFilter(arg, rules);
    if (!more.ok()) return more;
    if (filter.op == FilterOp::kOr) {
      all.insert(all.end(), more->begin(), more->end());
      if (all.size() > rules.most) return rules.too_many;
      continue;
    }
    std::vector<Term> both;
    for (const Term& one : all) {
      for (const Term& other : *more) {
        if (auto term = rules.both(one, other)) both.push_back(std::move(*term));
        if (both.size() > rules.most) return rules.too_many;
      }
    }
    all = std::move(both);
  }
  return all;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_FILTER_TERMS_H
