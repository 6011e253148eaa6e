// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SqliteReportStore::Threads: its queue, the thread that writes and the one that answers.
//
// Threads: public functions are the loop's; WriteLoop() and ReadLoop() are threads of their own.
// What they share is below `mutex_`; `writer_` is the write thread's once it runs.

#ifndef TRUMPET_CONTROLLER_STORE_REPORT_THREADS_H
#define TRUMPET_CONTROLLER_STORE_REPORT_THREADS_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "controller/store/sqlite_report_store.h"

struct event;

namespace trumpet {

class SqliteReportStore::Threads {
 public:
  Threads(event_base* base, SqliteReportStoreOptions options);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Once the object is where it stays.
  void Start();

  uint64_t last_number() const { return last_number_; }
  void Append(const ReportRows& rows);
  void Query(const ReportQuery& query, Done done);
  ReportStoreCounters counters() const;

 private:
  struct Question {
    ReportQuery query;
    Done done;
  };

  // --- the write thread ---
  void WriteLoop();
  void OpenFile();
  void SetAside();
  ReportRows TakeBatch();
  bool WriteBatch(const ReportRows& batch);
  void ExpireSome(size_t written);
  void Fail(const Status& status);
  void Succeed(size_t written);

  // --- the read thread ---
  void ReadLoop();
  Result<ReportRows> Answer(const ReportQuery& query);

  // --- both, with the mutex held ---
  void Wake();
  void Log(const char* level, const std::string& text);
  Nanos UnixNow() const;
  static void OnWake(int fd, short what, void* self);

  const SqliteReportStoreOptions options_;
  uint64_t last_number_ = 0;  // constant after the constructor
  std::optional<ReportWriter> writer_;
  std::optional<ReportReader> reader_;  // the read thread's
  Nanos expire_at_ = 0;                 // the write thread's
  int wake_fd_ = -1;
  event* wake_ = nullptr;

  mutable std::mutex mutex_;
  std::condition_variable write_wanted_;
  std::condition_variable read_wanted_;
  bool is_ending_ = false;
  bool is_read_ending_ = false;
  std::deque<std::shared_ptr<const ReportRow>> waiting_;
  size_t waiting_bytes_ = 0;
  size_t batch_count_ = 0;          // reports that the write thread holds
  std::vector<Question> asked_;     // wait for what was appended before them
  std::deque<Question> questions_;  // for the read thread
  size_t unanswered_ = 0;           // of both, and of what is on its way back
  std::vector<std::function<void()>> to_loop_;
  uint64_t file_generation_ = 0;  // rises when the file is another one
  ReportStoreCounters counters_;

  std::thread write_thread_;
  std::thread read_thread_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_REPORT_THREADS_H
