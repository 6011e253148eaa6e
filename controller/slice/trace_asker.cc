// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/trace_asker.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "lib/wire/limits.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 100 * kNanosPerMilli;

// As stores order traces: ids are signed.
std::pair<Nanos, int64_t> PlaceOf(const TraceRecord& record) {
  return {record.start, static_cast<int64_t>(record.id)};
}

// What two analyzers counted of the same: the sums of all numbers.
std::string SumOf(const std::string& a, const std::string& b) {
  using Json = nlohmann::ordered_json;
  Json sum = Json::parse(a, nullptr, false);
  const Json more = Json::parse(b, nullptr, false);
  if (!sum.is_object() || !more.is_object()) return a;
  for (auto& [key, value] : sum.items()) {
    const auto other = more.find(key);
    const bool is_sum =
        other != more.end() && value.is_number_unsigned() && other->is_number_unsigned();
    if (is_sum) value = value.get<uint64_t>() + other->get<uint64_t>();
  }
  for (const auto& [key, value] : more.items()) {
    if (!sum.contains(key)) sum[key] = value;
  }
  return sum.dump();
}

void AddUp(std::vector<TraceFindings::Found>* all) {
  std::vector<TraceFindings::Found> sums;
  for (TraceFindings::Found& one : *all) {
    if (sums.empty() || PlaceOf(sums.back().record) != PlaceOf(one.record)) {
      sums.push_back(std::move(one));
    } else {
      sums.back().record.text = SumOf(sums.back().record.text, one.record.text);
    }
  }
  *all = std::move(sums);
}

template <typename Part>
void TellInParts(const std::string& text, Session* session) {
  uint32_t part = 0;
  for (size_t at = 0; at < text.size(); at += kMaxNetworkPartBytes, ++part) {
    const bool is_last = at + kMaxNetworkPartBytes >= text.size();
    const Status sent = session->Send(Part{part, is_last, text.substr(at, kMaxNetworkPartBytes)});
    if (!sent.ok()) return;  // it is going
  }
}

}  // namespace

TraceAsker::TraceAsker(event_base* base, const WireClock& clock, AnalyzerCollector* collector)
    : clock_(clock),
      collector_(collector),
      concluder_(base, [this] { Conclude(); }),
      ticker_(base, [this] { Conclude(); }) {
  collector_->SetGuest(this);
  ticker_.RunEvery(kTick);
}

TraceAsker::~TraceAsker() { collector_->SetGuest(nullptr); }

uint64_t TraceAsker::Ask(TraceQuestion question, Answer answer) {
  if (asked_.size() >= kMaxQuestions) {
    ++counters_.refused;
    return 0;
  }
  ++counters_.questions;
  const uint64_t number = next_number_++;
  Asked& asked = asked_[number];
  asked.answer = std::move(answer);
  asked.deadline = clock_.MonotonicNow() + question.patience;
  asked.question = std::move(question);
  for (const auto& [name, since] : gone_) asked.findings.silent[name] = "is not connected";
  TraceRequest request{number, asked.question.what, asked.question.packets, asked.question.words};
  request.words.push_back({"limit", std::to_string(asked.question.limit)});
  const std::set<Session*> sessions = here_;
  asked.owing = sessions;
  const bool is_new = request.what == TraceWhat::kCounter || request.what == TraceWhat::kApp;
  for (Session* session : sessions) {
    const bool is_known = !is_new || (session->capabilities() & kCapabilityTraceCounters) != 0;
    const Status sent = is_known
                            ? session->Send(request)
                            : Status::Error("is of an older release, which has no such answer");
    if (sent.ok()) continue;
    asked.findings.silent[session->hello().host_id] = sent.message();
    asked.owing.erase(session);
  }
  concluder_.RunSoon();
  return number;
}

uint64_t TraceAsker::Watch(std::vector<TraceWord> words, TracePackets packets, News news) {
  if (watched_.size() >= kMaxWatches) {
    ++counters_.refused;
    return 0;
  }
  const uint64_t number = next_number_++;
  const TraceRequest request{number, TraceWhat::kWatch, packets, words};
  watched_[number] = {std::move(words), packets, std::move(news)};
  const std::set<Session*> sessions = here_;
  for (Session* session : sessions) (void)session->Send(request).ok();
  return number;
}

void TraceAsker::Cancel(uint64_t number) {
  const auto asked = asked_.find(number);
  if (asked == asked_.end() && watched_.count(number) == 0) return;
  if (asked != asked_.end()) ++counters_.cancelled;
  const std::set<Session*> sessions = asked == asked_.end() ? here_ : asked->second.owing;
  if (asked != asked_.end()) asked_.erase(asked);
  watched_.erase(number);
  for (Session* session : sessions) (void)session->Send(TraceCancel{number}).ok();
}

bool TraceAsker::SetNetwork(const std::string& text) {
  if (text == network_) return true;
  if (text.size() > kMaxNetwork) return false;
  network_ = text;
  const std::set<Session*> sessions = here_;
  for (Session* session : sessions) TellNetwork(session);
  return true;
}

