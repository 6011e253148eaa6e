// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FileWorker: writes small files on a thread of its own, so that a slow disk delays no loop.
//
// Threads: all calls from one thread; the writing is done on another.
// Memory: at most kMaxJobs wait; further ones are dropped and counted.
// Lifetime: the end of the worker writes what waits.

#ifndef TRUMPET_CONTROLLER_NOTIFY_FILE_WORKER_H
#define TRUMPET_CONTROLLER_NOTIFY_FILE_WORKER_H

#include <atomic>
#include <cstdint>
#include <string>

#include "lib/base/job_thread.h"

namespace trumpet {

class FileWorker {
 public:
  static constexpr size_t kMaxJobs = 256;

  FileWorker() = default;
  FileWorker(const FileWorker&) = delete;
  FileWorker& operator=(const FileWorker&) = delete;

  // The file has this content afterwards, or what it had before.
  void Replace(const std::string& path, std::string content);
  // Adds whole lines, unless the file would grow beyond `max_bytes`.
  void Append(const std::string& path, std::string lines, size_t max_bytes);

  uint64_t dropped() const { return dropped_; }  // no room here or in the file
  uint64_t failed() const { return failed_; }

 private:
  struct Job {
    std::string path;
    std::string content;
    bool is_append = false;
    size_t max_bytes = 0;
  };

  void Add(Job job);
  void Do(const Job& job);

  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> failed_{0};
  JobThread thread_;  // last: its jobs count above
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_FILE_WORKER_H
