// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a session does with peers that do not behave; without TLS, so that a test can be one.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/wire/codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/raw_peer_test.h"
#include "lib/wire/session.h"
#include "lib/wire/session_kit_test.h"

namespace trumpet {
namespace {

class PlainSession : public SessionTest {
 protected:
  void ListenPlain() {
    auto listener = Listener::Listen(loop_.base(), *ParsePassiveAddress("ptcp:0:127.0.0.1"),
                                     nullptr, listener_options_, clock_, &controller_);
    ASSERT_TRUE(listener.ok()) << listener.message();
    listener_ = std::move(*listener);
  }

  std::unique_ptr<RawPeer> Peer() {
    return std::make_unique<RawPeer>(loop_.base(), listener_->port());
  }

  // A peer that has been taken in.
  std::unique_ptr<RawPeer> TakenIn() {
    ListenPlain();
    auto peer = Peer();
    peer->Send(agent_.hello);
    EXPECT_TRUE(loop_.RunUntil([&] { return peer->Find(MessageKind::kHelloReply) != nullptr; }));
    return peer;
  }

  void ExpectClosed(CloseCause cause, const std::string& text) {
    ASSERT_TRUE(loop_.RunUntil([&] { return !controller_.closed.empty(); }));
    EXPECT_EQ(Shown(controller_.closed[0]), Shown({cause, text}));
    EXPECT_EQ(listener_->session_count() + listener_->stranger_count(), 0u);
  }
};

TEST_F(PlainSession, HasNoIdentity) {
  const auto peer = TakenIn();
  EXPECT_FALSE(controller_session()->peer().is_authenticated);
  EXPECT_EQ(controller_session()->peer_address().substr(0, 10), "127.0.0.1:");
}

TEST_F(PlainSession, NeedsKeysForTlsAndOnlyThere) {
  const auto listener = Listener::Listen(loop_.base(), *ParsePassiveAddress("pssl:0:127.0.0.1"),
                                         nullptr, listener_options_, clock_, &controller_);
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.message(), "keys and certificates go with pssl:, and only with it");
}

TEST_F(PlainSession, RefusesVersionsItDoesNotSpeak) {
  ListenPlain();
  const auto peer = Peer();
  Hello hello = agent_.hello;
  hello.min_version = 9;
  hello.max_version = 12;
  peer->Send(hello);
  ASSERT_TRUE(loop_.RunUntil([&] { return peer->has_ended(); }));
  const Message* refusal = peer->Find(MessageKind::kRefusal);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(std::get<Refusal>(*refusal).reason, RefusalReason::kVersion);
  EXPECT_EQ(std::get<Refusal>(*refusal).text, "this controller speaks versions 1 to 1");
}

TEST_F(PlainSession, TakesTheHighestCommonVersion) {
  ListenPlain();
  const auto peer = Peer();
  Hello hello = agent_.hello;
  hello.max_version = 12;
  peer->Send(hello);
  ASSERT_TRUE(loop_.RunUntil([&] { return peer->Find(MessageKind::kHelloReply) != nullptr; }));
  EXPECT_EQ(std::get<HelloReply>(*peer->Find(MessageKind::kHelloReply)).version, 1u);
}

TEST_F(PlainSession, EndsOnGarbageFromAStrangerWithoutAWord) {
  ListenPlain();
  const auto peer = Peer();
  peer->SendBytes("GET / HTTP/1.1\r\n\r\n");
  ExpectClosed(CloseCause::kProtocol, "frame of 1195725856 bytes; 1 to 4096 are allowed");
  ASSERT_TRUE(loop_.RunUntil([&] { return peer->has_ended(); }));
  EXPECT_TRUE(peer->messages().empty());
}

TEST_F(PlainSession, EndsOnAFirstMessageThatIsNoHello) {
  ListenPlain();
  const auto peer = Peer();
  peer->Send(KeepAlive());
  ExpectClosed(CloseCause::kProtocol, "keep_alive before hello");
}

TEST_F(PlainSession, TellsAPeerWhatItDidWrong) {
  const auto peer = TakenIn();
  peer->SendBytes(std::string("\0\0\0\3\xff\xff\xff", 7));
  ASSERT_TRUE(loop_.RunUntil([&] { return peer->has_ended(); }));
  const Message* bye = peer->Find(MessageKind::kBye);
  ASSERT_NE(bye, nullptr);
  EXPECT_EQ(std::get<Bye>(*bye).text, "frame of 3 bytes is no protobuf message of this protocol");
  peer->Cut();
  ExpectClosed(CloseCause::kProtocol, "frame of 3 bytes is no protobuf message of this protocol");
}

TEST_F(PlainSession, EndsOnAFrameThatIsTooLong) {
  const auto peer = TakenIn();
  peer->SendBytes(std::string("\0\4\0\1", 4));
  ASSERT_TRUE(loop_.RunUntil([&] { return peer->has_ended(); }));
  peer->Cut();
  ExpectClosed(CloseCause::kProtocol, "frame of 262145 bytes; 1 to 262144 are allowed");
}

TEST_F(PlainSession, EndsOnMessagesThatAreNotForItOrNotNegotiated) {
  const auto peer = TakenIn();
  peer->Send(Poll());
  ASSERT_TRUE(loop_.RunUntil([&] { return peer->has_ended(); }));
  peer->Cut();
  ExpectClosed(CloseCause::kProtocol, "poll is not for this side to receive");
  controller_.closed.clear();

  const auto second = Peer();
  second->Send(agent_.hello);
  FlowStates states;
  states.end_ns = 1;
  second->Send(states);
  ASSERT_TRUE(loop_.RunUntil([&] { return second->has_ended(); }));
  second->Cut();
  ExpectClosed(CloseCause::kProtocol, "flow_states was not negotiated");
}

TEST_F(PlainSession, ForgetsAFrameThatWasCutInTheMiddle) {
  const auto peer = TakenIn();
  peer->SendBytes(std::string("\0\0\1\0only a part", 15));
  loop_.RunReady();
  peer->Cut();
  ExpectClosed(CloseCause::kByPeer, "connection ended");
  EXPECT_TRUE(controller_.messages.empty());
}

TEST_F(PlainSession, DoesNotWaitForeverForTheRestOfAFrame) {
  listener_options_.session.keep_alive_timeout = 100 * kNanosPerSecond;
  const auto peer = TakenIn();
  peer->SendBytes(std::string("\0\0\1\0only a part", 15));
  loop_.RunReady();
  clock_.Advance(10 * kNanosPerSecond);
  listener_->Tick();
  EXPECT_TRUE(controller_.closed.empty());
  peer->SendBytes("and a little more");  // no new time for that
  loop_.RunReady();
  clock_.Advance(1);
  listener_->Tick();
  ASSERT_EQ(controller_.closed.size(), 1u);
  EXPECT_EQ(Shown(controller_.closed[0]), "frame-timeout (a frame was begun and not ended)");
}

TEST_F(PlainSession, SendsStrangersAwayWhoSayNothing) {
  ListenPlain();
  const auto peer = Peer();
  ASSERT_TRUE(loop_.RunUntil([&] { return listener_->stranger_count() == 1; }));
  clock_.Advance(6 * kNanosPerSecond);
  listener_->Tick();
  ExpectClosed(CloseCause::kHandshakeTimeout, "no hello in time");
}

TEST_F(PlainSession, KeepsPlacesForAgentsInAFloodOfStrangers) {
  listener_options_.max_strangers = 8;
  ListenPlain();
  std::vector<std::unique_ptr<RawPeer>> flood;
  flood.reserve(40);
  for (int i = 0; i < 40; ++i) flood.push_back(Peer());
  const auto agent = Peer();
  agent->Send(agent_.hello);
  ASSERT_TRUE(loop_.RunUntil([&] { return listener_->stranger_count() == 8; }));
  size_t most = 0;
  for (int rounds = 0; agent->Find(MessageKind::kHelloReply) == nullptr && rounds < 200; ++rounds) {
    clock_.Advance(kNanosPerSecond + 1);
    listener_->Tick();
    loop_.RunReady();
    most = std::max(most, listener_->stranger_count());
  }
  EXPECT_NE(agent->Find(MessageKind::kHelloReply), nullptr);
  EXPECT_LE(most, 8u);
  EXPECT_GT(listener_->counters().strangers_evicted +
                listener_->counters().closed[static_cast<size_t>(CloseCause::kHandshakeTimeout)],
            30u);
}

TEST_F(PlainSession, TakesOnlySoManyConnectionsInATick) {
  listener_options_.max_accepts_per_tick = 3;
  ListenPlain();
  std::vector<std::unique_ptr<RawPeer>> peers;
  peers.reserve(8);
  for (int i = 0; i < 8; ++i) peers.push_back(Peer());
  for (const uint64_t wanted : {3, 6, 8}) {
    EXPECT_TRUE(loop_.RunUntil([&] { return listener_->counters().accepted >= wanted; }));
    loop_.RunReady();
    EXPECT_EQ(listener_->counters().accepted, wanted);
    listener_->Tick();
  }
}

TEST_F(PlainSession, RefusesMoreAgentsThanItTakes) {
  listener_options_.max_sessions = 1;
  const auto first = TakenIn();
  const auto second = Peer();
  second->Send(agent_.hello);
  ASSERT_TRUE(loop_.RunUntil([&] { return second->Find(MessageKind::kRefusal) != nullptr; }));
  EXPECT_EQ(std::get<Refusal>(*second->Find(MessageKind::kRefusal)).text,
            "this controller takes 1 agents");
}

TEST_F(PlainSession, AnAgentThatIsNotAnsweredInTimeIsMorePatientNextTime) {
  RawServer server(loop_.base());
  auto connector = Connector::Connect(loop_.base(), {false, "127.0.0.1", server.port()}, nullptr,
                                      connector_options_, agent_clock_, &agent_);
  ASSERT_TRUE(connector.ok()) << connector.message();
  const auto timeouts = [&] {
    return (*connector)->counters().closed[static_cast<size_t>(CloseCause::kHandshakeTimeout)];
  };
  uint64_t attempts = 0;
  for (const Nanos seconds : {5, 10, 20, 40, 40}) {
    const auto has_come = [&] {
      return server.peers().size() > attempts &&
             server.peers()[attempts]->Find(MessageKind::kHello) != nullptr;
    };
    ASSERT_TRUE(loop_.RunUntil(has_come)) << attempts;
    agent_clock_.Advance(seconds * kNanosPerSecond);
    (*connector)->Tick();
    EXPECT_EQ(timeouts(), attempts) << "too early";
    agent_clock_.Advance(1);
    (*connector)->Tick();
    EXPECT_EQ(timeouts(), ++attempts) << "too late";
    agent_clock_.Advance((*connector)->next_attempt_at() - agent_clock_.monotonic);
    (*connector)->Tick();
  }
  connector->reset();
}

// An agent whose controller takes it in, and then does as the test says.
class StalledController : public PlainSession {
 protected:
  void SetUp() override {
    connector_options_.session.max_queue_bytes = kQueueBytes;
    auto connector = Connector::Connect(loop_.base(), {false, "127.0.0.1", server_.port()}, nullptr,
                                        connector_options_, agent_clock_, &agent_);
    ASSERT_TRUE(connector.ok()) << connector.message();
    connector_ = std::move(*connector);
    ASSERT_TRUE(loop_.RunUntil([&] {
      return !server_.peers().empty() && server_.peers()[0]->Find(MessageKind::kHello) != nullptr;
    }));
    server_.peers()[0]->Send(HelloReply{1, kCapabilityPartials, 77, ""});
    ASSERT_TRUE(loop_.RunUntil([&] { return connector_->session() != nullptr; }));
    server_.peers()[0]->SetReading(false);
  }

