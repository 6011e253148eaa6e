// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/analyzer_collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <variant>

#include "lib/wire/limits.h"
#include "lib/wire/slice_codec.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 100 * kNanosPerMilli;
constexpr size_t kMaxAnswerBytes = 64 * 1024 * 1024;
constexpr int kMaxAnswerDepth = 16;

using Json = nlohmann::ordered_json;

// An object that names its analyzer; nothing if it is none, or nested deeper than whoever prints it
// may go.  Answers may be far larger than documents are, so there is no tree of it besides.
std::optional<Json> ReadAnswer(const std::string& text) {
  bool is_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, Json&) {
    is_deep |= depth > kMaxAnswerDepth;
    return !is_deep;
  };
  Json json = Json::parse(text, look, false);
  if (is_deep || !json.is_object()) return std::nullopt;
  const auto name = json.find("analyzer");
  if (name == json.end() || !name->is_string()) return std::nullopt;
  return json;
}

}  // namespace

AnalyzerCollector::AnalyzerCollector(event_base* base, const AnalyzerCollectorOptions& options,
                                     const WireClock& clock, Log log)
    : base_(base),
      options_(options),
      clock_(clock),
      log_(std::move(log)),
      concluder_(base, [this] { Conclude(); }),
      ticker_(base, [this] { Conclude(); }) {
  ticker_.RunEvery(kTick);
}

AnalyzerCollector::~AnalyzerCollector() = default;

Result<uint16_t> AnalyzerCollector::Listen(const Address& address, TlsContext* tls) {
  auto listener = Listener::Listen(base_, address, tls, options_.listener, clock_, this);
  if (!listener.ok()) return listener.status();
  listeners_.push_back(std::move(*listener));
  return listeners_.back()->port();
}

void AnalyzerCollector::Stop() {
  is_stopping_ = true;
  const std::set<Session*> analyzers = analyzers_;
  for (Session* session : analyzers) session->Close(ByeReason::kShuttingDown, "");
  for (auto& [number, question] : questions_) question.deadline = 0;
  Conclude();
}

// --- Sessions ---

std::optional<Refusal> AnalyzerCollector::OnHello(Session* session, const Hello& hello,
                                                  HelloReply* reply) {
  if (is_stopping_) return Refusal{RefusalReason::kShuttingDown, ""};
  if ((hello.capabilities & kCapabilityAnalyzer) == 0) {
    return Refusal{RefusalReason::kNotAllowed, "this port is for analyzers"};
  }
  if (options_.binds_names_to_certificates && session->peer().is_authenticated &&
      !session->peer().IsOf(hello.host_id)) {
    return Refusal{RefusalReason::kNotAllowed, "the certificate of '" +
                                                   session->peer().common_name +
                                                   "' is not that of '" + hello.host_id + "'"};
  }
  if (analyzers_.size() >= options_.max_analyzers) {
    return Refusal{RefusalReason::kTooMany,
                   "there are " + std::to_string(options_.max_analyzers) + " analyzers"};
  }
  for (const Session* other : analyzers_) {
    if (other->hello().host_id != hello.host_id) continue;
    return Refusal{RefusalReason::kDuplicateHost, "'" + hello.host_id + "' is connected"};
  }
  reply->capabilities &= kCapabilityAnalyzer | kCapabilityPacketFiles | kCapabilityTraces |
                         kCapabilityTraceCounters | kCapabilityTraceSent;
  reply->controller_id = options_.controller_id;
  reply->controller_name = options_.name;
  return std::nullopt;
}

void AnalyzerCollector::OnEstablished(Session* session) {
  log_("info", "analyzer " + session->hello().host_id + ": connected");
  analyzers_.insert(session);
  std::vector<ExpectedSlice> slices;
  for (const auto& [tag, slice] : expected_) slices.push_back(slice);
  SplitExpectSlices(std::move(slices),
                    [session](Message&& message) { (void)session->Send(message).ok(); });
  if (guest_ != nullptr) guest_->OnAnalyzer(session);
}

