// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/trace_questions.h"

#include <algorithm>
#include <utility>

#include "lib/packet/prefix.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxSeconds = 60;

// The parameters that analyzers understand as they are, by their words for them.
constexpr std::pair<const char*, const char*> kWords[] = {
    {"from", "from"},         {"until", "until"},       {"src", "src"},
    {"dst", "dst"},           {"protocol", "protocol"}, {"src_port", "src-port"},
    {"dst_port", "dst-port"}, {"verdict", "verdict"},   {"through", "through"},
    {"min_hops", "min-hops"}, {"cursor", "after"}};

}  // namespace

bool RefuseTraces(const RestCall& call, int status, const std::string& why) {
  AnswerProblem(call.exchange.get(), status, why);
  return false;
}

bool HasTraces(const RestCall& call) {
  if (call.parts.traces != nullptr && !call.parts.traces->is_alone()) return true;
  return RefuseTraces(call, 503, "no analyzer that makes traces is connected");
}

bool IsPlainTraceText(const std::string& text) {
  return text.size() <= kMaxLongTextBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string TraceWordOf(const std::string& parameter) {
  for (const auto& [known, word] : kWords) {
    if (parameter == known && parameter != "cursor") return word;
  }
  return parameter == "mark" ? parameter : "";
}

bool ConfineTraces(const RestCall& call, std::vector<TraceWord>* words) {
  if (call.caller.tenant.empty()) return true;
  const auto& prefixes = call.caller.prefixes;
  if (prefixes.empty())
    return RefuseTraces(call, 403, "this tenant has no prefixes, and so no traces");
  if (prefixes.size() > kMaxTraceWords / 2) {
    return RefuseTraces(call, 403,
                        "traces are told to tenants with at most " +
                            std::to_string(kMaxTraceWords / 2) + " prefixes");
  }
  for (const Prefix& prefix : prefixes) words->push_back({"within", PrintPrefix(prefix)});
  return true;
}

bool ReadTraceWords(const RestCall& call, std::vector<TraceWord>* words) {
  if (!HasTraces(call)) return false;
  for (const auto& [parameter, word] : kWords) {
    if (!call.has(parameter)) continue;
    words->push_back({word, call.query(parameter)});
    if (IsPlainTraceText(words->back().value)) continue;
    return RefuseTraces(call, 400,
                        std::string("the parameter '") + parameter + "' is no such thing");
  }
  std::string marks = call.query("mark");
  while (!marks.empty()) {
    const size_t comma = std::min(marks.find(','), marks.size());
    words->push_back({"mark", marks.substr(0, comma)});
    marks.erase(0, comma + 1);
    if (!IsPlainTraceText(words->back().value) || words->size() > kMaxTraceWords / 2) {
      return RefuseTraces(call, 400, "the parameter 'mark' is no list of marks");
    }
  }
  return ConfineTraces(call, words);
}

bool ReadTracePatience(const RestCall& call, TraceQuestion* question) {
  uint64_t seconds = 10;
  if (!ReadNumber(call, "timeout", kMaxSeconds, &seconds)) return false;
  question->patience = static_cast<Nanos>(std::max<uint64_t>(seconds, 1)) * kNanosPerSecond;
  return true;
}

void AskTraces(const RestCall& call, TraceQuestion question,
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

}  // namespace trumpet