  Partials BigPartials(Nanos start) {
    Partials partials;
    partials.event_id = 1;
    partials.start_ns = start;
    partials.end_ns = start + 10;
    partials.words_per_bucket = 1;
    const uint64_t word = 1;
    for (int i = 0; i < 400; ++i) partials.Add(std::string(200, 'k'), &word, false);
    return partials;
  }

  static constexpr size_t kQueueBytes = 1024 * 1024;
  RawServer server_{loop_.base()};
};

TEST_F(StalledController, LosesPartialsFirstNeverGrowsAndSaysWhatWasLost) {
  Session* session = connector_->session();
  HostReport report;
  report.report.event_id = 1;
  report.report.end_ns = 10;
  constexpr int kIntervals = 400;  // of 80 KB: the kernel's buffers and the queue hold a part
  for (int i = 0; i < kIntervals; ++i) {
    ASSERT_TRUE(session->Send(BigPartials(i * 10)).ok());
    if (i % 4 == 0) {
      ASSERT_TRUE(session->Send(report).ok());
    }
    IntervalEnd end;
    end.until_ns = i * 10 + 10;
    ASSERT_TRUE(session->Send(end).ok());
    ASSERT_LE(session->queued_bytes(), kQueueBytes + kIntervals * SendQueue::kOverheadBytes);
    loop_.RunReady(1);
  }
  const uint64_t dropped = session->counters().dropped[static_cast<size_t>(MessageKind::kPartials)];
  EXPECT_GT(dropped, 100u);
  EXPECT_EQ(session->counters().dropped[static_cast<size_t>(MessageKind::kReport)], 0u);

  RawPeer& peer = *server_.peers()[0];
  peer.SetReading(true);
  const auto has_last_end = [&] {
    const auto* end =
        peer.messages().empty() ? nullptr : std::get_if<IntervalEnd>(&peer.messages().back());
    return end != nullptr && end->until_ns == kIntervals * 10;
  };
  ASSERT_TRUE(loop_.RunUntil(has_last_end));
  uint64_t told = 0;
  uint64_t reports = 0;
  uint64_t partials = 0;
  for (const Message& message : peer.messages()) {
    if (const auto* end = std::get_if<IntervalEnd>(&message)) told += end->dropped_partials;
    if (std::holds_alternative<HostReport>(message)) ++reports;
    if (std::holds_alternative<Partials>(message)) ++partials;
  }
  EXPECT_EQ(told, dropped);
  EXPECT_EQ(partials, kIntervals - dropped);
  EXPECT_EQ(reports, kIntervals / 4u);
}

TEST_F(StalledController, IsCountedAsNotToldWhatWaitedWhenItsSessionEnded) {
  Session* const session = connector_->session();
  HostReport report;
  report.report.event_id = 1;
  report.report.end_ns = 10;
  constexpr int kMessages = 400;  // of 80 KB: more than the kernel's buffers hold
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(session->Send(BigPartials(i * 10)).ok());
    ASSERT_TRUE(session->Send(report).ok());
    loop_.RunReady(1);
  }
  ASSERT_GT(session->queued_bytes(), 0u);
  session->Abandon(CloseCause::kByUs, "");
  const SessionCounters counters = connector_->counters().sessions;
  for (const MessageKind kind : {MessageKind::kPartials, MessageKind::kReport}) {
    const size_t at = static_cast<size_t>(kind);
    EXPECT_EQ(counters.sent[at] + counters.dropped[at], uint64_t{kMessages})
        << MessageKindName(kind);
  }
}

