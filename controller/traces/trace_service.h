// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceService: answers what the controller asks about live traces (lib/wire/trace_message.h).
//
// A question is answered with as many traces as fit into a message; who wants more asks behind the
// last one.  A watch is told traces as they are kept, several at a time, and how many were left out
// because they came faster than kMaxRecords a turn.  Questions that are cancelled stop in the
// store.
//
// Threads: that of the loop.  Memory: kMaxWatches watches with one answer each.
// Lifetime: `base` and `traces` must outlive it, and it the session.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_SERVICE_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_SERVICE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/traces/live_traces.h"
#include "lib/base/loop_event.h"
#include "lib/wire/message.h"

namespace trumpet {

class TraceService {
 public:
  static constexpr size_t kMaxWatches = 64;
  static constexpr size_t kMaxAnswerBytes = 128 * 1024;
  static constexpr size_t kMaxAppTraces = 200000;  // that an application looks at, in memory

  using Send = std::function<void(const Message&)>;

  TraceService(event_base* base, LiveTraces* traces, Send send);
  ~TraceService();
  TraceService(const TraceService&) = delete;
  TraceService& operator=(const TraceService&) = delete;

  // What an analyzer needs to have its controller served.
  AnalyzerSideline Sideline();

  void Take(const Message& message);
  // Nobody waits for an answer any more.
  void Forget();
  size_t watch_count() const { return watches_.size(); }
  // Made of traces for watches: at most one for each way of showing its packet.
  uint64_t watch_texts() const { return watch_texts_; }

 private:
  struct Watch {
    TraceQuery query;
    TracePackets packets = TracePackets::kNone;
    TraceAnswer answer;  // under way
    size_t bytes = 0;    // of it
  };
  using Flag = std::shared_ptr<std::atomic<bool>>;

  void Answer(const TraceRequest& request);
  void Find(const TraceRequest& request, TraceQuery query);
  void Count(const TraceRequest& request, CountQuestion question);
  // Of a text that comes in parts; true: it is whole.
  struct Parts {
    std::string text;
    uint32_t next = 0;
    bool Take(uint32_t part, bool is_last, const std::string& more);
  };
  using Records = Result<std::vector<TraceRecord>>;

  void AnswerCounter(const TraceRequest& request);
  void AnswerApp(const TraceRequest& request);
  // What answers with records, once they are there.
  std::function<void(const Records&, const std::string& missing)> Answerer(uint64_t number,
                                                                           size_t limit,
                                                                           const Flag& flag);
  void Estimate(uint64_t number, const TraceQuery& query);
  void Fail(uint64_t number, const std::string& why, bool is_wrong);
  void Tell(const StoredTrace& trace);
  void SendNews();
  TraceAnswer ToAnswer(uint64_t number, TracePackets packets, const std::vector<StoredTrace>& found,
                       size_t limit) const;
  TraceRecord RecordOf(const StoredTrace& trace, TracePackets packets) const;
  // False: it has no more room.
  static bool Add(TraceRecord record, TraceAnswer* answer, size_t* bytes);

  LiveTraces* const traces_;
  const Send send_;
  std::map<uint64_t, Flag> asked_;  // true: cancelled
  std::map<uint64_t, Watch> watches_;
  uint64_t watch_texts_ = 0;
  Parts network_;
  Parts counters_;
  LoopEvent news_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_SERVICE_H
