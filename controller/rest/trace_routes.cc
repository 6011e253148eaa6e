// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/traces: what became of packets, as analyzers have it.

#include <algorithm>
#include <utility>

#include "controller/rest/rest_call.h"
#include "controller/rest/trace_streams.h"
#include "controller/rest/trace_views.h"
#include "controller/slice/trace_asker.h"
#include "lib/packet/prefix.h"
#include "lib/wire/limits.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr uint64_t kDefaultPage = 100;
constexpr uint64_t kMaxSeconds = 60;

bool Refuse(const RestCall& call, int status, const std::string& why) {
  AnswerProblem(call.exchange.get(), status, why);
  return false;
}

// The parameters that analyzers understand as they are, by their words for them.
constexpr std::pair<const char*, const char*> kWords[] = {
    {"from", "from"},         {"until", "until"},       {"src", "src"},
    {"dst", "dst"},           {"protocol", "protocol"}, {"src_port", "src-port"},
    {"dst_port", "dst-port"}, {"verdict", "verdict"},   {"through", "through"},
    {"min_hops", "min-hops"}, {"cursor", "after"}};

bool IsPlain(const std::string& text) {
  return text.size() <= kMaxLongTextBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// A tenant sees the packets of its prefixes.
bool Confine(const RestCall& call, std::vector<TraceWord>* words) {
  if (call.caller.tenant.empty()) return true;
  const auto& prefixes = call.caller.prefixes;
  if (prefixes.empty()) return Refuse(call, 403, "this tenant has no prefixes, and so no traces");
  if (prefixes.size() > kMaxTraceWords / 2) {
    return Refuse(call, 403,
                  "traces are told to tenants with at most " + std::to_string(kMaxTraceWords / 2) +
                      " prefixes");
  }
  for (const Prefix& prefix : prefixes) words->push_back({"within", PrintPrefix(prefix)});
  return true;
}

// False, and answered, if the call asks for what there is not, or is not to be had by the caller.
bool ReadWords(const RestCall& call, std::vector<TraceWord>* words) {
  if (call.parts.traces == nullptr || call.parts.traces->is_alone()) {
    return Refuse(call, 503, "no analyzer that makes traces is connected");
  }
  for (const auto& [parameter, word] : kWords) {
    if (!call.has(parameter)) continue;
    words->push_back({word, call.query(parameter)});
    if (IsPlain(words->back().value)) continue;
    return Refuse(call, 400, std::string("the parameter '") + parameter + "' is no such thing");
  }
  std::string marks = call.query("mark");
  while (!marks.empty()) {
    const size_t comma = std::min(marks.find(','), marks.size());
    words->push_back({"mark", marks.substr(0, comma)});
    marks.erase(0, comma + 1);
    if (!IsPlain(words->back().value) || words->size() > kMaxTraceWords / 2) {
      return Refuse(call, 400, "the parameter 'mark' is no list of marks");
    }
  }
  return Confine(call, words);
}

bool ReadPackets(const RestCall& call, TracePackets* packets) {
  const std::string text = call.query("packets");
  if (!call.has("packets") || text == "none") return true;
  if (text == "headers") {
    *packets = TracePackets::kHeaders;
    return true;
  }
  if (text != "whole")
    return Refuse(call, 400, "the parameter 'packets' takes none, headers or whole");
  *packets = TracePackets::kWhole;
  if (call.role >= Role::kOperate) return true;
  return Refuse(call, 403, "what packets carry takes the role operate; packets=headers does not");
}

bool ReadPatience(const RestCall& call, TraceQuestion* question) {
  uint64_t seconds = 10;
  if (!ReadNumber(call, "timeout", kMaxSeconds, &seconds)) return false;
  question->patience = static_cast<Nanos>(std::max<uint64_t>(seconds, 1)) * kNanosPerSecond;
  return true;
}

void Ask(const RestCall& call, TraceQuestion question,
         std::function<void(HttpExchange*, const TraceFindings&)> tell) {
  TraceAsker* const traces = call.parts.traces;
  const uint64_t number = traces->Ask(
      std::move(question), [exchange = call.exchange, tell = std::move(tell)](const auto& found) {
        if (!found.wrong.empty()) return AnswerProblem(exchange.get(), 400, found.wrong);
        tell(exchange.get(), found);
      });
  if (number == 0) {
    AnswerProblem(call.exchange.get(), 503, "too many questions about traces at once");
    return;
  }
  call.exchange->set_on_gone([traces, number] { traces->Cancel(number); });
}

}  // namespace

