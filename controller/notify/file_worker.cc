// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/file_worker.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace trumpet {
namespace {

bool WriteAll(int fd, const std::string& content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = write(fd, content.data() + done, content.size() - done);
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

bool WriteFile(const std::string& path, const std::string& content, int flags) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
  if (fd < 0) return false;
  const bool is_written = WriteAll(fd, content) && fsync(fd) == 0;
  return close(fd) == 0 && is_written;
}

bool ReplaceFile(const std::string& path, const std::string& content) {
  const std::string fresh = path + ".new";
  return WriteFile(fresh, content, O_TRUNC) && rename(fresh.c_str(), path.c_str()) == 0;
}

size_t SizeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<size_t>(info.st_size) : 0;
}

}  // namespace

void FileWorker::Replace(const std::string& path, std::string content) {
  Add({path, std::move(content), false, 0});
}

void FileWorker::Append(const std::string& path, std::string lines, size_t max_bytes) {
  Add({path, std::move(lines), true, max_bytes});
}

void FileWorker::Add(Job job) {
  if (!thread_.Do([this, job = std::move(job)] { Do(job); }, kMaxJobs)) ++dropped_;
}

void FileWorker::Do(const Job& job) {
  if (!job.is_append) {
    if (!ReplaceFile(job.path, job.content)) ++failed_;
  } else if (SizeOf(job.path) + job.content.size() > job.max_bytes) {
    ++dropped_;
  } else if (!WriteFile(job.path, job.content, O_APPEND)) {
    ++failed_;
  }
}

}  // namespace trumpet
