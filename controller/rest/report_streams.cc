// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/report_streams.h"

#include <algorithm>
#include <utility>

#include "controller/rest/json_views.h"
#include "controller/rest/rest_call.h"
#include "controller/rest/slice_views.h"
#include "controller/slice/campaign_manager.h"
#include "lib/base/name_list.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 50 * kNanosPerMilli;
constexpr size_t kBatch = 256;     // reports looked at, at once
constexpr int kBatchesAtOnce = 8;  // then others have their turn
constexpr size_t kMaxNamed = 64;

}  // namespace

struct ReportStreams::Stream {
  std::shared_ptr<HttpExchange> exchange;
  StreamWish wish;
  uint64_t last = 0;       // number of the last report, or piece of news, looked at
  bool is_asking = false;  // the store
  bool is_over = false;
  uint64_t given_bytes = 0;
  uint64_t taken_bytes = 0;  // as of the last look
  Nanos taken_at = 0;        // when it had last risen, or there was nothing to take
  Nanos said_at = 0;         // when anything was last written
  Nanos allowed_at = 0;      // when its token was last good
  Nanos failed_at = 0;       // when the store first failed; 0: it did not
  Nanos asks_at = 0;         // not before

  bool Wants(const std::string& tenant, const std::string& name) const {
    if (!wish.tenant.empty() && tenant != wish.tenant) return false;
    const auto& names = wish.names;
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }

  void Say(const std::string& text, Nanos now) {
    given_bytes += text.size();
    said_at = now;
    exchange->Write(text);
  }
};

ReportStreams::ReportStreams(RestServer* server, const RestParts& parts, size_t max_streams)
    : server_(server),
      hub_(parts.reports),
      feed_(parts.campaigns == nullptr ? nullptr : &parts.campaigns->feed()),
      clock_(parts.clock),
      max_streams_(max_streams),
      ticker_(parts.base, [this] { Tick(); }) {
  hub_->Add(this);
  if (feed_ != nullptr) {
    feed_->SetListener([this](const CampaignNews&) {
      for (const auto& stream : streams_) {
        if (stream->wish.is_of_slices) Pump(stream);
      }
    });
  }
  ticker_.RunEvery(kTick);
}

ReportStreams::~ReportStreams() {
  hub_->Remove(this);
  if (feed_ != nullptr) feed_->SetListener(nullptr);
  for (const auto& stream : streams_) stream->is_over = true;
}

void ReportStreams::Begin(std::shared_ptr<HttpExchange> exchange, StreamWish wish) {
  auto stream = std::make_shared<Stream>();
  stream->exchange = std::move(exchange);
  stream->last =
      std::min(wish.after, wish.is_of_slices ? feed_->last_number() : hub_->last_number());
  stream->wish = std::move(wish);
  const Nanos now = clock_->MonotonicNow();
  stream->taken_at = stream->allowed_at = now;
  stream->exchange->set_on_gone([gone = std::weak_ptr<Stream>(stream)] {
    if (const auto stream = gone.lock()) stream->is_over = true;  // Tick() takes it away
  });
  stream->exchange->set_on_drained([this, drained = std::weak_ptr<Stream>(stream)] {
    if (const auto stream = drained.lock()) Pump(stream);
  });
  stream->exchange->StartStream("text/event-stream");
  // The id is for who is cut off before the first report, and comes again.
  stream->Say("retry: 2000\nid: " + std::to_string(stream->last) + "\n\n", now);
  streams_.push_back(stream);
  Pump(stream);
}

void ReportStreams::End() {
  for (const auto& stream : streams_) {
    stream->is_over = true;
    stream->exchange->EndStream();
  }
}

void ReportStreams::OnReports(const ReportRows&) {
  for (const auto& stream : streams_) {
    if (!stream->wish.is_of_slices) Pump(stream);
  }
}

