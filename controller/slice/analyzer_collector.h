// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AnalyzerCollector: the analyzers that have connected, as one CopyCollector.
//
// All of them expect all slices; what they counted is added up.  The copies of one packet must
// reach one analyzer, which matches them.  Answers wait for every analyzer that is connected, at
// most AnalyzerCollectorOptions::patience, those of Finish() finish_patience; then those that are
// there count.
//
// Finish() tells {"run": 7, "analyzers": [...]}: an object of each analyzer, as docs/slices.md has
// it.
//
// Threads: that of the libevent loop.  Lifetime: `base`, `clock` and the TlsContext must outlive
// it.

#ifndef TRUMPET_CONTROLLER_SLICE_ANALYZER_COLLECTOR_H
#define TRUMPET_CONTROLLER_SLICE_ANALYZER_COLLECTOR_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/slice/copy_collector.h"
#include "controller/slice/packet_keeper.h"
#include "lib/base/loop_event.h"
#include "lib/wire/listener.h"

namespace trumpet {

struct AnalyzerCollectorOptions {
  std::string name = "trumpet";             // of this controller
  uint64_t controller_id = 1;               // not 0
  bool binds_names_to_certificates = true;  // an analyzer's name must stand in its certificate
  Nanos patience = 10 * kNanosPerSecond;
  // With answers of a run; less than SliceRunOptions::finish_patience, so that those that have come
  // by then are told.
  Nanos finish_patience = 25 * kNanosPerSecond;
  size_t max_analyzers = 64;
  ListenerOptions listener;
};

struct AnalyzerView {
  std::string name;
  std::string address;
  Nanos clock_ahead = 0;  // of ours
  Nanos clock_error = 0;
  Nanos last_heard_at = 0;  // monotonic
};

// Who has a part in the sessions with analyzers, for what is not about slices.
class AnalyzerGuest {
 public:
  virtual ~AnalyzerGuest() = default;
  virtual void OnAnalyzer(Session* session) = 0;
  // A message that is none of slices'.
  virtual void OnAnalyzerMessage(Session* session, const Message& message) = 0;
  virtual void OnAnalyzerGone(Session* session) = 0;
};

class AnalyzerCollector final : public CopyCollector, public PacketKeeper, private SessionOwner {
 public:
  using Packets = std::function<void(const Result<std::vector<PacketRecord>>&)>;
  using PacketsOfAnalyzers = std::map<std::string, std::vector<PacketRecord>>;  // by name
  using Log = std::function<void(const char* level, const std::string& text)>;

  AnalyzerCollector(event_base* base, const AnalyzerCollectorOptions& options,
                    const WireClock& clock, Log log);
  ~AnalyzerCollector() override;

  // `tls` is null for an address without TLS, and only then.  Returns the port.
  Result<uint16_t> Listen(const Address& address, TlsContext* tls);
  // Takes leave of the analyzers; what is asked still is answered with an error.
  void Stop();

  bool is_ready() const override { return !analyzers_.empty(); }
  std::optional<Nanos> ClockError() const override;
  void Expect(const std::vector<ExpectedSlice>& slices) override;
  void AskTallies(const std::vector<uint32_t>& tags, Tallies answer) override;
  void SetLatencies(uint64_t run, const std::vector<CopyLatency>& latencies) override;
  void Finish(uint64_t run, std::function<void(const Result<std::string>&)> answer) override;

  // Packets of a slice, by arrival; of all analyzers, `max_packets` of each at most.
  void AskPackets(uint32_t tag, uint64_t first, uint32_t max_packets, Packets answer);
  // Likewise, those of each analyzer by themselves, as it tells them.
  void AskPacketsOfAnalyzers(uint32_t tag, uint64_t first, uint32_t max_packets,
                             std::function<void(const Result<PacketsOfAnalyzers>&)> answer);

  std::vector<std::string> Keepers() const override;
  void AskPacketFile(const std::string& keeper, uint64_t run, const PacketFilePlace& from,
                     Piece answer) override;

  std::vector<AnalyzerView> Analyzers() const;
  // Before Listen(); null: none.
  void SetGuest(AnalyzerGuest* guest) { guest_ = guest; }

 private:
  // Something asked of all analyzers.
  struct Question {
    uint64_t run = 0;          // of Finish(); else 0
    std::set<Session*> owing;  // who has not answered yet
    Nanos deadline = 0;        // monotonic
    std::set<uint32_t> tags;   // of tallies
    uint32_t max_packets = 0;  // of each analyzer
    std::map<std::pair<uint32_t, std::string>, SliceTally> tallies;
    PacketsOfAnalyzers packets;
    std::optional<PacketFilePiece> piece;
    std::map<Session*, std::string> texts;
    std::function<void(Question*, const Status&)> done;
  };
  using Questions = std::map<uint64_t, Question>;
  using MakeMessage = std::function<Message(uint64_t number)>;

  std::optional<Refusal> OnHello(Session* session, const Hello& hello, HelloReply* reply) override;
  void OnEstablished(Session* session) override;
  void OnMessage(Session* session, Message message) override;
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;

  void Ask(Question question, const MakeMessage& make) {
    Ask(std::move(question), analyzers_, make);
  }
  void Ask(Question question, const std::set<Session*>& whom, const MakeMessage& make);
  Session* FindSession(const std::string& name) const;
  Questions::iterator FindQuestion(uint64_t number, Session* session);
  bool IsAskedFor(const Question& question, const SliceTally& tally) const;
  void AddTally(Session* session, const SliceTally& tally, Question* question) const;
  void Take(Session* session, const SliceTallies& tallies);
  void Take(Session* session, const RunAnswer& part);
  void Take(Session* session, PacketRecords records);
  void Take(Session* session, PacketFilePiece piece);
  void Answered(Questions::iterator question, Session* session);
  void Conclude();
  static void TellAnswer(uint64_t run, const Question& question,
                         const std::function<void(const Result<std::string>&)>& answer);
  Nanos OurTime(const Session& session, Nanos theirs) const;

  event_base* const base_;
  const AnalyzerCollectorOptions options_;
  const WireClock& clock_;
  const Log log_;
  AnalyzerGuest* guest_ = nullptr;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::set<Session*> analyzers_;
  std::map<uint64_t, std::vector<CopyLatency>> latencies_;  // by run
  std::map<uint32_t, ExpectedSlice> expected_;              // of runs that are not finished; by tag
  Questions questions_;
  uint64_t next_number_ = 1;
  bool is_stopping_ = false;
  LoopEvent concluder_;  // answers come from the loop
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_ANALYZER_COLLECTOR_H
