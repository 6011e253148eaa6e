// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/http_server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "controller/rest/http_connection.h"
#include "controller/rest/http_head.h"
#include "controller/rest/problem.h"
#include "lib/wire/address.h"
#include "lib/wire/session.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

using Stage = HttpConnection::Stage;

constexpr int kBacklog = 1024;
constexpr Nanos kTick = 250 * kNanosPerMilli;
// What a client may send while its last request is answered: the beginning of the next one.
constexpr size_t kMaxAheadBytes = 64 * 1024;
constexpr int kEveryMethod = EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |
                             EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                             EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH;

Nanos Now() { return SystemWireClock().MonotonicNow(); }

bool IsLoopback(const std::string& peer) {
  return peer == "::1" || peer.compare(0, 4, "127.") == 0 ||
         peer.compare(0, 11, "::ffff:127.") == 0;
}

// Streams say little: what they say goes out at once, and a peer that is no longer there is
// noticed.
void TuneSocket(int fd) {
  const int on = 1;
  const int give_up_ms = 60'000;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &give_up_ms, sizeof give_up_ms);
}

void AnswerMalformed(HttpExchange* exchange, const std::string& why) {
  HttpReply answer = ProblemAnswer(400, why);
  answer.closes_connection = true;
  exchange->Answer(std::move(answer));
}

}  // namespace

// An address that we listen at.
struct HttpServer::Place {
  HttpServer* server;
  TlsContext* tls;
  evhttp* handle;
  evhttp_bound_socket* socket = nullptr;

  ~Place() { evhttp_free(handle); }
};

// A connection that evhttp has taken and not told of.
struct HttpServer::Arrival {
  bufferevent* stream;
  bool has_failed;  // there was no memory for TLS
};

// From libevent.
struct HttpServer::Callbacks {
  static bufferevent* MakeStream(event_base*, void* place) {
    auto* self = static_cast<Place*>(place);
    return self->server->MakeStream(self);
  }
  static void Adopt(int, short, void* server) { static_cast<HttpServer*>(server)->AdoptArrivals(); }
  static void Input(evbuffer*, const evbuffer_cb_info* info, void* argument) {
    auto* connection = static_cast<HttpConnection*>(argument);
    if (info->n_added > 0) connection->server->OnInput(connection, info->n_added);
  }
  static void Request(evhttp_request* request, void* place) {
    auto* self = static_cast<Place*>(place);
    self->server->Dispatch(request, self);
  }
  static void Answered(evhttp_request*, void* argument) {
    auto* connection = static_cast<HttpConnection*>(argument);
    connection->server->OnAnswered(connection);
  }
  static void Closed(evhttp_connection*, void* argument) {
    auto* connection = static_cast<HttpConnection*>(argument);
    connection->server->OnClosed(connection);
  }
  // Without descriptors accept() would fail again at once, for ever; Tick() tries again.
  static void AcceptError(evconnlistener* listener, void*) { evconnlistener_disable(listener); }
};

HttpServer::HttpServer(event_base* base, const HttpLimits& limits, HttpOwner* owner)
    : base_(base),
      limits_(limits),
      owner_(owner),
      adopter_(event_new(base, -1, 0, Callbacks::Adopt, this)),
      reaper_(base, [this] { Reap(); }),
      ticker_(base, [this] { Tick(); }) {
  IgnoreBrokenPipes();
  ticker_.RunEvery(kTick);
}

HttpServer::~HttpServer() {
  AdoptArrivals();
  places_.clear();  // closes every connection, which tells us
  event_free(adopter_);
}

