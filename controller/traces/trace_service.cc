// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "controller/analyzer/trace_packet.h"
#include "controller/traces/app_run.h"
#include "controller/traces/arguments.h"
#include "controller/traces/trace_query.h"
#include "controller/traces/trace_text.h"
#include "lib/packet/layers.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr Nanos kNewsEvery = 200 * kNanosPerMilli;

// Up to where the innermost headers end.
size_t HeaderBytes(const std::string& packet, bool is_ip) {
  const auto* const data = reinterpret_cast<const uint8_t*>(packet.data());
  Layers layers;
  ReadLayers(data, static_cast<uint32_t>(packet.size()),
             is_ip ? LayerKind::kIpv4 : LayerKind::kEthernet, LayerOptions(), &layers);
  if (layers.count == 0) return 0;
  const Layer& last = layers.list[static_cast<size_t>(layers.count - 1)];
  return last.at + last.bytes;
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

Json FrameJson(const StoredTrace& trace, TracePackets packets) {
  const bool is_ip = (trace.marks & kMarkIp) != 0;
  const size_t bytes =
      packets == TracePackets::kWhole ? trace.packet.size() : HeaderBytes(trace.packet, is_ip);
  return {{"link", is_ip ? "ip" : "ethernet"},
          {"hex", Hex(std::string_view(trace.packet).substr(0, bytes))}};
}

Status SetStep(const std::string& text, Nanos* step) {
  constexpr uint64_t kDay = 86400;
  const auto seconds = ReadCount("step", text, 1, kDay);
  if (!seconds.ok()) return seconds.status();
  *step = static_cast<Nanos>(*seconds) * kNanosPerSecond;
  return Status::Ok();
}

std::string TextOf(Json json) {
  const auto print = [&] { return json.dump(-1, ' ', true, Json::error_handler_t::replace); };
  std::string text = print();
  // Loops over many switches, and fabrics with very many next hops.
  for (const char* long_one : {"evidence", "path"}) {
    if (text.size() <= kMaxTraceTextBytes) break;
    json[long_one] = nullptr;
    text = print();
  }
  return text;
}

}  // namespace

TraceService::TraceService(event_base* base, LiveTraces* traces, Send send)
    : traces_(traces), send_(std::move(send)), news_(base, [this] { SendNews(); }) {
  traces_->set_on_kept([this](const StoredTrace& trace) { Tell(trace); });
  news_.RunEvery(kNewsEvery);
}

TraceService::~TraceService() {
  Forget();
  traces_->set_on_kept(nullptr);
}

AnalyzerSideline TraceService::Sideline() {
  return {kCapabilityTraces | kCapabilityTraceCounters | kCapabilityTraceSent,
          [this](const Message& message) { Take(message); }, [this] { Forget(); }};
}

void TraceService::Forget() {
  for (auto& [number, flag] : asked_) flag->store(true);
  asked_.clear();
  watches_.clear();
}

void TraceService::Take(const Message& message) {
  if (const auto* request = std::get_if<TraceRequest>(&message)) {
    Answer(*request);
  } else if (const auto* cancel = std::get_if<TraceCancel>(&message)) {
    watches_.erase(cancel->number);
    const auto asked = asked_.find(cancel->number);
    if (asked != asked_.end()) asked->second->store(true);
  } else if (const auto* part = std::get_if<TraceNetwork>(&message)) {
    if (!network_.Take(part->part, part->is_last, part->text)) return;
    traces_->SetNetwork(std::exchange(network_.text, {}));
  } else if (const auto* piece = std::get_if<TraceCounters>(&message)) {
    if (!counters_.Take(piece->part, piece->is_last, piece->text)) return;
    traces_->SetCounters(std::exchange(counters_.text, {}));
  } else if (const auto* sent = std::get_if<TraceSent>(&message)) {
    traces_->TakeSent(sent->switch_number, sent->sent, sent->asked_ago);
  }
}

// Parts come in order; what does not is no part of anything.
bool TraceService::Parts::Take(uint32_t part, bool is_last, const std::string& more) {
  if (part == 0) text.clear();
  if (part != 0 && part != next) return false;
  text += more;
  next = is_last ? 0 : part + 1;
  return is_last;
}

