// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/report_threads.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "controller/store/memory_report_store.h"

namespace trumpet {
namespace {

constexpr size_t kMaxBatch = 20000;
// At low rates a commit takes what came in so long; at high ones a batch is full earlier.
constexpr auto kGatherFor = std::chrono::milliseconds(50);
constexpr Nanos kExpireEvery = kNanosPerSecond;

size_t BytesOf(const ReportRow& row) {
  return sizeof row + row.event.size() + row.tenant.size() + row.bucket.size() + row.json.size();
}

}  // namespace

// --- the loop's side ---

SqliteReportStore::Threads::Threads(event_base* base, SqliteReportStoreOptions options)
    : options_(std::move(options)), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  wake_ = event_new(base, wake_fd_, EV_READ | EV_PERSIST, OnWake, this);
  event_add(wake_, nullptr);
  OpenFile();
  // Without the file nobody knows which numbers have been given.
  const bool is_known = writer_ && file_generation_ == 0;
  last_number_ = is_known ? writer_->last_number() : NumberOfTime(UnixNow());
}

SqliteReportStore::Threads::~Threads() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  write_wanted_.notify_one();
  if (write_thread_.joinable()) write_thread_.join();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_read_ending_ = true;
  }
  read_wanted_.notify_one();
  if (read_thread_.joinable()) read_thread_.join();
  event_free(wake_);
  close(wake_fd_);
}

void SqliteReportStore::Threads::Start() {
  write_thread_ = std::thread([this] { WriteLoop(); });
  read_thread_ = std::thread([this] { ReadLoop(); });
}

Nanos SqliteReportStore::Threads::UnixNow() const {
  if (options_.unix_now) return options_.unix_now();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

void SqliteReportStore::Threads::Append(const ReportRows& rows) {
  bool is_batch = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    counters_.appended += rows.size();
    for (const auto& row : rows) {
      const size_t bytes = BytesOf(*row);
      if (waiting_.size() + batch_count_ >= options_.max_waiting ||
          waiting_bytes_ + bytes > options_.max_waiting_bytes) {
        ++counters_.lost;
        continue;
      }
      waiting_bytes_ += bytes;
      waiting_.push_back(row);
    }
    is_batch = waiting_.size() >= kMaxBatch || waiting_.size() == rows.size();
  }
  if (is_batch) write_wanted_.notify_one();
}

void SqliteReportStore::Threads::Query(const ReportQuery& query, Done done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (unanswered_ >= kMaxQueries) {
    to_loop_.push_back([done = std::move(done)] {
      done(Status::Error("too many queries of reports at once; try again later"));
    });
    Wake();
    return;
  }
  ++unanswered_;
  asked_.push_back({query, std::move(done)});
  asked_.back().query.limit = std::min(query.limit, kMaxLimit);
  write_wanted_.notify_one();
}

ReportStoreCounters SqliteReportStore::Threads::counters() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  ReportStoreCounters counters = counters_;
  counters.waiting = waiting_.size() + batch_count_;
  return counters;
}

void SqliteReportStore::Threads::Wake() {
  const uint64_t one = 1;
  const ssize_t written = write(wake_fd_, &one, sizeof one);
  (void)written;  // it fails only if the loop has been woken very often already
}

void SqliteReportStore::Threads::OnWake(int fd, short /*what*/, void* self) {
  auto* threads = static_cast<Threads*>(self);
  uint64_t count = 0;
  const ssize_t size = read(fd, &count, sizeof count);
  (void)size;
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard<std::mutex> lock(threads->mutex_);
    actions.swap(threads->to_loop_);
  }
  for (const auto& action : actions) action();
}

void SqliteReportStore::Threads::Log(const char* level, const std::string& text) {
  if (!options_.log) return;
  to_loop_.push_back([this, level, text] { options_.log(level, text); });
  Wake();
}

// --- the write thread ---

void SqliteReportStore::Threads::OpenFile() {
  for (const bool is_first : {true, false}) {
    bool is_broken = false;
    Result<ReportWriter> writer = ReportWriter::Open(options_.path, options_.limits, &is_broken);
    if (writer.ok()) {
      writer_.emplace(std::move(*writer));
      const std::lock_guard<std::mutex> lock(mutex_);
      counters_.stored_bytes = writer_->stored_bytes();
      return;
    }
    Fail(writer.status());
    if (!is_broken || !is_first) return;
    SetAside();
  }
}

