// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/session.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "lib/wire/codec.h"
#include "lib/wire/farewell.h"
#include "lib/wire/limits.h"
#include "lib/wire/message_rules.h"
#include "lib/wire/stream_end.h"

namespace trumpet {
namespace {

constexpr size_t kOutputBytes = 64 * 1024;  // more is only written when less than that waits
// What an agent tells waits for more to go out with, until so much has come together or its turn of
// the loop is over.
constexpr size_t kTogetherBytes = 16 * 1024;
constexpr size_t kKeptBytes = 16 * 1024;  // of memory to put frames together in
constexpr int kFramesPerRound = 64;       // then others have their turn
constexpr size_t kMaxAnswersOwed = 4;
constexpr Nanos kClosingTime = kNanosPerSecond;

void ReadCallback(bufferevent* /*stream*/, void* session) {
  static_cast<Session*>(session)->OnStreamReadable();
}
void WriteCallback(bufferevent* /*stream*/, void* session) {
  static_cast<Session*>(session)->OnStreamWritable();
}
void EventCallback(bufferevent* /*stream*/, short what, void* session) {
  static_cast<Session*>(session)->OnStreamEvent(what);
}

void AddCounts(const KindCounts& from, KindCounts* into) {
  for (size_t i = 0; i < from.size(); ++i) (*into)[i] += from[i];
}

}  // namespace

void SessionCounters::Add(const SessionCounters& other) {
  bytes_received += other.bytes_received;
  bytes_sent += other.bytes_sent;
  AddCounts(other.received, &received);
  AddCounts(other.sent, &sent);
  AddCounts(other.dropped, &dropped);
  bad_stamps += other.bad_stamps;
}

Session::Session(bufferevent* stream, Role role, const SessionOptions& options,
                 const WireClock& clock, SessionOwner* owner)
    : stream_(stream),
      role_(role),
      options_(options),
      clock_(clock),
      owner_(owner),
      reader_(kMaxFirstFrame),
      queue_(options.max_queue_bytes),
      created_at_(clock.MonotonicNow()),
      flush_(bufferevent_get_base(stream), [this] { Flush(); }) {
  bufferevent_setcb(stream_, ReadCallback, WriteCallback, EventCallback, this);
  bufferevent_setwatermark(stream_, EV_READ, 0, kFrameHeadBytes + kMaxFirstFrame);
  bufferevent_setwatermark(stream_, EV_WRITE, kOutputBytes / 2, 0);
  bufferevent_enable(stream_, EV_READ | EV_WRITE);
  const bool is_plain = bufferevent_openssl_get_ssl(stream_) == nullptr;
  if (is_plain && role == Role::kController) state_ = State::kHello;  // connected already
}

Session::~Session() {
  if (stream_ != nullptr) bufferevent_free(stream_);
}

SessionCounters Session::counters() const {
  SessionCounters counters = counters_;
  counters.dropped = queue_.dropped();
  return counters;
}

void Session::OnStreamEvent(int what) {
  if (state_ == State::kClosed) return;
  if ((what & BEV_EVENT_CONNECTED) != 0) {
    OnConnected();
    return;
  }
  if ((what & (BEV_EVENT_ERROR | BEV_EVENT_EOF | BEV_EVENT_TIMEOUT)) == 0) return;
  if (state_ == State::kClosing) {
    FinishClosing();
    return;
  }
  const bool is_connecting = state_ == State::kConnecting && role_ == Role::kAgent;
  StreamEnd end = WhyStreamEnded(stream_, what, is_connecting);
  End(end.cause, std::move(end.text));
}

// ---- Receiving ----

void Session::OnStreamReadable() {
  if (state_ == State::kClosing) {
    evbuffer* input = bufferevent_get_input(stream_);
    evbuffer_drain(input, evbuffer_get_length(input));
    return;
  }
  for (int round = 0; round < kFramesPerRound; ++round) {
    if (!is_live() || !ReadFrame()) return;
  }
  if (is_live() && evbuffer_get_length(bufferevent_get_input(stream_)) >= kFrameHeadBytes) {
    bufferevent_trigger(stream_, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
  }
}

// False when no whole frame is there, or no more are wanted.
bool Session::ReadFrame() {
  evbuffer* input = bufferevent_get_input(stream_);
  std::string_view frame;
  switch (reader_.Peek(input, &frame)) {
    case FrameReader::State::kNeedMore:
      if (evbuffer_get_length(input) == 0) {
        frame_began_at_ = 0;
      } else if (frame_began_at_ == 0) {
        frame_began_at_ = clock_.MonotonicNow();
      }
      return false;
    case FrameReader::State::kBadLength:
      FailProtocol("frame of " + std::to_string(reader_.bad_length()) + " bytes; 1 to " +
                   std::to_string(reader_.max_bytes()) + " are allowed");
      return false;
    case FrameReader::State::kFrame:
      break;
  }
  frame_began_at_ = 0;
  counters_.bytes_received += kFrameHeadBytes + frame.size();
  Result<Message> message = DecodeMessage(frame);
  reader_.Drop(input);
  if (!message.ok()) {
    FailProtocol(message.message());
    return false;
  }
  ++counters_.received[static_cast<size_t>(KindOf(*message))];
  last_heard_at_ = clock_.MonotonicNow();
  Take(std::move(*message));
  return is_live();
}

void Session::Take(Message message) {
  if (state_ != State::kEstablished) return TakeInHello(std::move(message));
  if (const auto* keep_alive = std::get_if<KeepAlive>(&message)) return TakeKeepAlive(*keep_alive);
  if (const auto* bye = std::get_if<Bye>(&message)) {
    return End(CloseCause::kBye, FarewellOf(*bye));
  }
  const MessageKind kind = KindOf(message);
  if (!MayReceive(kind)) {
    return FailProtocol(std::string(MessageKindName(kind)) + " is not for this side to receive");
  }
  if ((CapabilityFor(kind) & ~capabilities_) != 0) {
    return FailProtocol(std::string(MessageKindName(kind)) + " was not negotiated");
  }
  owner_->OnMessage(this, std::move(message));
}

bool Session::MayReceive(MessageKind kind) const {
  return role_ == Role::kAgent ? IsFromController(kind) : IsFromAgent(kind);
}

void Session::TakeKeepAlive(const KeepAlive& keep_alive) {
  const Nanos now = clock_.MonotonicNow();
  if (!keep_alive.is_answer) {
    if (answers_.size() >= kMaxAnswersOwed) answers_.pop_front();
    answers_.push_back({keep_alive.number, keep_alive.asked_ns, clock_.UnixNow()});
    Flush();
    return;
  }
  if (!has_asked_ || keep_alive.number != ask_number_) {
    ++counters_.bad_stamps;
    return;
  }
  has_asked_ = false;
  if (!estimate_.Add(asked_unix_, keep_alive.received_ns, keep_alive.answered_ns, now - asked_at_,
                     now)) {
    ++counters_.bad_stamps;
  }
}

// ---- Sending ----

size_t Session::max_frame_to_peer() const {
  return role_ == Role::kAgent ? kMaxFrameToController : kMaxFrameToAgent;
}

const char* Session::WhyNotToSend(MessageKind kind) const {
  if (state_ != State::kEstablished) return "the session is not established";
  const bool is_ours = role_ == Role::kAgent ? IsFromAgent(kind) : IsFromController(kind);
  if (!is_ours) return "it is not for this side to send";
  if ((CapabilityFor(kind) & ~capabilities_) != 0) return "the peer has not offered to take it";
  return nullptr;
}

Status Session::Send(const Message& message) {
  const MessageKind kind = KindOf(message);
  if (const char* reason = WhyNotToSend(kind)) {
    return Status::Error(std::string(MessageKindName(kind)) + " cannot be sent: " + reason);
  }
  if (const auto* end = std::get_if<IntervalEnd>(&message)) {
    queue_.PushIntervalEnd(*end);
    Flush();
    return Status::Ok();
  }
  std::string frame;
  Status encoded = EncodeMessage(message, max_frame_to_peer(), &frame);
  if (!encoded.ok()) return encoded;
  if (queue_.Push(kind, std::move(frame)) == SendQueue::Outcome::kStuck) {
    End(CloseCause::kStuck, "peer reads too slowly for what it must be told");
    return Status::Error("the session was ended: the peer does not read");
  }
  if (MayWait(kind) && queue_.bytes() < kTogetherBytes) {
    flush_.RunSoon();
  } else {
    Flush();
  }
  return Status::Ok();
}

void Session::Write(MessageKind kind, const std::string& frame) {
  char head[kFrameHeadBytes];
  PutFrameHead(frame.size(), head);
  together_.append(head, sizeof head).append(frame);
  counters_.bytes_sent += sizeof head + frame.size();
  ++counters_.sent[static_cast<size_t>(kind)];
}

// In one piece: each that is added to the stream becomes a record of TLS and a packet, which the
// peer reads by itself.
void Session::WriteOut() {
  if (stream_ == nullptr || together_.empty()) return;
  bufferevent_write(stream_, together_.data(), together_.size());
  together_.clear();
  if (together_.capacity() > kKeptBytes) std::string().swap(together_);
}

// For the session's own messages, and ends of intervals, whose counts are known only now.
void Session::WriteMessage(const Message& message) {
  std::string frame;
  const size_t limit = state_ == State::kEstablished ? max_frame_to_peer() : kMaxFirstFrame;
  const Status encoded = EncodeMessage(message, limit, &frame);
  if (encoded.ok()) {
    Write(KindOf(message), frame);
  } else if (is_live()) {
    End(CloseCause::kByUs, encoded.message());
  }
}

void Session::Ask() {
  wants_to_ask_ = true;
  wanted_at_ = clock_.MonotonicNow();
  ask_due_at_ = wanted_at_ + options_.keep_alive_interval;
}

// Stamps are taken when nothing waits before the message any more.
void Session::FlushKeepAlives() {
  while (!answers_.empty() && is_live()) {
    const Answer answer = answers_.front();
    answers_.pop_front();
    WriteMessage(KeepAlive{answer.number, true, answer.asked_ns, answer.received_ns,
                           std::max(answer.received_ns, clock_.UnixNow())});
  }
  if (!wants_to_ask_ || !is_live()) return;
  wants_to_ask_ = false;
  has_asked_ = true;
  ++ask_number_;
  asked_at_ = clock_.MonotonicNow();
  asked_unix_ = clock_.UnixNow();
  WriteMessage(KeepAlive{ask_number_, false, asked_unix_, 0, 0});
}

void Session::Flush() {
  if (state_ != State::kEstablished) return;
  flush_.Cancel();
  const size_t waiting = evbuffer_get_length(bufferevent_get_output(stream_));
  while (is_live() && waiting + together_.size() < kOutputBytes) {
    FlushKeepAlives();
    if (!is_live()) return;
    std::optional<SendQueue::Item> item = queue_.Pop();
    if (!item) break;
    if (item->end) {
      WriteMessage(*item->end);
    } else {
      Write(item->kind, item->frame);
    }
  }
  WriteOut();
}

void Session::OnStreamWritable() {
  if (state_ == State::kEstablished) Flush();
  if (state_ != State::kClosing || has_shut_down_) return;
  if (evbuffer_get_length(bufferevent_get_output(stream_)) > 0) {
    bufferevent_setwatermark(stream_, EV_WRITE, 0, 0);
    return;
  }
  // What the peer has sent meanwhile is read and forgotten until it ends, too: closing now would
  // make the kernel take back what we have just sent.
  has_shut_down_ = true;
  if (SSL* tls = bufferevent_openssl_get_ssl(stream_)) {
    SSL_shutdown(tls);
    ERR_clear_error();
  }
  shutdown(bufferevent_getfd(stream_), SHUT_WR);
}

// ---- Time ----

void Session::Tick() {
  const Nanos now = clock_.MonotonicNow();
  switch (state_) {
    case State::kConnecting:
    case State::kHello:
      if (now - created_at_ > options_.handshake_timeout) {
        End(CloseCause::kHandshakeTimeout,
            state_ == State::kConnecting ? "connection was not made in time" : "no hello in time");
      }
      return;
    case State::kClosing:
      if (now - closing_at_ > kClosingTime) FinishClosing();
      return;
    case State::kClosed:
      return;
    case State::kEstablished:
      break;
  }
  if (frame_began_at_ != 0 && now - frame_began_at_ > options_.frame_timeout) {
    return End(CloseCause::kFrameTimeout, "a frame was begun and not ended");
  }
  const bool is_waiting = has_asked_ || wants_to_ask_;
  const Nanos since = has_asked_ ? asked_at_ : wanted_at_;
  if (is_waiting && now - since > options_.keep_alive_timeout) {
    return End(CloseCause::kKeepAliveTimeout, "peer does not answer");
  }
  if (!is_waiting && now >= ask_due_at_) Ask();
  Flush();
}

// ---- End ----

void Session::FailProtocol(const std::string& text) {
  closing_cause_ = CloseCause::kProtocol;
  closing_text_ = text;
  if (state_ == State::kHello && role_ == Role::kController) {
    return End(CloseCause::kProtocol, text);  // a stranger; not worth an answer
  }
  WriteMessage(Bye{ByeReason::kProtocol, ToWireText(text, kMaxTextBytes)});
  WriteOut();
  state_ = State::kClosing;
  closing_at_ = clock_.MonotonicNow();
  OnStreamWritable();
}

void Session::Close(ByeReason reason, const std::string& text) {
  if (!is_live()) return;
  if (state_ == State::kConnecting) return End(CloseCause::kByUs, text);
  closing_cause_ = CloseCause::kByUs;
  closing_text_ = FarewellOf(reason, text);
  if (evbuffer_get_length(bufferevent_get_output(stream_)) >= kOutputBytes) {
    return End(closing_cause_, closing_text_);  // it does not read
  }
  WriteMessage(Bye{reason, ToWireText(text, kMaxTextBytes)});
  WriteOut();
  if (!is_live()) return;
  state_ = State::kClosing;
  queue_.Clear();
  closing_at_ = clock_.MonotonicNow();
  OnStreamWritable();
}

void Session::FinishClosing() { End(closing_cause_, closing_text_); }

// `text` may be a member that the owner's call takes away, so it is a copy.
void Session::End(CloseCause cause, std::string text) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  queue_.Clear();  // before anybody looks at the counters
  bufferevent_setcb(stream_, nullptr, nullptr, nullptr, nullptr);
  bufferevent_free(stream_);
  stream_ = nullptr;
  const std::string last_text = std::move(text);
  owner_->OnClosed(this, cause, last_text);
}

}  // namespace trumpet