void AnalyzerCollector::OnClosed(Session* session, CloseCause cause, const std::string& text) {
  if (analyzers_.erase(session) == 0) return;
  log_("warn", "analyzer " + session->hello().host_id + ": " + CloseCauseName(cause) +
                   (text.empty() ? "" : ": " + text));
  for (auto& [number, question] : questions_) question.owing.erase(session);
  if (guest_ != nullptr) guest_->OnAnalyzerGone(session);
  concluder_.RunSoon();
}

void AnalyzerCollector::OnMessage(Session* session, Message message) {
  if (const auto* tallies = std::get_if<SliceTallies>(&message)) {
    Take(session, *tallies);
  } else if (const auto* part = std::get_if<RunAnswer>(&message)) {
    Take(session, *part);
  } else if (auto* records = std::get_if<PacketRecords>(&message)) {
    Take(session, std::move(*records));
  } else if (auto* piece = std::get_if<PacketFilePiece>(&message)) {
    Take(session, std::move(*piece));
  } else if (guest_ != nullptr) {
    guest_->OnAnalyzerMessage(session, message);
  }
}

// --- Questions ---

void AnalyzerCollector::Expect(const std::vector<ExpectedSlice>& slices) {
  for (const ExpectedSlice& slice : slices) expected_[slice.tag] = slice;
  const std::set<Session*> analyzers = analyzers_;
  SplitExpectSlices(slices, [&](Message&& message) {
    for (Session* session : analyzers) {
      const Status sent = session->Send(message);
      if (!sent.ok()) log_("err", "analyzer " + session->hello().host_id + ": " + sent.message());
    }
  });
}

void AnalyzerCollector::Ask(Question question, const std::set<Session*>& whom,
                            const MakeMessage& make) {
  const uint64_t number = next_number_++;
  const bool is_run = question.run != 0;
  question.deadline =
      clock_.MonotonicNow() + (is_run ? options_.finish_patience : options_.patience);
  question.owing = whom;
  const auto asked = questions_.emplace(number, std::move(question)).first;
  const std::set<Session*> sessions = whom;
  for (Session* session : sessions) {
    const Status sent = session->Send(make(number));
    if (!sent.ok()) asked->second.owing.erase(session);
  }
  concluder_.RunSoon();
}

void AnalyzerCollector::AskTallies(const std::vector<uint32_t>& tags, Tallies answer) {
  Question question;
  question.tags = {tags.begin(), tags.end()};
  question.done = [answer = std::move(answer)](Question* asked, const Status& status) {
    if (!status.ok()) return answer(status);
    std::vector<SliceTally> tallies;
    for (auto& [key, tally] : asked->tallies) tallies.push_back(std::move(tally));
    answer(tallies);
  };
  Ask(std::move(question), [&](uint64_t number) { return TallyRequest{number, tags}; });
}

void AnalyzerCollector::SetLatencies(uint64_t run, const std::vector<CopyLatency>& latencies) {
  latencies_[run] = latencies;
}

void AnalyzerCollector::Finish(uint64_t run,
                               std::function<void(const Result<std::string>&)> answer) {
  Question question;
  question.run = run;
  question.done = [run, answer = std::move(answer)](Question* asked, const Status& status) {
    if (!status.ok()) return answer(status);
    TellAnswer(run, *asked, answer);
  };
  FinishRun finish{run, std::move(latencies_[run])};
  latencies_.erase(run);
  for (auto it = expected_.begin(); it != expected_.end();) {
    it = it->second.run == run ? expected_.erase(it) : std::next(it);
  }
  Ask(std::move(question), [&](uint64_t) { return finish; });
}

void AnalyzerCollector::AskPackets(uint32_t tag, uint64_t first, uint32_t max_packets,
                                   Packets answer) {
  const auto merge = [answer = std::move(answer)](const Result<PacketsOfAnalyzers>& packets) {
    if (!packets.ok()) return answer(packets.status());
    std::vector<PacketRecord> all;
    for (const auto& [analyzer, records] : *packets) {
      all.insert(all.end(), records.begin(), records.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const PacketRecord& a, const PacketRecord& b) { return a.time < b.time; });
    answer(std::move(all));
  };
  AskPacketsOfAnalyzers(tag, first, max_packets, merge);
}