void ReportStreams::Pump(const std::shared_ptr<Stream>& stream) {
  if (stream->wish.is_of_slices) return PumpNews(stream.get());
  for (int batch = 0; batch < kBatchesAtOnce; ++batch) {
    if (stream->is_over || stream->is_asking || stream->last >= hub_->last_number() ||
        stream->exchange->waiting_bytes() > kMaxWaiting) {
      return;
    }
    bool is_whole = false;
    const ReportRows rows = hub_->After(stream->last, kBatch, &is_whole);
    if (is_whole) {
      Give(stream.get(), rows);
    } else if (hub_->store() != nullptr) {
      return AskStore(stream);
    } else {
      SkipToMemory(stream.get());
    }
  }
}

void ReportStreams::PumpNews(Stream* stream) {
  for (int batch = 0; batch < kBatchesAtOnce; ++batch) {
    if (stream->is_over || stream->exchange->waiting_bytes() > kMaxWaiting) return;
    const CampaignFeed::Rows rows = feed_->After(stream->last, kBatch);
    if (rows.empty()) return;
    if (rows.front()->number > stream->last + 1) SayGap(stream, rows.front()->number);
    stream->last = rows.back()->number;
    std::string text;
    for (const auto& news : rows) {
      if (!stream->Wants(news->tenant, news->name)) continue;
      text += "id: " + std::to_string(news->number) + "\nevent: slice\ndata: " +
              ToJson(*news).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n\n";
    }
    if (!text.empty()) stream->Say(text, clock_->MonotonicNow());
  }
}

void ReportStreams::AskStore(const std::shared_ptr<Stream>& stream) {
  if (clock_->MonotonicNow() < stream->asks_at) return;  // Tick() comes again
  ReportQuery query;
  query.after_number = stream->last;
  query.tenant = stream->wish.tenant;
  query.limit = kBatch;
  if (stream->wish.names.size() == 1) query.event = stream->wish.names.front();
  stream->is_asking = true;
  hub_->store()->Query(query, [this, stream](Result<ReportRows> rows) {
    // When the streams have ended, so has this one.
    if (!stream->is_over) OnStored(stream, std::move(rows));
  });
}

void ReportStreams::OnStored(const std::shared_ptr<Stream>& stream, Result<ReportRows> rows) {
  stream->is_asking = false;
  if (!rows.ok()) {
    const Nanos now = clock_->MonotonicNow();
    if (stream->failed_at == 0) stream->failed_at = now;
    stream->asks_at = now + kAskAgain;
    if (now - stream->failed_at < kStoreAway) return;
    SkipToMemory(stream.get(), /*is_known=*/false);
  } else if (rows->empty()) {
    SkipToMemory(stream.get());
  } else {
    // What memory holds comes from there: the store may be some way behind.
    Give(stream.get(), *rows);
    if (rows->size() < kBatch) SkipToMemory(stream.get());
  }
  stream->failed_at = 0;
  Pump(stream);
}

// Goes on at the oldest report in memory, and says so if there may have been some between.
// `is_known`: the store, if there is one, has given all that there are.
void ReportStreams::SkipToMemory(Stream* stream, bool is_known) {
  bool is_whole = false;
  const ReportRows oldest = hub_->After(0, 1, &is_whole);
  const uint64_t next = oldest.empty() ? hub_->last_number() + 1 : oldest.front()->number;
  if (next <= stream->last + 1) return;
  // A filter leaves numbers out, too, and the store would have had them.
  const bool is_told = is_known && hub_->store() != nullptr;
  if (!is_told || (stream->wish.tenant.empty() && stream->wish.names.empty())) {
    SayGap(stream, next);
  }
  stream->last = next - 1;
}

// What was between the last one looked at and `next` is lost to this stream.
void ReportStreams::SayGap(Stream* stream, uint64_t next) {
  ++gaps_;
  stream->Say("id: " + std::to_string(next - 1) + "\nevent: gap\ndata: {\"after\":" +
                  std::to_string(stream->last) + ",\"before\":" + std::to_string(next) + "}\n\n",
              clock_->MonotonicNow());
}