Result<uint16_t> HttpServer::Listen(const Address& address, TlsContext* tls) {
  if (address.is_tls != (tls != nullptr)) {
    return Status::Error("keys and certificates go with pssl:, and only with it");
  }
  auto place = std::unique_ptr<Place>(new Place{this, tls, evhttp_new(base_)});
  evhttp_set_allowed_methods(place->handle, kEveryMethod);
  evhttp_set_max_headers_size(place->handle, static_cast<ev_ssize_t>(limits_.max_header_bytes));
  evhttp_set_max_body_size(place->handle, static_cast<ev_ssize_t>(limits_.max_body_bytes));
  evhttp_set_timeout(place->handle, 24 * 3600);  // Tick() sees to it
  evhttp_set_bevcb(place->handle, Callbacks::MakeStream, place.get());
  evhttp_set_gencb(place->handle, Callbacks::Request, place.get());
  Result<uint16_t> port =
      BindTo(place.get(), address.host.empty() ? "::" : address.host, address.port);
  if (!port.ok() && address.host.empty()) port = BindTo(place.get(), "0.0.0.0", address.port);
  if (port.ok()) places_.push_back(std::move(place));
  return port;
}

Result<uint16_t> HttpServer::BindTo(Place* place, const std::string& host, uint16_t port) {
  // Not evhttp_bind_socket(): that takes no address, not even 127.0.0.1, on a machine that has
  // no other yet.
  sockaddr_storage address;
  const int size = ToSocketAddress(host, port, &address);
  constexpr unsigned kFlags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
  evconnlistener* listener = evconnlistener_new_bind(base_, nullptr, nullptr, kFlags, kBacklog,
                                                     reinterpret_cast<sockaddr*>(&address), size);
  if (listener == nullptr) {
    return Status::Error("cannot listen at " + host + " port " + std::to_string(port) + ": " +
                         std::strerror(errno));
  }
  place->socket = evhttp_bind_listener(place->handle, listener);
  if (place->socket == nullptr) {
    evconnlistener_free(listener);
    return Status::Error("cannot listen at " + host + ": no memory");
  }
  evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(place->socket),
                              Callbacks::AcceptError);
  return LocalPortOf(evhttp_bound_socket_get_fd(place->socket));
}

void HttpServer::StopListening() {
  for (const auto& place : places_) {
    if (place->socket == nullptr) continue;
    evhttp_del_accept_socket(place->handle, place->socket);
    place->socket = nullptr;
  }
}

// evhttp gives the socket afterwards.  It must not be given nothing: it would then make a stream
// without TLS itself.
bufferevent* HttpServer::MakeStream(Place* place) {
  bufferevent* stream = nullptr;
  if (place->tls != nullptr) {
    ssl_st* tls = place->tls->NewConnection();
    if (tls != nullptr) {
      stream = bufferevent_openssl_socket_new(base_, -1, tls, BUFFEREVENT_SSL_ACCEPTING,
                                              BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
      if (stream == nullptr) SSL_free(tls);
    }
    if (stream != nullptr) bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
  }
  const bool has_failed = place->tls != nullptr && stream == nullptr;
  if (stream == nullptr) stream = bufferevent_socket_new(base_, -1, BEV_OPT_CLOSE_ON_FREE);
  if (stream == nullptr) return nullptr;
  bufferevent_incref(stream);
  arrivals_.push_back({stream, has_failed});
  event_active(adopter_, EV_TIMEOUT, 0);  // before anything is read
  return stream;
}

void HttpServer::AdoptArrivals() {
  std::vector<Arrival> arrivals;
  arrivals.swap(arrivals_);
  for (const Arrival& arrival : arrivals) Adopt(arrival);
}

void HttpServer::Adopt(const Arrival& arrival) {
  void* argument = nullptr;  // evhttp's connection; null if it has been freed meanwhile
  bufferevent_getcb(arrival.stream, nullptr, nullptr, nullptr, &argument);
  auto* handle = static_cast<evhttp_connection*>(argument);
  if (handle != nullptr) {
    ++counters_.connections;
    char* peer = nullptr;
    ev_uint16_t port = 0;
    evhttp_connection_get_peer(handle, &peer, &port);
    const std::string address = peer == nullptr ? "" : peer;
    const bool is_full = connections_.size() >= limits_.max_connections;
    if (is_full) ++counters_.refused_total;
    const auto found = by_address_.find(address);
    const bool has_enough =
        found != by_address_.end() && found->second >= limits_.max_connections_per_address;
    if (has_enough && !is_full) ++counters_.refused_address;
    if (is_full || has_enough || arrival.has_failed) {
      evhttp_connection_free(handle);
    } else {
      auto connection = std::make_unique<HttpConnection>();
      connection->server = this;
      connection->handle = handle;
      connection->peer = address;
      connection->since = Now();
      ++by_address_[address];
      TuneSocket(bufferevent_getfd(arrival.stream));
      evhttp_connection_set_closecb(handle, Callbacks::Closed, connection.get());
      evbuffer_add_cb(bufferevent_get_input(arrival.stream), Callbacks::Input, connection.get());
      connections_.emplace(handle, std::move(connection));
    }
  }
  bufferevent_decref(arrival.stream);
}

// Called while the bytes are being taken in: nothing may be freed here.
void HttpServer::OnInput(HttpConnection* connection, size_t added) {
  connection->bytes += added;
  pending_bytes_ += added;
  if (connection->stage != Stage::kReceiving) {
    if (connection->bytes > kMaxAheadBytes) Overflow(connection);
    return;
  }
  if (!connection->has_begun) {
    connection->has_begun = true;
    connection->since = Now();
  }
  if (pending_bytes_ > limits_.max_pending_bytes) Overflow(connection);
  if (connection->is_head_done) return;
  evbuffer* input = bufferevent_get_input(evhttp_connection_get_bufferevent(connection->handle));
  const size_t length = evbuffer_get_length(input);
  evbuffer_ptr at;
  if (added > length || evbuffer_ptr_set(input, &at, length - added, EVBUFFER_PTR_SET) != 0) return;
  std::string& head = connection->head;
  const size_t before = head.size();
  const size_t taken =
      std::min(added, limits_.max_header_bytes - std::min(limits_.max_header_bytes, before));
  head.resize(before + taken);
  evbuffer_copyout_from(input, &at, head.data() + before, taken);
  const size_t end = head.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == head.npos && taken == added) return;
  connection->is_head_done = true;
  head.resize(end == head.npos ? 0 : end);
  OnHead(connection);
  head.clear();
  head.shrink_to_fit();
}

