// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/trace-rules and /v1/debug-marks.

#include <algorithm>
#include <utility>

#include "controller/rest/event_body.h"
#include "controller/rest/http_exchange.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/rest_server.h"
#include "controller/rest/trace_rule_views.h"
#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

// Null, and answered, if there is none.
TraceRuleBook* Book(const RestCall& call) {
  TraceRuleBook* const book = call.parts.trace_rules;
  if (book == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller installs no trace rules");
  }
  return book;
}

std::optional<TraceRules> ReadBody(const RestCall& call) {
  const auto body = ReadEventBody(call.request(), /*is_single=*/false);
  if (!body.ok()) {
    AnswerProblem(call.exchange.get(), 415, body.message());
    return std::nullopt;
  }
  auto rules = body->format == DocumentFormat::kJson
                   ? ParseTraceRulesJson(body->text, kEventBodyName)
                   : ParseTraceRulesYaml(body->text, kEventBodyName);
  if (rules.ok()) return std::move(*rules);
  AnswerProblem(call.exchange.get(), 422, rules.message());
  return std::nullopt;
}

std::optional<TraceMark> ReadMark(const RestCall& call) {
  const auto body = ReadEventBody(call.request(), /*is_single=*/false);
  if (!body.ok()) {
    AnswerProblem(call.exchange.get(), 415, body.message());
    return std::nullopt;
  }
  auto mark = body->format == DocumentFormat::kJson
                  ? ParseTraceMarkJson(body->text, kEventBodyName, call.name)
                  : ParseTraceMarkYaml(body->text, kEventBodyName, call.name);
  if (mark.ok()) return std::move(*mark);
  AnswerProblem(call.exchange.get(), 422, mark.message());
  return std::nullopt;
}

std::vector<TraceMark>::iterator FindMark(TraceRules* rules, const std::string& name) {
  return std::find_if(rules->marks.begin(), rules->marks.end(),
                      [&name](const TraceMark& mark) { return mark.name == name; });
}

Json MarksJson(const std::optional<TraceRuleSetView>& view) {
  Json marks = Json::array();
  if (!view) return marks;
  for (const TraceMark& mark : view->rules.marks) marks.push_back(TraceMarkJson(mark));
  return marks;
}

void AnswerOutcome(const TraceRuleBook& book, const TraceRuleBook::Outcome& outcome,
                   HttpExchange* exchange) {
  const int of_conflict = book.is_store_ready() ? 409 : 503;
  AnswerProblem(exchange, outcome.is_conflict ? of_conflict : 422, outcome.status.message());
}

}  // namespace

void ListTraceRules(const RestCall& call) {
  const TraceRuleBook* const book = Book(call);
  if (book != nullptr) AnswerJson(call.exchange.get(), 200, TraceRulesJson(book->View()));
}

void ShowTraceRule(const RestCall& call) {
  const TraceRuleBook* const book = Book(call);
  if (book == nullptr) return;
  const auto view = book->View();
  for (size_t i = 0; view && i < view->rules.rules.size(); ++i) {
    if (view->rules.rules[i].name != call.name) continue;
    return AnswerJson(call.exchange.get(), 200, TraceRuleJson(view->rules.rules[i], view->at[i]));
  }
  AnswerProblem(call.exchange.get(), 404, "there is no trace rule named '" + call.name + "'");
}

void PutTraceRules(const RestCall& call) {
  TraceRuleBook* const book = Book(call);
  auto rules = book == nullptr ? std::nullopt : ReadBody(call);
  if (!rules) return;
  book->Put(std::move(*rules), call.caller.name,
            [book, exchange = call.exchange](const TraceRuleBook::Outcome& outcome) {
              if (!outcome.status.ok()) return AnswerOutcome(*book, outcome, exchange.get());
              AnswerJson(exchange.get(), outcome.is_new ? 201 : 200, TraceRulesJson(book->View()));
            });
}

void DeleteTraceRules(const RestCall& call) {
  TraceRuleBook* const book = Book(call);
  if (book == nullptr) return;
  if (!book->View()) return AnswerProblem(call.exchange.get(), 404, "there are no trace rules");
  book->Remove([book, exchange = call.exchange](const TraceRuleBook::Outcome& outcome) {
    if (!outcome.status.ok()) return AnswerOutcome(*book, outcome, exchange.get());
    HttpReply answer;
    answer.status = 204;
    exchange->Answer(std::move(answer));
  });
}

void ListDebugMarks(const RestCall& call) {
  const TraceRuleBook* const book = Book(call);
  if (book == nullptr) return;
  AnswerJson(call.exchange.get(), 200, {{"marks", MarksJson(book->View())}});
}

// Marks are part of the set of rules, and change as it does: everywhere or nowhere.
void PutDebugMark(const RestCall& call) {
  TraceRuleBook* const book = Book(call);
  auto mark = book == nullptr ? std::nullopt : ReadMark(call);
  if (!mark) return;
  const auto view = book->View();
  if (!view) {
    return AnswerProblem(call.exchange.get(), 409,
                         "there are no trace rules that would copy marked packets");
  }
  TraceRules rules = view->rules;
  const auto found = FindMark(&rules, mark->name);
  const bool is_new = found == rules.marks.end();
  if (is_new && rules.marks.size() == kMaxTraceMarks) {
    return AnswerProblem(call.exchange.get(), 409,
                         "there are " + std::to_string(kMaxTraceMarks) + " marks already");
  }
  const Json told = TraceMarkJson(*mark);
  if (is_new) {
    rules.marks.push_back(std::move(*mark));
  } else {
    *found = std::move(*mark);
  }
  const Status may_be = CheckTraceMarks(rules);
  if (!may_be.ok()) return AnswerProblem(call.exchange.get(), 409, may_be.message());
  book->Put(std::move(rules), call.caller.name,
            [book, is_new, told, exchange = call.exchange](const TraceRuleBook::Outcome& outcome) {
              if (!outcome.status.ok()) return AnswerOutcome(*book, outcome, exchange.get());
              AnswerJson(exchange.get(), is_new ? 201 : 200, told);
            });
}

void DeleteDebugMark(const RestCall& call) {
  TraceRuleBook* const book = Book(call);
  if (book == nullptr) return;
  const auto view = book->View();
  TraceRules rules = view ? view->rules : TraceRules();
  const auto found = FindMark(&rules, call.name);
  if (found == rules.marks.end()) {
    return AnswerProblem(call.exchange.get(), 404, "there is no mark named '" + call.name + "'");
  }
  rules.marks.erase(found);
  book->Put(std::move(rules), call.caller.name,
            [book, exchange = call.exchange](const TraceRuleBook::Outcome& outcome) {
              if (!outcome.status.ok()) return AnswerOutcome(*book, outcome, exchange.get());
              HttpReply answer;
              answer.status = 204;
              exchange->Answer(std::move(answer));
            });
}

}  // namespace trumpet
