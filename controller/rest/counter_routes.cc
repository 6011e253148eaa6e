// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/counters: named counters of traces; /v1/apps: what stored traces say together.

#include <algorithm>
#include <utility>

#include "controller/probe/drop_reason.h"
#include "controller/rest/event_body.h"
#include "controller/rest/json_body.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/trace_questions.h"
#include "controller/rest/trace_views.h"
#include "controller/trace/trace_counter_book.h"
#include "lib/packet/prefix.h"
#include "lib/wire/limits.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr uint64_t kDefaultCounts = 1000;
constexpr uint64_t kDay = 86400;
constexpr Nanos kCounted = 600 * kNanosPerSecond;  // if nobody says from when on

// Null, and answered, if there is none.
TraceCounterBook* Book(const RestCall& call) {
  if (call.parts.trace_counters == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller has no counters of traces");
  }
  return call.parts.trace_counters;
}

// Does it count nothing but packets that the caller may see?  Its prefixes may be others by now.
bool MaySee(const RestCall& call, const TraceCounterView& counter) {
  if (call.caller.tenant.empty()) return true;
  const auto is_own = [&](const TraceWord& word) {
    const auto prefix = ParsePrefix(word.value);
    return prefix.ok() && std::any_of(call.caller.prefixes.begin(), call.caller.prefixes.end(),
                                      [&](const Prefix& own) {
                                        return own.is_ipv6 == prefix->is_ipv6 &&
                                               FirstOf(own) <= FirstOf(*prefix) &&
                                               LastOf(own) >= LastOf(*prefix);
                                      });
  };
  return counter.tenant == call.caller.tenant &&
         std::all_of(counter.definition.words.begin(), counter.definition.words.end(),
                     [&](const TraceWord& word) { return word.name != "within" || is_own(word); });
}

// Null, and answered, if there is none that the caller may see.
const TraceCounterView* FindCounter(const RestCall& call) {
  const TraceCounterBook* const book = Book(call);
  if (book == nullptr) return nullptr;
  const auto found = book->counters().find(call.name);
  if (found != book->counters().end() && MaySee(call, found->second)) return &found->second;
  AnswerProblem(call.exchange.get(), 404, "there is no counter named '" + call.name + "'");
  return nullptr;
}

Status AddWords(const std::string& name, const Json& value, std::vector<TraceWord>* words) {
  const std::string word = TraceWordOf(name);
  if (word.empty() || word == "from" || word == "until") {
    return Status::Error("filter." + name + " is nothing that traces are counted by");
  }
  if (value.is_array() && word == "mark") {
    for (const Json& one : value) {
      const Status added = AddWords(name, one.is_array() ? Json() : one, words);
      if (!added.ok()) return added;
    }
    return Status::Ok();
  }
  const std::string text = value.is_string()            ? value.get<std::string>()
                           : value.is_number_unsigned() ? value.dump()
                                                        : "";
  if (text.empty() || !IsPlainTraceText(text)) {
    return Status::Error("filter." + name + " is neither a text nor a number");
  }
  if (words->size() >= kMaxTraceWords / 2) return Status::Error("filter has too many words");
  words->push_back({word, text});
  return Status::Ok();
}

Result<TraceCounterDefinition> ReadDefinition(const Json& json) {
  if (!json.is_object()) return Status::Error("a counter is an object with name and filter");
  TraceCounterDefinition definition;
  for (const auto& [key, value] : json.items()) {
    if (key == "name" && value.is_string()) {
      definition.name = value.get<std::string>();
    } else if (key == "step_s" && value.is_number_unsigned() && value >= 1 &&
               value <= TraceCounterBook::kMaxStepSeconds) {
      definition.step_s = value.get<uint32_t>();
    } else if (key == "filter" && value.is_object()) {
      for (const auto& [name, one] : value.items()) {
        const Status added = AddWords(name, one, &definition.words);
        if (!added.ok()) return added;
      }
    } else if (key == "step_s") {
      return Status::Error("step_s takes 1 to " +
                           std::to_string(TraceCounterBook::kMaxStepSeconds));
    } else {
      return Status::Error("'" + key + "' is no key of a counter, or of another type");
    }
  }
  if (!IsTraceCounterName(definition.name)) {
    return Status::Error(
        "name takes 1 to 64 letters, digits, '.', '_' and '-', and neither 'links' nor 'traces'");
  }
  return definition;
}

