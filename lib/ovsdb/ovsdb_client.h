// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OvsdbClient: keeps a copy of some tables of a database, takes part in its lock, and changes it.
//
// Connects to one of the remotes after the other and comes back when the connection ends, after
// waits that double.  A server is passed over if it does not serve the database, is cut off from
// its cluster, is behind what we have seen before, or, if that is asked for, is not the leader.
//
// While there is no connection the copy stays as it was; when it has come back, the copy is
// replaced in one step.
//
// Threads: that of the libevent loop, from which all calls back come, never from within a call.
// Lifetime: `base` and the listener must outlive it.  The end drops calls back, and must not come
// from within one of them.
// Memory: the copy, at most `max_copy_bytes` of text; what JsonLimits allow of the message that is
// coming; `max_queued_bytes` of what is going.

#ifndef TRUMPET_LIB_OVSDB_OVSDB_CLIENT_H
#define TRUMPET_LIB_OVSDB_OVSDB_CLIENT_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/backoff.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/ovsdb/json_rpc.h"
#include "lib/ovsdb/ovsdb_copy.h"
#include "lib/ovsdb/ovsdb_remote.h"
#include "lib/ovsdb/ovsdb_value.h"

struct bufferevent;
struct evdns_base;
struct ssl_st;

namespace trumpet {

// What became of a transaction.
struct OvsdbOutcome {
  enum class Kind : uint8_t {
    kDone,
    kRefused,  // nothing was done
    kUnknown,  // the connection ended before the answer came
  };

  bool ok() const { return kind == Kind::kDone; }

  Kind kind = Kind::kDone;
  Json results;          // of all operations, if done
  size_t operation = 0;  // that was refused, from 0; their number: none in particular
  std::string error;  // RFC 7047's word for it, as "timed out" of a wait; empty: not the server's
  std::string text;   // for people, unless done
};

class OvsdbListener {
 public:
  virtual ~OvsdbListener() = default;
  // The copy is whole: at the beginning, and each time the connection has come back.
  virtual void OnOvsdbLoaded() = 0;
  virtual void OnOvsdbChanged(const std::vector<OvsdbRowChange>& changes) = 0;
  // is_loaded(), has_lock() or state() is another one now.
  virtual void OnOvsdbState() = 0;
};

struct OvsdbClientOptions {
  std::vector<OvsdbRemote> remotes;  // at least one
  std::string database;
  std::map<std::string, std::vector<std::string>> tables;  // and the columns wanted of each
  std::string lock;                                        // empty: none
  bool needs_leader = false;                               // of a cluster; locks are the leader's
  JsonRpcOptions rpc;
  size_t max_copy_bytes = 64 << 20;
  size_t max_queued_bytes = 32 << 20;
  Nanos first_backoff = 100 * kNanosPerMilli;
  Nanos longest_backoff = 4 * kNanosPerSecond;
  uint64_t seed = 0;  // another one for each process
  // A connection's TLS state, which is then the client's; may be null.  Needed for ssl: remotes.
  std::function<ssl_st*()> new_tls_connection;
};

struct OvsdbClientCounters {
  uint64_t attempts = 0;
  uint64_t connections = 0;  // whose copy was whole
  uint64_t transactions = 0;
  uint64_t failed_transactions = 0;
  uint64_t updates = 0;
};

class OvsdbClient final : private JsonRpcOwner {
 public:
  // Begins to connect.
  OvsdbClient(event_base* base, const OvsdbClientOptions& options, OvsdbListener* listener);
  ~OvsdbClient() override;
  OvsdbClient(const OvsdbClient&) = delete;
  OvsdbClient& operator=(const OvsdbClient&) = delete;

  // Connected, and the copy is as the server says.
  bool is_loaded() const { return is_loaded_; }
  // We hold the lock.  Whoever must be sure has the transaction assert it.
  bool has_lock() const { return has_lock_; }
  // For people: "unix:/run/...: connected", "ssl:...: Connection refused".
  const std::string& state() const { return state_; }
  // The address of the server that we are at, or try.
  const std::string& server() const { return remote().text; }
  const OvsdbTables& tables() const { return tables_; }
  const OvsdbTable& table(const std::string& name) const;
  const OvsdbClientCounters& counters() const { return counters_; }

  // `done` is called once, after the listener has heard of what the transaction changed.
  using Done = std::function<void(const OvsdbOutcome&)>;
  void Transact(Json operations, Done done);

 private:
  void Attempt();
  void OnRpcConnected() override;
  void OnRpcNotification(const std::string& method, const Json& params) override;
  void OnRpcClosed(const std::string& why) override;

  void OnServerTable(const Result<Json>& reply);
  // Why this server is not the right one; empty: it is.
  std::string LookAtServer();
  std::string LookAtIndex(const Json& row);
  void AskForTables();
  void OnTables(const Result<Json>& reply);
  void OnUpdate(const Json& params);
  bufferevent* NewStream(std::string* error);
  bool BeginConnecting(bufferevent* stream);
  void ScheduleAttempt();
  void SetLock(bool is_held);
  void SetState(const std::string& text);
  void Fail(const std::string& why);
  void Later(std::function<void()> action);
  void RunLater();
  const OvsdbRemote& remote() const { return options_.remotes[remote_index_]; }

  event_base* const base_;
  const OvsdbClientOptions options_;
  OvsdbListener* const listener_;
  Backoff backoff_;
  evdns_base* resolver_ = nullptr;  // while a name is looked up
  std::unique_ptr<JsonRpc> rpc_;
  std::vector<std::unique_ptr<JsonRpc>> dead_;  // until the loop comes round
  size_t remote_index_ = 0;
  size_t failed_in_a_row_ = 0;  // attempts, since the last wait
  OvsdbTables tables_;
  OvsdbTables server_tables_;  // _Server's
  size_t copy_bytes_ = 0;      // of tables_
  size_t server_bytes_ = 0;    // of server_tables_
  std::string cluster_;        // whose index this is:
  int64_t seen_index_ = 0;     // the highest we know of
  bool is_loaded_ = false;
  bool has_lock_ = false;
  std::string state_;
  OvsdbClientCounters counters_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
  LoopEvent attempt_event_;
  LoopEvent stable_event_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_OVSDB_CLIENT_H
