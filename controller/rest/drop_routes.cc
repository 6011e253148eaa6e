// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/apps/drops/probes: searches for the cause of drops, by probes.

#include <algorithm>
#include <utility>

#include "controller/probe/drop_book.h"
#include "controller/rest/drop_views.h"
#include "controller/rest/event_body.h"
#include "controller/rest/http_exchange.h"
#include "controller/rest/json_body.h"
#include "controller/rest/probe_views.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/tenant_packets.h"
#include "controller/rest/trace_questions.h"
#include "lib/lang/probe/probe_language.h"
#include "lib/packet/prefix.h"

namespace trumpet {
namespace {

// Null, and answered, if there is none.
DropBook* Book(const RestCall& call) {
  if (call.parts.drops == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller sends no probes");
  }
  return call.parts.drops;
}

bool MaySee(const RestCall& call, const DropSearchView& search) {
  return call.caller.tenant.empty() || call.caller.tenant == search.tenant;
}

// Null, and answered, if there is none that the caller may see.
const DropSearchView* FindSearch(const RestCall& call, const DropBook& book) {
  for (const DropSearchView* search : book.List()) {
    if (ProbeIdText(search->id) == call.name && MaySee(call, *search)) return search;
  }
  AnswerProblem(call.exchange.get(), 404, "there is no search " + call.name);
  return nullptr;
}

// ---- What is asked for ----

// Where it is to begin may have to be asked of an analyzer first.
struct Asked {
  DropSearchRequest request;
  bool has_packet = false;
};

bool TakeText(const Json& value, std::string* text) {
  if (value.is_string()) *text = value.get<std::string>();
  if (value.is_number_unsigned()) *text = value.dump();
  return !text->empty();
}

Status TakeNumber(const std::string& key, const Json& value, uint32_t least, uint32_t most,
                  uint32_t* number) {
  if (!value.is_number_unsigned() || value < least || value > most) {
    return Status::Error("'" + key + "' takes a whole number from " + std::to_string(least) +
                         " to " + std::to_string(most));
  }
  *number = value.get<uint32_t>();
  return Status::Ok();
}

Status TakePrefix(const std::string& key, const Json& value, std::optional<Prefix>* prefix) {
  if (!value.is_string()) return Status::Error("'" + key + "' takes a prefix");
  auto read = ParsePrefix(value.get<std::string>());
  if (!read.ok()) return Status::Error(key + ": " + read.message());
  *prefix = *read;
  return Status::Ok();
}

// A line of fields, or a map of them.
Status TakePacket(const Json& value, Asked* asked) {
  std::string line;
  if (value.is_string()) line = value.get<std::string>();
  if (value.is_object()) {
    for (const auto& [name, field] : value.items()) {
      line += (line.empty() ? "" : " ") + name + "=" +
              (field.is_string() ? field.get<std::string>() : field.dump());
    }
  }
  auto packet = ParseProbePacket(line, "packet");
  if (!packet.ok()) return packet.status();
  asked->request.packet = *packet;
  asked->has_packet = true;
  return Status::Ok();
}

Status TakeKey(const std::string& key, const Json& value, Asked* asked) {
  DropSearchRequest& request = asked->request;
  constexpr uint32_t kLeastPackets = 10;
  if (key == "count") {
    return TakeNumber(key, value, kLeastPackets, kMaxDropPackets, &request.count);
  }
  if (key == "rate") return TakeNumber(key, value, 1, kMaxProbeRate, &request.rate);
  if (key == "wait") return TakeNumber(key, value, 1, kMaxProbeWait, &request.wait_seconds);
  if (key == "src_within") return TakePrefix(key, value, &request.src_within);
  if (key == "dst_within") return TakePrefix(key, value, &request.dst_within);
  if (key == "packet") return TakePacket(value, asked);
  const bool is_text = (key == "switch" && TakeText(value, &request.switch_name)) ||
                       (key == "port" && TakeText(value, &request.port)) ||
                       (key == "trace" && TakeText(value, &request.trace));
  return is_text ? Status::Ok()
                 : Status::Error("'" + key + "' is no key of a search, or of another type");
}

Result<Asked> ReadAsked(const Json& json) {
  if (!json.is_object()) {
    return Status::Error("a search is an object with trace, or switch, port and packet");
  }
  Asked asked;
  for (const auto& [key, value] : json.items()) {
    const Status status = TakeKey(key, value, &asked);
    if (!status.ok()) return status;
  }
  const DropSearchRequest& request = asked.request;
  const bool is_whole = asked.has_packet && !request.switch_name.empty() && !request.port.empty();
  const bool is_none = !asked.has_packet && request.switch_name.empty() && request.port.empty();
  if (is_whole || (is_none && !request.trace.empty())) return asked;
  return Status::Error("a search has switch, port and packet, or the trace that says them");
}

std::optional<Asked> ReadBody(const RestCall& call) {
  const auto body = ReadEventBody(call.request(), /*is_single=*/false);
  if (!body.ok() || body->format != DocumentFormat::kJson) {
    AnswerProblem(call.exchange.get(), 415, "a search is told as application/json");
    return std::nullopt;
  }
  const auto json = ReadJsonBody(body->text);
  auto asked = json.ok() ? ReadAsked(*json) : json.status();
  if (asked.ok()) return std::move(*asked);
  AnswerProblem(call.exchange.get(), 422, asked.message());
  return std::nullopt;
}

void Begin(HttpExchange* exchange, const Caller& caller, DropSearchRequest request,
           DropBook* book) {
  request.bounds = caller.prefixes;
  const std::string why = WhyTenantMayNotSend(caller, request.packet);
  if (!why.empty()) return AnswerProblem(exchange, 403, why);
  const ProbeStart start = book->Start(request, caller.name, caller.tenant);
  if (start.refusal != ProbeStart::Refusal::kNone) {
    const int status = start.refusal == ProbeStart::Refusal::kWrong ? 422 : 503;
    return AnswerProblem(exchange, status, start.why);
  }
  AnswerJson(exchange, 202, DropSearchJson(*book->Find(start.id), true));
}

// The server may have ended when it is answered; the book has not.
void BeginWithTrace(const RestCall& call, DropSearchRequest request, DropBook* book) {
  TraceQuestion question;
  question.packets = TracePackets::kWhole;
  const std::string trace = request.trace;
  if (!HasTraces(call) || !ConfineTraces(call, &question.words)) return;
  if (!IsPlainTraceText(trace)) return (void)RefuseTraces(call, 404, "there is no such trace");
  question.words.push_back({"id", trace});
  AskTraces(call, std::move(question),
            [request, book, caller = call.caller](HttpExchange* exchange,
                                                  const TraceFindings& found) mutable {
              if (found.found.empty()) {
                return AnswerProblem(exchange, found.silent.empty() ? 404 : 503,
                                     "no analyzer that answered has the trace " + request.trace);
              }
              const auto origin = ReadProbeOrigin(found.found[0].record.text);
              if (!origin) {
                return AnswerProblem(exchange, 422,
                                     "trace " + request.trace +
                                         " does not say how a packet of UDP, TCP or ICMP over IP "
                                         "came in");
              }
              request.switch_name = origin->switch_name;
              request.port = std::to_string(origin->port);
              request.packet = origin->packet;
              Begin(exchange, caller, std::move(request), book);
            });
}

}  // namespace

void ListDropSearches(const RestCall& call) {
  const DropBook* const book = Book(call);
  if (book == nullptr) return;
  Json json = {{"searches", Json::array()}};
  for (const DropSearchView* search : book->List()) {
    if (MaySee(call, *search)) json["searches"].push_back(DropSearchJson(*search, false));
  }
  AnswerJson(call.exchange.get(), 200, json);
}

void BeginDropSearch(const RestCall& call) {
  DropBook* const book = Book(call);
  if (book == nullptr) return;
  auto asked = ReadBody(call);
  if (!asked) return;
  if (!asked->has_packet) return BeginWithTrace(call, std::move(asked->request), book);
  Begin(call.exchange.get(), call.caller, std::move(asked->request), book);
}

void ShowDropSearch(const RestCall& call) {
  const DropBook* const book = Book(call);
  if (book == nullptr) return;
  const DropSearchView* const search = FindSearch(call, *book);
  if (search != nullptr) AnswerJson(call.exchange.get(), 200, DropSearchJson(*search, true));
}

void StopDropSearch(const RestCall& call) {
  DropBook* const book = Book(call);
  if (book == nullptr) return;
  const DropSearchView* const search = FindSearch(call, *book);
  if (search == nullptr) return;
  book->Stop(search->id);
  AnswerJson(call.exchange.get(), 200, DropSearchJson(*search, true));
}

}  // namespace trumpet
