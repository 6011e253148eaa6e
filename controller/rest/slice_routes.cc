// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /v1/slices.

#include <utility>

#include "controller/rest/json_body.h"
#include "controller/rest/json_views.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/slice_views.h"

namespace trumpet {
namespace {

constexpr char kSource[] = "request";

// Null, and answered, if this controller runs none.
CampaignManager* Manager(const RestCall& call) {
  CampaignManager* const manager = call.parts.campaigns;
  if (manager == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller runs no campaigns of slices");
  }
  return manager;
}

bool IsTheOneMeant(const RestCall& call, const CampaignView* campaign) {
  const std::string_view wanted = call.request().header("if-match");
  if (wanted.empty() || (wanted == "*" && campaign != nullptr)) return true;
  if (campaign != nullptr && wanted == EntityTag(campaign->record)) return true;
  AnswerProblem(call.exchange.get(), 412,
                campaign == nullptr ? "there is no such campaign"
                                    : "the campaign has changed meanwhile; its tag is now " +
                                          EntityTag(campaign->record));
  return false;
}

bool AnswerIfStoreIsAway(const RestCall& call) {
  const CampaignManager& manager = *call.parts.campaigns;
  if (manager.is_store_ready()) return false;
  AnswerProblem(call.exchange.get(), 503,
                "campaigns cannot be changed now: " + manager.store_state());
  return true;
}

bool IsType(const RestCall& call, std::string_view type) {
  const std::string_view header = call.request().header("content-type");
  return header.substr(0, header.find(';')) == type;
}

// The campaign's text: text/plain is the language itself, application/json a definition.
std::optional<CampaignDefinition> ReadBody(const RestCall& call, const std::string& name) {
  if (IsType(call, "text/plain")) {
    CampaignDefinition definition;
    definition.name = name;
    definition.text = call.request().Text();
    const Status status = CheckCampaignName(name);
    if (status.ok()) return definition;
    AnswerProblem(call.exchange.get(), 422, status.message());
    return std::nullopt;
  }
  if (!IsType(call, "application/json")) {
    AnswerProblem(call.exchange.get(), 415,
                  "Content-Type must be text/plain, for the language itself, or application/json");
    return std::nullopt;
  }
  const std::string text = call.request().Text();
  const Status status = CheckJsonBody(text);
  auto definition = status.ok() ? ReadCampaignDefinition(text, name, kSource) : status;
  if (definition) return std::move(*definition);
  AnswerProblem(call.exchange.get(), 422, definition.message());
  return std::nullopt;
}

void AnswerCampaign(HttpExchange* exchange, int status, const CampaignView& campaign) {
  HttpReply answer;
  answer.status = status;
  answer.body = ToJson(campaign).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  answer.headers.emplace_back("ETag", EntityTag(campaign.record));
  exchange->Answer(std::move(answer));
}

// Answers with the campaign as it is once it has been changed.
CampaignManager::Changed AnswerWhenChanged(const RestCall& call, int status) {
  return [manager = call.parts.campaigns, exchange = call.exchange, caller = call.caller,
          status](const Result<EventRecord>& record) {
    if (!record) {
      const bool has_condition = !exchange->request().header("if-match").empty();
      return AnswerProblem(exchange.get(),
                           !manager->is_store_ready() ? 503
                           : has_condition            ? 412
                                                      : 422,
                           record.message());
    }
    const auto campaign = manager->Find(record->name, caller);
    if (campaign) return AnswerCampaign(exchange.get(), status, *campaign);
    AnswerProblem(exchange.get(), 409, "the campaign was removed meanwhile");
  };
}

}  // namespace

std::optional<CampaignView> FindCampaignOrAnswer(const RestCall& call) {
  CampaignManager* const manager = Manager(call);
  if (manager == nullptr) return std::nullopt;
  auto campaign = manager->Find(call.name, call.caller);
  if (!campaign) {
    AnswerProblem(call.exchange.get(), 404, "there is no campaign named '" + call.name + "'");
  }
  return campaign;
}

void ListCampaigns(const RestCall& call) {
  CampaignManager* const manager = Manager(call);
  if (manager == nullptr) return;
  Json list = Json::array();
  for (const CampaignView& campaign : manager->Campaigns(call.caller)) {
    list.push_back(ToJson(campaign));
  }
  AnswerJson(call.exchange.get(), 200, {{"slices", std::move(list)}});
}

void PlanCampaign(const RestCall& call) {
  CampaignManager* const manager = Manager(call);
  const auto body = manager == nullptr ? std::nullopt : ReadBody(call, "plan");
  if (!body) return;
  manager->Plan(body->text, kSource, call.caller,
                [exchange = call.exchange](const Result<CampaignPlan>& plan) {
                  if (plan) return AnswerJson(exchange.get(), 200, ToJson(*plan));
                  AnswerProblem(exchange.get(), 422, plan.message());
                });
}

void ShowCampaign(const RestCall& call) {
  if (const auto campaign = FindCampaignOrAnswer(call)) {
    AnswerCampaign(call.exchange.get(), 200, *campaign);
  }
}

void PutCampaign(const RestCall& call) {
  CampaignManager* const manager = Manager(call);
  const auto body = manager == nullptr ? std::nullopt : ReadBody(call, call.name);
  if (!body) return;
  const auto campaign = manager->Find(call.name, call.caller);
  if (!IsTheOneMeant(call, campaign ? &*campaign : nullptr) || AnswerIfStoreIsAway(call)) return;
  manager->Put(*body, kSource, call.caller, campaign ? campaign->record.id : 0,
               AnswerWhenChanged(call, campaign ? 200 : 201));
}

void PatchCampaign(const RestCall& call) {
  const auto campaign = FindCampaignOrAnswer(call);
  if (!campaign || !IsTheOneMeant(call, &*campaign) || AnswerIfStoreIsAway(call)) return;
  const auto read = ReadJsonBody(call.request().Text());
  if (!read.ok()) return AnswerProblem(call.exchange.get(), 422, read.message());
  const Json& body = *read;
  const bool is_right = body.is_object() && body.size() == 1 && body.contains("enabled") &&
                        body["enabled"].is_boolean();
  if (!is_right) {
    AnswerProblem(call.exchange.get(), 422, "the body must be {\"enabled\": true} or false");
    return;
  }
  call.parts.campaigns->SetEnabled(call.name, body["enabled"].get<bool>(), call.caller,
                                   AnswerWhenChanged(call, 200));
}

void DeleteCampaign(const RestCall& call) {
  const auto campaign = FindCampaignOrAnswer(call);
  if (!campaign || !IsTheOneMeant(call, &*campaign) || AnswerIfStoreIsAway(call)) return;
  call.parts.campaigns->Remove(call.name, call.caller,
                               [exchange = call.exchange](const Result<EventRecord>& record) {
                                 if (!record) {
                                   return AnswerProblem(exchange.get(), 412, record.message());
                                 }
                                 HttpReply answer;
                                 answer.status = 204;
                                 exchange->Answer(std::move(answer));
                               });
}

void RunCampaign(const RestCall& call) {
  if (!FindCampaignOrAnswer(call) || AnswerIfStoreIsAway(call)) return;
  const Status status = call.parts.campaigns->RunNow(call.name, call.caller);
  if (!status.ok()) return AnswerProblem(call.exchange.get(), 409, status.message());
  AnswerCampaign(call.exchange.get(), 202, *call.parts.campaigns->Find(call.name, call.caller));
}

void StopCampaign(const RestCall& call) {
  if (!FindCampaignOrAnswer(call)) return;
  const Status status = call.parts.campaigns->StopRun(call.name, call.caller);
  if (!status.ok()) return AnswerProblem(call.exchange.get(), 409, status.message());
  AnswerCampaign(call.exchange.get(), 200, *call.parts.campaigns->Find(call.name, call.caller));
}

// Of the run under way, or else of the last one.
void ShowCampaignResults(const RestCall& call) {
  const auto campaign = FindCampaignOrAnswer(call);
  if (!campaign) return;
  const SliceRunView* const run = campaign->now != nullptr ? campaign->now : campaign->last.get();
  if (run != nullptr) return AnswerJson(call.exchange.get(), 200, ToJson(*run));
  AnswerProblem(call.exchange.get(), 404, "campaign '" + call.name + "' has not run yet");
}

}  // namespace trumpet
