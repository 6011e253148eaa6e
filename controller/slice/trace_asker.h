// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceAsker: the traces that all analyzers have, as one.
//
// A question goes to every analyzer that makes traces, and its answers are merged by time.  It ends
// when all have answered, or its patience does; whoever has not is named, and so are those that
// were here within kMemory and have gone: their traces are missing.
//
// Threads: all on the loop of the controller; answers come from the loop, never from within a call.
// Memory: kMaxQuestions and kMaxWatches at a time, with an answer of each analyzer.

#ifndef TRUMPET_CONTROLLER_SLICE_TRACE_ASKER_H
#define TRUMPET_CONTROLLER_SLICE_TRACE_ASKER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/slice/analyzer_collector.h"
#include "lib/base/loop_event.h"
#include "lib/wire/message.h"

namespace trumpet {

struct TraceQuestion {
  TraceWhat what = TraceWhat::kTraces;  // no watch
  TracePackets packets = TracePackets::kNone;
  std::vector<TraceWord> words;
  size_t limit = 100;  // of all analyzers together
  Nanos patience = 10 * kNanosPerSecond;
};

struct TraceFindings {
  struct Found {
    std::string analyzer;
    TraceRecord record;
  };
  // By start and id.  As many as are known to come before all that is not told, at most the limit
  // (but traces of one id are not torn apart).  What is counted is added up over all analyzers.
  std::vector<Found> found;
  bool has_more = false;
  std::map<std::string, TraceAnswer> answers;  // without their records; by analyzer
  std::map<std::string, std::string> silent;   // analyzers, and why nothing came from them
  std::string wrong;                           // such a thing cannot be asked for
};

struct TraceAskerCounters {
  uint64_t questions = 0;
  uint64_t cancelled = 0;
  uint64_t incomplete = 0;
  uint64_t refused = 0;  // too many at once
};

class TraceAsker final : private AnalyzerGuest {
 public:
  static constexpr size_t kMaxQuestions = 64;
  static constexpr size_t kMaxWatches = 32;
  static constexpr size_t kMaxNetwork = 4 << 20;  // half of what a session's queue holds
  static constexpr Nanos kMemory = 24 * 3600 * kNanosPerSecond;

  using Answer = std::function<void(const TraceFindings&)>;
  // Of one analyzer, as they come; with an error, nothing more comes from it.
  using News = std::function<void(const std::string& analyzer, const TraceAnswer& news)>;

  // `collector` must outlive it.
  TraceAsker(event_base* base, const WireClock& clock, AnalyzerCollector* collector);
  ~TraceAsker() override;
  TraceAsker(const TraceAsker&) = delete;
  TraceAsker& operator=(const TraceAsker&) = delete;

  // 0: there are too many already, and nothing happens.
  uint64_t Ask(TraceQuestion question, Answer answer);
  uint64_t Watch(std::vector<TraceWord> words, TracePackets packets, News news);
  // Of either; nothing is answered then.
  void Cancel(uint64_t number);

  // Told to all analyzers, those that come later, too; what the network is like
  // (controller/traces/trace_network.h).  False: it is longer than kMaxNetwork, and is not told.
  bool SetNetwork(const std::string& text);

  // Likewise; all counters of traces that there are (controller/traces/counter_book.h).  Until it
  // is called, analyzers go on with those that they know.
  bool SetCounters(const std::string& text);

  // Told to the analyzer that gets all copies: the one that is here, if it is one.
  void TellSent(const TraceSent& sent);

  // Analyzers that make traces, which are here.
  size_t analyzer_count() const { return here_.size(); }
  // None is here, nor was any of late.
  bool is_alone() const { return here_.empty() && gone_.empty(); }
  const TraceAskerCounters& counters() const { return counters_; }

 private:
  struct Asked {
    TraceQuestion question;
    Answer answer;
    Nanos deadline = 0;
    std::set<Session*> owing;
    std::map<std::string, std::vector<TraceRecord>> records;
    TraceFindings findings;
  };
  struct Watched {
    std::vector<TraceWord> words;
    TracePackets packets;
    News news;
  };

  void OnAnalyzer(Session* session) override;
  void OnAnalyzerMessage(Session* session, const Message& message) override;
  void OnAnalyzerGone(Session* session) override;

  void Take(Session* session, TraceAnswer answer);
  void Conclude();
  void TellNetwork(Session* session) const;
  void TellCounters(Session* session) const;
  static void Merge(Asked* asked);

  const WireClock& clock_;
  AnalyzerCollector* const collector_;
  std::set<Session*> here_;
  std::map<std::string, Nanos> gone_;  // since when
  std::map<uint64_t, Asked> asked_;
  std::map<uint64_t, Watched> watched_;
  std::string network_;
  std::string counter_text_;
  uint64_t next_number_ = 1;
  TraceAskerCounters counters_;
  LoopEvent concluder_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_TRACE_ASKER_H
