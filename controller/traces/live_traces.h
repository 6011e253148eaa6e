// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LiveTraces: frames as they arrive -> traces, those worth keeping to a store, the rest as sums.
//
// A second after its last copy a trace is told (TraceTable); within another, or a fifth of one if
// the packet was dropped or went round, it is in the store's file, and then survives the process.
// Every copy is in the sums: told in a trace, a duplicate, shed, waiting, or lost.  What the disk
// does not take fast enough is counted, and not kept.
//
// Threads: that of the loop; the store has one that writes and one that answers.  Memory: that of
// the table of traces, and kMaxBatches of kBatch rows towards the disk.  Time: that of the frames,
// which goes on by the loop's clock where none come.

#ifndef TRUMPET_CONTROLLER_TRACES_LIVE_TRACES_H
#define TRUMPET_CONTROLLER_TRACES_LIVE_TRACES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_reader.h"
#include "controller/store/trace_store.h"
#include "controller/traces/counter_book.h"
#include "controller/traces/counter_file.h"
#include "controller/traces/link_book.h"
#include "controller/traces/passed_lengths.h"
#include "controller/traces/rule_sums.h"
#include "controller/traces/switch_book.h"
#include "controller/traces/trace_counts.h"
#include "controller/traces/trace_maker.h"
#include "controller/traces/trace_network.h"
#include "controller/traces/trace_routes.h"
#include "lib/base/loop_event.h"
#include "lib/base/loop_worker.h"

namespace trumpet {

struct LiveTracesOptions {
  TraceMakerOptions maker;
  SqliteTraceStoreOptions store;
  std::string servers;  // "clickhouse:...": the traces are there, and the folder has the spool
  uint64_t max_spool_bytes = uint64_t{1} << 30;
  SwitchBook switches;
  Topology topology;           // without switches: nothing is known of where packets ought to go
  bool takes_network = false;  // from the controller, as SetNetwork() is told
};

struct LiveTracesCounters {
  uint64_t stored = 0;      // traces that are in the store's files, each revision
  uint64_t not_stored = 0;  // too many waited, or the disk refused them
  uint64_t links_not_stored = 0;
  uint64_t sums_not_stored = 0;    // of named counters
  uint64_t questions_refused = 0;  // too many at once
  TraceStoreCounters store;        // when it wrote last
};

class LiveTraces {
 public:
  static constexpr size_t kBatch = 1024;
  static constexpr size_t kMaxBatches = 64;
  static constexpr size_t kMaxQuestions = 16;

  using Log = std::function<void(const char* level, const std::string& text)>;
  // `missing` says which servers have not answered; the rest is told.  Empty: all have.
  template <typename T>
  using AnswerOf = std::function<void(const Result<T>&, const std::string& missing)>;
  using Answer = AnswerOf<std::vector<StoredTrace>>;

  // `unix_now` is for the age of files.
  static Result<std::unique_ptr<LiveTraces>> Open(event_base* base,
                                                  const LiveTracesOptions& options,
                                                  std::function<Nanos()> unix_now, Log log);
  // Tells all traces as they are, and waits until they are stored.
  ~LiveTraces();
  LiveTraces(const LiveTraces&) = delete;
  LiveTraces& operator=(const LiveTraces&) = delete;

  // As they came.  Says of each whether it was taken: copies of slices are not, nor what is no copy
  // at all.
  void Take(const TimedFrame* frames, size_t count, bool* is_taken);
  bool Take(const Frame& frame, Nanos time);
  // Of those in the store; the answer comes from the loop.
  // `may_go_on`, which may be empty, is asked on another thread meanwhile.
  void Find(const TraceQuery& query, Answer answer, std::function<bool()> may_go_on = {});
  void Estimate(const TraceQuery& query, AnswerOf<TraceCost> answer);
  void Count(const CountQuestion& question, bool of_links,
             AnswerOf<std::vector<TraceRecord>> answer, std::function<bool()> may_go_on);
  // Of named counters, or of stored traces what these would have.
  void Count(const CounterQuestion& question, AnswerOf<std::vector<TraceRecord>> answer,
             std::function<bool()> may_go_on);
  // Anything that is found in the store, on another thread.
  using Look = std::function<Result<std::vector<TraceRecord>>(TraceReader*, TraceReader::Missing*)>;
  void LookFor(Look look, AnswerOf<std::vector<TraceRecord>> answer);
  // As counter_book.h has it: from now on these are counted, and no others.  What is no such text
  // changes nothing, and is told to the log.
  void SetCounters(std::string text);
  const CounterBook& named() const { return named_; }
  // As trace_network.h has it: from now on these are the rules, and, with takes_network, packets
  // ought to go so and switches are called so.  What is no such text changes nothing, and is told
  // to the log.
  void SetNetwork(std::string text);
  // A switch says that it has sent so many copies, and was asked so long ago.
  void TakeSent(uint16_t switch_number, uint64_t sent, Nanos asked_ago);
  // Is told each trace that is kept, as it is told; null: nobody.
  void set_on_kept(std::function<void(const StoredTrace&)> on_kept) {
    on_kept_ = std::move(on_kept);
  }

  const SwitchBook& switches() const { return switches_; }
  const TraceMaker& maker() const { return maker_; }
  const LiveTracesCounters& counters() const { return counters_; }
  nlohmann::ordered_json Show() const;

 private:
  struct Network {
    SwitchBook switches;
    NetworkRoutes routes;
    size_t host_count = 0;
  };
  using MadeNetwork = std::shared_ptr<Network>;  // for what is copied on its way to the loop

  LiveTraces(event_base* base, const LiveTracesOptions& options, std::function<Nanos()> unix_now,
             std::unique_ptr<TraceStore> store, std::unique_ptr<TraceReader> answers, Log log);
  void Tell(const TraceReport& report);
  void Advance();
  void Write();
  void WriteFaults();
  void NoteSlowDisk(size_t traces, size_t links);
  bool Give(LoopWorker::Job job);
  template <typename T>
  void Ask(std::function<Result<T>(TraceReader*, TraceReader::Missing*)> look, AnswerOf<T> answer);
  Result<MadeNetwork> MakeNetwork(const ToldNetwork& told);  // on the writer's thread
  void TakeCounters(const std::string& text);
  void Note(size_t traces, size_t links, const Status& status, const TraceStoreCounters& store);

  const LiveTracesOptions options_;
  const std::function<Nanos()> unix_now_;
  const Log log_;
  SwitchBook switches_;
  NetworkRoutes routes_;
  TraceMaker maker_;
  LinkBook links_;
  PassedLengths lengths_;
  RuleSums rules_;
  CounterBook named_;
  std::string counter_text_;
  std::vector<StoredTrace> waiting_;
  std::function<void(const StoredTrace&)> on_kept_;
  LiveTracesCounters counters_;
  std::string told_error_;
  // The time of the last frame, and when it was taken by the loop's clock.
  Nanos frame_time_ = 0;
  Nanos taken_at_ = 0;
  bool has_new_frames_ = false;
  bool has_faults_ = false;  // among those that wait
  bool is_ending_ = false;
  std::unique_ptr<TraceStore> store_;        // the writer's
  std::optional<CounterFile> counter_file_;  // likewise; none while it is opened
  Nanos counters_expired_at_ = 0;            // likewise
  std::string network_text_;                 // likewise; what lasts of the network as it was told
  std::unique_ptr<TraceReader> answers_;     // the reader's
  LoopWorker writer_;
  LoopWorker reader_;
  LoopEvent advance_;
  LoopEvent write_;
  LoopEvent write_faults_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_LIVE_TRACES_H
