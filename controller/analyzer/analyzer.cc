// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/analyzer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "lib/wire/limits.h"
#include "lib/wire/slice_codec.h"

namespace trumpet {
namespace {

constexpr size_t kMaxWaitingRuns = 64;

PacketRecord ToRecord(const KeptPacket& packet, const SliceRecord& slice) {
  return {slice.expected.locations[packet.location], packet.time, packet.wire_bytes,
          packet.is_ethernet, std::string(packet.text())};
}

}  // namespace

Analyzer::Analyzer(event_base* base, const AnalyzerOptions& options, const WireClock& clock,
                   Log log)
    : base_(base),
      options_(options),
      clock_(clock),
      log_(std::move(log)),
      started_at_(clock.UnixNow()),
      book_(options.book),
      archive_(options.archive),
      files_(options.archive.directory),
      step_(base, [this] { Step(); }) {}

Analyzer::~Analyzer() = default;

Status Analyzer::Connect(const Address& address, TlsContext* tls) {
  auto connector = Connector::Connect(base_, address, tls, options_.connector, clock_, this);
  if (!connector.ok()) return connector.status();
  connector_ = std::move(*connector);
  return Status::Ok();
}

void Analyzer::Stop() {
  if (connector_ != nullptr) connector_->Stop(ByeReason::kShuttingDown);
}

Hello Analyzer::MakeHello() {
  Hello hello;
  hello.capabilities = kCapabilityAnalyzer | kCapabilityPacketFiles | sideline_.capabilities;
  hello.host_id = options_.name;
  hello.host_name = options_.name;
  hello.software = std::string("trumpet ") + TRUMPET_VERSION;
  hello.process_start_ns = started_at_;
  return hello;
}

void Analyzer::OnEstablished(Session* session) {
  told_end_.clear();
  log_("info", "controller: connected to " + session->hello_reply().controller_name);
}

void Analyzer::OnClosed(Session*, CloseCause cause, const std::string& text) {
  if (sideline_.on_closed) sideline_.on_closed();
  std::string end = std::string(CloseCauseName(cause)) + ": " + text;
  if (end == told_end_) return;  // each attempt ends alike
  log_("warn", "controller: " + end);
  told_end_ = std::move(end);
}

void Analyzer::OnMessage(Session*, Message message) {
  if (const auto* expect = std::get_if<ExpectSlices>(&message)) {
    for (const ExpectedSlice& slice : expect->slices) book_.Expect(slice);
  } else if (const auto* tally = std::get_if<TallyRequest>(&message)) {
    Answer(*tally);
  } else if (const auto* packets = std::get_if<PacketsRequest>(&message)) {
    Answer(*packets);
  } else if (const auto* files = std::get_if<PacketFileRequest>(&message)) {
    Answer(*files);
  } else if (auto* finish = std::get_if<FinishRun>(&message)) {
    Begin(std::move(*finish));
  } else if (sideline_.take) {
    sideline_.take(message);
  }
}

void Analyzer::Send(const Message& message) {
  Session* const session = connector_ == nullptr ? nullptr : connector_->session();
  if (session == nullptr) return;
  const Status sent = session->Send(message);
  if (!sent.ok()) log_("warn", "controller: " + sent.message());
}

void Analyzer::Answer(const TallyRequest& request) {
  SplitTallies(request.number, book_.Tallies(request.tags),
               [this](Message&& message) { Send(message); });
}

void Analyzer::Answer(const PacketsRequest& request) {
  std::vector<PacketRecord> records;
  const SliceRecord* const slice = book_.Find(request.tag);
  const size_t count = slice == nullptr ? 0 : slice->packets.size();
  for (uint64_t i = request.first; i < count && records.size() < request.max_packets; ++i) {
    records.push_back(ToRecord(slice->packets[i], *slice));
  }
  SplitPacketRecords(request.number, request.first, std::move(records),
                     [this](Message&& message) { Send(message); });
}

void Analyzer::Answer(const PacketFileRequest& request) {
  const bool is_finishing =
      std::any_of(finishing_.begin(), finishing_.end(),
                  [&](const Finishing& finishing) { return finishing.run == request.run; });
  if (is_finishing) {
    Send(PacketFilePiece{request.number, request.from, true, "", "its files are being written"});
  } else {
    Send(files_.Read(request));
  }
}

void Analyzer::Begin(FinishRun finish) {
  if (finishing_.size() >= kMaxWaitingRuns) {
    ++counters_.runs_refused;
    return;
  }
  Finishing next;
  next.run = finish.run;
  next.latencies = std::move(finish.latencies);
  finishing_.push_back(std::move(next));
  if (finishing_.size() == 1) step_.RunAfter(options_.settle);
}

void Analyzer::Step() {
  if (finishing_.empty()) return;
  Finishing& now = finishing_.front();
  if (now.maker == nullptr) {
    now.maker = std::make_unique<RunAnswerMaker>(now.run, options_.name, options_.answer);
    for (const SliceRecord* slice : book_.OfRun(now.run)) now.tags.push_back(slice->expected.tag);
  }
  if (now.step == 3 * now.tags.size()) return EndRun();
  const size_t round = now.step / now.tags.size();
  const SliceRecord* const slice = book_.Find(now.tags[now.step % now.tags.size()]);
  ++now.step;
  if (slice != nullptr && slice->expected.run == now.run) {
    if (round == 0) now.maker->AddConfine(*slice);
    if (round == 1) now.maker->AddMirror(*slice);
    if (round == 2) WriteFile(*slice);
  }
  step_.RunSoon();
}

void Analyzer::WriteFile(const SliceRecord& slice) {
  if (!archive_.is_on() || slice.packets.empty()) return;
  const Status written = archive_.Write(slice);
  ++(written.ok() ? counters_.files_written : counters_.file_errors);
  if (!written.ok()) log_("err", written.message());
}

void Analyzer::EndRun() {
  const Finishing done = std::move(finishing_.front());
  finishing_.pop_front();
  ++counters_.runs_finished;
  book_.MarkFinished(done.run);
  const Status tidied = archive_.RemoveOld(clock_.UnixNow());
  if (!tidied.ok()) log_("err", tidied.message());
  SplitRunAnswer(done.run, done.maker->Finish(done.latencies),
                 [this](Message&& message) { Send(message); });
  if (!finishing_.empty()) step_.RunAfter(options_.settle);
}

}  // namespace trumpet