void ReportStreams::Give(Stream* stream, const ReportRows& rows) {
  std::string text;
  for (const auto& row : rows) {
    stream->last = std::max(stream->last, row->number);
    if (!stream->Wants(row->tenant, row->event)) continue;
    text += "id: ";
    text += std::to_string(row->number);
    text += "\ndata: ";
    AppendJsonText(*row, &text);
    text += "\n\n";
    ++sent_reports_;
  }
  if (!text.empty()) stream->Say(text, clock_->MonotonicNow());
}

// Whether its token is still good; whatever there is to say meanwhile.
bool ReportStreams::MayGoOn(Stream* stream, Nanos now) {
  if (now - stream->allowed_at < kTokenLasts) return true;
  stream->allowed_at = now;
  return server_->MayGoOn(stream->exchange->request());
}

void ReportStreams::Tick() {
  const Nanos now = clock_->MonotonicNow();
  streams_.remove_if([](const auto& stream) { return stream->is_over; });
  for (const auto& stream : streams_) {
    Pump(stream);
    if (stream->is_over) continue;
    const size_t waiting = stream->exchange->waiting_bytes();
    const uint64_t taken = stream->given_bytes - std::min<uint64_t>(stream->given_bytes, waiting);
    if (waiting == 0 || taken != stream->taken_bytes) stream->taken_at = now;
    stream->taken_bytes = taken;
    if (!MayGoOn(stream.get(), now)) {
      stream->is_over = true;
      stream->exchange->EndStream();
    } else if (now - stream->taken_at > kStall) {
      stream->exchange->CutOff();
    } else if (waiting == 0 && now - stream->said_at > kHeartbeat) {
      stream->Say(":\n\n", now);
    }
  }
}

namespace {

// False, and answered, if the call asks for no stream that there is.
bool ReadWish(const RestCall& call, StreamWish* wish) {
  const std::string kind = call.query("kind");
  wish->is_of_slices = kind == "slice";
  const char* const own = wish->is_of_slices ? "slice" : "event";
  const char* const other = wish->is_of_slices ? "event" : "slice";
  wish->names = SplitNames(call.query(own));
  std::string problem;
  if (call.has("kind") && kind != "report" && kind != "slice") {
    problem = "the parameter 'kind' takes report or slice";
  } else if (call.has(other)) {
    problem = std::string("a stream of kind ") + (wish->is_of_slices ? "slice" : "report") +
              " has no parameter '" + other + "'";
  } else if (call.has(own) && wish->names.empty()) {
    problem = std::string("the parameter '") + own + "' names none";
  }
  if (!problem.empty()) {
    AnswerProblem(call.exchange.get(), 400, problem);
    return false;
  }
  if (wish->is_of_slices && call.parts.campaigns == nullptr) {
    AnswerProblem(call.exchange.get(), 501, "this controller runs no campaigns of slices");
    return false;
  }
  wish->tenant = call.caller.tenant;
  wish->after = wish->is_of_slices ? call.parts.campaigns->feed().last_number()
                                   : call.parts.reports->last_number();
  if (!ReadNumber(call, "after", UINT64_MAX, &wish->after)) return false;
  // A client that comes again says what it had last, whatever its URL says.
  const std::string last(call.request().header("last-event-id"));
  if (!last.empty() && last.size() < 20 && last.find_first_not_of("0123456789") == last.npos) {
    wish->after = std::stoull(last);
  }
  return true;
}

}  // namespace

void StreamReports(const RestCall& call) {
  StreamWish wish;
  if (!ReadWish(call, &wish)) return;
  if (wish.names.size() > kMaxNamed) {
    AnswerProblem(call.exchange.get(), 400, "a stream is of at most 64 events or slices by name");
  } else if (call.streams->is_full()) {
    AnswerProblem(call.exchange.get(), 503, "there are as many streams as this controller gives");
  } else if (call.request().is_head) {
    HttpReply answer;
    answer.content_type = "text/event-stream";
    call.exchange->Answer(std::move(answer));
  } else {
    call.streams->Begin(call.exchange, std::move(wish));
  }
}

}  // namespace trumpet
