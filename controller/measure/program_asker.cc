// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/program_asker.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lib/wire/limits.h"

namespace trumpet {

struct ProgramAsker::Job {
  AskedProgram request;
  std::map<std::string, uint64_t> waiting;  // for these hosts; number of what they were asked
  bool has_begun = false;
  std::unique_ptr<LoopEvent> timer;
  RequestAnswer answer;
  size_t copies = 0;
  Done done;
};

namespace {

bool IsSound(const AskedProgram& request, const CellsAnswer& answer) {
  return std::all_of(answer.copies.begin(), answer.copies.end(), [&](const ProgramCopy& copy) {
    return copy.endpoint < request.endpoint_count &&
           (request.field_count >= 64 || copy.present >> request.field_count == 0);
  });
}

}  // namespace

ProgramAsker::ProgramAsker(event_base* base, Send send)
    : base_(base), send_(std::move(send)), sweep_(base, [this] { Sweep(); }) {}

ProgramAsker::~ProgramAsker() = default;

bool ProgramAsker::Ask(AskedProgram request, std::vector<std::string> hosts, Done done) {
  if (jobs_.size() >= kMaxRequests) return false;
  auto job = std::make_unique<Job>();
  job->request = std::move(request);
  for (std::string& host : hosts) job->waiting.emplace(std::move(host), 0);
  job->done = std::move(done);
  job->timer = std::make_unique<LoopEvent>(base_, [this, one = job.get()] {
    const auto silent = one->waiting;
    for (const auto& [host, number] : silent) Leave(one, host, "it does not answer");
  });
  jobs_.push_back(std::move(job));
  sweep_.RunSoon();
  return true;
}

// A host that cannot be told goes at once, and that changes who is waited for.
void ProgramAsker::Begin(Job* job) {
  job->has_begun = true;
  job->timer->RunAfter(kPatience);
  CellsRequest request;
  request.program = job->request.program;
  request.max_cells = kMaxProgramCopies;
  request.is_request = true;
  for (const AskedField& field : job->request.fields) {
    request.fields.push_back(field.field);
    request.key.push_back(field.value);
  }
  const auto hosts = job->waiting;
  for (const auto& [host, unused] : hosts) {
    const auto waiting = job->waiting.find(host);
    if (waiting == job->waiting.end()) continue;
    request.number = waiting->second = ++last_number_;
    const Status sent = send_(host, request);
    if (!sent.ok()) Leave(job, host, sent.message());
  }
}

void ProgramAsker::OnAnswer(const std::string& host, const CellsAnswer& answer) {
  if (answer.number == 0) return;  // as hosts have that have not been asked yet
  for (const auto& job : jobs_) {
    const auto waiting = job->waiting.find(host);
    if (waiting == job->waiting.end() || waiting->second != answer.number) continue;
    return Take(job.get(), host, answer);
  }
}

void ProgramAsker::Take(Job* job, const std::string& host, const CellsAnswer& answer) {
  if (!answer.error.empty()) return Leave(job, host, answer.error);
  if (!IsSound(job->request, answer)) return Leave(job, host, "it answers for another program");
  job->answer.left_out += answer.left_out;
  HostAnswer of_host{host, answer.copies};
  const size_t room = kMaxCopies - job->copies;
  if (of_host.copies.size() > room) {
    job->answer.left_out += of_host.copies.size() - room;
    of_host.copies.resize(room);
  }
  job->copies += of_host.copies.size();
  job->answer.hosts.push_back(std::move(of_host));
  Leave(job, host, "");
}

void ProgramAsker::Leave(Job* job, const std::string& host, const std::string& why) {
  if (job->waiting.erase(host) == 0) return;
  if (!why.empty()) job->answer.silent.push_back({host, why});
  sweep_.RunSoon();
}

void ProgramAsker::OnHostGone(const std::string& host) {
  for (const auto& job : jobs_) Leave(job.get(), host, "it has gone");
}

// Asks what was not asked yet, and answers what is complete.
void ProgramAsker::Sweep() {
  std::vector<std::unique_ptr<Job>> complete;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (!jobs_[i]->has_begun) Begin(jobs_[i].get());
  }
  for (auto& job : jobs_) {
    if (job->waiting.empty()) complete.push_back(std::move(job));
  }
  jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), nullptr), jobs_.end());
  for (const auto& job : complete) {
    std::sort(job->answer.hosts.begin(), job->answer.hosts.end(),
              [](const HostAnswer& a, const HostAnswer& b) { return a.host < b.host; });
    job->done(job->answer);
  }
}

}  // namespace trumpet