void HttpServer::Overflow(HttpConnection* connection) {
  if (!connection->is_doomed) ++counters_.overflows;
  Doom(connection);
}

// Decides how long the body may be, before evhttp looks at its length.
void HttpServer::OnHead(HttpConnection* connection) {
  const RequestLine line = ReadRequestLine(connection->head);
  if (line.target.empty()) return;
  const std::string_view authorization = HeadField(connection->head, "authorization");
  if (!owner_->MayUpload(line.method, line.target, authorization, connection->peer)) {
    return;
  }
  if (upload_count_ >= limits_.max_uploads) {
    ++counters_.uploads_refused;
    return;
  }
  ++counters_.uploads;
  ++upload_count_;
  connection->is_upload = true;
  evhttp_connection_set_max_body_size(connection->handle,
                                      static_cast<ev_ssize_t>(limits_.max_upload_bytes));
}

void HttpServer::Dispatch(evhttp_request* handle, Place* place) {
  AdoptArrivals();
  const auto found = connections_.find(evhttp_request_get_connection(handle));
  if (found == connections_.end()) {
    evhttp_send_error(handle, 503, "Service Unavailable");
    return;
  }
  HttpConnection* connection = found->second.get();
  ++counters_.requests;
  EndRequest(connection);
  connection->stage = Stage::kHandling;
  connection->since = Now();
  evhttp_request_set_on_complete_cb(handle, Callbacks::Answered, connection);

  HttpRequest request;
  request.peer = connection->peer;
  request.is_loopback = IsLoopback(connection->peer);
  request.is_tls = place->tls != nullptr;
  const Status read = ReadRequest(handle, &request);
  auto exchange = std::make_shared<HttpExchange>(this, connection, handle, std::move(request));
  connection->exchange = exchange;
  if (!read.ok()) {
    AnswerMalformed(exchange.get(), read.message());
  } else {
    owner_->OnRequest(std::move(exchange));
  }
}

