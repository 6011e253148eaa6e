// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RawPeer: the other end of a plain connection, which does what a test says and no more.

#ifndef TRUMPET_LIB_WIRE_RAW_PEER_TEST_H
#define TRUMPET_LIB_WIRE_RAW_PEER_TEST_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/wire/message.h"

struct bufferevent;
struct event_base;
struct evconnlistener;
struct ssl_ctx_st;

namespace trumpet {

class RawPeer {
 public:
  // Connects to 127.0.0.1; over TLS if there is a context.
  RawPeer(event_base* base, uint16_t port, ssl_ctx_st* tls = nullptr);
  // Takes over a socket.
  RawPeer(event_base* base, int fd);
  ~RawPeer();
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  void SendBytes(const std::string& bytes);
  void Send(const Message& message);
  void SetReading(bool is_reading);
  void Cut();  // without a word

  bool has_ended() const { return has_ended_; }
  bool is_connected() const { return is_connected_; }
  const std::vector<Message>& messages() const { return messages_; }
  const Message* Find(MessageKind kind) const;

  void OnReadable();
  void OnEvent(short what);

 private:
  void Adopt(bufferevent* stream);

  bufferevent* stream_ = nullptr;
  std::vector<Message> messages_;
  bool is_connected_ = false;
  bool has_ended_ = false;
};

// Takes connections at a free port of 127.0.0.1.
class RawServer {
 public:
  explicit RawServer(event_base* base);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  uint16_t port() const { return port_; }
  std::vector<std::unique_ptr<RawPeer>>& peers() { return peers_; }
  void OnAccept(int fd);

 private:
  event_base* const base_;
  evconnlistener* listener_;
  uint16_t port_;
  std::vector<std::unique_ptr<RawPeer>> peers_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_RAW_PEER_TEST_H
