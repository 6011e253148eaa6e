// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/rest_call.h"

#include <charconv>

namespace trumpet {

bool RestCall::has(const std::string& parameter) const {
  return request().target.query.count(parameter) > 0;
}

std::string RestCall::query(const std::string& parameter) const {
  const auto found = request().target.query.find(parameter);
  return found == request().target.query.end() ? "" : found->second;
}

void AnswerJson(HttpExchange* exchange, int status, const Json& json) {
  HttpReply answer;
  answer.status = status;
  answer.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  exchange->Answer(std::move(answer));
}

void AnswerProblem(HttpExchange* exchange, int status, const std::string& detail) {
  exchange->Answer(ProblemAnswer(status, detail));
}

bool ReadNumber(const RestCall& call, const std::string& parameter, uint64_t max, uint64_t* value) {
  if (!call.has(parameter)) return true;
  const std::string text = call.query(parameter);
  const auto end = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size() && *value <= max) return true;
  AnswerProblem(
      call.exchange.get(), 400,
      "the parameter '" + parameter + "' takes a number from 0 to " + std::to_string(max));
  return false;
}

bool ReadFlag(const RestCall& call, const std::string& parameter, bool* value) {
  if (!call.has(parameter)) return true;
  const std::string text = call.query(parameter);
  if (text == "true" || text == "false") {
    *value = text == "true";
    return true;
  }
  AnswerProblem(call.exchange.get(), 400, "the parameter '" + parameter + "' takes true or false");
  return false;
}

}  // namespace trumpet