// The journal goes along: it is part of the database.
void SqliteReportStore::Threads::SetAside() {
  writer_.reset();
  const std::string aside =
      options_.path + ".broken-" + std::to_string(UnixNow() / kNanosPerSecond);
  for (const char* part : {"", "-wal", "-shm"}) {
    std::rename((options_.path + part).c_str(), (aside + part).c_str());
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++file_generation_;
  Log("err", "the file of reports was broken and is now " + aside + "; a new one is begun");
}

void SqliteReportStore::Threads::Fail(const Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counters_.write_failures;
  const std::string problem = "reports cannot be written: " + status.message();
  if (counters_.problem == problem) return;
  counters_.problem = problem;
  Log("err", problem);
}

void SqliteReportStore::Threads::Succeed(size_t written) {
  const std::lock_guard<std::mutex> lock(mutex_);
  counters_.written += written;
  counters_.stored_bytes = writer_->stored_bytes();
  if (counters_.problem.empty()) return;
  counters_.problem.clear();
  Log("info", "reports are written again");
}

// Under `lock`.
ReportRows SqliteReportStore::Threads::TakeBatch() {
  ReportRows batch;
  const auto count = static_cast<long>(std::min(waiting_.size(), kMaxBatch));
  batch.assign(waiting_.begin(), waiting_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  batch_count_ = batch.size();
  return batch;
}

bool SqliteReportStore::Threads::WriteBatch(const ReportRows& batch) {
  if (!writer_) OpenFile();
  if (!writer_) return false;
  const Status status = writer_->Write(batch);
  if (status.ok()) {
    Succeed(batch.size());
    return true;
  }
  Fail(status);
  if (writer_->is_broken()) {
    SetAside();
    OpenFile();
    return false;
  }
  ExpireSome(batch.size());  // the file may be as large as it may become
  return false;
}

// At full speed as much must go as comes.
void SqliteReportStore::Threads::ExpireSome(size_t written) {
  const Nanos now = UnixNow();
  if (!writer_ || (written == 0 && now < expire_at_)) return;
  expire_at_ = now + kExpireEvery;
  const Result<uint64_t> expired = writer_->Expire(now, 2 * kMaxBatch);
  if (!expired.ok()) return Fail(expired.status());
  const std::lock_guard<std::mutex> lock(mutex_);
  counters_.expired += *expired;
  counters_.stored_bytes = writer_->stored_bytes();
}

void SqliteReportStore::Threads::WriteLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_urgent = [this] {
    return is_ending_ || !asked_.empty() || waiting_.size() >= kMaxBatch;
  };
  while (true) {
    write_wanted_.wait_for(lock, std::chrono::nanoseconds(kExpireEvery),
                           [&] { return is_urgent() || !waiting_.empty(); });
    write_wanted_.wait_for(lock, kGatherFor, is_urgent);
    // Those who asked by now see all of what had come by now.
    std::vector<Question> asked;
    asked.swap(asked_);
    bool is_written = true;
    for (size_t left = waiting_.size(); left > 0 && is_written;) {
      const ReportRows batch = TakeBatch();
      left -= std::min(left, batch.size());
      lock.unlock();
      is_written = WriteBatch(batch);
      if (is_written) ExpireSome(batch.size());
      lock.lock();
      batch_count_ = 0;
      if (is_written) {
        for (const auto& row : batch) waiting_bytes_ -= BytesOf(*row);
      } else {
        waiting_.insert(waiting_.begin(), batch.begin(), batch.end());
      }
    }
    for (Question& question : asked) questions_.push_back(std::move(question));
    if (!asked.empty()) read_wanted_.notify_one();
    if (is_ending_) {
      counters_.lost += waiting_.size();
      return;
    }
    if (is_written) {
      lock.unlock();
      ExpireSome(0);
      lock.lock();
    } else {
      write_wanted_.wait_for(lock, std::chrono::nanoseconds(options_.retry_after),
                             [&] { return is_ending_ || !asked_.empty(); });
    }
  }
}

// --- the read thread ---

Result<ReportRows> SqliteReportStore::Threads::Answer(const ReportQuery& query) {
  if (!reader_) {
    Result<ReportReader> reader = ReportReader::Open(options_.path);
    if (!reader.ok()) return reader.status();
    reader_.emplace(std::move(*reader));
  }
  Result<ReportRows> rows = reader_->Find(query);
  if (!rows.ok()) reader_.reset();  // the next one looks at the file that is there then
  return rows;
}

void SqliteReportStore::Threads::ReadLoop() {
  uint64_t generation = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    read_wanted_.wait(lock, [this] { return is_read_ending_ || !questions_.empty(); });
    if (is_read_ending_) return;
    Question question = std::move(questions_.front());
    questions_.pop_front();
    const bool is_new_file = generation != file_generation_;
    generation = file_generation_;
    lock.unlock();
    if (is_new_file) reader_.reset();
    Result<ReportRows> rows = Answer(question.query);
    lock.lock();
    to_loop_.push_back([this, done = std::move(question.done), rows = std::move(rows)] {
      {
        const std::lock_guard<std::mutex> guard(mutex_);
        --unanswered_;
      }
      done(rows);
    });
    Wake();
  }
}

}  // namespace trumpet
