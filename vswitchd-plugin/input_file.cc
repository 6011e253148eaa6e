// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lang/event/diagnostic.h"

namespace trumpet {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

// Reads at most one byte more than allowed, so that the caller can tell.
Status ReadOpenFile(int fd, std::string* text) {
  struct stat found {};
  if (fstat(fd, &found) != 0) return Status::Error(strerror(errno));
  if (!S_ISREG(found.st_mode)) return Status::Error("it is not a regular file");
  text->resize(kMaxFileBytes + 1);
  size_t size = 0;
  while (size < text->size()) {
    const ssize_t got = read(fd, &(*text)[size], text->size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::Error(strerror(errno));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > kMaxFileBytes) return Status::Error("it is larger than 1 MiB");
  text->resize(size);
  return Status::Ok();
}

Status ReadFile(const std::string& path, std::string* text) {
  // The switch's working directory is not that of whoever typed the path.
  if (path.empty() || path[0] != '/') return Status::Error("the path must be absolute");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Status::Error(strerror(errno));
  const Status status = ReadOpenFile(fd, text);
  close(fd);
  return status;
}

}  // namespace

Result<std::string> ReadInputFile(const std::string& path, const std::string& what) {
  std::string text;
  const Status status = ReadFile(path, &text);
  if (status.ok()) return text;
  return Status::Error("reading " + what + " from " + event_lang::Quote(path) + ": " +
                       status.message());
}

}  // namespace trumpet
