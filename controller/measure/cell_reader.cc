// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/cell_reader.h"

#include <algorithm>
#include <utility>

#include "lib/measure/read_state.h"
#include "lib/wire/limits.h"

namespace trumpet {

struct CellReader::Job {
  uint64_t number = 0;
  ProgramName program;
  std::vector<CellQuestion> questions;
  std::vector<std::string> hosts;  // that were not asked yet, the next one last
  std::vector<std::unique_ptr<Asked>> asked;
  CellReading reading;
  Done done;
};

namespace {

constexpr size_t kMaxKeyValues = size_t{1} << 20;  // of all hosts; further ones are left out

void Merge(const std::vector<CellQuestion>& questions,
           const std::vector<std::vector<uint64_t>>& cells, CellReading* reading) {
  if (reading->cells.empty()) {
    reading->cells = cells;
    return;
  }
  for (size_t i = 0; i < questions.size(); ++i) {
    std::vector<uint64_t>& merged = reading->cells[i];
    if (questions[i].wants_keys) {
      const bool has_room = merged.size() + cells[i].size() <= kMaxKeyValues;
      if (has_room) merged.insert(merged.end(), cells[i].begin(), cells[i].end());
      continue;
    }
    const size_t count = std::min(merged.size(), cells[i].size());
    for (size_t j = 0; j < count; ++j) {
      merged[j] = MergeCells(questions[i].merge, merged[j], cells[i][j]);
    }
  }
}

}  // namespace

CellReader::CellReader(event_base* base, Send send)
    : base_(base), send_(std::move(send)), sweep_(base, [this] { Sweep(); }) {}

CellReader::~CellReader() = default;

uint64_t CellReader::Read(const ProgramName& program, std::vector<CellQuestion> questions,
                          std::vector<std::string> hosts, std::vector<SilentHost> silent,
                          Done done) {
  if (jobs_.size() >= kMaxReads) return 0;
  auto job = std::make_unique<Job>();
  const uint64_t number = job->number = ++last_number_;
  job->program = program;
  job->questions = std::move(questions);
  std::reverse(hosts.begin(), hosts.end());
  job->hosts = std::move(hosts);
  job->reading.silent = std::move(silent);
  job->done = std::move(done);
  jobs_.push_back(std::move(job));
  sweep_.RunSoon();
  return number;
}

const CellReader::Job* CellReader::Find(uint64_t number) const {
  for (const auto& job : jobs_) {
    if (job->number == number) return job.get();
  }
  return nullptr;
}

CellReading CellReader::SoFar(uint64_t number) const {
  const Job* const job = Find(number);
  if (job == nullptr) return {};
  CellReading reading = job->reading;
  const auto add = [&reading](const std::string& host) {
    reading.silent.push_back({host, "it has not answered yet"});
  };
  for (const auto& asked : job->asked) {
    if (asked->number != 0) add(asked->host);
  }
  for (const std::string& host : job->hosts) add(host);
  return reading;
}

void CellReader::End(uint64_t number) {
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(),
                             [number](const auto& job) { return job->number == number; }),
              jobs_.end());
}

void CellReader::AskMore(Job* job) {
  while (job->asked.size() < kHostsAtOnce && !job->hosts.empty()) {
    auto asked = std::make_unique<Asked>();
    asked->host = std::move(job->hosts.back());
    job->hosts.pop_back();
    asked->cells.resize(job->questions.size());
    Asked* const one = asked.get();
    asked->timer = std::make_unique<LoopEvent>(
        base_, [this, job, one] { Leave(job, one, "it does not answer"); });
    job->asked.push_back(std::move(asked));
    Ask(job, one);
  }
}

// The next piece of the question that the host is at.
void CellReader::Ask(Job* job, Asked* asked) {
  const CellQuestion& question = job->questions[asked->question];
  CellsRequest request;
  request.number = asked->number = ++last_number_;
  request.program = job->program;
  request.variable = question.variable;
  request.first = static_cast<uint32_t>(asked->cells[asked->question].size());
  request.max_cells = question.key.empty()
                          ? std::min(kMaxCellsAsked, question.count - request.first)
                          : kMaxCellsAsked;
  request.key = question.key;
  request.wants_keys = question.wants_keys;
  asked->timer->RunAfter(kPatience);
  if (const Status sent = send_(asked->host, request); !sent.ok()) {
    Leave(job, asked, sent.message());
  }
}

void CellReader::OnAnswer(const std::string& host, const CellsAnswer& answer) {
  if (answer.number == 0) return;  // as hosts have that are done with
  for (const auto& job : jobs_) {
    for (const auto& asked : job->asked) {
      if (asked->number != answer.number || asked->host != host) continue;
      return Take(job.get(), asked.get(), answer);
    }
  }
}

void CellReader::Take(Job* job, Asked* asked, const CellsAnswer& answer) {
  if (!answer.error.empty()) return Leave(job, asked, answer.error);
  const CellQuestion& question = job->questions[asked->question];
  std::vector<uint64_t>& cells = asked->cells[asked->question];
  const bool is_one = question.wants_keys || !question.key.empty();
  const size_t left = question.key.empty() ? question.count - cells.size() : kMaxCellsAsked;
  const bool may_be_empty = question.wants_keys;
  if ((answer.cells.empty() && !may_be_empty) || answer.cells.size() > left) {
    return Leave(job, asked, "it has other cells");
  }
  cells.insert(cells.end(), answer.cells.begin(), answer.cells.end());
  if (!is_one && cells.size() < question.count) return Ask(job, asked);
  if (++asked->question < job->questions.size()) return Ask(job, asked);
  Merge(job->questions, asked->cells, &job->reading);
  job->reading.hosts.push_back(asked->host);
  Leave(job, asked, "");
}

void CellReader::Leave(Job* job, Asked* asked, const std::string& why) {
  if (asked->number == 0) return;  // sending has ended the session, and that this
  if (!why.empty()) job->reading.silent.push_back({asked->host, why});
  asked->number = 0;
  asked->timer->Cancel();
  sweep_.RunSoon();
}

void CellReader::OnHostGone(const std::string& host) {
  for (const auto& job : jobs_) {
    for (const auto& asked : job->asked) {
      if (asked->number != 0 && asked->host == host) Leave(job.get(), asked.get(), "it has gone");
    }
  }
}

// Asks the next hosts, and answers the reads that are complete.
void CellReader::Sweep() {
  std::vector<std::unique_ptr<Job>> complete;
  for (auto& job : jobs_) {
    auto& asked = job->asked;
    asked.erase(std::remove_if(asked.begin(), asked.end(),
                               [](const auto& one) { return one->number == 0; }),
                asked.end());
    AskMore(job.get());
  }
  for (auto& job : jobs_) {
    const auto& asked = job->asked;
    if (asked.empty() && job->hosts.empty()) complete.push_back(std::move(job));
  }
  jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), nullptr), jobs_.end());
  for (const auto& job : complete) {
    std::sort(job->reading.hosts.begin(), job->reading.hosts.end());
    job->done(job->reading);
  }
}

}  // namespace trumpet
