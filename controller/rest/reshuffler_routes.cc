// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/reshufflers.

#include "controller/rest/http_exchange.h"
#include "controller/rest/reshuffler_views.h"
#include "controller/rest/rest_call.h"

namespace trumpet {
namespace {

// Null, and answered, if there is none.
const ReshufflerBook* Book(const RestCall& call) {
  if (call.parts.reshufflers == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller has no reshufflers");
  }
  return call.parts.reshufflers;
}

}  // namespace

void ListReshufflers(const RestCall& call) {
  const ReshufflerBook* const book = Book(call);
  if (book != nullptr) AnswerJson(call.exchange.get(), 200, ReshufflersJson(book->View()));
}

void ShowReshuffler(const RestCall& call) {
  const ReshufflerBook* const book = Book(call);
  if (book == nullptr) return;
  const ReshufflersView view = book->View();
  for (const ReshufflerView& one : view.reshufflers) {
    if (one.name != call.name) continue;
    return AnswerJson(call.exchange.get(), 200, ReshufflerJson(view, one));
  }
  AnswerProblem(call.exchange.get(), 404, "there is no reshuffler named '" + call.name + "'");
}

}  // namespace trumpet
