// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// `lo` of a network namespace of one's own, for tests and benchmarks.

#ifndef TRUMPET_CONTROLLER_ANALYZER_LOOPBACK_KIT_TEST_H
#define TRUMPET_CONTROLLER_ANALYZER_LOOPBACK_KIT_TEST_H

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace trumpet {

inline bool SetInterfaceUp(const std::string& interface, bool is_up) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  bool is_done = ioctl(socket, SIOCGIFFLAGS, &request) == 0;
  const int flags = is_up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
  request.ifr_flags = static_cast<short>(flags);
  is_done = is_done && ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  close(socket);
  return is_done;
}

inline bool BringUpLoopback() { return SetInterfaceUp("lo", true); }

// Frames that a busy machine has dropped at `lo` before any receiver could see them.
inline uint64_t DroppedBeforeReceivers() {
  std::ifstream file("/proc/thread-self/net/dev");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string device;
    uint64_t bytes = 0, packets = 0, errors = 0, dropped = 0;
    if (words >> device >> bytes >> packets >> errors >> dropped && device == "lo:") return dropped;
  }
  return 0;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_LOOPBACK_KIT_TEST_H