// The bytes of the request are no longer under way.
void HttpServer::EndRequest(HttpConnection* connection) {
  pending_bytes_ -= connection->bytes;
  connection->bytes = 0;
  connection->head.clear();
  connection->is_head_done = false;
  if (!connection->is_upload) return;
  connection->is_upload = false;
  --upload_count_;
  evhttp_connection_set_max_body_size(connection->handle,
                                      static_cast<ev_ssize_t>(limits_.max_body_bytes));
}

// Next is another request, whose beginning may be there already.
void HttpServer::BeginRequest(HttpConnection* connection) {
  connection->stage = Stage::kReceiving;
  connection->since = Now();
  connection->has_begun = connection->bytes > 0;
  connection->is_head_done = connection->has_begun;  // its head has passed us by
}

void HttpServer::OnAnswered(HttpConnection* connection) { BeginRequest(connection); }

void HttpServer::OnClosed(HttpConnection* connection) {
  if (connection->stage == Stage::kReceiving && connection->has_begun) {
    ++counters_.unfinished_requests;
  }
  EndRequest(connection);
  const auto address = by_address_.find(connection->peer);
  if (--address->second == 0) by_address_.erase(address);
  std::shared_ptr<HttpExchange> exchange = connection->exchange.lock();
  evhttp_request* const handle = exchange ? exchange->Detach() : nullptr;
  // evhttp frees what is still the connection's own, and leaves us what it has put aside.
  if (handle != nullptr && evhttp_request_get_connection(handle) == nullptr) {
    evhttp_request_free(handle);
  }
  doomed_.erase(std::remove(doomed_.begin(), doomed_.end(), connection->handle), doomed_.end());
  connections_.erase(connection->handle);
}

// Ends a connection when what is under way has returned.
void HttpServer::Doom(HttpConnection* connection) {
  if (std::exchange(connection->is_doomed, true)) return;
  doomed_.push_back(connection->handle);
  reaper_.RunSoon();
}

void HttpServer::Reap() {
  while (!doomed_.empty()) {
    evhttp_connection* const handle = doomed_.back();
    doomed_.pop_back();
    evhttp_connection_free(handle);
  }
}

bool HttpServer::IsLate(const HttpConnection& connection, Nanos now) {
  const Nanos waited = now - connection.since;
  switch (connection.stage) {
    case Stage::kReceiving: {
      const Nanos limit = !connection.has_begun  ? limits_.idle
                          : connection.is_upload ? limits_.upload
                                                 : limits_.request;
      if (waited < limit) return false;
      if (connection.has_begun) ++counters_.slow_requests;
      return true;
    }
    case Stage::kAnswering:
      if (waited < limits_.answer) return false;
      ++counters_.slow_answers;
      return true;
    case Stage::kHandling:
    case Stage::kStreaming:
      return false;
  }
  return false;
}

// evhttp reads nothing while a request is answered, and does not notice who goes away then; but
// what is done for him (a search in all analyzers, say) is to be stopped.
void HttpServer::DoomWhoHasGone() {
  std::vector<pollfd> sockets;
  std::vector<HttpConnection*> waiting;
  for (const auto& [handle, connection] : connections_) {
    if (connection->is_doomed || connection->stage != Stage::kHandling) continue;
    const int socket = bufferevent_getfd(evhttp_connection_get_bufferevent(handle));
    sockets.push_back({socket, POLLRDHUP, 0});
    waiting.push_back(connection.get());
  }
  if (sockets.empty() || poll(sockets.data(), sockets.size(), 0) <= 0) return;
  for (size_t i = 0; i < sockets.size(); ++i) {
    if ((sockets[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) Doom(waiting[i]);
  }
}

void HttpServer::Tick() {
  const Nanos now = Now();
  DoomWhoHasGone();
  for (const auto& place : places_) {
    if (place->tls != nullptr) place->tls->ReloadIfChanged(now);
    if (place->socket != nullptr) {
      evconnlistener_enable(evhttp_bound_socket_get_listener(place->socket));
    }
  }
  for (const auto& connection : connections_) {
    if (!connection.second->is_doomed && IsLate(*connection.second, now)) {
      Doom(connection.second.get());
    }
  }
}

}  // namespace trumpet
