// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenflowChannel: one OpenFlow connection to a switch, from the first byte to its end.
//
// It agrees on a version, asks who the switch is, answers and asks keep-alives, and keeps a bounded
// queue of what waits.  Requests go in batches, each ended by a barrier, and come back with the
// answer or the error of each.
//
// Threads: one, that of the libevent loop.  Everything is called back from there, never from within
// a call.  Lifetime: it lives at least until its owner's OnChannelClosed() has returned.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_CHANNEL_H
#define TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_CHANNEL_H

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/openflow/openflow_message.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/session.h"
#include "lib/wire/tls_context.h"
#include "lib/wire/wire_clock.h"

struct bufferevent;
struct event_base;

namespace trumpet {

struct OpenflowChannelOptions {
  size_t max_queue_bytes = 16 << 20;
  size_t max_answer_bytes = 64 << 20;  // of all batches that are not answered yet
  Nanos keep_alive_interval = 5 * kNanosPerSecond;
  Nanos keep_alive_timeout = 5 * kNanosPerSecond;
  Nanos handshake_timeout = 5 * kNanosPerSecond;
  Nanos message_timeout = 10 * kNanosPerSecond;
};

struct OpenflowChannelCounters {
  uint64_t messages_sent = 0;
  uint64_t messages_received = 0;
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  uint64_t errors = 0;        // that the switch has told
  uint64_t strays = 0;        // answers to nothing that we asked
  uint64_t packets_held = 0;  // packet-outs that had no room

  void Add(const OpenflowChannelCounters& other);
};

struct OpenflowRequest {
  uint32_t xid = 0;
  std::string bytes;
};

struct OpenflowAnswer {
  std::string error;  // "OFPFMFC_TABLE_FULL"; empty: none
  std::vector<OpenflowMessage> messages;
};

// Of a batch, in its order.  Not ok: the connection ended before all were there.
struct OpenflowAnswers {
  Status status = Status::Ok();
  std::vector<OpenflowAnswer> answers;
};

class OpenflowChannel;

class OpenflowChannelOwner {
 public:
  virtual ~OpenflowChannelOwner() = default;
  // The switch has said who it is.
  virtual void OnChannelReady(OpenflowChannel* channel) = 0;
  // What the switch says without being asked.
  virtual void OnChannelMessage(OpenflowChannel* channel, const OpenflowMessage& message) = 0;
  // The last call for this channel, ready or not; batches have been called back.
  virtual void OnChannelClosed(OpenflowChannel* channel, CloseCause cause,
                               const std::string& text) = 0;
};

class OpenflowChannel {
 public:
  using Done = std::function<void(const OpenflowAnswers&)>;

  // Takes over `stream`, which has no callbacks yet, and is connected (`is_connected`) or about to
  // be.
  OpenflowChannel(event_base* base, bufferevent* stream, bool is_connected,
                  const OpenflowChannelOptions& options, const WireClock& clock,
                  OpenflowChannelOwner* owner);
  ~OpenflowChannel();
  OpenflowChannel(const OpenflowChannel&) = delete;
  OpenflowChannel& operator=(const OpenflowChannel&) = delete;

  bool is_ready() const { return state_ == State::kReady && !is_closing_; }
  uint8_t version() const { return version_; }
  uint64_t datapath_id() const { return datapath_id_; }
  uint8_t table_count() const { return table_count_; }
  const PeerIdentity& peer() const { return peer_; }
  const std::string& peer_address() const { return peer_address_; }
  void set_peer_address(std::string address) { peer_address_ = std::move(address); }
  Nanos created_at() const { return created_at_; }
  const OpenflowChannelCounters& counters() const { return counters_; }

  uint32_t NextXid() { return ++last_xid_; }
  // Sends them, and a barrier; only when ready.
  void Ask(std::vector<OpenflowRequest> requests, Done done);
  // Sends something that has no answer, if there is room; what is it then is a packet.
  bool Tell(const std::string& bytes);

  // Soon; the owner and all batches hear of it.
  void Close(CloseCause cause, const std::string& text);
  // Sees to everything that goes by time; call it some ten times a second.
  void Tick();

  // From libevent.
  void OnReadable();
  void OnStreamEvent(int what);

  // For whoever made the channel.
  void* user_data = nullptr;

 private:
  enum class State : uint8_t { kConnecting, kHello, kFeatures, kReady, kClosed };
  struct Batch {
    uint32_t barrier = 0;
    std::vector<uint32_t> xids;
    OpenflowAnswers answers;
    Done done;
    size_t bytes = 0;
  };
  using Batches = std::list<Batch>;

  void OnConnected();
  bool ReadMessage();
  void Take(std::string_view bytes, OpenflowMessage message);
  void TakeHello(const OpenflowMessage& message);
  void TakeFeatures(const OpenflowMessage& message);
  void TakeAnswer(size_t size, OpenflowMessage message);
  void FinishBatch(Batches::iterator batch);
  void Write(const std::string& bytes);
  void FailBatches(const std::string& text);

  bufferevent* stream_;
  const OpenflowChannelOptions options_;
  const WireClock& clock_;
  OpenflowChannelOwner* const owner_;
  State state_ = State::kConnecting;
  bool is_closing_ = false;
  std::string peer_address_;
  PeerIdentity peer_;
  uint8_t version_ = TRUMPET_OF_13;
  uint64_t datapath_id_ = 0;
  uint8_t table_count_ = 0;
  uint32_t last_xid_ = 0;
  Batches batches_;
  std::map<uint32_t, std::pair<Batches::iterator, size_t>> asked_;  // xid -> which of which
  size_t answer_bytes_ = 0;
  OpenflowChannelCounters counters_;
  Nanos created_at_;
  Nanos heard_at_ = 0;
  Nanos asked_echo_at_ = 0;     // 0: no echo is to come
  Nanos message_began_at_ = 0;  // 0: none is under way
  CloseCause soon_cause_ = CloseCause::kByUs;
  std::string soon_text_;
  LoopEvent closer_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_CHANNEL_H
