// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/dpdk_eal.h"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace trumpet {
namespace {

using Words = std::vector<std::string>;

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

Words Split(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// EAL would print a text and end the process.
bool AsksForHelp(const std::string& word) {
  if (StartsWith(word, "--")) return StartsWith(word, "--he");
  if (!StartsWith(word, "-")) return false;
  const size_t at = word.find_first_not_of('v', 1);
  return at == word.npos || word[at] == 'h';
}

bool ChoosesProcessors(const std::string& word) {
  if (StartsWith(word, "--")) return StartsWith(word, "--lc");
  return StartsWith(word, "-l") || StartsWith(word, "-c") || StartsWith(word, "-S");
}

// One thread, ours, on any of the processors that it may use.
std::string OwnProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_SET(0, &set);
  std::string list;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) list += (list.empty() ? "" : ",") + std::to_string(i);
  }
  return "--lcores=0@(" + list + ")";
}

// Memory without huge pages is of the kind that cannot be called --in-memory.
bool HasPlainMemory(const std::string& word) {
  return StartsWith(word, "--no-hu") || StartsWith(word, "--leg");
}

// Ours first: what the administrator says counts.
Words AllArguments(const Words& theirs) {
  Words all = {"trumpet-analyzer", "--no-telemetry"};
  const bool is_plain = std::any_of(theirs.begin(), theirs.end(), HasPlainMemory);
  all.push_back(is_plain ? "--no-shconf" : "--in-memory");
  if (std::none_of(theirs.begin(), theirs.end(), ChoosesProcessors)) all.push_back(OwnProcessors());
  all.insert(all.end(), theirs.begin(), theirs.end());
  return all;
}

// While it lasts, what is written to standard output and standard error goes to memory.
class HeldOutput {
 public:
  HeldOutput() : memory_(memfd_create("eal-output", MFD_CLOEXEC)) {
    std::fflush(nullptr);
    if (memory_ < 0) return;
    for (const int i : {0, 1}) {
      kept_[i] = dup(i + 1);
      if (kept_[i] >= 0) dup2(memory_, i + 1);
    }
  }
  ~HeldOutput() {
    if (memory_ >= 0) End();
  }
  // What was written, by line.
  Words End() {
    if (memory_ < 0) return {};
    std::fflush(nullptr);
    for (const int i : {0, 1}) {
      if (kept_[i] < 0) continue;
      dup2(kept_[i], i + 1);
      close(kept_[i]);
    }
    std::string text(static_cast<size_t>(std::max<off_t>(lseek(memory_, 0, SEEK_END), 0)), 0);
    const ssize_t count = pread(memory_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    close(std::exchange(memory_, -1));
    std::istringstream in(text);
    Words lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  int memory_;
  std::array<int, 2> kept_{-1, -1};
};

const char* LevelOf(int level) {
  if (level <= static_cast<int>(RTE_LOG_ERR)) return "err";
  if (level == static_cast<int>(RTE_LOG_WARNING)) return "warn";
  return level == static_cast<int>(RTE_LOG_NOTICE) ? "info" : "dbg";
}

}  // namespace

// What EAL and drivers log, line by line.
class DpdkEal::Stream {
 public:
  explicit Stream(Log log) : log_(std::move(log)) {
    cookie_io_functions_t functions{};
    functions.write = Write;
    file_ = fopencookie(this, "w", functions);
    if (file_ != nullptr) rte_openlog_stream(file_);
  }
  ~Stream() {
    rte_openlog_stream(nullptr);
    if (file_ != nullptr) std::fclose(file_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool is_open() const { return file_ != nullptr; }
  // From now on lines go to the log at once; it may write to standard error, which was held.
  // Returns the last one so far that was called an error.
  std::string Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string error;
    for (const auto& [level, line] : std::exchange(held_, {})) {
      if (std::string_view(level) == "err") error = line;
      log_(level, "DPDK: " + line);
    }
    is_held_ = false;
    return error;
  }

 private:
  // DPDK flushes after each message.
  static ssize_t Write(void* to, const char* bytes, size_t count) {
    auto* const stream = static_cast<Stream*>(to);
    std::istringstream in(std::string(bytes, count));
    const char* const level = LevelOf(rte_log_cur_msg_loglevel());
    const std::lock_guard<std::mutex> lock(stream->mutex_);
    for (std::string line; std::getline(in, line);) {
      if (line.empty()) continue;
      if (stream->is_held_) {
        stream->held_.emplace_back(level, line);
      } else {
        stream->log_(level, "DPDK: " + line);
      }
    }
    return static_cast<ssize_t>(count);
  }

  const Log log_;
  FILE* file_ = nullptr;
  std::mutex mutex_;
  bool is_held_ = true;
  std::vector<std::pair<const char*, std::string>> held_;
};

bool HasDpdk() { return true; }

DpdkEal::DpdkEal() = default;

Result<std::unique_ptr<DpdkEal>> DpdkEal::Start(const std::string& arguments, Log log) {
  const std::string place = "cannot start DPDK with '" + arguments + "': ";
  const Words theirs = Split(arguments);
  for (const std::string& word : theirs) {
    if (AsksForHelp(word)) return Status::Error(place + "'" + word + "' only prints a text");
  }
  std::unique_ptr<DpdkEal> eal(new DpdkEal);
  eal->stream_ = std::make_unique<Stream>(std::move(log));
  if (!eal->stream_->is_open()) return Status::Error(place + "no memory");
  Words words = AllArguments(theirs);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  cpu_set_t processors;
  CPU_ZERO(&processors);
  pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
  HeldOutput output;
  const int started = rte_eal_init(static_cast<int>(words.size()), pointers.data());
  const int error = rte_errno;
  pthread_setaffinity_np(pthread_self(), sizeof processors, &processors);
  const Words lines = output.End();
  const std::string logged = eal->stream_->Release();
  eal->is_started_ = started >= 0;
  if (eal->is_started_) return eal;
  if (error == EALREADY) return Status::Error(place + "this process has started it before");
  // Its usage is a hundred lines; what is wrong stands before it, or in the log.
  std::string why = logged;
  for (const std::string& line : lines) {
    if (StartsWith(line, "EAL: FATAL")) why = line;
  }
  return Status::Error(place + (why.empty() ? "" : why + ": ") + rte_strerror(error));
}

DpdkEal::~DpdkEal() {
  if (!is_started_) return;
  const HeldOutput output;
  rte_eal_cleanup();
}

}  // namespace trumpet
