// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/simulate: what would events have said of a capture?
//
//   curl --data-binary @x.pcap '.../v1/simulate?name=heavy'       an event that is there
//   curl --data-binary @x.pcap '.../v1/simulate?events=...'       one in the language
//   curl -F events=@events.yaml -F capture=@x.pcap '.../v1/simulate'

#include <sstream>
#include <utility>

#include "controller/rest/multipart.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/simulations.h"
#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

struct Input {
  std::string events;  // in YAML
  Evbuffer capture;
};

// One line of the language, or a file of events, which stays as it is: printed, it may be longer
// than a file may be.
Result<std::string> ReadEvents(const std::string& text) {
  Result<EventSpec> line = ParseEventLine(text, "events", RefuseMeasured);
  if (line.ok()) {
    line->name = "event-1";
    return PrintEventsYaml({std::move(*line)});
  }
  const auto file = ParseEventsYaml(text, "events", RefuseMeasured);
  if (file.ok()) return text;
  // Of a single line, what is wrong with it as a line says more.
  return text.find('\n') != text.npos ? file.status() : line.status();
}

Result<std::string> EventsOf(const RestCall& call, const std::string* part) {
  if ((part != nullptr) + call.has("events") + call.has("name") != 1) {
    return Status::Error(
        "say which events to run: events=... in the language, or name=... of one that is there, "
        "or a part 'events' of a multipart body");
  }
  if (part != nullptr) return ReadEvents(*part);
  if (call.has("events")) return ReadEvents(call.query("events"));
  const std::string name = call.query("name");
  const auto event = call.parts.events->FindEvent(name, call.caller);
  if (!event) return Status::Error("there is no event named '" + name + "'");
  if (!event->reads.empty()) {
    return Status::Error("event '" + name + "' reads " + event->reads[0] +
                         ", which no capture holds");
  }
  return PrintEventsYaml({event->spec});
}

Result<Input> ReadInput(const RestCall& call) {
  HttpRequest& request = call.exchange->request();
  Input input;
  std::string text;
  bool has_text = false;
  if (request.header("content-type").substr(0, 19) == "multipart/form-data") {
    auto parts = ReadMultipart(request.header("content-type"), request.body.get());
    if (!parts.ok()) return parts.status();
    for (auto& part : *parts) {
      if (part.first == "capture") {
        input.capture = std::move(part.second);
      } else if (part.first == "events") {
        HttpRequest holder;
        holder.body = std::move(part.second);
        text = holder.Text();
        has_text = true;
      } else {
        return Status::Error("'" + part.first + "' is no part of a simulation; there are events " +
                             "and capture");
      }
    }
  } else {
    input.capture = std::move(request.body);
  }
  if (input.capture == nullptr) return Status::Error("there is no capture in the body");
  Result<std::string> events = EventsOf(call, has_text ? &text : nullptr);
  if (!events.ok()) return events.status();
  input.events = std::move(*events);
  return input;
}

void AnswerResult(HttpExchange* exchange, const SimulationResult& result, bool wants_lines) {
  if (result.is_too_long) {
    AnswerProblem(exchange, 504, "the simulation took longer than it may, and was ended");
  } else if (result.is_cut) {
    AnswerProblem(exchange, 413, "there are more reports than a simulation may give");
  } else if (result.exit_status == 1) {
    AnswerProblem(exchange, 422, result.messages);
  } else if (result.exit_status != 0) {
    AnswerProblem(exchange, 500, "the simulation failed: " + result.messages);
  } else if (wants_lines) {
    HttpReply answer;
    answer.content_type = "application/x-ndjson";
    answer.body = result.output;
    exchange->Answer(std::move(answer));
  } else {
    HttpReply answer;
    answer.body = "{\"reports\":[";
    std::istringstream lines(result.output);
    bool is_first = true;
    for (std::string line; std::getline(lines, line);) {
      if (!std::exchange(is_first, false)) answer.body += ",";
      answer.body += line;
    }
    answer.body += "]}\n";
    exchange->Answer(std::move(answer));
  }
}

void AnswerFull(HttpExchange* exchange, const Status& why) {
  HttpReply answer = ProblemAnswer(503, why.message());
  answer.headers.emplace_back("Retry-After", "5");
  exchange->Answer(std::move(answer));
}

}  // namespace

void Simulate(const RestCall& call) {
  Simulations* const simulations = call.simulations;
  if (simulations->options().program.empty()) {
    AnswerProblem(call.exchange.get(), 501, "this controller runs no simulations");
    return;
  }
  if (const Status can_run = simulations->CanRun(); !can_run.ok()) {
    AnswerProblem(call.exchange.get(), 500, can_run.message());
    return;
  }
  if (simulations->is_full()) {
    AnswerFull(call.exchange.get(), simulations->Refuse());
    return;
  }
  Result<Input> input = ReadInput(call);
  if (!input.ok()) {
    AnswerProblem(call.exchange.get(), 422, input.message());
    return;
  }
  const bool wants_lines = call.request().header("accept") == "application/x-ndjson";
  const Result<uint64_t> number =
      simulations->Start(input->events, std::move(input->capture),
                         [exchange = call.exchange, wants_lines](SimulationResult result) {
                           AnswerResult(exchange.get(), result, wants_lines);
                         });
  if (!number.ok()) {
    AnswerFull(call.exchange.get(), number.status());
    return;
  }
  call.exchange->set_on_gone([simulations, number = *number] { simulations->Cancel(number); });
}

}  // namespace trumpet
