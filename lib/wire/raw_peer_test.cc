// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/raw_peer_test.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <utility>

#include "lib/wire/codec.h"
#include "lib/wire/frame_reader.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

void ReadCallback(bufferevent* /*stream*/, void* peer) {
  static_cast<RawPeer*>(peer)->OnReadable();
}
void EventCallback(bufferevent* /*stream*/, short what, void* peer) {
  static_cast<RawPeer*>(peer)->OnEvent(what);
}
void AcceptCallback(evconnlistener* /*listener*/, evutil_socket_t fd, sockaddr* /*from*/,
                    int /*from_bytes*/, void* server) {
  static_cast<RawServer*>(server)->OnAccept(fd);
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

RawPeer::RawPeer(event_base* base, uint16_t port, ssl_ctx_st* tls) {
  const int options = BEV_OPT_CLOSE_ON_FREE;
  Adopt(tls == nullptr ? bufferevent_socket_new(base, -1, options)
                       : bufferevent_openssl_socket_new(base, -1, SSL_new(tls),
                                                        BUFFEREVENT_SSL_CONNECTING, options));
  sockaddr_in address = Loopback(port);
  bufferevent_socket_connect(stream_, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

RawPeer::RawPeer(event_base* base, int fd) : is_connected_(true) {
  Adopt(bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE));
}

RawPeer::~RawPeer() { Cut(); }

void RawPeer::Adopt(bufferevent* stream) {
  stream_ = stream;
  bufferevent_setcb(stream_, ReadCallback, nullptr, EventCallback, this);
  bufferevent_enable(stream_, EV_READ | EV_WRITE);
}

void RawPeer::SendBytes(const std::string& bytes) {
  bufferevent_write(stream_, bytes.data(), bytes.size());
}

void RawPeer::Send(const Message& message) {
  std::string bytes(kFrameHeadBytes, '\0');
  const Status encoded = EncodeMessage(message, kMaxFrameToAgent, &bytes);
  EXPECT_TRUE(encoded.ok()) << encoded.message();
  PutFrameHead(bytes.size() - kFrameHeadBytes, bytes.data());
  SendBytes(bytes);
}

void RawPeer::SetReading(bool is_reading) {
  if (is_reading) {
    bufferevent_enable(stream_, EV_READ);
  } else {
    bufferevent_disable(stream_, EV_READ);
  }
}

void RawPeer::Cut() {
  if (stream_ != nullptr) bufferevent_free(std::exchange(stream_, nullptr));
}

const Message* RawPeer::Find(MessageKind kind) const {
  for (const Message& message : messages_) {
    if (KindOf(message) == kind) return &message;
  }
  return nullptr;
}

void RawPeer::OnReadable() {
  FrameReader reader(kMaxFrameToAgent);
  std::string_view frame;
  evbuffer* input = bufferevent_get_input(stream_);
  while (reader.Peek(input, &frame) == FrameReader::State::kFrame) {
    Result<Message> message = DecodeMessage(frame);
    ASSERT_TRUE(message.ok()) << message.message();
    messages_.push_back(std::move(*message));
    reader.Drop(input);
  }
}

void RawPeer::OnEvent(short what) {
  if ((what & BEV_EVENT_CONNECTED) != 0) is_connected_ = true;
  if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0) has_ended_ = true;
}

RawServer::RawServer(event_base* base) : base_(base) {
  sockaddr_in address = Loopback(0);
  listener_ = evconnlistener_new_bind(base, AcceptCallback, this, LEV_OPT_CLOSE_ON_FREE, -1,
                                      reinterpret_cast<sockaddr*>(&address), sizeof address);
  EXPECT_NE(listener_, nullptr);
  socklen_t size = sizeof address;
  getsockname(evconnlistener_get_fd(listener_), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

RawServer::~RawServer() { evconnlistener_free(listener_); }

void RawServer::OnAccept(int fd) { peers_.push_back(std::make_unique<RawPeer>(base_, fd)); }

}  // namespace trumpet
