// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/measurements.

#include <utility>

#include "controller/rest/json_body.h"
#include "controller/rest/json_views.h"
#include "controller/rest/measurement_views.h"
#include "controller/rest/rest_call.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxTop = 1000;

// Null, and answered, if this controller has none.
MeasurementManager* Manager(const RestCall& call) {
  MeasurementManager* const manager = call.parts.measurements;
  if (manager == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller runs no measurements");
  }
  return manager;
}

std::optional<NetworkMeasurement> FindOrAnswer(const RestCall& call) {
  MeasurementManager* const manager = Manager(call);
  if (manager == nullptr) return std::nullopt;
  auto measurement = manager->Find(call.name);
  if (!measurement) {
    AnswerProblem(call.exchange.get(), 404, "there is no measurement named '" + call.name + "'");
  }
  return measurement;
}

// text/plain is the program itself, application/json a definition.
std::optional<MeasurementDefinition> ReadBody(const RestCall& call) {
  const std::string_view header = call.request().header("content-type");
  const std::string_view type = header.substr(0, header.find(';'));
  if (type != "text/plain" && type != "application/json") {
    AnswerProblem(call.exchange.get(), 415,
                  "Content-Type must be text/plain, for the program itself, or application/json");
    return std::nullopt;
  }
  const std::string text =
      type == "text/plain"
          ? PrintMeasurementDefinition({call.name, call.request().Text(), {}, {}, 0})
          : call.request().Text();
  const Status status = type == "text/plain" ? Status::Ok() : CheckJsonBody(text);
  auto definition =
      status.ok() ? ReadMeasurementDefinition(text, call.name, /*is_stored=*/false) : status;
  if (definition.ok()) return std::move(*definition);
  AnswerProblem(call.exchange.get(), 422, definition.message());
  return std::nullopt;
}

int StatusOf(const MeasurementManager& manager, const MeasurementManager::Outcome& outcome) {
  if (!outcome.is_conflict) return 422;
  return manager.is_store_ready() ? 409 : 503;
}

}  // namespace

void ListMeasurements(const RestCall& call) {
  MeasurementManager* const manager = Manager(call);
  if (manager == nullptr) return;
  Json list = Json::array();
  for (const NetworkMeasurement& measurement : manager->Measurements()) {
    list.push_back(ToJson(measurement));
  }
  AnswerJson(call.exchange.get(), 200, {{"measurements", std::move(list)}});
}

void ShowMeasurement(const RestCall& call) {
  const auto measurement = FindOrAnswer(call);
  if (measurement) AnswerJson(call.exchange.get(), 200, ToJson(*measurement));
}

void PutMeasurement(const RestCall& call) {
  MeasurementManager* const manager = Manager(call);
  auto definition = manager == nullptr ? std::nullopt : ReadBody(call);
  if (!definition) return;
  manager->Put(std::move(*definition), call.caller,
               [manager, exchange = call.exchange,
                name = call.name](const MeasurementManager::Outcome& outcome) {
                 if (!outcome.status.ok()) {
                   return AnswerProblem(exchange.get(), StatusOf(*manager, outcome),
                                        outcome.status.message());
                 }
                 const auto measurement = manager->Find(name);
                 if (measurement) {
                   return AnswerJson(exchange.get(), outcome.is_new ? 201 : 200,
                                     ToJson(*measurement));
                 }
                 AnswerProblem(exchange.get(), 409, "the measurement was removed meanwhile");
               });
}

void DeleteMeasurement(const RestCall& call) {
  if (!FindOrAnswer(call)) return;
  MeasurementManager* const manager = call.parts.measurements;
  manager->Remove(call.name, [manager, exchange = call.exchange](
                                 const MeasurementManager::Outcome& outcome) {
    if (!outcome.status.ok()) {
      return AnswerProblem(exchange.get(), StatusOf(*manager, outcome), outcome.status.message());
    }
    HttpReply answer;
    answer.status = 204;
    exchange->Answer(std::move(answer));
  });
}

void ReadMeasurement(const RestCall& call) {
  auto measurement = FindOrAnswer(call);
  if (!measurement) return;
  MeasurementQuestion question{call.query("variable"), call.query("key"), call.query("host"), 10};
  uint64_t top = question.top;
  if (!ReadNumber(call, "top", kMaxTop, &top)) return;
  question.top = static_cast<size_t>(top);
  auto cells = CellsFor(measurement->program, question);
  if (!cells.ok()) return AnswerProblem(call.exchange.get(), 422, cells.message());
  const auto read = call.parts.measurements->Read(
      call.name, question.host, *cells,
      [exchange = call.exchange, measurement = std::move(*measurement), question,
       cells = *cells](const CellReading& reading) {
        AnswerJson(exchange.get(), 200, ReadingJson(measurement, question, cells, reading));
      });
  if (!read.ok()) AnswerProblem(call.exchange.get(), 409, read.message());
}

void AskMeasurement(const RestCall& call) {
  auto measurement = FindOrAnswer(call);
  if (!measurement) return;
  auto fields = ReadAskedFields(measurement->program, call.request().Text());
  if (!fields.ok()) return AnswerProblem(call.exchange.get(), 422, fields.message());
  const Status status = call.parts.measurements->Ask(
      call.name, call.query("host"), std::move(*fields),
      [exchange = call.exchange,
       measurement = std::move(*measurement)](const RequestAnswer& answer) {
        AnswerJson(exchange.get(), 200, RequestAnswerJson(measurement, answer));
      });
  if (!status.ok()) AnswerProblem(call.exchange.get(), 409, status.message());
}

}  // namespace trumpet