void ListTraces(const RestCall& call) {
  TraceQuestion question;
  uint64_t limit = kDefaultPage;
  bool is_estimate = false;
  if (!ReadWords(call, &question.words) || !ReadPackets(call, &question.packets) ||
      !ReadNumber(call, "limit", kMaxTraceRecords, &limit) || !ReadPatience(call, &question) ||
      !ReadFlag(call, "estimate", &is_estimate)) {
    return;
  }
  question.limit = std::max<uint64_t>(limit, 1);
  question.what = is_estimate ? TraceWhat::kEstimate : TraceWhat::kTraces;
  Ask(call, std::move(question), [is_estimate](HttpExchange* exchange, const TraceFindings& found) {
    AnswerJson(exchange, 200, is_estimate ? TraceEstimateJson(found) : TracePageJson(found));
  });
}

void ShowTrace(const RestCall& call) {
  TraceQuestion question;
  if (!ReadWords(call, &question.words) || !ReadPackets(call, &question.packets) ||
      !ReadPatience(call, &question)) {
    return;
  }
  if (!IsPlain(call.name)) return (void)Refuse(call, 404, "there is no such trace");
  question.words.push_back({"id", call.name});
  Ask(call, std::move(question), [id = call.name](HttpExchange* exchange, const auto& found) {
    if (!found.found.empty()) {
      return AnswerJson(exchange, 200, TraceJson(found.found[0].analyzer, found.found[0].record));
    }
    if (found.silent.empty()) return AnswerProblem(exchange, 404, "there is no trace " + id);
    AnswerProblem(exchange, 503,
                  "analyzer '" + found.silent.begin()->first + "' " + found.silent.begin()->second +
                      "; no other has the trace " + id);
  });
}

namespace {

constexpr uint64_t kDefaultCounts = 1000;
constexpr uint64_t kDay = 86400;
constexpr Nanos kCounted = 600 * kNanosPerSecond;  // if nobody says from when on

void ShowCounters(const RestCall& call, TraceWhat what) {
  TraceQuestion question;
  question.what = what;
  uint64_t limit = kDefaultCounts;
  uint64_t step = 60;
  if (!ReadWords(call, &question.words) || !ReadPatience(call, &question) ||
      !ReadNumber(call, "limit", kMaxTraceRecords, &limit) ||
      !ReadNumber(call, "step", kDay, &step)) {
    return;
  }
  question.limit = std::max<uint64_t>(limit, 1);
  question.words.push_back({"step", std::to_string(std::max<uint64_t>(step, 1))});
  if (!call.has("from")) {
    const Nanos from = call.parts.clock->UnixNow() - kCounted;
    question.words.push_back({"from", std::to_string(std::max<Nanos>(from, 0))});
  }
  Ask(call, std::move(question), [](HttpExchange* exchange, const TraceFindings& found) {
    AnswerJson(exchange, 200, CounterPageJson(found));
  });
}

}  // namespace

void ShowLinkCounters(const RestCall& call) { ShowCounters(call, TraceWhat::kLinks); }

void ShowTraceCounters(const RestCall& call) { ShowCounters(call, TraceWhat::kCount); }

void StreamTraces(const RestCall& call) {
  std::vector<TraceWord> words;
  TracePackets packets = TracePackets::kNone;
  if (!ReadWords(call, &words) || !ReadPackets(call, &packets)) return;
  if (call.request().is_head) {
    HttpReply answer;
    answer.content_type = "text/event-stream";
    return call.exchange->Answer(std::move(answer));
  }
  if (call.trace_streams->Begin(call.exchange, std::move(words), packets)) return;
  AnswerProblem(call.exchange.get(), 503,
                "there are as many streams of traces as this controller gives");
}

}  // namespace trumpet
