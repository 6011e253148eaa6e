// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/trace_streams.h"

#include <algorithm>
#include <utility>

#include "controller/rest/rest_call.h"
#include "controller/rest/rest_server.h"
#include "controller/rest/trace_views.h"
#include "controller/slice/trace_asker.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 500 * kNanosPerMilli;

std::string EventText(const char* type, const Json& data) {
  return std::string("event: ") + type +
         "\ndata: " + data.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n\n";
}

}  // namespace

struct TraceStreams::Stream {
  std::shared_ptr<HttpExchange> exchange;
  uint64_t watch = 0;
  uint64_t left_out = 0;  // and not yet told
  bool is_over = false;
  size_t waiting = 0;  // as of the last look
  Nanos taken_at = 0;  // when it had last become less, or was none
  Nanos said_at = 0;
};

TraceStreams::TraceStreams(RestServer* server, const RestParts& parts)
    : server_(server), parts_(parts), ticker_(parts.base, [this] { Tick(); }) {
  ticker_.RunEvery(kTick);
}

TraceStreams::~TraceStreams() {
  for (const auto& stream : streams_) Close(stream.get());
}

bool TraceStreams::Begin(std::shared_ptr<HttpExchange> exchange, std::vector<TraceWord> words,
                         TracePackets packets) {
  auto stream = std::make_shared<Stream>();
  stream->exchange = std::move(exchange);
  stream->taken_at = stream->said_at = parts_.clock->MonotonicNow();
  stream->watch = parts_.traces->Watch(
      std::move(words), packets, [this, of = std::weak_ptr<Stream>(stream)](const auto&... news) {
        if (const auto stream = of.lock()) Take(stream.get(), news...);
      });
  if (stream->watch == 0) return false;
  stream->exchange->set_on_gone([this, gone = std::weak_ptr<Stream>(stream)] {
    if (const auto stream = gone.lock()) Close(stream.get());  // Tick() takes it away
  });
  stream->exchange->StartStream("text/event-stream");
  stream->exchange->Write("retry: 2000\n\n");
  streams_.push_back(std::move(stream));
  return true;
}

void TraceStreams::End() {
  for (const auto& stream : streams_) {
    Close(stream.get());
    stream->exchange->EndStream();
  }
}

void TraceStreams::Close(Stream* stream) {
  if (!stream->is_over) parts_.traces->Cancel(stream->watch);
  stream->is_over = true;
}

void TraceStreams::Take(Stream* stream, const std::string& analyzer, const TraceAnswer& news) {
  if (stream->is_over) return;
  std::string text;
  if (!news.error.empty()) {
    text += EventText("error", {{"analyzer", analyzer}, {"detail", news.error}});
  }
  stream->left_out += news.left_out;
  if (stream->exchange->waiting_bytes() > kMaxWaiting) {
    stream->left_out += news.records.size();
  } else {
    for (const TraceRecord& record : news.records) {
      text += EventText("trace", TraceJson(analyzer, record));
    }
    if (stream->left_out > 0) text += EventText("gap", {{"left_out", stream->left_out}});
    stream->left_out = 0;
  }
  if (text.empty()) return;
  stream->said_at = parts_.clock->MonotonicNow();
  stream->exchange->Write(text);
}

void TraceStreams::Tick() {
  const Nanos now = parts_.clock->MonotonicNow();
  streams_.remove_if([](const auto& stream) { return stream->is_over; });
  for (const auto& stream : streams_) {
    const size_t waiting = stream->exchange->waiting_bytes();
    if (waiting == 0 || waiting < stream->waiting) stream->taken_at = now;
    stream->waiting = waiting;
    if (!server_->MayGoOn(stream->exchange->request())) {
      Close(stream.get());
      stream->exchange->EndStream();
    } else if (now - stream->taken_at > kStall) {
      Close(stream.get());
      stream->exchange->CutOff();
    } else if (waiting == 0 && now - stream->said_at > kHeartbeat) {
      stream->said_at = now;
      stream->exchange->Write(":\n\n");
    }
  }
}

}  // namespace trumpet
