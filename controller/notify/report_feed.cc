// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/report_feed.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr size_t kScannedRows = 4096;             // in one turn of the loop
constexpr Nanos kSaveEvery = kNanosPerSecond;     // a place, at most
constexpr Nanos kAskAgain = 5 * kNanosPerSecond;  // a store that failed

// `*` stands for any text.
bool Matches(const std::string& pattern, const std::string& name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string::npos;
  size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

// The report's line with its number in front.
std::string Numbered(const ReportRow& row) {
  return "{\"number\":" + std::to_string(row.number) + "," + row.json.substr(1);
}

std::string BodyOf(const std::string& receiver, const ReportRows& rows) {
  std::string body = "{\"receiver\":" + JsonQuote(receiver) + ",\"reports\":[";
  for (size_t i = 0; i < rows.size(); ++i) body += (i == 0 ? "" : ",") + Numbered(*rows[i]);
  return body + "]}";
}

uint64_t ReadPlace(const std::string& path, uint64_t otherwise) {
  std::ifstream file(path);
  uint64_t place = 0;
  // More than there is: the reports began anew.
  return file >> place && place <= otherwise ? place : otherwise;
}

}  // namespace

bool Wants(const NotifyReceiver& receiver, const ReportRow& row) {
  if (!receiver.tenant.empty() && receiver.tenant != row.tenant) return false;
  if (receiver.events.empty()) return true;
  return std::any_of(receiver.events.begin(), receiver.events.end(),
                     [&](const std::string& pattern) { return Matches(pattern, row.event); });
}

ReportFeed::ReportFeed(event_base* base, ReportHub* hub, FileWorker* files, Courier* courier,
                       const NotifyReceiver& receiver, const NotifyOptions& options)
    : hub_(hub),
      files_(files),
      courier_(courier),
      receiver_(receiver),
      options_(options),
      step_(base, [this] { Step(); }),
      save_(base, [this] { SavePlace(); }),
      place_(hub->last_number()) {
  if (!options_.directory.empty()) {
    place_ = ReadPlace(PathOf("place"), place_);
    SavePlace();  // else what comes before the first delivery would be past after a restart
  }
  if (waiting() > 0) step_.RunSoon();
}

ReportFeed::~ReportFeed() {
  *is_alive_ = false;
  if (is_save_due_) SavePlace();
}

std::string ReportFeed::PathOf(const char* kind) const {
  return options_.directory + "/" + receiver_.name + "." + kind;
}

void ReportFeed::OnReports() {
  if (is_step_due_ || is_asking_ || courier_->is_busy()) return;
  is_step_due_ = true;
  step_.RunAfter(receiver_.batch_window);
}

void ReportFeed::Step() {
  is_step_due_ = false;
  if (is_asking_ || courier_->is_busy() || waiting() == 0) return;
  bool is_whole = false;
  const ReportRows rows = hub_->After(place_, kScannedRows, &is_whole);
  if (is_whole || hub_->store() == nullptr) {
    Take(rows);
  } else {
    AskStore();
  }
}

void ReportFeed::AskStore() {
  is_asking_ = true;
  ReportQuery query;
  query.after_number = place_;
  query.tenant = receiver_.tenant;
  query.limit = kScannedRows;
  // What the hub has comes from there: the store may have lost some of it.
  query.before_number = hub_->first_kept();
  hub_->store()->Query(query, [this, is_alive = is_alive_,
                               first_kept = hub_->first_kept()](const Result<ReportRows>& rows) {
    if (!*is_alive) return;
    is_asking_ = false;
    if (!rows) {
      step_.RunAfter(kAskAgain);
    } else if (rows->empty()) {
      CountMissed(place_, first_kept);
      MoveTo(first_kept - 1);
      if (waiting() > 0) step_.RunSoon();
    } else {
      Take(*rows);
    }
  });
}

// Reports between two numbers were not there.  Numbers have no gaps but where reports are gone, or
// other tenants' were not asked for, or a process before this one did not give them all.
void ReportFeed::CountMissed(uint64_t after, uint64_t before) {
  if (!receiver_.tenant.empty()) return;
  after = std::max(after, hub_->last_before());
  if (before > after + 1) counters_.missed += before - after - 1;
}

void ReportFeed::Take(const ReportRows& rows) {
  if (rows.empty()) return;
  batch_.clear();
  size_t bytes = 0;
  batch_end_ = place_;
  for (const auto& row : rows) {
    if (batch_.size() >= receiver_.max_batch || bytes >= kMaxBodyBytes) break;
    CountMissed(batch_end_, row->number);
    batch_end_ = row->number;
    if (!Wants(receiver_, *row)) continue;
    batch_.push_back(row);
    bytes += row->json.size();
  }
  if (batch_.empty()) {
    MoveTo(batch_end_);
    if (waiting() > 0) step_.RunSoon();
    return;
  }
  courier_->Send([this] { return BodyOf(receiver_.name, batch_); },
                 [this](Courier::End end) { OnEnd(end); });
}

void ReportFeed::OnEnd(Courier::End end) {
  if (end == Courier::End::kTaken) {
    counters_.delivered += batch_.size();
  } else {
    counters_.dead_letters += batch_.size();
    if (!options_.directory.empty()) {
      std::string lines;
      for (const auto& row : batch_) lines += Numbered(*row) + "\n";
      files_->Append(PathOf("dead"), std::move(lines), options_.max_dead_letter_bytes);
    }
  }
  batch_.clear();
  MoveTo(batch_end_);
  if (waiting() > 0) step_.RunSoon();
}

void ReportFeed::MoveTo(uint64_t number) {
  place_ = number;
  if (options_.directory.empty() || is_save_due_) return;
  is_save_due_ = true;
  save_.RunAfter(kSaveEvery);
}

void ReportFeed::SavePlace() {
  is_save_due_ = false;
  files_->Replace(PathOf("place"), std::to_string(place_) + "\n");
}

}  // namespace trumpet
