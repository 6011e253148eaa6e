// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/json_rpc.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trumpet {
namespace {

constexpr uint64_t kTicksPerProbe = 4;
constexpr size_t kReadAhead = 256 << 10;
// Then others have their turn.
constexpr int kMessagesInARow = 64;

// "error" of a reply is a text or, of OVSDB, an object with two.
std::string ErrorText(const Json& error) {
  std::string text;
  std::string details;
  if (error.is_string()) return error.get<std::string>();
  if (!ReadColumn(error, "error", &text)) return "error " + PrintJson(error).substr(0, 200);
  if (ReadColumn(error, "details", &details)) text += ": " + details;
  return text;
}

}  // namespace

JsonRpc::JsonRpc(event_base* base, bufferevent* stream, const JsonRpcOptions& options,
                 JsonRpcOwner* owner)
    : options_(options),
      owner_(owner),
      stream_(stream),
      splitter_(options.limits),
      read_on_(base, [this] { Read(); }),
      ticker_(base, [this] { Tick(); }) {
  bufferevent_setcb(stream_, OnReadable, nullptr, OnStreamEvent, this);
  bufferevent_setwatermark(stream_, EV_READ, 0, kReadAhead);
  bufferevent_enable(stream_, EV_READ | EV_WRITE);
  ticker_.RunEvery(std::max<Nanos>(kNanosPerMilli, options.probe_interval / Nanos{kTicksPerProbe}));
}

JsonRpc::~JsonRpc() { bufferevent_free(stream_); }

size_t JsonRpc::queued_bytes() const {
  return evbuffer_get_length(bufferevent_get_output(stream_));
}

void JsonRpc::Request(const char* method, Json params, Reply reply, Work work) {
  const uint64_t id = next_id_++;
  waiting_.emplace(id, Waiting{std::move(reply), tick_, work});
  Send({{"id", id}, {"method", method}, {"params", std::move(params)}});
}

void JsonRpc::Send(const Json& message) {
  if (is_closed_) return;
  const std::string text = PrintJson(message);
  bufferevent_write(stream_, text.data(), text.size());
}

void JsonRpc::Close(const std::string& why) {
  if (is_closed_) return;
  is_closed_ = true;
  ticker_.Cancel();
  read_on_.Cancel();
  bufferevent_disable(stream_, EV_READ | EV_WRITE);
  std::map<uint64_t, Waiting> waiting;
  waiting.swap(waiting_);
  for (auto& [id, request] : waiting) request.reply(Status::Error(why));
  owner_->OnRpcClosed(why);
}

void JsonRpc::OnReadable(bufferevent* /*stream*/, void* self) {
  auto* rpc = static_cast<JsonRpc*>(self);
  rpc->heard_tick_ = rpc->tick_;
  rpc->Read();
}

void JsonRpc::Read() {
  evbuffer* input = bufferevent_get_input(stream_);
  std::string object;
  for (int handled = 0; !is_closed_ && evbuffer_get_length(input) > 0;) {
    if (handled == kMessagesInARow) return read_on_.RunSoon();
    evbuffer_iovec piece;
    evbuffer_peek(input, -1, nullptr, &piece, 1);
    std::string_view bytes(static_cast<const char*>(piece.iov_base), piece.iov_len);
    const Status status = splitter_.Take(&bytes, &object);
    if (!status.ok()) return Close(status.message());
    evbuffer_drain(input, piece.iov_len - bytes.size());
    if (object.empty()) continue;
    ++handled;
    Handle(object);
  }
}

void JsonRpc::Handle(const std::string& text) {
  const Json message = ParseJson(text);
  if (message.is_discarded()) return Close("the peer sends what is no JSON");
  const Json* method = FindColumn(message, "method");
  const Json* id = FindColumn(message, "id");
  if (method == nullptr) {
    return id != nullptr ? HandleReply(*id, message) : Close("the peer sends no JSON-RPC");
  }
  const Json* params = FindColumn(message, "params");
  if (!method->is_string() || params == nullptr || !params->is_array()) {
    return Close("the peer sends no JSON-RPC");
  }
  if (id == nullptr || id->is_null()) {
    return owner_->OnRpcNotification(method->get_ref<const std::string&>(), *params);
  }
  const bool is_echo = *method == "echo";
  // Who asks without end and reads no answers would fill our memory.
  if (queued_bytes() > options_.limits.max_bytes) return Close("the peer does not read");
  Send({{"id", *id},
        {"result", is_echo ? *params : Json()},
        {"error", is_echo ? Json() : Json("unknown method")}});
}

void JsonRpc::HandleReply(const Json& id, const Json& message) {
  const auto found = id.is_number_unsigned() ? waiting_.find(id.get<uint64_t>()) : waiting_.end();
  if (found == waiting_.end()) return Close("the peer answers what was not asked");
  const Reply reply = std::move(found->second.reply);
  waiting_.erase(found);
  const Json* error = FindColumn(message, "error");
  const Json* result = FindColumn(message, "result");
  if (error != nullptr && !error->is_null()) return reply(Status::Error(ErrorText(*error)));
  if (result == nullptr) return reply(Status::Error("the answer has no result"));
  reply(Json(*result));
}

bool JsonRpc::MayBeSilent() const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const auto& request) { return request.second.work == Work::kLong; });
}

void JsonRpc::Tick() {
  ++tick_;
  if (!is_connected_) {
    if (tick_ > 2 * kTicksPerProbe) Close("no connection came about in time");
    return;
  }
  const auto patience = kTicksPerProbe * static_cast<uint64_t>(options_.request_timeout) /
                        static_cast<uint64_t>(std::max<Nanos>(1, options_.probe_interval));
  if (!waiting_.empty() && tick_ - waiting_.begin()->second.since_tick > patience) {
    return Close("a request was not answered in time");
  }
  const uint64_t silent = tick_ - heard_tick_;
  if (silent > 2 * kTicksPerProbe && !MayBeSilent()) return Close("silent for too long");
  if (silent < kTicksPerProbe || probed_tick_ > heard_tick_) return;
  probed_tick_ = tick_;
  Request("echo", Json::array(), [](const Result<Json>&) {});
}

std::string JsonRpc::ConnectError() const {
  const int code = bufferevent_socket_get_dns_error(stream_);
  if (code != 0) return evutil_gai_strerror(code);
  const unsigned long tls = bufferevent_get_openssl_error(stream_);
  if (tls != 0) {
    const char* reason = ERR_reason_error_string(tls);
    return std::string("TLS: ") + (reason == nullptr ? "failed" : reason);
  }
  int error = EVUTIL_SOCKET_ERROR();
  // libevent does not keep the reason of a refusal that comes at once, as at a socket of a path.
  if (!is_connected_ && error == EINVAL) error = ECONNREFUSED;
  return error == 0 ? "closed by the peer" : evutil_socket_error_to_string(error);
}

void JsonRpc::OnStreamEvent(bufferevent* /*stream*/, short what, void* self) {
  auto* rpc = static_cast<JsonRpc*>(self);
  if ((what & BEV_EVENT_CONNECTED) != 0) {
    rpc->is_connected_ = true;
    rpc->heard_tick_ = rpc->tick_;
    return rpc->owner_->OnRpcConnected();
  }
  if ((what & BEV_EVENT_ERROR) != 0) return rpc->Close(rpc->ConnectError());
  if ((what & BEV_EVENT_EOF) != 0) {
    rpc->Read();  // what came before the end
    rpc->Close("closed by the peer");
  }
}

}  // namespace trumpet
