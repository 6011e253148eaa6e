// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/traces: what became of packets, as analyzers have it.

#include <algorithm>
#include <utility>

#include "controller/rest/rest_call.h"
#include "controller/rest/trace_questions.h"
#include "controller/rest/trace_streams.h"
#include "controller/rest/trace_views.h"
#include "lib/wire/limits.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr uint64_t kDefaultPage = 100;

bool ReadPackets(const RestCall& call, TracePackets* packets) {
  const std::string text = call.query("packets");
  if (!call.has("packets") || text == "none") return true;
  if (text == "headers") {
    *packets = TracePackets::kHeaders;
    return true;
  }
  if (text != "whole")
    return RefuseTraces(call, 400, "the parameter 'packets' takes none, headers or whole");
  *packets = TracePackets::kWhole;
  if (call.role >= Role::kOperate) return true;
  return RefuseTraces(call, 403,
                      "what packets carry takes the role operate; packets=headers does not");
}

}  // namespace

void ListTraces(const RestCall& call) {
  TraceQuestion question;
  uint64_t limit = kDefaultPage;
  bool is_estimate = false;
  if (!ReadTraceWords(call, &question.words) || !ReadPackets(call, &question.packets) ||
      !ReadNumber(call, "limit", kMaxTraceRecords, &limit) || !ReadTracePatience(call, &question) ||
      !ReadFlag(call, "estimate", &is_estimate)) {
    return;
  }
  question.limit = std::max<uint64_t>(limit, 1);
  question.what = is_estimate ? TraceWhat::kEstimate : TraceWhat::kTraces;
  AskTraces(
      call, std::move(question), [is_estimate](HttpExchange* exchange, const TraceFindings& found) {
        AnswerJson(exchange, 200, is_estimate ? TraceEstimateJson(found) : TracePageJson(found));
      });
}

void ShowTrace(const RestCall& call) {
  TraceQuestion question;
  if (!ReadTraceWords(call, &question.words) || !ReadPackets(call, &question.packets) ||
      !ReadTracePatience(call, &question)) {
    return;
  }
  if (!IsPlainTraceText(call.name)) return (void)RefuseTraces(call, 404, "there is no such trace");
  question.words.push_back({"id", call.name});
  AskTraces(call, std::move(question), [id = call.name](HttpExchange* exchange, const auto& found) {
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
  if (!ReadTraceWords(call, &question.words) || !ReadTracePatience(call, &question) ||
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
  AskTraces(call, std::move(question), [](HttpExchange* exchange, const TraceFindings& found) {
    AnswerJson(exchange, 200, CounterPageJson(found));
  });
}

}  // namespace

void ShowLinkCounters(const RestCall& call) { ShowCounters(call, TraceWhat::kLinks); }

void ShowTraceCounters(const RestCall& call) { ShowCounters(call, TraceWhat::kCount); }

void StreamTraces(const RestCall& call) {
  std::vector<TraceWord> words;
  TracePackets packets = TracePackets::kNone;
  if (!ReadTraceWords(call, &words) || !ReadPackets(call, &packets)) return;
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
