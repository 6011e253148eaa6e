// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/events and /v1/check.

#include <utility>

#include "controller/rest/event_body.h"
#include "controller/rest/json_body.h"
#include "controller/rest/json_views.h"
#include "controller/rest/rest_call.h"

namespace trumpet {
namespace {

// An event that the caller may see, or the answer that there is none.
std::optional<EventView> FindOrAnswer(const RestCall& call) {
  auto event = call.parts.events->FindEvent(call.name, call.caller);
  if (!event) {
    AnswerProblem(call.exchange.get(), 404, "there is no event named '" + call.name + "'");
  }
  return event;
}

// If-Match: is the client's event the one that is there?  Answered if not.
bool IsTheOneMeant(const RestCall& call, const EventView* event) {
  const std::string_view wanted = call.request().header("if-match");
  if (wanted.empty() || (wanted == "*" && event != nullptr)) return true;
  if (event != nullptr && wanted == EntityTag(event->record)) return true;
  AnswerProblem(call.exchange.get(), 412,
                event == nullptr ? "there is no such event"
                                 : "the event has changed meanwhile; its tag is now " +
                                       EntityTag(event->record));
  return false;
}

bool AnswerIfStoreIsAway(const RestCall& call) {
  if (call.parts.events->is_store_ready()) return false;
  AnswerProblem(call.exchange.get(), 503,
                "events cannot be changed now: " + call.parts.events->store_state());
  return true;
}

// Reads the body and checks its events; nothing if it has been answered that they are wrong.
std::optional<EventBody> ReadBody(const RestCall& call, bool is_single) {
  Result<EventBody> body = ReadEventBody(call.request(), is_single);
  if (body.ok()) return std::move(*body);
  const bool is_type = body.message().compare(0, 12, "Content-Type") == 0;
  AnswerProblem(call.exchange.get(), is_type ? 415 : 422, body.message());
  return std::nullopt;
}

std::optional<std::vector<EventCheck>> CheckBody(const RestCall& call, const EventBody& body) {
  Result<std::vector<EventCheck>> checks =
      call.parts.events->Check(body.text, body.format, kEventBodyName, call.caller);
  if (checks.ok()) return std::move(*checks);
  AnswerProblem(call.exchange.get(), 422, body.MovePlaces(checks.message()));
  return std::nullopt;
}

Json EventsNamed(const EventManager& manager, const std::vector<EventRecord>& records,
                 const Caller& caller) {
  Json list = Json::array();
  for (const EventRecord& record : records) {
    const auto event = manager.FindEvent(record.name, caller);
    if (event) list.push_back(ToJson(*event));
  }
  return list;
}

// What was checked could not be written: somebody else was quicker, or the store is away.
void AnswerRefusedWrite(HttpExchange* exchange, const EventManager& events, const Status& why) {
  const bool has_condition = !exchange->request().header("if-match").empty();
  AnswerProblem(exchange,
                !events.is_store_ready() ? 503
                : has_condition          ? 412
                                         : 409,
                why.message());
}

void Write(const RestCall& call, const EventBody& body, EventManager::IfThere if_there, int status,
           bool is_single) {
  EventManager* const events = call.parts.events;
  events->Put(body.text, body.format, kEventBodyName, if_there, call.caller,
              [events, exchange = call.exchange, caller = call.caller, status,
               is_single](Result<std::vector<EventRecord>> records) {
                if (!records.ok()) {
                  AnswerRefusedWrite(exchange.get(), *events, records.status());
                  return;
                }
                const Json list = EventsNamed(*events, *records, caller);
                HttpReply answer;
                answer.status = status;
                if (is_single && list.size() == 1) {
                  answer.body = list[0].dump() + "\n";
                  answer.headers.emplace_back("ETag", EntityTag(records->front()));
                } else {
                  answer.body = Json{{"events", list}}.dump() + "\n";
                }
                exchange->Answer(std::move(answer));
              });
}

void AnswerEvent(HttpExchange* exchange, const EventView& event) {
  HttpReply answer;
  answer.body = ToJson(event).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  answer.headers.emplace_back("ETag", EntityTag(event.record));
  exchange->Answer(std::move(answer));
}

}  // namespace

void ListEvents(const RestCall& call) {
  Json list = Json::array();
  for (const EventView& event : call.parts.events->Events(call.caller)) {
    list.push_back(ToJson(event));
  }
  AnswerJson(call.exchange.get(), 200, {{"events", std::move(list)}});
}

void AddEvents(const RestCall& call) {
  bool replaces = false;
  if (!ReadFlag(call, "replace", &replaces)) return;
  const auto body = ReadBody(call, false);
  const auto checks = body ? CheckBody(call, *body) : std::nullopt;
  if (!checks || AnswerIfStoreIsAway(call)) return;
  bool any_exists = false;
  for (const EventCheck& check : *checks) {
    any_exists |= check.exists;
    if (!check.exists || replaces) continue;
    AnswerProblem(
        call.exchange.get(), 409,
        "there is an event named '" + check.spec.name +
            "' already; with replace=true (trumpetctl: --replace) the new one takes its place");
    return;
  }
  Write(call, *body, replaces ? EventManager::IfThere::kReplace : EventManager::IfThere::kRefuse,
        any_exists ? 200 : 201, false);
}

void ShowEvent(const RestCall& call) {
  if (const auto event = FindOrAnswer(call)) AnswerEvent(call.exchange.get(), *event);
}

void PutEvent(const RestCall& call) {
  const auto body = ReadBody(call, true);
  const auto checks = body ? CheckBody(call, *body) : std::nullopt;
  if (!checks) return;
  if (checks->size() != 1 || checks->front().spec.name != call.name) {
    AnswerProblem(call.exchange.get(), 422,
                  "the body must be one event, named '" + call.name + "' as in the path");
    return;
  }
  const auto event = call.parts.events->FindEvent(call.name, call.caller);
  if (!IsTheOneMeant(call, event ? &*event : nullptr) || AnswerIfStoreIsAway(call)) return;
  Write(call, *body, EventManager::IfThere::kReplace, event ? 200 : 201, true);
}

void PatchEvent(const RestCall& call) {
  const auto event = FindOrAnswer(call);
  if (!event || !IsTheOneMeant(call, &*event)) return;
  const auto read = ReadJsonBody(call.request().Text());
  if (!read.ok()) return AnswerProblem(call.exchange.get(), 422, read.message());
  const Json& body = *read;
  if (!body.is_object() || body.size() != 1 || !body.contains("enabled") ||
      !body["enabled"].is_boolean()) {
    AnswerProblem(call.exchange.get(), 422,
                  R"(the body must be {"enabled":true} or {"enabled":false})");
    return;
  }
  if (AnswerIfStoreIsAway(call)) return;
  EventManager* const events = call.parts.events;
  events->SetEnabled(call.name, body["enabled"].get<bool>(), call.caller,
                     [events, exchange = call.exchange, caller = call.caller,
                      name = call.name](Result<std::vector<EventRecord>> records) {
                       const auto changed = events->FindEvent(name, caller);
                       if (records.ok() && changed) {
                         AnswerEvent(exchange.get(), *changed);
                       } else {
                         AnswerRefusedWrite(
                             exchange.get(), *events,
                             records.ok() ? Status::Error("the event is gone") : records.status());
                       }
                     });
}

void DeleteEvent(const RestCall& call) {
  const auto event = FindOrAnswer(call);
  if (!event || !IsTheOneMeant(call, &*event) || AnswerIfStoreIsAway(call)) return;
  EventManager* const events = call.parts.events;
  events->Remove({call.name}, call.caller,
                 [events, exchange = call.exchange](Result<std::vector<EventRecord>> records) {
                   if (!records.ok()) {
                     AnswerRefusedWrite(exchange.get(), *events, records.status());
                     return;
                   }
                   HttpReply answer;
                   answer.status = 204;
                   exchange->Answer(std::move(answer));
                 });
}

void ListEventHosts(const RestCall& call) {
  if (!FindOrAnswer(call)) return;
  Json list = Json::array();
  for (const EventOnHost& host : call.parts.events->HostsOf(call.name)) {
    list.push_back(ToJson(host));
  }
  AnswerJson(call.exchange.get(), 200, {{"hosts", std::move(list)}});
}

void CheckEvents(const RestCall& call) {
  const auto body = ReadBody(call, false);
  const auto checks = body ? CheckBody(call, *body) : std::nullopt;
  if (!checks) return;
  Json list = Json::array();
  for (const EventCheck& check : *checks) list.push_back(ToJson(check));
  AnswerJson(call.exchange.get(), 200, {{"events", std::move(list)}});
}

}  // namespace trumpet
