// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyReceiver: an endpoint of measurement programs, a UDP socket on loopback of any free port.

#ifndef TRUMPET_VSWITCHD_PLUGIN_COPY_RECEIVER_TEST_H
#define TRUMPET_VSWITCHD_PLUGIN_COPY_RECEIVER_TEST_H

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "lib/wire/address.h"

namespace trumpet {

class CopyReceiver {
 public:
  CopyReceiver() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage address;
    const int length = ToSocketAddress("127.0.0.1", 0, &address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(length)), 0);
  }
  ~CopyReceiver() { close(fd_); }
  CopyReceiver(const CopyReceiver&) = delete;
  CopyReceiver& operator=(const CopyReceiver&) = delete;

  std::string address() const {
    sockaddr_storage address;
    socklen_t length = sizeof address;
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    return "udp:" + ToText(address);
  }
  // Empty: nothing has come.
  std::string Take() const {
    char bytes[4096];
    const ssize_t count = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
    return count < 0 ? "" : std::string(bytes, static_cast<size_t>(count));
  }

 private:
  int fd_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_COPY_RECEIVER_TEST_H
