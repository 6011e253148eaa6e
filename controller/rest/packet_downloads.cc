// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/packet_downloads.h"

#include <algorithm>
#include <utility>

#include "controller/rest/rest_call.h"
#include "controller/slice/campaign_manager.h"
#include "lib/packet/pcapng_joiner.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 500 * kNanosPerMilli;
constexpr char kPcapng[] = "application/x-pcapng";

}  // namespace

struct PacketDownloads::Download {
  std::shared_ptr<HttpExchange> exchange;
  std::string title;
  uint64_t run = 0;
  std::vector<std::string> keepers;
  PcapngJoiner joiner;
  size_t keeper = 0;     // that is asked
  PacketFilePlace next;  // there
  bool is_asking = false;
  bool is_over = false;
  size_t waiting = 0;  // as of the last look
  Nanos taken_at = 0;  // when it had last become less, or was none
};

PacketDownloads::PacketDownloads(RestServer* server, const RestParts& parts)
    : server_(server), parts_(parts), ticker_(parts.base, [this] { Tick(); }) {
  ticker_.RunEvery(kTick);
}

PacketDownloads::~PacketDownloads() {
  for (const auto& download : downloads_) download->is_over = true;
}

void PacketDownloads::Begin(std::shared_ptr<HttpExchange> exchange, const std::string& title,
                            uint64_t run, std::vector<std::string> keepers) {
  auto download = std::make_shared<Download>();
  download->exchange = std::move(exchange);
  download->title = title;
  download->run = run;
  download->keepers = std::move(keepers);
  download->taken_at = parts_.clock->MonotonicNow();
  download->exchange->set_on_gone([gone = std::weak_ptr<Download>(download)] {
    if (const auto download = gone.lock()) download->is_over = true;  // Tick() takes it away
  });
  download->exchange->set_on_drained([this, drained = std::weak_ptr<Download>(download)] {
    if (const auto download = drained.lock()) Pump(download);
  });
  ++counters_.begun;
  downloads_.push_back(download);
  Pump(download);
}

void PacketDownloads::End() {
  for (const auto& download : downloads_) {
    if (!download->is_over) Fail(download.get(), "the controller ends");
  }
}

void PacketDownloads::Pump(const std::shared_ptr<Download>& download) {
  if (download->is_over || download->is_asking ||
      download->exchange->waiting_bytes() > kMaxWaiting) {
    return;
  }
  if (download->keeper == download->keepers.size()) return Finish(download.get());
  download->is_asking = true;
  parts_.packets->AskPacketFile(download->keepers[download->keeper], download->run, download->next,
                                [this, download](const Result<PacketFilePiece>& piece) {
                                  download->is_asking = false;
                                  // When this has ended, so have they all.
                                  if (download->is_over) return;
                                  if (piece.ok()) return Take(download, *piece);
                                  Fail(download.get(), piece.message());
                                });
}

void PacketDownloads::Take(const std::shared_ptr<Download>& download,
                           const PacketFilePiece& piece) {
  const std::string keeper = download->keepers[download->keeper];
  download->next = piece.next;
  if (piece.is_last) {
    ++download->keeper;
    download->next = PacketFilePlace();
  }
  if (!piece.bytes.empty()) {
    HttpExchange* const exchange = download->exchange.get();
    if (!exchange->is_answered()) exchange->StartStream(kPcapng);
    std::string joined;
    const Status added = download->joiner.Add(piece.bytes, &joined);
    if (!added.ok()) return FailOf(download.get(), keeper, added.message());
    counters_.bytes += joined.size();
    exchange->Write(joined);
  }
  if (piece.is_last && !download->joiner.is_whole()) {
    return FailOf(download.get(), keeper, "its last packet is cut off");
  }
  Pump(download);
}

void PacketDownloads::Finish(Download* download) {
  download->is_over = true;
  HttpExchange* const exchange = download->exchange.get();
  if (exchange->is_answered()) return exchange->EndStream();
  AnswerProblem(exchange, 404, "no analyzer has packets of " + download->title);
}

