// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/http_exchange.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>

#include "controller/rest/http_connection.h"
#include "controller/rest/http_server.h"
#include "controller/rest/problem.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr size_t kStreamWriteBytes = 1024 * 1024;

Evbuffer BufferOf(std::string_view text) {
  Evbuffer buffer(evbuffer_new());
  if (buffer != nullptr) evbuffer_add(buffer.get(), text.data(), text.size());
  return buffer;
}

}  // namespace

HttpExchange::HttpExchange(HttpServer* server, void* connection, evhttp_request* handle,
                           HttpRequest request)
    : server_(server),
      connection_(connection),
      handle_(handle),
      request_(std::move(request)),
      began_at_(SystemWireClock().MonotonicNow()) {}

HttpExchange::~HttpExchange() {
  if (!is_open()) return;
  on_gone_ = nullptr;
  if (is_stream_) {
    EndStream();
  } else {
    Answer(ProblemAnswer(500, "this request was not answered"));
  }
}

void HttpExchange::Decide(int status) {
  status_ = status;
  if (server_ != nullptr) ++server_->counters_.answers[static_cast<size_t>(status / 100) % 6];
  if (on_status_) std::exchange(on_status_, nullptr)(status);
}

void HttpExchange::AddHeaders(const HttpReply& answer) {
  evkeyvalq* headers = evhttp_request_get_output_headers(handle_);
  const auto add = [headers](const char* name, const std::string& value) {
    evhttp_add_header(headers, name, value.c_str());
  };
  add("Content-Type", answer.content_type);
  add("Cache-Control", "no-store");
  add("X-Content-Type-Options", "nosniff");
  if (answer.closes_connection) add("Connection", "close");
  for (const auto& header : answer.headers) add(header.first.c_str(), header.second);
}

void HttpExchange::Answer(HttpReply answer) {
  if (is_answered()) return;
  Decide(answer.status);
  on_gone_ = nullptr;
  if (!is_open()) return;
  AddHeaders(answer);
  // To HEAD, the length that the body would have; evhttp would send the body.
  Evbuffer body = BufferOf(request_.is_head ? std::string_view() : answer.body);
  if (answer.status != 204) {
    evhttp_add_header(evhttp_request_get_output_headers(handle_), "Content-Length",
                      std::to_string(answer.body.size()).c_str());
  }
  auto* connection = static_cast<HttpConnection*>(connection_);
  connection->stage = HttpConnection::Stage::kAnswering;
  connection->since = SystemWireClock().MonotonicNow();
  evhttp_request* const handle = std::exchange(handle_, nullptr);
  evhttp_send_reply(handle, answer.status, HttpStatusText(answer.status), body.get());
}

void HttpExchange::StartStream(const std::string& content_type) {
  if (is_answered()) return;
  Decide(200);
  if (!is_open()) return;
  HttpReply answer;
  answer.content_type = content_type;
  AddHeaders(answer);
  is_stream_ = true;
  auto* connection = static_cast<HttpConnection*>(connection_);
  connection->stage = HttpConnection::Stage::kStreaming;
  ++server_->stream_count_;
  evhttp_connection* handle = evhttp_request_get_connection(handle_);
  bufferevent* stream = evhttp_connection_get_bufferevent(handle);
  bufferevent_set_timeouts(stream, nullptr, nullptr);
  // 16 KiB in a turn of the loop, libevent's own, is some hundred reports a second where a turn
  // takes long.
  bufferevent_set_max_single_write(stream, kStreamWriteBytes);
  evhttp_send_reply_start(handle_, 200, HttpStatusText(200));
}

size_t HttpExchange::waiting_bytes() const {
  if (!is_open()) return 0;
  bufferevent* stream = evhttp_connection_get_bufferevent(evhttp_request_get_connection(handle_));
  return evbuffer_get_length(bufferevent_get_output(stream));
}

bool HttpExchange::Write(std::string_view text) {
  if (!is_open()) return false;
  if (waiting_bytes() + text.size() > server_->limits_.max_stream_bytes) {
    CutOff();
    return false;
  }
  const Evbuffer chunk = BufferOf(text);
  if (chunk == nullptr || text.empty()) return true;
  evhttp_send_reply_chunk_with_cb(
      handle_, chunk.get(),
      [](evhttp_connection*, void* self) {
        const auto on_drained = static_cast<HttpExchange*>(self)->on_drained_;
        if (on_drained) on_drained();
      },
      this);
  return true;
}

void HttpExchange::CutOff() {
  if (!is_open()) return;
  auto* connection = static_cast<HttpConnection*>(connection_);
  if (!connection->is_doomed) ++server_->counters_.slow_streams;
  server_->Doom(connection);
}

void HttpExchange::BreakOff() {
  if (is_open()) server_->Doom(static_cast<HttpConnection*>(connection_));
}

void HttpExchange::EndStream() {
  if (!is_open() || !is_stream_) return;
  on_gone_ = nullptr;
  --server_->stream_count_;
  auto* connection = static_cast<HttpConnection*>(connection_);
  connection->stage = HttpConnection::Stage::kAnswering;
  connection->since = SystemWireClock().MonotonicNow();
  evhttp_send_reply_end(std::exchange(handle_, nullptr));
}

evhttp_request* HttpExchange::Detach() {
  if (is_open() && is_stream_) --server_->stream_count_;
  if (is_open() && !is_answered()) ++server_->counters_.abandoned_answers;
  evhttp_request* const handle = std::exchange(handle_, nullptr);
  server_ = nullptr;
  connection_ = nullptr;
  on_status_ = nullptr;
  if (on_gone_) std::exchange(on_gone_, nullptr)();
  return handle;
}

const char* HttpStatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace trumpet