std::optional<TraceCounterDefinition> ReadBody(const RestCall& call) {
  const auto body = ReadEventBody(call.request(), /*is_single=*/false);
  if (!body.ok() || body->format != DocumentFormat::kJson) {
    AnswerProblem(call.exchange.get(), 415, "a counter is told as application/json");
    return std::nullopt;
  }
  const auto json = ReadJsonBody(body->text);
  auto definition = json.ok() ? ReadDefinition(*json) : json.status();
  if (definition.ok()) return std::move(*definition);
  AnswerProblem(call.exchange.get(), 422, definition.message());
  return std::nullopt;
}

int StatusOf(TraceCounterBook::Refusal refusal) {
  switch (refusal) {
    case TraceCounterBook::Refusal::kExists:
    case TraceCounterBook::Refusal::kTooMany:
      return 409;
    default:
      return 503;
  }
}

void Add(TraceCounterBook* book, const TraceCounterDefinition& definition, const Caller& caller,
         const std::shared_ptr<HttpExchange>& exchange) {
  book->Add(definition, caller.tenant, caller.name,
            [book, exchange, name = definition.name](const TraceCounterBook::Outcome& outcome) {
              if (outcome.refusal != TraceCounterBook::Refusal::kNone) {
                return AnswerProblem(exchange.get(), StatusOf(outcome.refusal), outcome.why);
              }
              const auto made = book->counters().find(name);
              if (made == book->counters().end()) {
                return AnswerProblem(exchange.get(), 409, "the counter has been removed again");
              }
              AnswerJson(exchange.get(), 201, TraceCounterJson(made->second));
            });
}

// The words of the question that the counter's values answer; of stored traces those of the
// counter.
bool ReadQuestion(const RestCall& call, const TraceCounterView& counter, TraceQuestion* question) {
  const uint64_t own = counter.definition.step_s;
  uint64_t limit = kDefaultCounts;
  uint64_t step = own;
  bool is_stored = false;
  if (!ReadTracePatience(call, question) || !ReadNumber(call, "limit", kMaxTraceRecords, &limit) ||
      !ReadNumber(call, "step", kDay, &step) || !ReadFlag(call, "stored", &is_stored)) {
    return false;
  }
  if (step == 0 || step % own != 0) {
    return RefuseTraces(call, 400,
                        "the parameter 'step' takes multiples of " + std::to_string(own));
  }
  question->what = TraceWhat::kCounter;
  question->limit = std::max<uint64_t>(limit, 1);
  for (const char* const name : {"from", "until", "cursor"}) {
    if (!call.has(name)) continue;
    if (!IsPlainTraceText(call.query(name))) {
      return RefuseTraces(call, 400, std::string("the parameter '") + name + "' is no such thing");
    }
    question->words.push_back({TraceWordOf(name).empty() ? "after" : name, call.query(name)});
  }
  if (!call.has("from")) {
    const Nanos from = call.parts.clock->UnixNow() - kCounted;
    question->words.push_back({"from", std::to_string(std::max<Nanos>(from, 0))});
  }
  question->words.push_back({"step", std::to_string(step)});
  if (is_stored) {
    const auto& words = counter.definition.words;
    question->words.insert(question->words.end(), words.begin(), words.end());
  } else {
    question->words.push_back({"counter", std::to_string(counter.id)});
  }
  return true;
}

}  // namespace

void ListCounters(const RestCall& call) {
  const TraceCounterBook* const book = Book(call);
  if (book == nullptr) return;
  Json json = {{"counters", Json::array()}};
  for (const auto& [name, counter] : book->counters()) {
    if (MaySee(call, counter)) json["counters"].push_back(TraceCounterJson(counter));
  }
  AnswerJson(call.exchange.get(), 200, json);
}

// What the filter means only analyzers know: they are asked what it would cost to look for it.
void AddCounter(const RestCall& call) {
  TraceCounterBook* const book = Book(call);
  if (book == nullptr) return;
  auto definition = ReadBody(call);
  if (!definition || !HasTraces(call) || !ConfineTraces(call, &definition->words)) return;
  TraceQuestion question;
  question.what = TraceWhat::kEstimate;
  question.words = definition->words;
  question.words.push_back({"until", "0"});  // nothing is to be looked at
  AskTraces(call, std::move(question),
            [book, definition = std::move(*definition), caller = call.caller,
             exchange = call.exchange](HttpExchange*, const TraceFindings& found) {
              if (found.answers.empty()) {
                return AnswerProblem(exchange.get(), 503, "no analyzer has looked at the filter");
              }
              Add(book, definition, caller, exchange);
            });
}