void AnalyzerCollector::AskPacketsOfAnalyzers(
    uint32_t tag, uint64_t first, uint32_t max_packets,
    std::function<void(const Result<PacketsOfAnalyzers>&)> answer) {
  Question question;
  question.max_packets = max_packets;
  question.done = [answer = std::move(answer)](Question* asked, const Status& status) {
    if (!status.ok()) return answer(status);
    answer(std::move(asked->packets));
  };
  Ask(std::move(question), [&](uint64_t number) {
    return PacketsRequest{number, tag, first, max_packets};
  });
}

Session* AnalyzerCollector::FindSession(const std::string& name) const {
  const auto found =
      std::find_if(analyzers_.begin(), analyzers_.end(),
                   [&](const Session* session) { return session->hello().host_id == name; });
  return found == analyzers_.end() ? nullptr : *found;
}

std::vector<std::string> AnalyzerCollector::Keepers() const {
  std::vector<std::string> names;
  for (const AnalyzerView& view : Analyzers()) names.push_back(view.name);
  return names;
}

void AnalyzerCollector::AskPacketFile(const std::string& keeper, uint64_t run,
                                      const PacketFilePlace& from, Piece answer) {
  std::set<Session*> whom;
  std::string why = "is not connected";
  if (Session* const session = FindSession(keeper)) {
    const bool is_able = (session->capabilities() & kCapabilityPacketFiles) != 0;
    if (is_able) whom = {session};
    why = is_able ? "has gone, or does not answer" : "is too old to hand out packets";
  }
  Question question;
  question.done = [keeper, why, answer = std::move(answer)](Question* asked, const Status&) {
    const auto& piece = asked->piece;
    if (piece && piece->error.empty()) return answer(*piece);
    answer(Status::Error("analyzer '" + keeper + "'" + (piece ? ": " + piece->error : " " + why)));
  };
  Ask(std::move(question), whom, [&](uint64_t number) {
    return PacketFileRequest{number, run, from, kMaxPacketFileBytes};
  });
}

// --- Answers ---

std::optional<Nanos> AnalyzerCollector::ClockError() const {
  Nanos worst = 0;
  for (const Session* session : analyzers_) {
    if (!session->clock_estimate().has_estimate()) return std::nullopt;
    worst = std::max(worst, session->clock_estimate().BoundAt(clock_.MonotonicNow()));
  }
  return worst;
}

// By our clock; instants of 0 say nothing.
Nanos AnalyzerCollector::OurTime(const Session& session, Nanos theirs) const {
  const ClockEstimate& estimate = session.clock_estimate();
  if (theirs == 0 || !estimate.has_estimate()) return theirs;
  return theirs - estimate.OffsetAt(clock_.MonotonicNow());
}

// End if nobody has asked that analyzer, or it has answered.
AnalyzerCollector::Questions::iterator AnalyzerCollector::FindQuestion(uint64_t number,
                                                                       Session* session) {
  const auto question = questions_.find(number);
  const bool is_owed = question != questions_.end() && question->second.owing.count(session) != 0;
  return is_owed ? question : questions_.end();
}

// Whether an analyzer that was asked may have such a tally; there are so many of them, and no more.
bool AnalyzerCollector::IsAskedFor(const Question& question, const SliceTally& tally) const {
  const auto slice = expected_.find(tally.tag);
  if (question.tags.count(tally.tag) == 0 || slice == expected_.end()) return false;
  const std::vector<std::string>& locations = slice->second.locations;
  return std::find(locations.begin(), locations.end(), tally.switch_name) != locations.end();
}

void AnalyzerCollector::Take(Session* session, const SliceTallies& tallies) {
  const auto question = FindQuestion(tallies.number, session);
  if (question == questions_.end()) return;
  for (const SliceTally& tally : tallies.tallies) {
    if (IsAskedFor(question->second, tally)) AddTally(session, tally, &question->second);
  }
  if (tallies.is_last) Answered(question, session);
}

