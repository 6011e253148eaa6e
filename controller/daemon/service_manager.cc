// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace trumpet {

bool TellServiceManager(const char* state) {
  const char* const name = getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (name == nullptr || (name[0] != '/' && name[0] != '@')) return false;
  const size_t size = strlen(name);
  if (size < 2 || size >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, name, size);
  if (name[0] == '@') address.sun_path[0] = '\0';  // not a file

  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  const ssize_t sent = sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), length);
  close(fd);
  return sent == static_cast<ssize_t>(strlen(state));
}

}  // namespace trumpet