void TraceService::Answer(const TraceRequest& request) {
  if (request.what == TraceWhat::kCounter) return AnswerCounter(request);
  if (request.what == TraceWhat::kApp) return AnswerApp(request);
  CountQuestion question;
  TraceQuery& query = question.query;
  const bool is_count = request.what == TraceWhat::kLinks || request.what == TraceWhat::kCount;
  for (const TraceWord& word : request.words) {
    const Status set = is_count && word.name == "step"
                           ? SetStep(word.value, &question.step)
                           : SetTraceQuery(word.name, word.value, traces_->switches(), &query);
    if (!set.ok()) return Fail(request.number, set.message(), true);
  }
  query.limit = std::min(query.limit, kMaxTraceRecords);
  if (is_count) return Count(request, std::move(question));
  if (request.what == TraceWhat::kTraces) return Find(request, std::move(query));
  if (request.what == TraceWhat::kEstimate) return Estimate(request.number, query);
  if (watches_.size() >= kMaxWatches) {
    return Fail(request.number, "traces are watched by too many already", false);
  }
  TraceAnswer answer;
  answer.number = request.number;
  answer.has_more = true;
  send_(answer);  // the watch has begun
  watches_[request.number] = {std::move(query), request.packets, answer, 0};
}

void TraceService::Find(const TraceRequest& request, TraceQuery query) {
  const size_t limit = query.limit++;  // one more says whether there are more
  const auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  asked_[request.number] = is_cancelled;
  traces_->Find(
      query,
      [=, number = request.number, packets = request.packets](const auto& found,
                                                              const std::string& missing) {
        asked_.erase(number);
        if (is_cancelled->load()) return;
        if (!found.ok()) return Fail(number, found.message(), false);
        TraceAnswer answer = ToAnswer(number, packets, *found, limit);
        answer.error = ToWireText(missing, kMaxLongTextBytes);
        send_(answer);
      },
      [is_cancelled] { return !is_cancelled->load(); });
}

std::function<void(const TraceService::Records&, const std::string& missing)>
TraceService::Answerer(uint64_t number, size_t limit, const Flag& flag) {
  return [=](const Records& counted, const std::string& missing) {
    asked_.erase(number);
    if (flag->load()) return;
    if (!counted.ok()) return Fail(number, counted.message(), false);
    TraceAnswer told;
    told.number = number;
    size_t bytes = 0;
    for (const TraceRecord& record : *counted) {
      bytes += record.text.size();
      if (told.records.size() == limit || bytes > kMaxAnswerBytes) break;
      told.records.push_back(record);
    }
    told.has_more = told.records.size() < counted->size();
    told.error = ToWireText(missing, kMaxLongTextBytes);
    send_(told);
  };
}

void TraceService::Count(const TraceRequest& request, CountQuestion question) {
  const size_t limit = question.query.limit++;
  const auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  asked_[request.number] = is_cancelled;
  traces_->Count(question, request.what == TraceWhat::kLinks,
                 Answerer(request.number, limit, is_cancelled),
                 [is_cancelled] { return !is_cancelled->load(); });
}

void TraceService::AnswerCounter(const TraceRequest& request) {
  CounterQuestion question;
  TraceQuery& query = question.query;
  for (const TraceWord& word : request.words) {
    Status set = Status::Ok();
    if (word.name == "step") {
      set = SetStep(word.value, &question.step);
    } else if (word.name == "counter") {
      const auto id = ReadCount("counter", word.value, 0, UINT64_MAX);
      if (id.ok()) question.counter = *id;
      set = id.status();
    } else {
      set = SetTraceQuery(word.name, word.value, traces_->switches(), &query);
    }
    if (!set.ok()) return Fail(request.number, set.message(), true);
  }
  const size_t limit = std::min(query.limit, kMaxTraceRecords);
  query.limit = limit + 1;
  const auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  asked_[request.number] = is_cancelled;
  traces_->Count(question, Answerer(request.number, limit, is_cancelled),
                 [is_cancelled] { return !is_cancelled->load(); });
}