void AnalyzerCollector::AddTally(Session* session, const SliceTally& tally,
                                 Question* question) const {
  const auto [entry, is_new] = question->tallies.try_emplace({tally.tag, tally.switch_name}, tally);
  SliceTally& sum = entry->second;
  const Nanos first = OurTime(*session, tally.first);
  const Nanos last = OurTime(*session, tally.last);
  if (is_new) {
    sum.first = first;
    sum.last = last;
    return;
  }
  sum.packets += tally.packets;
  sum.bytes += tally.bytes;
  sum.copy_bytes += tally.copy_bytes;
  sum.first = std::min(sum.first, first);
  sum.last = std::max(sum.last, last);
}

void AnalyzerCollector::Take(Session* session, const RunAnswer& part) {
  const auto question = std::find_if(questions_.begin(), questions_.end(), [&](const auto& entry) {
    return entry.second.run == part.run && part.run != 0 && entry.second.owing.count(session) != 0;
  });
  if (question == questions_.end()) return;
  std::string& text = question->second.texts[session];
  if (text.size() + part.text.size() > kMaxAnswerBytes) {
    question->second.texts.erase(session);
    log_("err", "analyzer " + session->hello().host_id + ": its answer has no end");
    return Answered(question, session);
  }
  text += part.text;
  if (part.is_last) Answered(question, session);
}

void AnalyzerCollector::Take(Session* session, PacketRecords records) {
  const auto question = FindQuestion(records.number, session);
  if (question == questions_.end()) return;
  std::vector<PacketRecord>& packets = question->second.packets[session->hello().host_id];
  for (PacketRecord& record : records.records) {
    if (packets.size() >= question->second.max_packets) break;
    record.time = OurTime(*session, record.time);
    packets.push_back(std::move(record));
  }
  if (records.is_last) Answered(question, session);
}

void AnalyzerCollector::Take(Session* session, PacketFilePiece piece) {
  const auto question = FindQuestion(piece.number, session);
  if (question == questions_.end()) return;
  question->second.piece = std::move(piece);
  Answered(question, session);
}

void AnalyzerCollector::Answered(Questions::iterator question, Session* session) {
  question->second.owing.erase(session);
  if (question->second.owing.empty()) concluder_.RunSoon();
}

// Tells the answers that are complete, or have waited long enough.
void AnalyzerCollector::Conclude() {
  const Nanos now = clock_.MonotonicNow();
  std::vector<Question> ready;
  for (auto it = questions_.begin(); it != questions_.end();) {
    if (!it->second.owing.empty() && it->second.deadline > now) {
      ++it;
      continue;
    }
    for (Session* late : it->second.owing) it->second.texts.erase(late);  // half an answer is none
    ready.push_back(std::move(it->second));
    it = questions_.erase(it);
  }
  for (Question& question : ready) {
    const bool is_any_there = !analyzers_.empty() && !is_stopping_;
    question.done(&question,
                  is_any_there ? Status::Ok() : Status::Error("no analyzer is connected"));
  }
}

void AnalyzerCollector::TellAnswer(uint64_t run, const Question& question,
                                   const std::function<void(const Result<std::string>&)>& answer) {
  Json told = {{"run", run}, {"analyzers", Json::array()}};
  for (const auto& [session, text] : question.texts) {
    if (auto one = ReadAnswer(text)) told["analyzers"].push_back(std::move(*one));
  }
  if (told["analyzers"].empty()) {
    return answer(Status::Error("no analyzer has answered for run " + std::to_string(run)));
  }
  answer(told.dump(-1, ' ', true));
}

std::vector<AnalyzerView> AnalyzerCollector::Analyzers() const {
  std::vector<AnalyzerView> views;
  const Nanos now = clock_.MonotonicNow();
  for (const Session* session : analyzers_) {
    AnalyzerView view{session->hello().host_id, session->peer_address(), 0, 0,
                      session->last_heard_at()};
    if (session->clock_estimate().has_estimate()) {
      view.clock_ahead = session->clock_estimate().OffsetAt(now);
      view.clock_error = session->clock_estimate().BoundAt(now);
    }
    views.push_back(std::move(view));
  }
  std::sort(views.begin(), views.end(),
            [](const AnalyzerView& a, const AnalyzerView& b) { return a.name < b.name; });
  return views;
}

}  // namespace trumpet