void PacketDownloads::Fail(Download* download, const std::string& why) {
  download->is_over = true;
  ++counters_.broken_off;
  HttpExchange* const exchange = download->exchange.get();
  if (!exchange->is_answered()) return AnswerProblem(exchange, 503, why);
  if (parts_.log) {
    parts_.log("warn", "packets of " + download->title + " to " + exchange->request().peer +
                           ": broken off: " + why);
  }
  exchange->BreakOff();
}

void PacketDownloads::FailOf(Download* download, const std::string& keeper,
                             const std::string& why) {
  Fail(download, "analyzer '" + keeper + "': " + why);
}

void PacketDownloads::Tick() {
  const Nanos now = parts_.clock->MonotonicNow();
  downloads_.remove_if([](const auto& download) { return download->is_over; });
  for (const auto& download : downloads_) {
    const size_t waiting = download->exchange->waiting_bytes();
    if (waiting == 0 || waiting < download->waiting) download->taken_at = now;
    download->waiting = waiting;
    if (!server_->MayGoOn(download->exchange->request())) {
      Fail(download.get(), "the token is no longer good");
    } else if (now - download->taken_at > kStall) {
      download->is_over = true;
      download->exchange->CutOff();
    } else {
      Pump(download);
    }
  }
}

namespace {

// The run that is asked for, of those that have ended; 0, and answered, if there is none.
uint64_t ReadRun(const RestCall& call, const CampaignView& campaign) {
  uint64_t run = campaign.ended_runs.empty() ? 0 : campaign.ended_runs.back();
  if (!ReadNumber(call, "run", UINT64_MAX, &run)) return 0;
  const auto& ended = campaign.ended_runs;
  if (std::find(ended.begin(), ended.end(), run) != ended.end()) return run;
  const std::string name = "campaign '" + call.name + "'";
  if (campaign.now != nullptr && (campaign.now->run == run || run == 0)) {
    AnswerProblem(call.exchange.get(), 409,
                  "run " + std::to_string(campaign.now->run) + " of " + name +
                      " is under way; its packets are there when it has ended");
  } else if (run == 0) {
    AnswerProblem(call.exchange.get(), 404, name + " has not run yet");
  } else {
    AnswerProblem(call.exchange.get(), 404,
                  "run " + std::to_string(run) + " is none of " + name + " that is remembered");
  }
  return 0;
}

// Those that have answered for a run, by name, so that a missing one is not passed over in silence;
// of a run without answers, those that are connected.
std::vector<std::string> KeepersOf(const RestParts& parts, const CampaignView& campaign,
                                   uint64_t run) {
  std::vector<std::string> names = parts.packets->Keepers();
  if (campaign.last == nullptr || campaign.last->run != run) return names;
  const Json answers = Json::parse(campaign.last->answers, nullptr, false);
  if (!answers.is_object() || !answers.contains("analyzers")) return names;
  for (const Json& one : answers["analyzers"]) {
    if (!one.is_object() || !one.contains("analyzer") || !one["analyzer"].is_string()) continue;
    const auto name = one["analyzer"].get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void DownloadPackets(const RestCall& call) {
  const auto campaign = FindCampaignOrAnswer(call);
  if (!campaign) return;
  const uint64_t run = ReadRun(call, *campaign);
  if (run == 0) return;
  if (call.parts.packets == nullptr || call.parts.packets->Keepers().empty()) {
    AnswerProblem(call.exchange.get(), 503, "no analyzer is connected");
  } else if (!call.request().takes_chunks) {
    AnswerProblem(call.exchange.get(), 505,
                  "packets are sent in chunks, as only these tell their end from a broken "
                  "connection; ask for them by HTTP/1.1");
  } else if (call.packets->is_full()) {
    AnswerProblem(call.exchange.get(), 503,
                  "as many downloads of packets are under way as this controller gives");
  } else if (call.request().is_head) {
    HttpReply answer;
    answer.content_type = kPcapng;
    call.exchange->Answer(std::move(answer));
  } else {
    call.packets->Begin(call.exchange,
                        "run " + std::to_string(run) + " of campaign '" + call.name + "'", run,
                        KeepersOf(call.parts, *campaign, run));
  }
}

}  // namespace trumpet
