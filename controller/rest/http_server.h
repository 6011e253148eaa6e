// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HttpServer: HTTP/1.1 on libevent's evhttp, with the limits that evhttp does not have.
//
// Bounded are connections (in all, and of one address), headers, bodies, what all clients together
// have sent of requests that are not whole yet, the time to send a request and the time to take an
// answer.  Each refusal is counted.  Long bodies are taken only from whom the owner trusts, a few
// at a time.
//
// Threads: that of the libevent loop.
// Lifetime: `base`, `owner` and TLS contexts must outlive it.  Exchanges may outlive it; they are
// closed then.

#ifndef TRUMPET_CONTROLLER_REST_HTTP_SERVER_H
#define TRUMPET_CONTROLLER_REST_HTTP_SERVER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/rest/http_exchange.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/address.h"
#include "lib/wire/tls_context.h"

struct bufferevent;
struct event;
struct event_base;
struct evhttp;
struct evhttp_connection;
struct evhttp_request;

namespace trumpet {

struct HttpLimits {
  size_t max_connections = 1024;
  size_t max_connections_per_address = 256;
  size_t max_header_bytes = 16 * 1024;
  size_t max_body_bytes = 1024 * 1024;
  size_t max_upload_bytes = 64 * 1024 * 1024;
  size_t max_uploads = 2;                        // with bodies beyond max_body_bytes, at once
  size_t max_pending_bytes = 256 * 1024 * 1024;  // of requests under way, in all
  Nanos idle = 60 * kNanosPerSecond;             // a connection without a request
  Nanos request = 30 * kNanosPerSecond;          // from a request's first byte to its last
  Nanos upload = 300 * kNanosPerSecond;          // the same, of a long body
  Nanos answer = 60 * kNanosPerSecond;           // from an answer's beginning until it is taken
  size_t max_stream_bytes = 4 * 1024 * 1024;     // that wait for the reader of a stream
};

struct HttpCounters {
  uint64_t connections = 0;
  uint64_t refused_total = 0;         // max_connections
  uint64_t refused_address = 0;       // max_connections_per_address
  uint64_t requests = 0;              // whole ones
  uint64_t unfinished_requests = 0;   // begun, and then malformed, too long, or abandoned
  uint64_t slow_requests = 0;         // cut off for `idle`, `request` or `upload`
  uint64_t slow_answers = 0;          // cut off for `answer`
  uint64_t slow_streams = 0;          // cut off for max_stream_bytes
  uint64_t overflows = 0;             // cut off for max_pending_bytes, or sending out of turn
  uint64_t abandoned_answers = 0;     // the client left before its answer came
  uint64_t uploads = 0;               // allowed
  uint64_t uploads_refused = 0;       // max_uploads
  std::array<uint64_t, 6> answers{};  // by the first digit of their status
};

struct HttpConnection;

class HttpOwner {
 public:
  virtual ~HttpOwner() = default;
  // A whole request, to be answered now or later.
  virtual void OnRequest(std::shared_ptr<HttpExchange> exchange) = 0;
  // May the body of such a request be as long as an upload?  Of these, nothing is checked yet.
  virtual bool MayUpload(std::string_view method, std::string_view target,
                         std::string_view authorization, const std::string& peer) = 0;
};

class HttpServer {
 public:
  HttpServer(event_base* base, const HttpLimits& limits, HttpOwner* owner);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns the port.  `tls` is null for an address without TLS, and only then.
  Result<uint16_t> Listen(const Address& address, TlsContext* tls);
  // Takes no more connections; those there are live on.
  void StopListening();

  size_t connection_count() const { return connections_.size(); }
  size_t stream_count() const { return stream_count_; }
  size_t pending_bytes() const { return pending_bytes_; }
  const HttpCounters& counters() const { return counters_; }
  const HttpLimits& limits() const { return limits_; }

 private:
  friend class HttpExchange;
  struct Place;
  struct Arrival;
  struct Callbacks;

  Result<uint16_t> BindTo(Place* place, const std::string& host, uint16_t port);
  bufferevent* MakeStream(Place* place);
  void AdoptArrivals();
  void Adopt(const Arrival& arrival);
  void OnInput(HttpConnection* connection, size_t added);
  void OnHead(HttpConnection* connection);
  void Dispatch(evhttp_request* request, Place* place);
  void OnAnswered(HttpConnection* connection);
  void OnClosed(HttpConnection* connection);
  void BeginRequest(HttpConnection* connection);
  void EndRequest(HttpConnection* connection);
  void Overflow(HttpConnection* connection);
  void Doom(HttpConnection* connection);
  void Reap();
  void DoomWhoHasGone();
  void Tick();
  bool IsLate(const HttpConnection& connection, Nanos now);

  event_base* const base_;
  const HttpLimits limits_;
  HttpOwner* const owner_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<Arrival> arrivals_;
  std::map<evhttp_connection*, std::unique_ptr<HttpConnection>> connections_;
  std::map<std::string, size_t> by_address_;
  std::vector<evhttp_connection*> doomed_;
  size_t pending_bytes_ = 0;
  size_t stream_count_ = 0;
  size_t upload_count_ = 0;
  HttpCounters counters_;
  event* const adopter_;
  LoopEvent reaper_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_HTTP_SERVER_H