// A finding is a record, in their order.
void TraceService::AnswerApp(const TraceRequest& request) {
  AppQuestion question;
  for (const TraceWord& word : request.words) {
    if (word.name == "limit") continue;  // it is all or none
    const Status set = SetAppWord(word.name, word.value, traces_->switches(), &question);
    if (!set.ok()) return Fail(request.number, set.message(), true);
  }
  const Status checked = CheckApp(question);
  if (!checked.ok()) return Fail(request.number, checked.message(), true);
  question.query.limit = kMaxAppTraces;
  const auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  asked_[request.number] = is_cancelled;
  const auto look = [question, is_cancelled, switches = traces_->switches()](
                        TraceReader* reader, TraceReader::Missing* missing) -> Records {
    const auto findings = RunApp(
        reader, question, /*is_cut_wrong=*/true, switches,
        [is_cancelled] { return !is_cancelled->load(); }, missing);
    if (!findings.ok()) return findings.status();
    std::vector<TraceRecord> records;
    for (const Json& finding : *findings) {
      const auto place = static_cast<Nanos>(records.size());
      records.push_back({place, 0, finding.dump(-1, ' ', true, Json::error_handler_t::replace)});
      if (records.back().text.size() > kMaxTraceTextBytes) records.pop_back();
    }
    return records;
  };
  traces_->LookFor(look, Answerer(request.number, kMaxTraceRecords, is_cancelled));
}

void TraceService::Estimate(uint64_t number, const TraceQuery& query) {
  const auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  asked_[number] = is_cancelled;
  traces_->Estimate(query, [=](const Result<TraceCost>& cost, const std::string& missing) {
    asked_.erase(number);
    if (is_cancelled->load()) return;
    if (!cost.ok()) return Fail(number, cost.message(), false);
    TraceAnswer answer;
    answer.number = number;
    answer.files = cost->files;
    answer.traces = cost->traces;
    answer.bytes = cost->bytes;
    answer.error = ToWireText(missing, kMaxLongTextBytes);
    send_(answer);
  });
}

void TraceService::Fail(uint64_t number, const std::string& why, bool is_wrong) {
  TraceAnswer answer;
  answer.number = number;
  answer.error = ToWireText(why, kMaxLongTextBytes);
  answer.is_wrong = is_wrong;
  send_(answer);
}

TraceRecord TraceService::RecordOf(const StoredTrace& trace, TracePackets packets) const {
  Json json = ToJson(trace, traces_->switches());
  if (packets != TracePackets::kNone) json["frame"] = FrameJson(trace, packets);
  return {trace.start, trace.id, TextOf(std::move(json))};
}

bool TraceService::Add(TraceRecord record, TraceAnswer* answer, size_t* bytes) {
  const bool fits =
      answer->records.size() < kMaxTraceRecords && *bytes + record.text.size() <= kMaxAnswerBytes;
  if (!fits) return false;
  *bytes += record.text.size();
  answer->records.push_back(std::move(record));
  return true;
}

TraceAnswer TraceService::ToAnswer(uint64_t number, TracePackets packets,
                                   const std::vector<StoredTrace>& found, size_t limit) const {
  TraceAnswer answer;
  answer.number = number;
  size_t bytes = 0;
  for (const StoredTrace& trace : found) {
    if (answer.records.size() == limit || !Add(RecordOf(trace, packets), &answer, &bytes)) {
      break;
    }
  }
  answer.has_more = answer.records.size() < found.size();
  return answer;
}

// Once something was left out, so is the rest of the turn: it costs nothing then, and whoever reads
// knows where it is missing.
void TraceService::Tell(const StoredTrace& trace) {
  std::map<TracePackets, TraceRecord> made;
  for (auto& [number, watch] : watches_) {
    if (!IsAskedFor(trace, watch.query)) continue;
    const bool is_full =
        watch.answer.left_out > 0 || watch.answer.records.size() == kMaxTraceRecords;
    if (!is_full && made.count(watch.packets) == 0) {
      made[watch.packets] = RecordOf(trace, watch.packets);
      ++watch_texts_;
    }
    if (is_full || !Add(made[watch.packets], &watch.answer, &watch.bytes)) ++watch.answer.left_out;
  }
}

void TraceService::SendNews() {
  for (auto& [number, watch] : watches_) {
    TraceAnswer& answer = watch.answer;
    if (answer.records.empty() && answer.left_out == 0) continue;
    send_(answer);
    answer.records.clear();
    answer.left_out = 0;
    watch.bytes = 0;
  }
}

}  // namespace trumpet