// Messages that wait to go out together are not sent behind a goodbye.
TEST_F(StalledController, IsCountedAsNotToldWhatWaitedWhenItsAgentTakesLeave) {
  HostReport report;
  report.report.event_id = 1;
  report.report.end_ns = 10;
  ASSERT_TRUE(connector_->session()->Send(report).ok());
  connector_->Stop(ByeReason::kReconfigured);
  const SessionCounters counters = connector_->counters().sessions;
  const size_t at = static_cast<size_t>(MessageKind::kReport);
  EXPECT_EQ(counters.sent[at] + counters.dropped[at], 1u);
}

TEST_F(StalledController, IsLeftWhenItAnswersNoKeepAlive) {
  for (int i = 0; i < 10; ++i) {
    agent_clock_.Advance(kNanosPerSecond);
    connector_->Tick();
    loop_.RunReady(5);
  }
  ASSERT_EQ(agent_.closed.size(), 1u);
  EXPECT_EQ(agent_.closed[0].cause, CloseCause::kKeepAliveTimeout);
}

TEST_F(StalledController, IsLeftWhenEvenControlDoesNotFit) {
  HostFacts facts;
  facts.ports.resize(2000);
  for (Port& port : facts.ports) port.bridge = port.name = "port";
  int sent = 0;
  while (agent_.closed.empty() && sent < 1000) {
    (void)connector_->session()->Send(facts);
    ++sent;
  }
  ASSERT_EQ(agent_.closed.size(), 1u);
  EXPECT_EQ(agent_.closed[0].cause, CloseCause::kStuck);
}

TEST_F(StalledController, IsAskedOnlyAsMuchAsItMayAnswer) {
  // Questions without end do not make us grow.
  RawPeer& peer = *server_.peers()[0];
  for (int i = 0; i < 100000; ++i) peer.Send(KeepAlive{static_cast<uint32_t>(i), false, 1, 0, 0});
  loop_.RunReady(2000);
  const SessionCounters counters = connector_->session()->counters();
  EXPECT_GT(counters.received[static_cast<size_t>(MessageKind::kKeepAlive)], 90000u);
  EXPECT_EQ(connector_->session()->queued_bytes(), 0u);
}

}  // namespace
}  // namespace trumpet
