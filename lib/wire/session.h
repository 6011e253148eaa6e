// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Session: one connection between an agent and the controller, from the first byte to its end.
//
// Made by a Connector (at the agent) or a Listener (at the controller).  It says hello, checks what
// comes and what is sent, asks and answers keep-alives, and keeps a bounded queue of what waits.
//
// Threads: one, that of the libevent loop; everything is called from there, and nothing blocks.
// Signals: a process with sessions ignores SIGPIPE, which Listener and Connector see to: neither
// OpenSSL nor libevent keeps a peer that has gone from raising it.
// Memory: at most SessionOptions::max_queue_bytes wait, some 64 KiB and one message are on their
// way through TLS, and one frame is being read. Lifetime: a Session lives at least until its
// owner's OnClosed() has returned.

#ifndef TRUMPET_LIB_WIRE_SESSION_H
#define TRUMPET_LIB_WIRE_SESSION_H

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/clock_estimate.h"
#include "lib/wire/farewell.h"
#include "lib/wire/frame_reader.h"
#include "lib/wire/message.h"
#include "lib/wire/send_queue.h"
#include "lib/wire/tls_context.h"
#include "lib/wire/wire_clock.h"

struct bufferevent;

namespace trumpet {

class Session;

struct SessionOptions {
  size_t max_queue_bytes = 8 * 1024 * 1024;
  Nanos keep_alive_interval = kNanosPerSecond;
  Nanos keep_alive_timeout = 5 * kNanosPerSecond;
  Nanos handshake_timeout = 5 * kNanosPerSecond;
  Nanos frame_timeout = 10 * kNanosPerSecond;
  std::string
      expected_peer_name;  // PeerIdentity::IsOf() it, or no session; empty: anybody of the CA
};

struct SessionCounters {
  uint64_t bytes_received = 0;  // of frames with their lengths
  uint64_t bytes_sent = 0;
  KindCounts received{};
  KindCounts sent{};
  KindCounts dropped{};
  uint64_t bad_stamps = 0;  // keep-alives that no clocks give

  void Add(const SessionCounters& other);
};

// What the user of sessions does.  Called from the loop; may call anything of the session.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;

  // Agent: what to say of ourselves now.  Versions are filled in.
  virtual Hello MakeHello() { return Hello(); }
  // Controller: takes the agent in and completes `reply` (version and capabilities are filled in
  // and may be made less), or says why not.
  virtual std::optional<Refusal> OnHello(Session* session, const Hello& hello, HelloReply* reply) {
    (void)session, (void)hello, (void)reply;
    return std::nullopt;
  }
  virtual void OnEstablished(Session* session) = 0;
  // Any message but those that the session answers itself.
  virtual void OnMessage(Session* session, Message message) = 0;
  // The last call for this session, whether it was ever established or not.
  virtual void OnClosed(Session* session, CloseCause cause, const std::string& text) = 0;
};

class Session {
 public:
  enum class Role : uint8_t { kAgent, kController };
  enum class State : uint8_t { kConnecting, kHello, kEstablished, kClosing, kClosed };

  // Takes over `stream`, which has no callbacks yet and is connected or about to be.
  Session(bufferevent* stream, Role role, const SessionOptions& options, const WireClock& clock,
          SessionOwner* owner);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Sends, or queues, or drops as SendQueue says.  What agents count goes out at the end of this
  // turn of the loop, together, or with an IntervalEnd or anything else that does not wait.  An
  // error if the message may not be sent: not established, not ours to send, not negotiated, or
  // beyond the protocol's limits.
  Status Send(const Message& message);

  // Ends the session; Bye is sent first if the peer is there and reads.
  void Close(ByeReason reason, const std::string& text);

  // Ends the session at once, without a word to the peer.
  void Abandon(CloseCause cause, const std::string& text) { End(cause, text); }

  // Sees to everything that goes by time; call it some ten times a second.
  void Tick();

  Role role() const { return role_; }
  State state() const { return state_; }
  bool is_established() const { return state_ == State::kEstablished; }
  const std::string& peer_address() const { return peer_address_; }
  void set_peer_address(std::string address) { peer_address_ = std::move(address); }
  const PeerIdentity& peer() const { return peer_; }
  // From the other's hello; only if established.
  uint32_t version() const { return version_; }
  uint64_t capabilities() const { return capabilities_; }
  const Hello& hello() const { return hello_; }                   // of the agent
  const HelloReply& hello_reply() const { return hello_reply_; }  // of the controller
  const ClockEstimate& clock_estimate() const { return estimate_; }
  Nanos created_at() const { return created_at_; }          // monotonic
  Nanos established_at() const { return established_at_; }  // monotonic; 0: never was
  // When the peer last said anything at all (monotonic); 0: it has not yet.
  Nanos last_heard_at() const { return last_heard_at_; }
  size_t queued_bytes() const { return queue_.bytes(); }
  SessionCounters counters() const;

  // For whoever made the session, and may keep something about it.
  void* user_data = nullptr;

  // From the loop, through the functions that are given to libevent.
  void OnStreamReadable();
  void OnStreamWritable();
  void OnStreamEvent(int what);

 private:
  struct Answer {
    uint32_t number;
    Nanos asked_ns;
    Nanos received_ns;
  };

  bool is_live() const { return state_ != State::kClosing && state_ != State::kClosed; }
  void OnConnected();
  void SayHello();
  bool ReadFrame();
  void Take(Message message);
  void TakeInHello(Message message);
  void TakeHello(Hello hello);
  void TakeHelloReply(HelloReply reply);
  void TakeKeepAlive(const KeepAlive& keep_alive);
  void Establish(uint64_t capabilities);
  bool MayReceive(MessageKind kind) const;
  const char* WhyNotToSend(MessageKind kind) const;

  void Ask();
  void Flush();
  void FlushKeepAlives();
  void Write(MessageKind kind, const std::string& frame);
  void WriteMessage(const Message& message);
  void WriteOut();
  void FinishClosing();
  void FailProtocol(const std::string& text);
  void End(CloseCause cause, std::string text);
  size_t max_frame_to_peer() const;

  bufferevent* stream_;
  const Role role_;
  const SessionOptions options_;
  const WireClock& clock_;
  SessionOwner* const owner_;

  State state_ = State::kConnecting;
  CloseCause closing_cause_ = CloseCause::kByUs;
  std::string closing_text_;
  bool has_shut_down_ = false;
  std::string peer_address_;
  PeerIdentity peer_;
  Hello hello_;
  HelloReply hello_reply_;
  uint32_t version_ = 0;
  uint64_t capabilities_ = 0;

  FrameReader reader_;
  SendQueue queue_;
  SessionCounters counters_;
  ClockEstimate estimate_;

  Nanos created_at_;
  Nanos established_at_ = 0;
  Nanos last_heard_at_ = 0;
  Nanos closing_at_ = 0;
  Nanos frame_began_at_ = 0;  // 0: none is under way
  // The keep-alive of ours that is not answered yet.
  bool wants_to_ask_ = false;
  bool has_asked_ = false;
  uint32_t ask_number_ = 0;
  Nanos ask_due_at_ = 0;
  Nanos wanted_at_ = 0;
  Nanos asked_at_ = 0;
  Nanos asked_unix_ = 0;
  std::deque<Answer> answers_;  // that we owe
  std::string together_;        // frames that go out in one piece
  LoopEvent flush_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SESSION_H
