// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A client of HTTP that sends bytes as they are, and reads what comes, for tests on one loop.

#ifndef TRUMPET_CONTROLLER_REST_REST_KIT_TEST_H
#define TRUMPET_CONTROLLER_REST_REST_KIT_TEST_H

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "lib/wire/session_kit_test.h"

namespace trumpet {

class RawClient {
 public:
  RawClient(Loop* loop, uint16_t port) : loop_(loop), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { Close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  int fd() const { return fd_; }

  // False if the server has closed.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN) return false;
      if (count < 0) {
        loop_->RunReady(1);
        Receive();
        continue;
      }
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  // Whatever is there.
  void Receive() {
    char piece[65536];
    while (true) {
      const ssize_t count = recv(fd_, piece, sizeof piece, MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) is_closed_ = true;
      if (count <= 0) return;
      received_.append(piece, static_cast<size_t>(count));
    }
  }

  // The next answer, whole, with its head; empty if there is none before the server closes.
  std::string Answer(bool has_body = true) {
    std::string answer;
    EXPECT_TRUE(loop_->RunUntil([&] {
      Receive();
      if (answer.empty()) answer = TakeAnswer(has_body);
      return !answer.empty() || is_closed_;
    }));
    return answer;
  }

  std::string Ask(std::string_view bytes, bool has_body = true) {
    Send(bytes);
    return Answer(has_body);
  }

  bool WaitForText(const std::string& text) {
    return loop_->RunUntil([&] {
      Receive();
      return received_.find(text) != received_.npos || is_closed_;
    }) && received_.find(text) != received_.npos;
  }
  bool WaitForClose() {
    return loop_->RunUntil([&] {
      Receive();
      return is_closed_;
    });
  }
  const std::string& received() const { return received_; }
  bool is_closed() const { return is_closed_; }

 private:
  std::string TakeAnswer(bool has_body) {
    const size_t end = received_.find("\r\n\r\n");
    if (end == received_.npos) return "";
    size_t length = 0;
    const size_t field = received_.find("Content-Length: ");
    if (has_body && field < end) length = std::strtoul(received_.c_str() + field + 16, nullptr, 10);
    if (received_.size() < end + 4 + length) return "";
    std::string answer = received_.substr(0, end + 4 + length);
    received_.erase(0, answer.size());
    return answer;
  }

  Loop* const loop_;
  int fd_;
  std::string received_;
  bool is_closed_ = false;
};

inline int StatusOf(const std::string& answer) {
  return answer.size() < 12 ? 0 : std::atoi(answer.c_str() + 9);
}

inline std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == answer.npos ? "" : answer.substr(end + 4);
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_REST_KIT_TEST_H
