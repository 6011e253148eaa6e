// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ControllerLink: the agent's session with trumpet-controller, and the libevent loop that it needs.
//
// While a controller is configured the agent waits in WaitUntil(), where messages are taken in;
// what must be done in order with the rounds of the agent (trigger sets) is kept for the next
// round. Questions are answered on the spot.  In the same loop the switch's own database is
// followed, of which the controller is told, and which has this host's name and keys if the
// settings have none.  Without a controller there is no loop and no descriptor.
//
// Threads: the agent; Wake() any.  Nothing here blocks but WaitUntil().
// Errors: a link that cannot be (bad keys, no answer) says so in status() and tries again; the
// monitor goes on.

#ifndef TRUMPET_VSWITCHD_PLUGIN_CONTROLLER_LINK_H
#define TRUMPET_VSWITCHD_PLUGIN_CONTROLLER_LINK_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/model/host_place.h"
#include "lib/wire/connector.h"
#include "lib/wire/place_codec.h"
#include "lib/wire/tls_context.h"
#include "vswitchd-plugin/agent_status.h"
#include "vswitchd-plugin/controller_set.h"
#include "vswitchd-plugin/host.h"
#include "vswitchd-plugin/network_desk.h"
#include "vswitchd-plugin/program_desk.h"
#include "vswitchd-plugin/settings.h"
#include "vswitchd-plugin/slice_table.h"
#include "vswitchd-plugin/switch_database.h"
#include "vswitchd-plugin/wall_clock.h"

struct event;
struct event_base;

namespace trumpet {

struct LinkParts {
  const Host* host = nullptr;
  const WallClock* clock = nullptr;  // that intervals go by
  std::function<ClockReading()> read_clocks;
  NetworkDesk* desk = nullptr;
  // The controller says where addresses are; null: there is no controller any more.
  std::function<void(std::shared_ptr<const HostPlace>)> on_place;
  SliceTable* slices = nullptr;              // that the controller turns on and off
  MeasurementTable* measurements = nullptr;  // likewise, with programs
  uint64_t seed = 0;
  std::string database;        // remotes of the switch's own; empty, or no remotes: it is not read
  event_base* base = nullptr;  // of a test, which runs it; null: one of its own
};

class ControllerLink final : private SessionOwner {
 public:
  // All parts must outlive the link.
  explicit ControllerLink(LinkParts parts);
  ~ControllerLink() override;

  // Connects, goes elsewhere, or takes leave, as the settings and the switch's database say, and
  // does what goes by time.  Every round.
  void Follow(const Settings& settings);
  bool is_configured() const { return !wanted_.controller.empty(); }
  bool is_connected() const { return session_ != nullptr; }

  // Takes messages in until that monotonic instant, Wake(), or something for the agent to do.
  // False: there is no loop.
  bool WaitUntil(Nanos monotonic_ns);
  void Wake();

  // Trigger sets that came since the last call, in order.
  std::vector<ControllerSet::Taken> TakeSets();
  const ControllerSet& set() const { return set_; }

  // Of the slices that have ended since the last call.
  void TellSliceEnds();

  // What is known of this host; version 0: nothing.
  uint64_t facts_version() const { return database_ != nullptr ? database_->version() : 0; }
  const HostFacts& facts() const;

  // Answers that set, if its session is still there: in the next one its generation may be that of
  // another.  An answer longer than a message goes in several.  `epoch_ns`: that the host now has.
  void Acknowledge(const ControllerSet::Taken& set, TriggerAck ack);
  void SetEpoch(Nanos epoch_ns) { epoch_ns_ = epoch_ns; }

  // Takes leave, for at most some milliseconds.  Then all connections are closed.
  void Stop();
  // The loop was left by an exception: nothing of it is touched again.  TryAgain() makes another.
  void GiveUp() noexcept;
  void TryAgain() { is_broken_ = false; }
  // Follow() was left by one, or what else may have been sending: the connection ends, without a
  // word, and another begins.
  void Drop() noexcept;

  LinkStatus Status() const;

 private:
  class AgentClock final : public WireClock {
   public:
    explicit AgentClock(const LinkParts& parts) : parts_(parts) {}
    Nanos UnixNow() const override { return parts_.clock->UnixNs(MonotonicNow()); }
    Nanos MonotonicNow() const override { return parts_.read_clocks().monotonic_ns; }

   private:
    const LinkParts& parts_;
  };
  // What the session depends on.
  struct Wanted {
    std::string controller;
    std::string controller_name;
    std::string host_id;
    TlsFiles keys;
    bool operator==(const Wanted& other) const;
  };

  void FollowDatabase(const Settings& settings, Nanos now);
  bool MayKnowMore(const Settings& settings, Nanos now) const;
  Wanted WantedOf(const Settings& settings) const;
  bool Open();
  void Connect();
  void Disconnect(ByeReason reason);
  void KeepCounters(const Connector& connector);
  void SendFacts();
  void TellCounts(Nanos now);
  void ForgetLeaving(Nanos now);
  void Fail(const std::string& why);
  void Log(bool is_bad, const std::string& text);

  Hello MakeHello() override;
  void OnEstablished(Session* session) override;
  void OnMessage(Session* session, Message message) override;
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override;
  void TakeMessage(Message message);
  void TakeSliceOn(SliceSpec slice);
  void TakeSliceOff(const SliceOff& off);
  bool Send(const Message& message);

  const LinkParts parts_;
  const AgentClock clock_;
  const std::string host_name_;
  const Nanos process_start_ns_;

  struct EventFree {
    void operator()(event* event) const;
  };
  using OwnedEvent = std::unique_ptr<event, EventFree>;
  event_base* base_ = nullptr;
  bool owns_base_ = false;
  bool is_broken_ = false;
  int timer_fd_ = -1;
  std::atomic<int> wake_fd_{-1};
  OwnedEvent timer_;
  OwnedEvent waker_;
  bool is_due_ = false;
  bool has_questions_ = false;

  std::unique_ptr<SwitchDatabase> database_;  // while a controller is configured
  Nanos database_patience_ends_ = 0;
  Wanted wanted_;
  Session* session_ = nullptr;  // established, of connector_
  uint64_t session_count_ = 0;  // that were established
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<Connector> connector_;
  struct Leaving {
    std::unique_ptr<TlsContext> tls;
    std::unique_ptr<Connector> connector;
    Nanos until = 0;  // monotonic
  };
  std::vector<Leaving> leaving_;  // connections that say goodbye
  Nanos next_tick_ = 0;
  Nanos retry_at_ = 0;  // of what failed before there was a connector
  std::string problem_;
  std::string last_logged_;
  Nanos state_since_ns_ = 0;

  HostPlaceParts place_parts_;
  ProgramDesk programs_;
  ControllerSet set_;
  std::vector<ControllerSet::Taken> sets_;
  uint64_t running_controller_id_ = 0;
  uint64_t running_generation_ = 0;
  Nanos epoch_ns_ = 0;
  uint64_t facts_sent_version_ = 0;  // of database_
  Nanos facts_sent_at_ = 0;
  uint64_t facts_sent_ = 0;        // times
  Nanos counts_told_at_ = 0;       // of what programs have collected
  KindCounts dropped_before_{};    // by sessions of connectors that are gone
  uint64_t flow_states_lost_ = 0;  // of this session, as last told to the desk
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_CONTROLLER_LINK_H
