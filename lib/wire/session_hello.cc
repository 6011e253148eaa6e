// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The beginning of a Session: who the peer is, hello and its answer.

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "lib/wire/farewell.h"
#include "lib/wire/limits.h"
#include "lib/wire/session.h"

namespace trumpet {

void Session::OnConnected() {
  if (state_ != State::kConnecting) return;
  const int on = 1;
  setsockopt(bufferevent_getfd(stream_), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const SSL* tls = bufferevent_openssl_get_ssl(stream_);
  if (tls != nullptr) {
    bufferevent_openssl_set_allow_dirty_shutdown(stream_, 1);
    peer_ = IdentityOf(tls);
    if (!peer_.is_authenticated) {  // OpenSSL was told to see to that; it is not left to it alone
      return End(CloseCause::kTls, "peer has no certificate");
    }
    if (!options_.expected_peer_name.empty() && !peer_.IsOf(options_.expected_peer_name)) {
      return End(CloseCause::kTls, "peer's certificate: of " + peer_.common_name + ", not of " +
                                       options_.expected_peer_name);
    }
  }
  state_ = State::kHello;
  if (role_ == Role::kAgent) SayHello();
}

void Session::SayHello() {
  hello_ = owner_->MakeHello();
  hello_.min_version = kMinProtocolVersion;
  hello_.max_version = kMaxProtocolVersion;
  WriteMessage(hello_);
  WriteOut();
}

void Session::TakeInHello(Message message) {
  if (role_ == Role::kController) {
    if (auto* hello = std::get_if<Hello>(&message)) return TakeHello(std::move(*hello));
    return FailProtocol(std::string(MessageKindName(KindOf(message))) + " before hello");
  }
  if (auto* reply = std::get_if<HelloReply>(&message)) return TakeHelloReply(std::move(*reply));
  if (const auto* refusal = std::get_if<Refusal>(&message)) {
    return End(CloseCause::kRefused, FarewellOf(*refusal));
  }
  if (const auto* bye = std::get_if<Bye>(&message)) {
    return End(CloseCause::kBye, FarewellOf(*bye));
  }
  FailProtocol(std::string(MessageKindName(KindOf(message))) + " before hello_reply");
}

void Session::TakeHello(Hello hello) {
  hello_ = std::move(hello);
  HelloReply reply;
  reply.version = std::min(hello_.max_version, kMaxProtocolVersion);
  reply.capabilities = hello_.capabilities;
  std::optional<Refusal> refusal;
  if (reply.version < std::max(hello_.min_version, kMinProtocolVersion)) {
    refusal = Refusal{RefusalReason::kVersion, "this controller speaks versions " +
                                                   std::to_string(kMinProtocolVersion) + " to " +
                                                   std::to_string(kMaxProtocolVersion)};
  } else {
    refusal = owner_->OnHello(this, hello_, &reply);
    if (!is_live()) return;
  }
  if (refusal) {
    refusal->text = ToWireText(refusal->text, kMaxTextBytes);
    WriteMessage(*refusal);
    WriteOut();
    state_ = State::kClosing;
    closing_cause_ = CloseCause::kRefused;
    closing_text_ = FarewellOf(*refusal);
    closing_at_ = clock_.MonotonicNow();
    OnStreamWritable();
    return;
  }
  reply.capabilities &= hello_.capabilities;
  hello_reply_ = reply;
  WriteMessage(reply);
  WriteOut();
  if (is_live()) Establish(reply.capabilities);
}

void Session::TakeHelloReply(HelloReply reply) {
  if (reply.version < kMinProtocolVersion || reply.version > kMaxProtocolVersion) {
    return FailProtocol("hello_reply.version was not offered");
  }
  if ((reply.capabilities & ~hello_.capabilities) != 0) {
    return FailProtocol("hello_reply.capabilities were not offered");
  }
  hello_reply_ = std::move(reply);
  Establish(hello_reply_.capabilities);
}

void Session::Establish(uint64_t capabilities) {
  version_ = hello_reply_.version;
  capabilities_ = capabilities;
  state_ = State::kEstablished;
  established_at_ = clock_.MonotonicNow();
  reader_.set_max_bytes(role_ == Role::kAgent ? kMaxFrameToAgent : kMaxFrameToController);
  bufferevent_setwatermark(stream_, EV_READ, 0, kFrameHeadBytes + reader_.max_bytes());
  Ask();  // the clocks are compared from the first moment on
  owner_->OnEstablished(this);
  if (is_live()) Flush();
}

}  // namespace trumpet