void TraceAsker::TellNetwork(Session* session) const {
  TellInParts<TraceNetwork>(network_, session);
}

bool TraceAsker::SetCounters(const std::string& text) {
  if (text == counter_text_) return true;
  if (text.size() > kMaxNetwork) return false;
  counter_text_ = text;
  const std::set<Session*> sessions = here_;
  for (Session* session : sessions) TellCounters(session);
  return true;
}

void TraceAsker::TellSent(const TraceSent& sent) {
  if (here_.size() != 1) return;
  Session* const only = *here_.begin();
  if ((only->capabilities() & kCapabilityTraceSent) == 0) return;
  (void)only->Send(sent).ok();  // the next one tells the same
}

void TraceAsker::TellCounters(Session* session) const {
  if ((session->capabilities() & kCapabilityTraceCounters) == 0) return;
  TellInParts<TraceCounters>(counter_text_, session);
}

void TraceAsker::OnAnalyzer(Session* session) {
  gone_.erase(session->hello().host_id);
  if ((session->capabilities() & kCapabilityTraces) == 0) return;
  here_.insert(session);
  TellNetwork(session);
  TellCounters(session);
  for (const auto& [number, watch] : watched_) {
    const TraceRequest request{number, TraceWhat::kWatch, watch.packets, watch.words};
    (void)session->Send(request).ok();
  }
}

void TraceAsker::OnAnalyzerGone(Session* session) {
  if (here_.erase(session) == 0) return;
  gone_[session->hello().host_id] = clock_.MonotonicNow();
  for (auto& [number, asked] : asked_) {
    if (asked.owing.erase(session) == 0) continue;
    asked.findings.silent[session->hello().host_id] = "has gone";
  }
  concluder_.RunSoon();
}

void TraceAsker::OnAnalyzerMessage(Session* session, const Message& message) {
  if (const auto* answer = std::get_if<TraceAnswer>(&message)) Take(session, *answer);
}

void TraceAsker::Take(Session* session, TraceAnswer answer) {
  const std::string& name = session->hello().host_id;
  const auto watched = watched_.find(answer.number);
  if (watched != watched_.end()) {
    const News news = watched->second.news;  // which may cancel itself
    return news(name, answer);
  }
  const auto found = asked_.find(answer.number);
  if (found == asked_.end() || found->second.owing.erase(session) == 0) return;
  Asked& asked = found->second;
  if (answer.is_wrong) asked.findings.wrong = answer.error;
  // An error beside an answer says what is missing in it.
  if (!answer.error.empty()) asked.findings.silent[name] = answer.error;
  const bool has_any = answer.error.empty() || answer.has_more || !answer.records.empty() ||
                       answer.files + answer.traces > 0;
  if (has_any) {
    asked.records[name] = std::move(answer.records);
    answer.records.clear();
    asked.findings.answers[name] = std::move(answer);
  }
  if (asked.owing.empty()) concluder_.RunSoon();
}

void TraceAsker::Conclude() {
  const Nanos now = clock_.MonotonicNow();
  for (auto it = gone_.begin(); it != gone_.end();) {
    it = now - it->second > kMemory ? gone_.erase(it) : std::next(it);
  }
  std::vector<Asked> ready;
  for (auto it = asked_.begin(); it != asked_.end();) {
    if (!it->second.owing.empty() && it->second.deadline > now) {
      ++it;
      continue;
    }
    for (Session* late : it->second.owing) {
      it->second.findings.silent[late->hello().host_id] = "has not answered in time";
      (void)late->Send(TraceCancel{it->first}).ok();
    }
    ready.push_back(std::move(it->second));
    it = asked_.erase(it);
  }
  for (Asked& asked : ready) {
    Merge(&asked);
    if (!asked.findings.silent.empty()) ++counters_.incomplete;
    asked.answer(asked.findings);
  }
}

// An analyzer that has more may have them right behind its last one: what is told ends there.
void TraceAsker::Merge(Asked* asked) {
  TraceFindings& findings = asked->findings;
  std::vector<TraceFindings::Found>& all = findings.found;
  std::pair<Nanos, int64_t> end = {INT64_MAX, INT64_MAX};
  for (auto& [name, records] : asked->records) {
    if (findings.answers[name].has_more && !records.empty()) {
      end = std::min(end, PlaceOf(records.back()));
      findings.has_more = true;
    }
    for (TraceRecord& record : records) all.push_back({name, std::move(record)});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return PlaceOf(a.record) < PlaceOf(b.record);
  });
  const TraceWhat what = asked->question.what;
  const bool is_sum =
      what == TraceWhat::kLinks || what == TraceWhat::kCount || what == TraceWhat::kCounter;
  if (is_sum) AddUp(&all);
  size_t count = 0;
  while (count < all.size() && PlaceOf(all[count].record) <= end &&
         (count < asked->question.limit ||
          PlaceOf(all[count].record) == PlaceOf(all[count - 1].record))) {
    ++count;
  }
  findings.has_more |= count < all.size();
  all.resize(count);
}

}  // namespace trumpet
