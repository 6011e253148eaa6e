// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/trace-rules.

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

}  // namespace trumpet
