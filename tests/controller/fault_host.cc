// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A host for tests of the controller's faults: the session is the real one (lib/wire), what it
// "counts" is made up.  It runs the events it is given, acknowledges them, and reports each event
// of scope host at the rate asked for; with a rate, an event of scope network has nine packets in
// each of its intervals, and every sum is nine.  Says what happens on standard output, an object a
// line.
//
// usage: fault_host ID ADDRESS[,ADDRESS...] KEY CERTIFICATE CA [CLOCK-AHEAD-MS
// [REPORTS-PER-SECOND]]

#include <event2/event.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/model/report.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/wire/connector.h"

namespace trumpet {
namespace {

class AheadClock final : public WireClock {
 public:
  explicit AheadClock(Nanos ahead) : ahead_(ahead) {}
  Nanos UnixNow() const override { return system_.UnixNow() + ahead_; }
  Nanos MonotonicNow() const override { return system_.MonotonicNow(); }

 private:
  const Nanos ahead_;
  SystemWireClock system_;
};

class FaultHost final : public SessionOwner {
 public:
  FaultHost(std::string id, const WireClock& clock, long reports_per_second)
      : id_(std::move(id)), clock_(clock), reports_per_second_(reports_per_second) {}

  Hello MakeHello() override {
    Hello hello;
    hello.capabilities = kCapabilityPartials | kCapabilityPoll;
    hello.host_id = id_;
    hello.host_name = id_;
    hello.software = "fault_host";
    hello.epoch_ns = 10 * kNanosPerMilli;
    hello.process_start_ns = 1;
    hello.set_controller_id = set_controller_id_;
    hello.set_generation = set_generation_;
    return hello;
  }

  void OnEstablished(Session* session) override {
    session_ = session;
    std::printf("{\"established\": \"%llu\"}\n",
                static_cast<unsigned long long>(session->hello_reply().controller_id));
    std::fflush(stdout);
    const Status sent = session->Send(HostFacts());
    (void)sent;
  }

  void OnMessage(Session* session, Message message) override {
    if (auto* set = std::get_if<TriggerSet>(&message)) Take(session, std::move(*set));
    const auto* poll = std::get_if<Poll>(&message);
    if (poll == nullptr) return;
    PollReply reply;
    reply.number = poll->number;
    for (size_t i = 0; i < poll->questions.size(); ++i) {
      PollAnswer& answer = reply.answers.emplace_back();
      answer.question = static_cast<uint32_t>(i);
      answer.status = PollStatus::kNoPackets;
    }
    const Status sent = session->Send(reply);
    (void)sent;
  }

  void OnClosed(Session* /*session*/, CloseCause cause, const std::string& text) override {
    session_ = nullptr;
    std::printf("{\"closed\": \"%s\", \"text\": %s}\n", CloseCauseName(cause),
                JsonQuote(text).c_str());
    std::fflush(stdout);
  }

  // Every 10 ms.
  void Tick() {
    if (session_ == nullptr) return;
    const Nanos end = clock_.UnixNow() / kInterval * kInterval;
    for (long i = 0; i < reports_per_second_ / 100; ++i) {
      for (const auto& [id, trigger] : triggers_) {
        if (trigger.mode == TriggerMode::kHost) Report(id, end);
      }
    }
    if (reports_per_second_ > 0) TellCounts(end);
    IntervalEnd interval_end;
    interval_end.until_ns = end;
    const Status sent = session_->Send(interval_end);
    (void)sent;
  }

 private:
  static constexpr Nanos kInterval = 10 * kNanosPerMilli;

  void Take(Session* session, TriggerSet set) {
    if (set.part == 0 && set.base_generation == 0) triggers_.clear();
    for (TriggerChange& change : set.changes) {
      if (change.put) {
        triggers_[change.put->event.id] = std::move(*change.put);
      } else {
        triggers_.erase(change.remove_event_id);
      }
    }
    if (!set.is_last) return;
    set_generation_ = set.generation;
    set_controller_id_ = session->hello_reply().controller_id;
    TriggerAck ack;
    ack.generation = set.generation;
    ack.is_applied = true;
    ack.applied_ns = clock_.UnixNow();
    const Status sent = session->Send(ack);
    std::printf("{\"events\": {");
    const char* comma = "";
    for (const auto& [id, trigger] : triggers_) {
      std::printf("%s%s: %u", comma, JsonQuote(trigger.event.name).c_str(), id);
      comma = ", ";
    }
    std::printf("}, \"acknowledged\": %s}\n", sent.ok() ? "true" : "false");
    std::fflush(stdout);
  }

  // Of the last interval of each event that hosts tell everything of, once.
  void TellCounts(Nanos end) {
    for (const auto& [id, trigger] : triggers_) {
      if (trigger.mode != TriggerMode::kPartials) continue;
      const Nanos interval = trigger.event.interval_ns();
      Partials partials;
      partials.event_id = id;
      partials.end_ns = end / interval * interval;
      partials.start_ns = partials.end_ns - interval;
      if (std::exchange(told_until_[id], partials.end_ns) == partials.end_ns) continue;
      const std::vector<uint64_t> nines(MakeTriggerPlan(trigger.event).word_count, 9);
      partials.words_per_bucket = static_cast<uint32_t>(nines.size());
      partials.Add("", nines.data(), /*is_unscaled=*/false);
      const Status sent = session_->Send(partials);
      (void)sent;
    }
  }

  void Report(uint32_t id, Nanos end) {
    HostReport one;
    one.report.event_id = id;
    one.report.start_ns = end - kInterval;
    one.report.end_ns = end;
    one.report.value = Number::Integer(9);
    one.report.threshold = Number::Integer(5);
    one.report.detected_ns = end;
    const Status sent = session_->Send(one);
    (void)sent;
  }

  const std::string id_;
  const WireClock& clock_;
  const long reports_per_second_;
  Session* session_ = nullptr;
  std::map<uint32_t, Trigger> triggers_;
  std::map<uint32_t, Nanos> told_until_;  // by event
  uint64_t set_controller_id_ = 0;
  uint64_t set_generation_ = 0;
};

int Main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(
        stderr, "usage: fault_host ID ADDRESS[,ADDRESS...] KEY CERTIFICATE CA [AHEAD-MS [RATE]]\n");
    return 2;
  }
  event_base* base = event_base_new();
  const AheadClock clock((argc > 6 ? std::atol(argv[6]) : 0) * kNanosPerMilli);
  FaultHost host(argv[1], clock, argc > 7 ? std::atol(argv[7]) : 0);
  std::vector<Address> addresses;
  std::istringstream texts(argv[2]);
  for (std::string text; std::getline(texts, text, ',');) {
    const auto address = ParseActiveAddress(text);
    if (!address.ok()) return std::fprintf(stderr, "%s\n", address.message().c_str()), 2;
    addresses.push_back(*address);
  }
  const auto tls = TlsContext::Load({argv[3], argv[4], argv[5]});
  if (!tls.ok()) return std::fprintf(stderr, "%s\n", tls.message().c_str()), 2;
  ConnectorOptions options;
  options.seed = static_cast<uint64_t>(clock.MonotonicNow());
  options.longest_backoff = kNanosPerSecond;
  options.others.assign(addresses.begin() + 1, addresses.end());
  const auto connector = Connector::Connect(base, addresses[0], tls->get(), options, clock, &host);
  if (!connector.ok()) return std::fprintf(stderr, "%s\n", connector.message().c_str()), 2;
  LoopEvent ticker(base, [&] { host.Tick(); });
  ticker.RunEvery(10 * kNanosPerMilli);
  event_base_dispatch(base);
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
