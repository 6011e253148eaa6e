// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/trace_counter_book.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxNameBytes = 64;
constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json WordsJson(const std::vector<TraceWord>& words) {
  Json json = Json::array();
  for (const TraceWord& word : words) json.push_back({word.name, word.value});
  return json;
}

// Another counter of the same name is another one.
uint64_t IdOf(const EventRecord& record) {
  const std::string text =
      record.name + "\n" + std::to_string(record.created_ns) + "\n" + record.definition;
  return HashBytes(text.data(), text.size(), 0);
}

}  // namespace

bool IsTraceCounterName(const std::string& name) {
  const std::string all = std::string(kLetters) + "._-";
  return !name.empty() && name.size() <= kMaxNameBytes &&
         name.find_first_not_of(all) == name.npos && name[0] != '.' && name[0] != '_' &&
         name[0] != '-' && name != "links" && name != "traces";
}

std::string PrintTraceCounterDefinition(const TraceCounterDefinition& definition) {
  return Dump({{"name", definition.name},
               {"step_s", definition.step_s},
               {"words", WordsJson(definition.words)}});
}

Result<TraceCounterDefinition> ParseTraceCounterDefinition(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const bool is_whole = json.is_object() && json.contains("name") && json["name"].is_string() &&
                        json.contains("step_s") && json["step_s"].is_number_unsigned() &&
                        json.contains("words") && json["words"].is_array();
  if (!is_whole) return Status::Error("it is no definition of a counter of traces");
  TraceCounterDefinition definition;
  definition.name = json["name"].get<std::string>();
  const auto step_s = json["step_s"].get<uint64_t>();
  if (!IsTraceCounterName(definition.name)) return Status::Error("its name is none");
  if (step_s == 0 || step_s > TraceCounterBook::kMaxStepSeconds) {
    return Status::Error("step_s takes 1 to " + std::to_string(TraceCounterBook::kMaxStepSeconds));
  }
  definition.step_s = static_cast<uint32_t>(step_s);
  for (const Json& word : json["words"]) {
    if (!word.is_array() || word.size() != 2 || !word[0].is_string() || !word[1].is_string()) {
      return Status::Error("words are pairs of texts");
    }
    definition.words.push_back({word[0].get<std::string>(), word[1].get<std::string>()});
  }
  return definition;
}

std::string PrintTraceCounters(const std::vector<TraceCounterView>& counters) {
  Json list = Json::array();
  for (const TraceCounterView& counter : counters) {
    list.push_back({{"id", counter.id},
                    {"name", counter.definition.name},
                    {"step_s", counter.definition.step_s},
                    {"words", WordsJson(counter.definition.words)}});
  }
  return Dump({{"counters", std::move(list)}});
}

TraceCounterBook::TraceCounterBook(const TraceCounterParts& parts)
    : parts_(parts), later_event_(parts.base, [this] {
        for (const auto& action : std::exchange(later_, {})) action();
      }) {}

TraceCounterBook::~TraceCounterBook() { parts_.store->Stop(); }

void TraceCounterBook::StandBy() {
  parts_.store->Stop();
  is_ready_ = false;
  counters_.clear();
}

void TraceCounterBook::OnEventsLoaded(const StoreIdentity&, std::vector<EventRecord> records) {
  counters_.clear();
  for (const EventRecord& record : records) Take(record);
  Tell();
}

void TraceCounterBook::OnEventsChanged(std::vector<EventChange> changes) {
  for (const EventChange& change : changes) {
    counters_.erase(change.name);
    if (change.put) Take(*change.put);
  }
  Tell();
}

void TraceCounterBook::OnStoreState(StoreState state, const std::string& text) {
  is_ready_ = state == StoreState::kReady;
  store_text_ = text;
}

void TraceCounterBook::Take(const EventRecord& record) {
  auto definition = ParseTraceCounterDefinition(record.definition);
  if (definition.ok() && definition->name != record.name) {
    definition = Status::Error("its definition is of '" + definition->name + "'");
  }
  if (!definition.ok()) {
    return parts_.log("err", "counter '" + record.name + "': " + definition.message());
  }
  if (!record.is_enabled) return;
  counters_[record.name] = {std::move(*definition), IdOf(record), record.tenant, record.created_ns,
                            record.changed_by};
}

void TraceCounterBook::Tell() const {
  std::vector<TraceCounterView> all;
  for (const auto& [name, counter] : counters_) all.push_back(counter);
  parts_.tell(PrintTraceCounters(all));
}

TraceCounterBook::Outcome TraceCounterBook::WhyNot(const std::string& name,
                                                   const std::string& tenant) const {
  if (!is_ready_) return {Refusal::kNotStored, "counters cannot be stored: " + store_text_};
  if (counters_.count(name) != 0) {
    return {Refusal::kExists, "there is a counter '" + name + "' already"};
  }
  if (counters_.size() + adding_ >= kMaxCounters) {
    return {Refusal::kTooMany, "there are " + std::to_string(kMaxCounters) + " counters"};
  }
  const auto of_tenant = std::count_if(counters_.begin(), counters_.end(), [&](const auto& one) {
    return one.second.tenant == tenant;
  });
  if (!tenant.empty() && static_cast<size_t>(of_tenant) + adding_ >= kMaxOfTenant) {
    return {Refusal::kTooMany,
            "a tenant has at most " + std::to_string(kMaxOfTenant) + " counters"};
  }
  return {};
}

void TraceCounterBook::Add(const TraceCounterDefinition& definition, const std::string& tenant,
                           const std::string& caller, Done done) {
  const Outcome refused = WhyNot(definition.name, tenant);
  if (refused.refusal != Refusal::kNone) return Later([refused, done] { done(refused); });
  EventRecord record;
  record.name = definition.name;
  record.tenant = tenant;
  record.definition = PrintTraceCounterDefinition(definition);
  record.created_ns = record.changed_ns = parts_.clock->UnixNow();
  record.changed_by = caller;
  EventChange change;
  change.name = definition.name;
  change.put = std::move(record);
  change.expected_id = 0;
  ++adding_;
  Write(std::move(change), [this, done = std::move(done)](const Outcome& outcome) {
    --adding_;
    done(outcome);
  });
}

void TraceCounterBook::Remove(const std::string& name, Done done) {
  EventChange change;
  change.name = name;
  Write(std::move(change), std::move(done));
}

void TraceCounterBook::Write(EventChange change, Done done) {
  parts_.store->Write({std::move(change)}, [done = std::move(done)](const auto& written) {
    done(written.ok() ? Outcome() : Outcome{Refusal::kNotStored, written.message()});
  });
}

void TraceCounterBook::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

}  // namespace trumpet
