// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/live_traces.h"

#include <ctime>
#include <memory>
#include <utility>

#include "controller/store/clickhouse_trace_store.h"
#include "controller/traces/trace_network.h"
#include "controller/traces/trace_text.h"

namespace trumpet {
namespace {

constexpr Nanos kAdvanceEvery = 50 * kNanosPerMilli;
constexpr size_t kTracesAtATime = 4096;  // then others have their turn
// At most, of what the controller tells of switches.
constexpr Nanos kOnItsWay = 200 * kNanosPerMilli;
constexpr Nanos kWriteEvery = kNanosPerSecond;
constexpr Nanos kRuleWindow = 60 * kNanosPerSecond;
constexpr Nanos kWriteFaultsAfter = 200 * kNanosPerMilli;
constexpr size_t kCountedAtATime = 16384;  // sums of named counters, before they are written
constexpr Nanos kExpireCounters = 600 * kNanosPerSecond;

Nanos MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

template <typename T>
Result<std::unique_ptr<TraceStore>> Made(Result<std::unique_ptr<T>> store) {
  if (!store.ok()) return store.status();
  return std::unique_ptr<TraceStore>(std::move(*store));
}

Result<std::unique_ptr<TraceStore>> OpenStore(const LiveTracesOptions& options, Nanos now) {
  if (options.servers.empty()) return Made(SqliteTraceStore::Open(options.store, now));
  auto place = ParseClickHousePlace(options.servers);
  if (!place.ok()) return place.status();
  ClickHouseTraceStoreOptions servers;
  servers.place = std::move(*place);
  servers.spool_folder = options.store.folder + "/spool";
  servers.max_spool_bytes = options.max_spool_bytes;
  servers.max_age = options.store.max_age;
  servers.max_bytes = options.store.max_bytes;
  return Made(ClickHouseTraceStore::Open(servers, now));
}

}  // namespace

Result<std::unique_ptr<LiveTraces>> LiveTraces::Open(event_base* base,
                                                     const LiveTracesOptions& options,
                                                     std::function<Nanos()> unix_now, Log log) {
  auto store = OpenStore(options, unix_now());
  if (!store.ok()) return store.status();
  const Status told = SaveTraceServers(options.store.folder, options.servers);
  if (!told.ok()) return told;
  auto answers = OpenTraceReader(options.store.folder);
  if (!answers.ok()) return answers.status();
  LiveTracesOptions known = options;
  if (options.takes_network) {
    // Until it is told again.
    auto switches = LoadSwitchBook(options.store.folder);
    if (!switches.ok()) return switches.status();
    known.switches = std::move(*switches);
  }
  const Status saved = SaveSwitchBook(known.switches, options.store.folder);
  if (!saved.ok()) return saved;
  auto counter_file = CounterFile::Open(options.store.folder);
  if (!counter_file.ok()) return counter_file.status();
  std::unique_ptr<LiveTraces> traces(new LiveTraces(
      base, known, std::move(unix_now), std::move(*store), std::move(*answers), std::move(log)));
  traces->counter_file_ = std::move(*counter_file);
  traces->TakeCounters(LoadCounterText(options.store.folder));
  return traces;
}

LiveTraces::LiveTraces(event_base* base, const LiveTracesOptions& options,
                       std::function<Nanos()> unix_now, std::unique_ptr<TraceStore> store,
                       std::unique_ptr<TraceReader> answers, Log log)
    : options_(options),
      unix_now_(std::move(unix_now)),
      log_(std::move(log)),
      switches_(options_.switches),
      routes_(options_.topology, switches_),
      maker_(options_.maker, routes_, [this](const TraceReport& report) { Tell(report); }),
      rules_(options_.maker.copies.seed, kRuleWindow),
      store_(std::move(store)),
      answers_(std::move(answers)),
      writer_(base, kMaxBatches),
      reader_(base, kMaxQuestions),
      advance_(base, [this] { Advance(); }),
      write_(base, [this] { Write(); }),
      write_faults_(base, [this] { WriteFaults(); }) {
  advance_.RunEvery(kAdvanceEvery);
  write_.RunEvery(kWriteEvery);
}

LiveTraces::~LiveTraces() {
  is_ending_ = true;
  maker_.Finish();
  Write();
}

void LiveTraces::Take(const TimedFrame* frames, size_t count, bool* is_taken) {
  maker_.TakeFrames(frames, count, is_taken);
  for (size_t i = count; i-- > 0;) {
    if (!is_taken[i]) continue;
    frame_time_ = frames[i].time;
    has_new_frames_ = true;
    break;
  }
}

bool LiveTraces::Take(const Frame& frame, Nanos time) {
  const TimedFrame timed{time, frame};
  bool is_taken = false;
  Take(&timed, 1, &is_taken);
  return is_taken;
}

void LiveTraces::Tell(const TraceReport& report) {
  links_.Add(report);
  named_.Add(report);
  lengths_.Add(report);
  rules_.Add(report);
  if (report.is_kept) {
    waiting_.push_back(
        ToStored(report, switches_, lengths_.Before(report), rules_.TruncatedTo(report)));
    if (on_kept_) on_kept_(waiting_.back());
    const TraceFault fault = report.pass->fault;
    const bool is_fault = fault == TraceFault::kDropped || fault == TraceFault::kLoop;
    if (is_fault && !std::exchange(has_faults_, true)) write_faults_.RunAfter(kWriteFaultsAfter);
  }
  if (waiting_.size() + links_.size() >= kBatch || named_.size() >= kCountedAtATime) Write();
}

// Frames may lie in the ring for long when there are many: by their own time no trace is told
// before its copies have been looked at.
void LiveTraces::Advance() {
  const Nanos now = MonotonicNow();
  if (has_new_frames_) taken_at_ = now;
  has_new_frames_ = false;
  if (maker_.Advance(frame_time_ + (now - taken_at_), kTracesAtATime)) advance_.RunSoon();
}

// At the end nothing is withheld: then there is no more than the table of traces.
bool LiveTraces::Give(LoopWorker::Job job) {
  if (!is_ending_) return writer_.Do(std::move(job));
  writer_.DoInAnyCase(std::move(job));
  return true;
}

// Whoever looks for them does not wait for the sums of a second.
void LiveTraces::WriteFaults() {
  if (!std::exchange(has_faults_, false) || waiting_.empty()) return;
  const size_t count = waiting_.size();
  const bool is_taken = Give([this, traces = std::exchange(waiting_, {}), now = unix_now_()] {
    const TraceStoreCounters before = store_->counters();
    const Status status = store_->Append(traces, now);
    const TraceStoreCounters store = store_->counters();
    return [this, status, before, store] {
      counters_.stored += store.written - before.written;
      Note(store.refused - before.refused, 0, status, store);
    };
  });
  if (!is_taken) NoteSlowDisk(count, 0);
}

void LiveTraces::NoteSlowDisk(size_t traces, size_t links) {
  Note(traces, links, Status::Error("the disk is too slow for the traces"), counters_.store);
}

void LiveTraces::Write() {
  std::vector<LinkCounters> links = links_.TakeAll();
  std::vector<CounterRow> sums = named_.TakeAll();
  const size_t trace_count = waiting_.size();
  const size_t link_count = links.size();
  const size_t sum_count = sums.size();
  const bool is_taken = Give([this, traces = std::move(waiting_), links = std::move(links),
                              sums = std::move(sums), now = unix_now_()] {
    Status status = Status::Ok();
    const auto note = [&status](Status one) {
      const bool is_done = one.ok();
      if (!is_done) status = std::move(one);
      return is_done;
    };
    const TraceStoreCounters before = store_->counters();
    if (!traces.empty()) note(store_->Append(traces, now));
    if (!links.empty()) note(store_->AppendCounters(links, now));
    const size_t lost = sums.empty() || note(counter_file_->Append(sums)) ? 0 : sums.size();
    note(store_->Expire(now));
    if (now - counters_expired_at_ >= kExpireCounters) {
      note(counter_file_->Expire(now, options_.store.max_age));
      counters_expired_at_ = now;
    }
    const TraceStoreCounters store = store_->counters();
    return [this, status, before, store, lost] {
      counters_.stored += store.written - before.written;
      counters_.sums_not_stored += lost;
      Note(store.refused - before.refused, store.refused_links - before.refused_links, status,
           store);
    };
  });
  waiting_.clear();
  has_faults_ = false;
  if (!is_taken) {
    counters_.sums_not_stored += sum_count;
    NoteSlowDisk(trace_count, link_count);
  }
}

// An error is told once, until there is none or another.
void LiveTraces::Note(size_t traces, size_t links, const Status& status,
                      const TraceStoreCounters& store) {
  counters_.not_stored += traces;
  counters_.links_not_stored += links;
  counters_.store = store;
  const std::string error = status.ok() ? "" : status.message();
  if (error == told_error_) return;
  told_error_ = error;
  if (error.empty()) {
    log_("info", "traces are stored again");
  } else {
    log_("err", "traces are not stored: " + error);
  }
}

void LiveTraces::SetNetwork(std::string text) {
  writer_.DoInAnyCase([this, text = std::move(text), now = unix_now_()]() -> LoopWorker::Then {
    auto told = ParseToldNetwork(text);
    auto network = told.ok() ? MakeNetwork(*told) : told.status();
    if (!network.ok()) {
      return [this, status = network.status()] { log_("err", "controller: " + status.message()); };
    }
    return [this, changing = told->changing, rules = told->rules, network = *network, now] {
      maker_.SetChanging(changing, now);
      rules_.Set(rules);
      if (network == nullptr) return;
      switches_ = std::move(network->switches);
      // To forget many ways takes long, too.
      writer_.DoInAnyCase([before = std::make_shared<NetworkRoutes>(std::exchange(
                               routes_, std::move(network->routes)))] { return nullptr; });
      TakeCounters(counter_text_);  // the numbers of switches may be others
      log_("info", "controller: told of " + std::to_string(switches_.names().size()) +
                       " switches that copy, and of " + std::to_string(network->host_count) +
                       " hosts");
    };
  });
}

// Null: it is the same as before, or told to somebody else.
Result<LiveTraces::MadeNetwork> LiveTraces::MakeNetwork(const ToldNetwork& told) {
  if (!options_.takes_network) return MadeNetwork();
  ToldNetwork lasting = told;
  lasting.rules.clear();
  lasting.changing.clear();
  std::string text = PrintToldNetwork(lasting);
  if (text == network_text_) return MadeNetwork();
  const Status saved = SaveSwitchBook(told.switches, options_.store.folder);
  if (!saved.ok()) return saved;
  network_text_ = std::move(text);
  return std::make_shared<Network>(Network{
      told.switches, NetworkRoutes(told.topology, told.switches), told.topology.hosts.size()});
}

// Frames are stamped by the clock that `unix_now` tells, unless a card has its own, which then must
// go alike.
void LiveTraces::TakeSent(uint16_t switch_number, uint64_t sent, Nanos asked_ago) {
  const Nanos now = unix_now_();
  maker_.TakeSent(switch_number, sent, now - asked_ago - kOnItsWay, now);
}

void LiveTraces::TakeCounters(const std::string& text) {
  if (text.empty()) return;
  std::vector<std::string> left_out;
  auto counters = ParseNamedCounters(text, switches_, &left_out);
  if (!counters.ok()) return log_("err", "controller: " + counters.message());
  counter_text_ = text;
  named_.Set(std::move(*counters));
  for (const std::string& one : left_out) log_("warn", "counter " + one);
}

void LiveTraces::SetCounters(std::string text) {
  TakeCounters(text);
  if (counter_text_ != text) return;
  writer_.DoInAnyCase([this, text = std::move(text)]() -> LoopWorker::Then {
    const Status saved = SaveCounterText(text, options_.store.folder);
    if (saved.ok()) return nullptr;
    return [this, saved] { log_("err", "counters: " + saved.message()); };
  });
}

template <typename T>
void LiveTraces::Ask(std::function<Result<T>(TraceReader*, TraceReader::Missing*)> look,
                     AnswerOf<T> answer) {
  const bool is_taken = reader_.Do([this, look = std::move(look), answer] {
    TraceReader::Missing missing;
    auto found = look(answers_.get(), &missing);
    std::string text;
    for (const std::string& one : missing) text += (text.empty() ? "" : "; ") + one;
    return [found = std::move(found), text, answer] { answer(found, text); };
  });
  if (is_taken) return;
  ++counters_.questions_refused;
  answer(Status::Error("too many questions about traces at once; try again later"), "");
}

void LiveTraces::Find(const TraceQuery& query, Answer answer, std::function<bool()> may_go_on) {
  const auto look = [query, may_go_on = std::move(may_go_on)](TraceReader* reader,
                                                              TraceReader::Missing* missing) {
    return reader->Find(query, may_go_on, missing);
  };
  Ask<std::vector<StoredTrace>>(look, std::move(answer));
}

void LiveTraces::Estimate(const TraceQuery& query, AnswerOf<TraceCost> answer) {
  const auto look = [query](TraceReader* reader, TraceReader::Missing* missing) {
    return reader->Estimate(query, missing);
  };
  Ask<TraceCost>(look, std::move(answer));
}

void LiveTraces::Count(const CountQuestion& question, bool of_links,
                       AnswerOf<std::vector<TraceRecord>> answer, std::function<bool()> may_go_on) {
  const auto look = [question, of_links, switches = switches_, may_go_on = std::move(may_go_on)](
                        TraceReader* reader, TraceReader::Missing* missing) {
    return of_links ? CountLinks(reader, question, switches, missing)
                    : CountTraces(reader, question, may_go_on, missing);
  };
  Ask<std::vector<TraceRecord>>(look, std::move(answer));
}

void LiveTraces::Count(const CounterQuestion& question, AnswerOf<std::vector<TraceRecord>> answer,
                       std::function<bool()> may_go_on) {
  const auto look = [folder = options_.store.folder, question, may_go_on = std::move(may_go_on)](
                        TraceReader* reader, TraceReader::Missing* missing) {
    return ReadCounters(folder, reader, question, may_go_on, missing);
  };
  LookFor(look, std::move(answer));
}

void LiveTraces::LookFor(Look look, AnswerOf<std::vector<TraceRecord>> answer) {
  Ask<std::vector<TraceRecord>>(std::move(look), std::move(answer));
}

nlohmann::ordered_json LiveTraces::Show() const {
  nlohmann::ordered_json json = ToJson(maker_, switches_);
  json["rules"] = rules_.Show();
  json["store"] = {{"written", counters_.stored},
                   {"not_stored", counters_.not_stored},
                   {"links_not_stored", counters_.links_not_stored},
                   {"sums_not_stored", counters_.sums_not_stored},
                   {"questions_refused", counters_.questions_refused},
                   {"expired_files", counters_.store.expired_files},
                   {"bytes", counters_.store.stored_bytes},
                   {"error", told_error_}};
  if (!options_.servers.empty()) {
    const TraceStoreCounters& store = counters_.store;
    json["store"]["servers"] = {
        {"away", store.servers_away},      {"trouble", store.trouble},
        {"rows_spooled", store.spooled},   {"rows_replayed", store.replayed},
        {"rows_broken", store.spool_lost}, {"spool_bytes", store.spool_bytes}};
  }
  return json;
}

}  // namespace trumpet
