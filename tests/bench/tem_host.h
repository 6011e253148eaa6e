// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TemHost: a host of bench-tem.  It acknowledges what it is sent, comes again when it has lost its
// session, and says what it is told to have counted.
//
// Threads: that of the libevent loop.  Lifetime: base, clock and TLS context must outlive it.

#ifndef TRUMPET_TESTS_BENCH_TEM_HOST_H
#define TRUMPET_TESTS_BENCH_TEM_HOST_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/verdict/event_feed.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/wire/connector.h"

namespace trumpet {

// What a host counts in every interval: bytes of a bucket.
using TemCounts = std::vector<std::pair<std::string, uint64_t>>;

class TemHost final : private SessionOwner, private FeedSink {
 public:
  // Ends the program if it cannot even begin to connect.
  TemHost(event_base* base, const WireClock& clock, size_t number, const Address& address,
          TlsContext* tls);

  bool is_connected() const { return session_ != nullptr; }
  size_t event_count() const { return running_.size(); }
  size_t queued_bytes() const { return session_ == nullptr ? 0 : session_->queued_bytes(); }
  ConnectorCounters counters() const { return connector_->counters(); }
  // Monotonic, the last time: when it was taken in, and when it acknowledged a set.
  Nanos established_at() const { return established_at_; }
  Nanos acknowledged_at() const { return acknowledged_at_; }

  // Of the event of the network that was put last: counts in the interval from `start` on.
  // What a real host does by and by during the interval is done here, so that little is left to do
  // at its end.
  void Count(const TemCounts& counts, Nanos start);
  // The interval has ended: what was counted goes out.
  void End(Nanos until);
  // Of the event that was put last, which hosts decide.
  void SendReport(const std::string& key, Nanos start, Nanos end);

 private:
  Hello MakeHello() override;
  void OnEstablished(Session* session) override {
    session_ = session;
    established_at_ = clock_.MonotonicNow();
  }
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;
  void OnMessage(Session* session, Message message) override;
  void OnCells(const PartialView& cells) override;
  void OnIncomplete(uint32_t, Nanos, Nanos, uint32_t) override {}

  void Take(TriggerSet set);
  void Put(Trigger trigger);
  void Answer(const Poll& poll);
  void Send(const Message& message);

  const WireClock& clock_;
  const size_t number_;
  std::unique_ptr<Connector> connector_;
  Session* session_ = nullptr;
  std::map<uint32_t, std::unique_ptr<EventFeed>> running_;  // by id; null: no split threshold
  EventSpec event_;                                         // that was put last
  std::shared_ptr<const TriggerPlan> plan_;                 // its own, when it has been counted for
  TriggerAck ack_;
  uint64_t controller_id_ = 0;
  uint64_t generation_ = 0;
  Nanos established_at_ = 0;
  Nanos acknowledged_at_ = 0;
  std::vector<Partials> partials_;  // of the interval that ends next
};

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_TEM_HOST_H
