// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JsonRpc: one connection that speaks JSON-RPC 1.0 as RFC 7047 has it.
//
// Asks, matches answers, answers `echo`, and asks it itself when the peer has been silent for
// `probe_interval`: one that is silent for twice as long, or takes as long to connect to, is given
// up.  So is one that leaves a request without an answer for `request_timeout`.  A server of one
// thread is silent while it works on a large transaction: that is what Work::kLong is for.
//
// Threads: that of the libevent loop.
// Lifetime: the owner must outlive it.  The end closes the connection and drops the calls back; it
// must not come from within one of them.
// Memory: JsonLimits bound what comes in; who asks looks at queued_bytes().

#ifndef TRUMPET_LIB_OVSDB_JSON_RPC_H
#define TRUMPET_LIB_OVSDB_JSON_RPC_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/ovsdb/json_splitter.h"
#include "lib/ovsdb/ovsdb_value.h"

struct bufferevent;
struct event_base;

namespace trumpet {

struct JsonRpcOptions {
  Nanos probe_interval = 5 * kNanosPerSecond;
  Nanos request_timeout = 30 * kNanosPerSecond;
  JsonLimits limits;
};

class JsonRpcOwner {
 public:
  virtual ~JsonRpcOwner() = default;
  virtual void OnRpcConnected() = 0;
  virtual void OnRpcNotification(const std::string& method, const Json& params) = 0;
  // Once; requests without an answer have been told before.
  virtual void OnRpcClosed(const std::string& why) = 0;
};

class JsonRpc {
 public:
  using Reply = std::function<void(Result<Json>)>;

  // Owns `stream`, of `base`, which the caller has told to connect.
  JsonRpc(event_base* base, bufferevent* stream, const JsonRpcOptions& options,
          JsonRpcOwner* owner);
  ~JsonRpc();
  JsonRpc(const JsonRpc&) = delete;
  JsonRpc& operator=(const JsonRpc&) = delete;

  // kLong: until it has answered, the peer may be silent for longer than two probes.
  enum class Work : uint8_t { kShort, kLong };
  // `reply` is called once, from the loop, with the result or what the peer says went wrong.
  void Request(const char* method, Json params, Reply reply, Work work = Work::kShort);

  // Ends the connection; the owner is told from within.
  void Close(const std::string& why);

  bool is_closed() const { return is_closed_; }
  size_t queued_bytes() const;

 private:
  struct Waiting {
    Reply reply;
    uint64_t since_tick;
    Work work;
  };

  static void OnReadable(bufferevent* stream, void* self);
  static void OnStreamEvent(bufferevent* stream, short what, void* self);
  void Read();
  void Handle(const std::string& text);
  void HandleReply(const Json& id, const Json& message);
  void Send(const Json& message);
  void Tick();
  bool MayBeSilent() const;
  std::string ConnectError() const;

  const JsonRpcOptions options_;
  JsonRpcOwner* const owner_;
  bufferevent* const stream_;
  JsonSplitter splitter_;
  std::map<uint64_t, Waiting> waiting_;  // by id, which rises
  uint64_t next_id_ = 1;
  uint64_t tick_ = 0;         // kTicksPerProbe of them are a probe interval
  uint64_t heard_tick_ = 0;   // when bytes last came
  uint64_t probed_tick_ = 0;  // when we last asked for an echo
  bool is_connected_ = false;
  bool is_closed_ = false;
  LoopEvent read_on_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_JSON_RPC_H
