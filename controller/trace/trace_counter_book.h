// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceCounterBook: the named counters of traces as users have them: to add, to see, to remove.
// They are stored like trace rules; analyzers, which count, are told all of them whenever they
// change.
//
// What the words of a counter mean only analyzers know: who adds one asks them first.
//
// Threads: one, that of the libevent loop.  Calls back never come from within a call.
// Lifetime: the parts must outlive it.

#ifndef TRUMPET_CONTROLLER_TRACE_TRACE_COUNTER_BOOK_H
#define TRUMPET_CONTROLLER_TRACE_TRACE_COUNTER_BOOK_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/event_store.h"
#include "lib/base/loop_event.h"
#include "lib/wire/trace_message.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

struct TraceCounterDefinition {
  std::string name;
  uint32_t step_s = 10;
  std::vector<TraceWord> words;  // of the filter, then "within" of each prefix of a tenant
};

struct TraceCounterView {
  TraceCounterDefinition definition;
  uint64_t id = 0;  // by which analyzers know it; another one if it is made again
  std::string tenant;
  Nanos created_ns = 0;
  std::string created_by;
};

// Begins with a letter or a digit; these, '.', '_' and '-', 64 at most; and no word of the API.
bool IsTraceCounterName(const std::string& name);
std::string PrintTraceCounterDefinition(const TraceCounterDefinition& definition);
Result<TraceCounterDefinition> ParseTraceCounterDefinition(const std::string& text);
// All of them as analyzers are told (controller/traces/counter_book.h).
std::string PrintTraceCounters(const std::vector<TraceCounterView>& counters);

struct TraceCounterParts {
  event_base* base = nullptr;
  const WireClock* clock = nullptr;
  EventStore* store = nullptr;  // of counters, not of events
  std::function<void(const std::string& text)> tell;
  std::function<void(const char* level, const std::string& text)> log;
};

class TraceCounterBook final : private EventStoreListener {
 public:
  static constexpr size_t kMaxCounters = 128;
  static constexpr size_t kMaxOfTenant = 16;
  static constexpr uint32_t kMaxStepSeconds = 3600;

  enum class Refusal : uint8_t { kNone, kExists, kTooMany, kNotStored };
  struct Outcome {
    Refusal refusal = Refusal::kNone;
    std::string why;
  };
  using Done = std::function<void(const Outcome&)>;

  explicit TraceCounterBook(const TraceCounterParts& parts);
  ~TraceCounterBook() override;
  TraceCounterBook(const TraceCounterBook&) = delete;
  TraceCounterBook& operator=(const TraceCounterBook&) = delete;

  // Opens the store; analyzers are told from then on.
  void Start() { parts_.store->Start(this); }
  // Another controller acts now; until Start().
  void StandBy();

  void Add(const TraceCounterDefinition& definition, const std::string& tenant,
           const std::string& caller, Done done);
  void Remove(const std::string& name, Done done);
  // By name.
  const std::map<std::string, TraceCounterView>& counters() const { return counters_; }
  bool is_store_ready() const { return is_ready_; }

 private:
  void OnEventsLoaded(const StoreIdentity& identity, std::vector<EventRecord> records) override;
  void OnEventsChanged(std::vector<EventChange> changes) override;
  void OnStoreState(StoreState state, const std::string& text) override;
  void Take(const EventRecord& record);
  void Tell() const;
  Outcome WhyNot(const std::string& name, const std::string& tenant) const;
  void Write(EventChange change, Done done);
  void Later(std::function<void()> action);

  const TraceCounterParts parts_;
  std::map<std::string, TraceCounterView> counters_;
  size_t adding_ = 0;
  bool is_ready_ = false;
  std::string store_text_ = "not opened yet";
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_TRACE_COUNTER_BOOK_H
