// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A libevent loop, a clock that stands still, and owners that remember, for tests of sessions on
// loopback.

#ifndef TRUMPET_LIB_WIRE_SESSION_KIT_TEST_H
#define TRUMPET_LIB_WIRE_SESSION_KIT_TEST_H

#include <event2/event.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/wire/connector.h"
#include "lib/wire/listener.h"
#include "lib/wire/test_certificates_test.h"

namespace trumpet {

class FakeWireClock final : public WireClock {
 public:
  Nanos UnixNow() const override { return unix_base + monotonic; }
  Nanos MonotonicNow() const override { return monotonic; }
  void Advance(Nanos by) { monotonic += by; }

  Nanos unix_base = 1700000000 * kNanosPerSecond;
  Nanos monotonic = kNanosPerSecond;
};

class Loop {
 public:
  Loop() : base_(event_base_new()) {}
  event_base* base() { return base_.get(); }

  // Runs until `done` holds; false if it does not within two minutes of real time, which only a
  // broken test reaches.
  bool RunUntil(const std::function<bool()>& done) {
    bool is_late = false;
    LoopEvent alarm(base(), [&] { is_late = true; });
    alarm.RunEvery(120 * kNanosPerSecond);
    while (!done() && !is_late) event_base_loop(base(), EVLOOP_ONCE);
    return done();
  }

  // Runs what is ready, and what that makes ready, through `rounds` looks at the kernel.
  void RunReady(int rounds = 50) {
    for (int i = 0; i < rounds; ++i) event_base_loop(base(), EVLOOP_NONBLOCK);
  }

 private:
  OwnedLoop base_;
};

struct Closed {
  CloseCause cause;
  std::string text;
};

class RecordingOwner final : public SessionOwner {
 public:
  Hello MakeHello() override { return hello; }
  std::optional<Refusal> OnHello(Session* session, const Hello& said, HelloReply* reply) override {
    heard = said;
    peer_at_hello = session->peer();
    reply->controller_id = controller_id;
    reply->controller_name = "tem";
    reply->capabilities &= capabilities;
    return refusal;
  }
  void OnEstablished(Session* session) override {
    ++established_count;
    sessions.push_back(session);
    if (on_established) on_established(session);
  }
  void OnMessage(Session* session, Message message) override {
    if (on_message) on_message(session, message);
    messages.push_back(std::move(message));
  }
  void OnClosed(Session* session, CloseCause cause, const std::string& text) override {
    closed.push_back({cause, text});
    for (size_t i = 0; i < sessions.size(); ++i) {
      if (sessions[i] == session) sessions.erase(sessions.begin() + static_cast<long>(i));
    }
    if (on_closed) on_closed();
  }

  Hello hello = OneHello();
  uint64_t capabilities = ~uint64_t{0};
  uint64_t controller_id = 77;
  std::optional<Refusal> refusal;
  std::function<void(Session*)> on_established;
  std::function<void(Session*, const Message&)> on_message;
  std::function<void()> on_closed;
  Hello heard;
  PeerIdentity peer_at_hello;
  int established_count = 0;
  std::vector<Session*> sessions;  // that are established now
  std::vector<Message> messages;
  std::vector<Closed> closed;

 private:
  static Hello OneHello() {
    Hello hello;
    hello.host_id = "h1";
    hello.capabilities = kCapabilityPartials | kCapabilityPoll;
    return hello;
  }
};

// A controller and an agent, whose parts a test may replace before Start().
class SessionTest : public ::testing::Test {
 protected:
  SessionTest()
      : switches_(&folder_, "switch"),
        controllers_(&folder_, "controller"),
        controller_files_(controllers_.Issue("controller", "tem.example", switches_)),
        agent_files_(switches_.Issue("agent", "h1.example", controllers_)) {
    listener_options_.tick = 0;
    listener_options_.max_accepts_per_tick = 100000;  // tests tick seldom
    connector_options_.tick = 0;
  }

  void Listen() {
    auto tls = TlsContext::Load(controller_files_);
    ASSERT_TRUE(tls.ok()) << tls.message();
    controller_tls_ = std::move(*tls);
    auto listener =
        Listener::Listen(loop_.base(), *ParsePassiveAddress("pssl:0:127.0.0.1"),
                         controller_tls_.get(), listener_options_, clock_, &controller_);
    ASSERT_TRUE(listener.ok()) << listener.message();
    listener_ = std::move(*listener);
  }

  void Connect() {
    auto tls = TlsContext::Load(agent_files_);
    ASSERT_TRUE(tls.ok()) << tls.message();
    agent_tls_ = std::move(*tls);
    auto connector = Connector::Connect(loop_.base(), Here(), agent_tls_.get(), connector_options_,
                                        agent_clock_, &agent_);
    ASSERT_TRUE(connector.ok()) << connector.message();
    connector_ = std::move(*connector);
  }

  Address Here() const { return {true, "127.0.0.1", listener_->port()}; }

  void Establish() {
    Listen();
    Connect();
    ASSERT_TRUE(loop_.RunUntil([&] {
      return agent_.established_count == 1 && controller_.established_count == 1;
    })) << Ends();
  }

  bool BothClosed() {
    return loop_.RunUntil([&] { return !agent_.closed.empty() && !controller_.closed.empty(); });
  }

  std::string Ends() const {
    std::string text = "agent:";
    for (const Closed& end : agent_.closed) text += " " + Shown(end);
    text += "; controller:";
    for (const Closed& end : controller_.closed) text += " " + Shown(end);
    return text;
  }

  static std::string Shown(const Closed& end) {
    return std::string(CloseCauseName(end.cause)) + " (" + end.text + ")";
  }

  void AdvanceBoth(Nanos by) {
    clock_.Advance(by);
    agent_clock_.Advance(by);
    if (listener_ != nullptr) listener_->Tick();
    if (connector_ != nullptr) connector_->Tick();
  }

  Session* agent_session() { return agent_.sessions.empty() ? nullptr : agent_.sessions[0]; }
  Session* controller_session() {
    return controller_.sessions.empty() ? nullptr : controller_.sessions[0];
  }

  TempFolder folder_;
  TestAuthority switches_;
  TestAuthority controllers_;
  TlsFiles controller_files_;
  TlsFiles agent_files_;
  FakeWireClock clock_;
  FakeWireClock agent_clock_;
  Loop loop_;
  ListenerOptions listener_options_;
  ConnectorOptions connector_options_;
  RecordingOwner controller_;
  RecordingOwner agent_;
  std::unique_ptr<TlsContext> controller_tls_;
  std::unique_ptr<TlsContext> agent_tls_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Connector> connector_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SESSION_KIT_TEST_H
