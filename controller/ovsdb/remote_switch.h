// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RemoteSwitch: follows the database of a switch, and keeps in it what we want to be there.
//
// What is wished holds until it is dropped: it is put in again when somebody removes it or the
// switch's database is another one after a restart, and what carries our name without being wished
// is removed.  So a controller that comes back after a crash cleans up.  Of several controllers
// of one owner only the one that has the lock of the database changes anything.
//
// Threads: that of the libevent loop, from which all calls back come, never from within a call.
// Lifetime: `base`, the clock and the listener must outlive it.  Its end leaves the database as it
// is, drops calls back, and must not come from within one of them. Memory: OvsdbClient's with the
// limits below.

#ifndef TRUMPET_CONTROLLER_OVSDB_REMOTE_SWITCH_H
#define TRUMPET_CONTROLLER_OVSDB_REMOTE_SWITCH_H

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "controller/ovsdb/switch_view.h"
#include "controller/ovsdb/switch_wish.h"
#include "lib/base/backoff.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/ovsdb/ovsdb_client.h"
#include "lib/wire/wire_clock.h"

namespace trumpet {

struct RemoteSwitchOptions {
  std::string name;                  // for people
  std::vector<OvsdbRemote> remotes;  // at least one
  std::string owner;                 // of what we make there; the same after a restart, not empty
  std::function<ssl_st*()> new_tls_connection;  // as OvsdbClientOptions has it
  uint64_t seed = 0;                            // another one for each process
  Nanos patience = 10 * kNanosPerSecond;        // for what the switch has to take up
  size_t max_copy_bytes = 16 << 20;
  size_t max_queued_bytes = 4 << 20;
  Nanos first_backoff = 100 * kNanosPerMilli;  // of connecting, and of changes that do not last
  Nanos longest_backoff = 4 * kNanosPerSecond;
};

struct AnalyzerPort {
  std::string name;      // of port and interface
  uint32_t of_port = 0;  // what flows output to
};

class RemoteSwitch;

class RemoteSwitchListener {
 public:
  virtual ~RemoteSwitchListener() = default;
  // Its view or its state may be another one now.  What is wished for here counts before the switch
  // is changed, so that nothing is removed that is wanted after all.
  virtual void OnRemoteSwitch(RemoteSwitch* one) = 0;
};

struct RemoteSwitchCounters {
  uint64_t changes = 0;  // transactions of ours that were done
  uint64_t refused = 0;
  uint64_t repairs = 0;  // of them those that put back what had been as wished before
};

class RemoteSwitch final : private OvsdbListener {
 public:
  // Begins to connect.  The listener may be null.
  RemoteSwitch(event_base* base, const WireClock& clock, RemoteSwitchOptions options,
               RemoteSwitchListener* listener);
  ~RemoteSwitch() override;

  const std::string& name() const { return options_.name; }
  const std::string& owner() const { return options_.owner; }
  // Connected, and the view is as the database says.
  bool is_connected() const { return client_.is_loaded(); }
  bool has_lock() const { return client_.has_lock(); }
  // For people: "ssl:...: connected".
  const std::string& state() const { return client_.state(); }
  // For people: what is wished and cannot be had; empty: all is as wished.
  const std::string& problem() const { return problem_; }
  const SwitchView& view() const { return view_; }  // the last one known
  const SwitchWish& wish() const { return wish_; }
  const RemoteSwitchCounters& counters() const { return counters_; }

  // A tunnel port on `bridge` to an analyzer at that IPv4 or IPv6 address: answers when the switch
  // has taken it up.  The wish holds even if the answer is an error, but not for what is no
  // address.
  using PortDone = std::function<void(const Result<AnalyzerPort>&)>;
  void EnsureAnalyzerPort(const std::string& bridge, const std::string& address, TunnelKind kind,
                          PortDone done);
  void DropAnalyzerPort(const std::string& bridge, const std::string& address, TunnelKind kind);

  // problem() tells what becomes of these.
  void WantMirror(const std::string& bridge, const std::string& name, WantedMirror mirror);
  void DropMirror(const std::string& bridge, const std::string& name);
  // bridge "": of the switch itself.
  void WantConfig(const std::string& bridge, const std::string& key, const std::string& value);
  void DropConfig(const std::string& bridge, const std::string& key);

  // Drops all wishes, and answers when nothing of ours is left.
  using Done = std::function<void(const Status&)>;
  void Uninstall(Done done);

 private:
  struct WaitingPort {
    std::string name;
    std::string problem;  // of the asking itself
    Nanos until = 0;
    PortDone done;
  };
  struct WaitingEnd {
    Nanos until = 0;
    Done done;
  };

  void OnOvsdbLoaded() override { work_event_.RunSoon(); }
  void OnOvsdbChanged(const std::vector<OvsdbRowChange>& /*changes*/) override {
    work_event_.RunSoon();
  }
  void OnOvsdbState() override { work_event_.RunSoon(); }

  OvsdbClientOptions ClientOptions() const;
  void Work();
  void Reconcile();
  void Commit(Json operations);
  void AnswerPorts();
  // Nothing as long as there is no answer.
  std::optional<Result<AnalyzerPort>> AnswerOf(const WaitingPort& port) const;
  void AnswerEnds();
  void Wish();  // was changed
  void TellProblem();
  void WakeLater();
  std::string LateBecause() const;

  const WireClock& clock_;
  const RemoteSwitchOptions options_;
  RemoteSwitchListener* const listener_;
  SwitchView view_;
  SwitchWish wish_;
  SwitchPlan plan_;  // of the last look
  std::string problem_;
  std::string refusal_;  // of our last transaction; empty: it was done
  RemoteSwitchCounters counters_;
  std::list<WaitingPort> waiting_ports_;
  std::list<WaitingEnd> waiting_ends_;
  bool is_writing_ = false;
  bool was_as_wished_ = false;  // at the last look, and nothing was wished since
  Nanos not_before_ = 0;        // the next transaction
  Nanos last_change_ = 0;
  Backoff pause_;
  LoopEvent work_event_;
  LoopEvent later_event_;
  OvsdbClient client_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OVSDB_REMOTE_SWITCH_H
