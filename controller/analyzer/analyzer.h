// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Analyzer: takes copies, is told by the controller which slices to expect, and answers it.
//
// Threads: that of the libevent loop.  A run is finished in steps of one slice each, with other
// things between them.  Lifetime: `base`, `clock` and `tls` must outlive it.

#ifndef TRUMPET_CONTROLLER_ANALYZER_ANALYZER_H
#define TRUMPET_CONTROLLER_ANALYZER_ANALYZER_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/packet_archive.h"
#include "controller/analyzer/packet_files.h"
#include "controller/analyzer/run_answer.h"
#include "controller/analyzer/slice_book.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/packet/parse.h"
#include "lib/wire/connector.h"

namespace trumpet {

struct AnalyzerOptions {
  std::string name = "analyzer";  // of this one; of no two that serve a controller
  SliceBookOptions book;
  PacketArchiveOptions archive;
  RunAnswerOptions answer;
  ConnectorOptions connector;
  Nanos settle = 50 * kNanosPerMilli;  // from the end of a run, for copies still in the ring
};

struct AnalyzerCounters {
  uint64_t runs_finished = 0;
  uint64_t runs_refused = 0;  // more waited than there is room for
  uint64_t files_written = 0;
  uint64_t file_errors = 0;
};

// What an analyzer does for the controller beside slices.
struct AnalyzerSideline {
  uint64_t capabilities = 0;                 // that go into the hello
  std::function<void(const Message&)> take;  // messages that are none of slices'
  std::function<void()> on_closed;           // the session has ended
};

class Analyzer final : private SessionOwner {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  Analyzer(event_base* base, const AnalyzerOptions& options, const WireClock& clock, Log log);
  ~Analyzer() override;

  // `tls` is null for an address without TLS, and only then.
  Status Connect(const Address& address, TlsContext* tls);
  // Before Connect().
  void Serve(AnalyzerSideline sideline) { sideline_ = std::move(sideline); }
  // To the controller, if it is there.
  void Send(const Message& message);
  // Takes leave of the controller.
  void Stop();

  void TakeFrame(const Frame& frame, Nanos time) { book_.Take(frame, time); }

  const SliceBook& book() const { return book_; }
  const AnalyzerCounters& counters() const { return counters_; }
  // Null before Connect().
  const Connector* connector() const { return connector_.get(); }

 private:
  struct Finishing {
    uint64_t run = 0;
    std::vector<CopyLatency> latencies;
    std::vector<uint32_t> tags;
    size_t step = 0;  // through all tags: CONFINE, MIRROR, files
    std::unique_ptr<RunAnswerMaker> maker;
  };

  Hello MakeHello() override;
  void OnEstablished(Session* session) override;
  void OnMessage(Session* session, Message message) override;
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;

  void Answer(const TallyRequest& request);
  void Answer(const PacketsRequest& request);
  void Answer(const PacketFileRequest& request);
  void Begin(FinishRun finish);
  void Step();
  void WriteFile(const SliceRecord& slice);
  void EndRun();

  event_base* const base_;
  const AnalyzerOptions options_;
  const WireClock& clock_;
  const Log log_;
  const Nanos started_at_;
  SliceBook book_;
  PacketArchive archive_;
  PacketFiles files_;
  AnalyzerSideline sideline_;
  AnalyzerCounters counters_;
  std::string told_end_;  // of the last session, as it stands in the log
  std::deque<Finishing> finishing_;
  LoopEvent step_;
  std::unique_ptr<Connector> connector_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_ANALYZER_H
