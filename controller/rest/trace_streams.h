// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceStreams: traces to clients as analyzers tell them, as server-sent events.
//
//   event: trace
//   data: {"analyzer":"an1","id":"ab52e7c09ef66e1a",...}
//
// What came too fast, for the analyzer or for a reader of whom kMaxWaiting bytes wait, is counted:
//
//   event: gap
//   data: {"left_out":17}
//
// and an analyzer that does not take part says why:
//
//   event: error
//   data: {"analyzer":"an1","detail":"..."}
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_REST_TRACE_STREAMS_H
#define TRUMPET_CONTROLLER_REST_TRACE_STREAMS_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "controller/rest/http_exchange.h"
#include "lib/base/loop_event.h"
#include "lib/wire/trace_message.h"

namespace trumpet {

class RestServer;
struct RestParts;

class TraceStreams {
 public:
  static constexpr size_t kMaxWaiting = 1024 * 1024;
  static constexpr Nanos kStall = 30 * kNanosPerSecond;
  static constexpr Nanos kHeartbeat = 15 * kNanosPerSecond;

  TraceStreams(RestServer* server, const RestParts& parts);
  ~TraceStreams();

  // False, and nothing happens: there are too many already.
  bool Begin(std::shared_ptr<HttpExchange> exchange, std::vector<TraceWord> words,
             TracePackets packets);
  // All of them.
  void End();

 private:
  struct Stream;

  void Take(Stream* stream, const std::string& analyzer, const TraceAnswer& news);
  void Close(Stream* stream);
  void Tick();

  RestServer* const server_;
  const RestParts& parts_;
  std::list<std::shared_ptr<Stream>> streams_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_TRACE_STREAMS_H
