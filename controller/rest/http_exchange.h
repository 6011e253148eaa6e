// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpExchange: one request and the answer it gets, at once or later, whole or bit by bit.
//
// Belongs to whoever is to answer, and is shared because he may be several: the call that runs, and
// calls back that come later or never.  The server watches it weakly and tells it when the client
// has gone; answering does nothing then.  When the last one lets go of it unanswered, the answer is
// 500.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_REST_HTTP_EXCHANGE_H
#define TRUMPET_CONTROLLER_REST_HTTP_EXCHANGE_H

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/rest/http_request.h"
#include "lib/base/units.h"

struct evhttp_request;

namespace trumpet {

class HttpServer;

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool closes_connection = false;
};

class HttpExchange {
 public:
  // By the server.  `connection` is its own name of the connection.
  HttpExchange(HttpServer* server, void* connection, evhttp_request* handle, HttpRequest request);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  const HttpRequest& request() const { return request_; }
  HttpRequest& request() { return request_; }
  // The client is there and has not been answered to the end.
  bool is_open() const { return handle_ != nullptr; }
  bool is_answered() const { return status_ != 0; }
  int status() const { return status_; }
  Nanos began_at() const { return began_at_; }  // monotonic

  void Answer(HttpReply answer);

  // An answer bit by bit.  Write() is false, and the client is cut off and counted, when he does
  // not take what waits for him.
  void StartStream(const std::string& content_type);
  bool Write(std::string_view text);
  size_t waiting_bytes() const;
  // Called whenever all that was written has been taken by the client's socket.
  void set_on_drained(std::function<void()> on_drained) { on_drained_ = std::move(on_drained); }
  // Ends the stream at once, and counts a slow reader.
  void CutOff();
  // Likewise, for a reason of ours: the client sees that the answer has no end.
  void BreakOff();
  void EndStream();
  // Called once if the client goes before the end.
  void set_on_gone(std::function<void()> on_gone) { on_gone_ = std::move(on_gone); }
  // Called once when the status is decided: for counts.
  void set_on_status(std::function<void(int)> on_status) { on_status_ = std::move(on_status); }

 private:
  friend class HttpServer;

  // The server: the client has gone.  Returns what was left to answer.
  evhttp_request* Detach();
  void Decide(int status);
  void AddHeaders(const HttpReply& answer);

  HttpServer* server_;
  void* connection_;
  evhttp_request* handle_;
  HttpRequest request_;
  int status_ = 0;
  bool is_stream_ = false;
  Nanos began_at_;
  std::function<void()> on_gone_;
  std::function<void()> on_drained_;
  std::function<void(int)> on_status_;
};

// "Not Found", ...
const char* HttpStatusText(int status);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_HTTP_EXCHANGE_H
