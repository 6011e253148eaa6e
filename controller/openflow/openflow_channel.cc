// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/openflow_channel.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "lib/wire/stream_end.h"

namespace trumpet {
namespace {

constexpr size_t kHeaderBytes = TRUMPET_OF_HEADER_BYTES;
constexpr size_t kMaxMessageBytes = 65535;  // the length has 16 bits
constexpr int kMessagesPerRound = 64;       // then others have their turn
constexpr Nanos kLastWords = 100 * kNanosPerMilli;

void ReadCallback(bufferevent* /*stream*/, void* channel) {
  static_cast<OpenflowChannel*>(channel)->OnReadable();
}

void EventCallback(bufferevent* /*stream*/, short what, void* channel) {
  static_cast<OpenflowChannel*>(channel)->OnStreamEvent(what);
}

}  // namespace

void OpenflowChannelCounters::Add(const OpenflowChannelCounters& other) {
  messages_sent += other.messages_sent;
  messages_received += other.messages_received;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  errors += other.errors;
  strays += other.strays;
  packets_held += other.packets_held;
}

OpenflowChannel::OpenflowChannel(event_base* base, bufferevent* stream, bool is_connected,
                                 const OpenflowChannelOptions& options, const WireClock& clock,
                                 OpenflowChannelOwner* owner)
    : stream_(stream),
      options_(options),
      clock_(clock),
      owner_(owner),
      created_at_(clock.MonotonicNow()),
      closer_(base, [this] {
        state_ = State::kClosed;
        bufferevent_setcb(stream_, nullptr, nullptr, nullptr, nullptr);
        bufferevent_free(stream_);
        stream_ = nullptr;
        FailBatches(soon_text_);
        owner_->OnChannelClosed(this, soon_cause_, soon_text_);
      }) {
  bufferevent_setcb(stream_, ReadCallback, nullptr, EventCallback, this);
  bufferevent_setwatermark(stream_, EV_READ, 0, 2 * kMaxMessageBytes);
  bufferevent_enable(stream_, EV_READ | EV_WRITE);
  if (is_connected && bufferevent_openssl_get_ssl(stream_) == nullptr) OnConnected();
}

OpenflowChannel::~OpenflowChannel() {
  if (stream_ != nullptr) bufferevent_free(stream_);
}

// ---- Beginning ----

void OpenflowChannel::OnStreamEvent(int what) {
  if (state_ == State::kClosed) return;
  if ((what & BEV_EVENT_CONNECTED) != 0) return OnConnected();
  if ((what & (BEV_EVENT_ERROR | BEV_EVENT_EOF | BEV_EVENT_TIMEOUT)) == 0) return;
  const StreamEnd end = WhyStreamEnded(stream_, what, state_ == State::kConnecting);
  Close(end.cause, end.text);
}

void OpenflowChannel::OnConnected() {
  if (state_ != State::kConnecting) return;
  const int on = 1;
  setsockopt(bufferevent_getfd(stream_), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (const ssl_st* tls = bufferevent_openssl_get_ssl(stream_)) {
    bufferevent_openssl_set_allow_dirty_shutdown(stream_, 1);
    peer_ = IdentityOf(tls);
    if (!peer_.is_authenticated) return Close(CloseCause::kTls, "peer has no certificate");
  }
  state_ = State::kHello;
  Write(EncodeHello());
}

void OpenflowChannel::TakeHello(const OpenflowMessage& message) {
  // The highest that both have; a switch that tells no list means all up to its version.
  for (const uint8_t version : {TRUMPET_OF_15, TRUMPET_OF_14, TRUMPET_OF_13}) {
    if ((message.head.versions >> version & 1) == 0) continue;
    version_ = version;
    state_ = State::kFeatures;
    Write(EncodeSimple(version_, TRUMPET_OF_FEATURES_REQUEST, NextXid()));
    return;
  }
  const std::string text = "this controller speaks OpenFlow 1.3, 1.4 and 1.5";
  Write(EncodeHelloFailed(message.head.version, text));
  Close(CloseCause::kRefused, "no version in common; " + text);
}

void OpenflowChannel::TakeFeatures(const OpenflowMessage& message) {
  if (message.head.auxiliary_id != 0) {
    return Close(CloseCause::kRefused, "auxiliary connections are not for us");
  }
  datapath_id_ = message.head.datapath_id;
  table_count_ = message.head.table_count;
  state_ = State::kReady;
  owner_->OnChannelReady(this);
}

// ---- Receiving ----

void OpenflowChannel::OnReadable() {
  for (int round = 0; round < kMessagesPerRound; ++round) {
    if (state_ == State::kClosed || !ReadMessage()) return;
  }
  bufferevent_trigger(stream_, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

// False when no whole message is there, or no more are wanted.
bool OpenflowChannel::ReadMessage() {
  evbuffer* const input = bufferevent_get_input(stream_);
  uint8_t head[kHeaderBytes];
  const size_t there = evbuffer_get_length(input);
  const bool has_head = evbuffer_copyout(input, head, sizeof head) == sizeof head;
  const size_t size = has_head ? size_t{head[2]} << 8 | head[3] : 0;
  if (has_head && size < kHeaderBytes) {
    Close(CloseCause::kProtocol, "a message of " + std::to_string(size) + " bytes");
    return false;
  }
  if (!has_head || there < size) {
    if (there == 0) message_began_at_ = 0;
    if (there != 0 && message_began_at_ == 0) message_began_at_ = clock_.MonotonicNow();
    return false;
  }
  message_began_at_ = 0;
  heard_at_ = clock_.MonotonicNow();
  ++counters_.messages_received;
  counters_.bytes_received += size;
  const std::string bytes(
      reinterpret_cast<const char*>(evbuffer_pullup(input, static_cast<ev_ssize_t>(size))), size);
  evbuffer_drain(input, size);
  Result<OpenflowMessage> message = DecodeOpenflow(bytes);
  if (!message.ok()) {
    Close(CloseCause::kProtocol, message.message());
    return false;
  }
  Take(bytes, std::move(*message));
  return !is_closing_ && state_ != State::kClosed;
}

void OpenflowChannel::Take(std::string_view bytes, OpenflowMessage message) {
  const trumpet_of_kind kind = message.head.kind;
  if (state_ == State::kHello) {
    if (kind == TRUMPET_OF_HELLO) return TakeHello(message);
    const std::string what = kind == TRUMPET_OF_ERROR ? message.head.error : "no hello";
    return Close(CloseCause::kProtocol, what + " at the beginning");
  }
  if (message.head.version != version_ && kind != TRUMPET_OF_HELLO && kind != TRUMPET_OF_ERROR) {
    return Close(CloseCause::kProtocol, "another version than agreed");
  }
  if (kind == TRUMPET_OF_ECHO_ASKED) return Write(EncodeEchoReply(bytes));
  if (kind == TRUMPET_OF_ECHO_ANSWERED) {
    asked_echo_at_ = 0;
    return;
  }
  if (kind == TRUMPET_OF_ERROR) ++counters_.errors;
  if (state_ == State::kFeatures) {
    if (kind == TRUMPET_OF_FEATURES) return TakeFeatures(message);
    if (kind == TRUMPET_OF_ERROR) Close(CloseCause::kProtocol, message.head.error);
    return;  // port statuses may come early
  }
  switch (kind) {
    case TRUMPET_OF_PACKET_IN:
    case TRUMPET_OF_PORT_STATUS:
    case TRUMPET_OF_FLOW_REMOVED:
      return owner_->OnChannelMessage(this, message);
    default:
      return TakeAnswer(bytes.size(), std::move(message));
  }
}

void OpenflowChannel::TakeAnswer(size_t size, OpenflowMessage message) {
  const auto found = asked_.find(message.head.xid);
  if (found == asked_.end()) {
    ++counters_.strays;
    return;
  }
  const Batches::iterator batch = found->second.first;
  if (message.head.kind == TRUMPET_OF_BARRIER && message.head.xid == batch->barrier) {
    return FinishBatch(batch);
  }
  answer_bytes_ += size;
  batch->bytes += size;
  if (answer_bytes_ > options_.max_answer_bytes) {
    return Close(CloseCause::kProtocol, "more answers than are taken");
  }
  const size_t index = found->second.second;
  if (index >= batch->answers.answers.size()) return;  // an error of the barrier's own
  OpenflowAnswer& answer = batch->answers.answers[index];
  if (message.head.kind == TRUMPET_OF_ERROR) {
    if (answer.error.empty()) answer.error = message.head.error;
  } else {
    answer.messages.push_back(std::move(message));
  }
}

void OpenflowChannel::FinishBatch(Batches::iterator batch) {
  for (const uint32_t xid : batch->xids) asked_.erase(xid);
  asked_.erase(batch->barrier);
  answer_bytes_ -= batch->bytes;
  Batch whole = std::move(*batch);
  batches_.erase(batch);
  whole.done(whole.answers);
}

// ---- Sending ----

void OpenflowChannel::Write(const std::string& bytes) {
  if (stream_ == nullptr || is_closing_) return;
  evbuffer* const output = bufferevent_get_output(stream_);
  if (evbuffer_get_length(output) + bytes.size() > options_.max_queue_bytes) {
    return Close(CloseCause::kStuck, "the switch reads too slowly");
  }
  evbuffer_add(output, bytes.data(), bytes.size());
  ++counters_.messages_sent;
  counters_.bytes_sent += bytes.size();
}

void OpenflowChannel::Ask(std::vector<OpenflowRequest> requests, Done done) {
  const auto batch = batches_.emplace(batches_.end());
  batch->done = std::move(done);
  batch->answers.answers.resize(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    batch->xids.push_back(requests[i].xid);
    asked_[requests[i].xid] = {batch, i};
    Write(requests[i].bytes);
  }
  batch->barrier = NextXid();
  asked_[batch->barrier] = {batch, requests.size()};
  Write(EncodeSimple(version_, TRUMPET_OF_BARRIER_REQUEST, batch->barrier));
}

bool OpenflowChannel::Tell(const std::string& bytes) {
  if (!is_ready()) return false;
  if (evbuffer_get_length(bufferevent_get_output(stream_)) + bytes.size() >
      options_.max_queue_bytes / 2) {
    ++counters_.packets_held;
    return false;
  }
  Write(bytes);
  return true;
}

// ---- Time and end ----

void OpenflowChannel::Tick() {
  if (state_ == State::kClosed || is_closing_) return;
  const Nanos now = clock_.MonotonicNow();
  if (state_ != State::kReady) {
    if (now - created_at_ > options_.handshake_timeout) {
      Close(CloseCause::kHandshakeTimeout, "not ready in time");
    }
    return;
  }
  if (message_began_at_ != 0 && now - message_began_at_ > options_.message_timeout) {
    return Close(CloseCause::kFrameTimeout, "a message was begun and not ended");
  }
  if (asked_echo_at_ != 0) {
    if (now - asked_echo_at_ > options_.keep_alive_timeout) {
      Close(CloseCause::kKeepAliveTimeout, "the switch does not answer");
    }
  } else if (now - heard_at_ > options_.keep_alive_interval) {
    asked_echo_at_ = now;
    Write(EncodeSimple(version_, TRUMPET_OF_ECHO_REQUEST, NextXid()));
  }
}

void OpenflowChannel::Close(CloseCause cause, const std::string& text) {
  if (state_ == State::kClosed || is_closing_) return;
  is_closing_ = true;
  soon_cause_ = cause;
  soon_text_ = text;
  bufferevent_disable(stream_, EV_READ);
  if (cause == CloseCause::kRefused) {
    closer_.RunAfter(kLastWords);
  } else {
    closer_.RunSoon();
  }
}

void OpenflowChannel::FailBatches(const std::string& text) {
  asked_.clear();
  while (!batches_.empty()) {
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    batch.answers.status = Status::Error("the connection to the switch ended: " + text);
    batch.done(batch.answers);
  }
}

}  // namespace trumpet