void ShowCounter(const RestCall& call) {
  const TraceCounterView* const counter = FindCounter(call);
  TraceQuestion question;
  if (counter == nullptr || !HasTraces(call) || !ReadQuestion(call, *counter, &question)) return;
  AskTraces(call, std::move(question),
            [counter = *counter](HttpExchange* exchange, const TraceFindings& found) {
              AnswerJson(exchange, 200, CounterValuesJson(counter, found));
            });
}

void DeleteCounter(const RestCall& call) {
  if (FindCounter(call) == nullptr) return;
  call.parts.trace_counters->Remove(
      call.name, [exchange = call.exchange](const TraceCounterBook::Outcome& outcome) {
        if (outcome.refusal != TraceCounterBook::Refusal::kNone) {
          return AnswerProblem(exchange.get(), StatusOf(outcome.refusal), outcome.why);
        }
        HttpReply answer;
        answer.status = 204;
        exchange->Answer(std::move(answer));
      });
}

namespace {

std::vector<SwitchOfDrops> PlacesOf(const Json& findings) {
  std::vector<SwitchOfDrops> places;
  for (const Json& one : findings) {
    const auto text = [&one](const char* key) {
      const auto found = one.find(key);
      return found != one.end() && found->is_string() ? found->get<std::string>() : "";
    };
    places.push_back({text("behind"), text("example"), text("verdict") == "long", {}});
    const auto next = one.find("expected_next");
    if (next == one.end() || !next->is_array()) continue;
    for (const Json& name : *next) {
      if (name.is_string()) places.back().next.push_back(name.get<std::string>());
    }
  }
  return places;
}

// Answers with what the switches say of each place, too.
void ExplainDrops(DropReasons* reasons, Json json, std::shared_ptr<HttpExchange> exchange) {
  std::vector<SwitchOfDrops> places = PlacesOf(json["findings"]);
  reasons->Explain(std::move(places), [json = std::move(json), exchange = std::move(exchange)](
                                          const std::vector<DropReason>& all) {
    Json answer = json;
    for (size_t i = 0; i < all.size(); ++i) {
      Json& finding = answer["findings"][i];
      finding["reason"] = all[i].word;
      finding["reason_why"] = all[i].why;
      if (!all[i].at.empty()) finding["reason_at"] = all[i].at;
      if (all[i].word == "not_known" || !finding["explanation"].is_string()) continue;
      const std::string at = all[i].at.empty() ? "" : "at " + all[i].at + " ";
      finding["explanation"] = finding["explanation"].get<std::string>() + "; " + at + all[i].why;
    }
    AnswerJson(exchange.get(), 200, answer);
  });
}

}  // namespace

// Each analyzer has its flows, and its findings.
void RunTraceApp(const RestCall& call) {
  if (!HasTraces(call)) return;
  TraceQuestion question;
  question.what = TraceWhat::kApp;
  question.limit = kMaxTraceRecords;
  if (!ReadTracePatience(call, &question)) return;
  question.words.push_back({"app", call.name});
  for (const char* const name : {"from", "until", "at", "members", "earlier"}) {
    if (call.has(name)) question.words.push_back({name, call.query(name)});
    if (call.has(name) && !IsPlainTraceText(call.query(name))) {
      RefuseTraces(call, 400, std::string("the parameter '") + name + "' is no such thing");
      return;
    }
  }
  if (!IsPlainTraceText(call.name)) return (void)RefuseTraces(call, 404, "there is no such app");
  DropReasons* const reasons = call.name == "drops" ? call.parts.drop_reasons : nullptr;
  AskTraces(call, std::move(question),
            [reasons, kept = call.exchange](HttpExchange* exchange, const TraceFindings& found) {
              Json json = AppFindingsJson(found);
              if (reasons != nullptr) return ExplainDrops(reasons, std::move(json), kept);
              AnswerJson(exchange, 200, json);
            });
}

}  // namespace trumpet
