// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/bounces: round trips of links.

#include <utility>

#include "controller/probe/bounce_book.h"
#include "controller/rest/event_body.h"
#include "controller/rest/http_exchange.h"
#include "controller/rest/json_body.h"
#include "controller/rest/probe_views.h"
#include "controller/rest/rest_call.h"
#include "lib/lang/probe/probe_language.h"

namespace trumpet {
namespace {

// Null, and answered, if there is none.
BounceBook* Book(const RestCall& call) {
  if (call.parts.bounces == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller sends no probes");
  }
  return call.parts.bounces;
}

// A name, or a number of a port.
bool TakeText(const Json& value, std::string* text) {
  if (value.is_string()) *text = value.get<std::string>();
  if (value.is_number_unsigned()) *text = value.dump();
  return !text->empty();
}

Status TakeNumber(const std::string& key, const Json& value, uint32_t most, uint32_t* number) {
  if (!value.is_number_unsigned() || value < 1 || value > most) {
    return Status::Error("'" + key + "' takes a whole number from 1 to " + std::to_string(most));
  }
  *number = value.get<uint32_t>();
  return Status::Ok();
}

Result<BounceRequest> ReadRequest(const Json& json) {
  if (!json.is_object()) return Status::Error("a bounce is an object with switch, and port or to");
  BounceRequest request;
  for (const auto& [key, value] : json.items()) {
    Status status = Status::Ok();
    if (key == "count") {
      status = TakeNumber(key, value, kMaxBouncePackets, &request.count);
    } else if (key == "rate") {
      status = TakeNumber(key, value, kMaxProbeRate, &request.rate);
    } else if (key == "wait") {
      status = TakeNumber(key, value, kMaxProbeWait, &request.wait_seconds);
    } else if (!(key == "switch" && TakeText(value, &request.switch_name)) &&
               !(key == "port" && TakeText(value, &request.port)) &&
               !(key == "to" && TakeText(value, &request.to))) {
      status = Status::Error("'" + key + "' is no key of a bounce, or of another type");
    }
    if (!status.ok()) return status;
  }
  if (request.switch_name.empty()) return Status::Error("this bounce has no 'switch'");
  if (request.port.empty() && request.to.empty()) {
    return Status::Error("this bounce has neither 'port' nor 'to'");
  }
  return request;
}

std::optional<BounceRequest> ReadBody(const RestCall& call) {
  const auto body = ReadEventBody(call.request(), /*is_single=*/false);
  if (!body.ok() || body->format != DocumentFormat::kJson) {
    AnswerProblem(call.exchange.get(), 415, "a bounce is told as application/json");
    return std::nullopt;
  }
  const auto json = ReadJsonBody(body->text);
  auto request = json.ok() ? ReadRequest(*json) : json.status();
  if (request.ok()) return std::move(*request);
  AnswerProblem(call.exchange.get(), 422, request.message());
  return std::nullopt;
}

}  // namespace

void ListBounces(const RestCall& call) {
  const BounceBook* const book = Book(call);
  if (book == nullptr) return;
  Json json = {{"bounces", Json::array()}};
  for (const BounceView* bounce : book->List()) json["bounces"].push_back(BounceJson(*bounce));
  AnswerJson(call.exchange.get(), 200, json);
}

void BeginBounce(const RestCall& call) {
  BounceBook* const book = Book(call);
  if (book == nullptr) return;
  const auto request = ReadBody(call);
  if (!request) return;
  const ProbeStart start = book->Start(*request, call.caller.name);
  if (start.refusal != ProbeStart::Refusal::kNone) {
    const int status = start.refusal == ProbeStart::Refusal::kWrong ? 422 : 503;
    return AnswerProblem(call.exchange.get(), status, start.why);
  }
  AnswerJson(call.exchange.get(), 202, BounceJson(*book->Find(start.id)));
}

void ShowBounce(const RestCall& call) {
  const BounceBook* const book = Book(call);
  if (book == nullptr) return;
  for (const BounceView* bounce : book->List()) {
    if (ProbeIdText(bounce->id) == call.name) {
      return AnswerJson(call.exchange.get(), 200, BounceJson(*bounce));
    }
  }
  AnswerProblem(call.exchange.get(), 404, "there is no bounce " + call.name);
}

}  // namespace trumpet
