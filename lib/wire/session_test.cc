// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a session does with peers that behave; session_peers_test.cc has those that do not.

#include "lib/wire/session.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lib/wire/codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/random_message_test.h"
#include "lib/wire/raw_peer_test.h"
#include "lib/wire/same_message_test.h"
#include "lib/wire/session_kit_test.h"

namespace trumpet {
namespace {

class SessionTalk : public SessionTest {};

TEST_F(SessionTalk, CarriesMessagesBothWaysUnchangedAndInOrder) {
  agent_.hello.capabilities = ~uint64_t{0};
  Establish();
  RandomMessages random(5);
  std::vector<Message> up;
  std::vector<Message> down;
  while (up.size() < 500 || down.size() < 100) {
    Message message = random.Any();
    if (KindOf(message) == MessageKind::kIntervalEnd) continue;  // its counts are filled in
    if (agent_session()->Send(message).ok()) {
      up.push_back(std::move(message));
    } else if (controller_session()->Send(message).ok()) {
      down.push_back(std::move(message));
    }
    loop_.RunReady(1);
  }
  ASSERT_TRUE(loop_.RunUntil([&] {
    return controller_.messages.size() == up.size() && agent_.messages.size() == down.size();
  })) << Ends();
  // Classes may overtake each other; within one, order is kept.
  for (const SendClass cls : {SendClass::kControl, SendClass::kReport, SendClass::kPartial}) {
    const auto of_class = [cls](const std::vector<Message>& all) {
      std::vector<const Message*> some;
      for (const Message& message : all) {
        if (ClassOf(KindOf(message)) == cls) some.push_back(&message);
      }
      return some;
    };
    const auto sent = of_class(up);
    const auto got = of_class(controller_.messages);
    ASSERT_EQ(sent.size(), got.size());
    for (size_t i = 0; i < sent.size(); ++i) EXPECT_TRUE(SameMessage(*sent[i], *got[i])) << i;
  }
  EXPECT_EQ(agent_session()->counters().bytes_sent,
            controller_session()->counters().bytes_received);
}

TEST_F(SessionTalk, AgreesOnTheCapabilitiesThatBothHave) {
  agent_.hello.capabilities = kCapabilityPartials | kCapabilityPoll | uint64_t{1} << 40;
  controller_.capabilities = kCapabilityPoll | kCapabilityFlowStates;
  Establish();
  EXPECT_EQ(agent_session()->capabilities(), kCapabilityPoll);
  EXPECT_EQ(controller_session()->capabilities(), kCapabilityPoll);
  EXPECT_EQ(agent_session()->Send(Partials()).message(),
            "partials cannot be sent: the peer has not offered to take it");
  EXPECT_EQ(agent_session()->Send(TriggerSet()).message(),
            "trigger_set cannot be sent: it is not for this side to send");
  EXPECT_EQ(agent_session()->Send(TriggerAck()).message().substr(0, 27),
            "trigger_ack.generation is 0");
  EXPECT_TRUE(controller_session()->Send(Poll()).ok());
}

TEST_F(SessionTalk, TellsTheAgentWhyItIsNotTakenIn) {
  controller_.refusal = Refusal{RefusalReason::kNotAllowed, "h1.example is not h1"};
  Listen();
  Connect();
  ASSERT_TRUE(BothClosed()) << Ends();
  EXPECT_EQ(Shown(agent_.closed[0]), "refused (not allowed: h1.example is not h1)");
  EXPECT_EQ(Shown(controller_.closed[0]), "refused (not allowed: h1.example is not h1)");
  EXPECT_EQ(listener_->counters().refused, 1u);
}

TEST_F(SessionTalk, TakesLeaveWithAReason) {
  Establish();
  controller_session()->Close(ByeReason::kReplaced, "h1 is here twice");
  ASSERT_TRUE(BothClosed()) << Ends();
  EXPECT_EQ(Shown(agent_.closed[0]), "bye (replaced: h1 is here twice)");
  EXPECT_EQ(Shown(controller_.closed[0]), "by-us (replaced: h1 is here twice)");
}

TEST_F(SessionTalk, SurvivesAnOwnerThatClosesInEveryCallback) {
  Listen();
  agent_.on_established = [](Session* session) { session->Close(ByeReason::kShuttingDown, ""); };
  Connect();
  ASSERT_TRUE(BothClosed()) << Ends();
  controller_.on_message = [](Session* session, const Message&) {
    session->Close(ByeReason::kReconfigured, "");
  };
  agent_.on_established = [](Session* session) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(session->Send(HostFacts()).ok());
  };
  AdvanceBoth(kNanosPerSecond);
  ASSERT_TRUE(loop_.RunUntil([&] { return agent_.closed.size() == 2; })) << Ends();
  EXPECT_EQ(controller_.messages.size(), 1u);  // nothing after Close()
}

TEST_F(SessionTalk, SurvivesAnOwnerThatEndsAllSessionsWhenOneEnds) {
  Listen();
  auto tls = TlsContext::Load(agent_files_);
  ASSERT_TRUE(tls.ok());
  std::vector<std::unique_ptr<Connector>> agents;
  for (int i = 0; i < 5; ++i) {
    auto agent = Connector::Connect(loop_.base(), Here(), tls->get(), connector_options_,
                                    agent_clock_, &agent_);
    ASSERT_TRUE(agent.ok());
    agents.push_back(std::move(*agent));
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return controller_.established_count == 5; }));
  controller_.on_closed = [&] {
    while (!controller_.sessions.empty()) {
      controller_.sessions.back()->Abandon(CloseCause::kByUs, "all go");
    }
  };
  clock_.Advance(2 * kNanosPerSecond);
  listener_->Tick();  // asks all of them, and nobody runs who would answer
  clock_.Advance(10 * kNanosPerSecond);
  listener_->Tick();
  EXPECT_EQ(controller_.closed.size(), 5u);
  EXPECT_EQ(listener_->session_count(), 0u);
}

TEST_F(SessionTalk, MeasuresClocksAndWays) {
  agent_clock_.unix_base += 50 * kNanosPerMilli;
  Establish();
  ASSERT_TRUE(loop_.RunUntil([&] {
    return controller_session()->clock_estimate().has_estimate() &&
           agent_session()->clock_estimate().has_estimate();
  }));
  const ClockEstimate& seen = controller_session()->clock_estimate();
  EXPECT_EQ(seen.OffsetAt(clock_.monotonic), 50 * kNanosPerMilli);
  EXPECT_EQ(seen.BoundAt(clock_.monotonic), 0);  // both clocks stand still
  EXPECT_EQ(agent_session()->clock_estimate().OffsetAt(agent_clock_.monotonic),
            -50 * kNanosPerMilli);

  // The next question takes 3 ms there and none back.
  clock_.Advance(2 * kNanosPerSecond);
  listener_->Tick();
  clock_.Advance(3 * kNanosPerMilli);
  agent_clock_.Advance(2 * kNanosPerSecond + 3 * kNanosPerMilli);
  ASSERT_TRUE(loop_.RunUntil([&] { return seen.last_rtt() == 3 * kNanosPerMilli; }));
  EXPECT_EQ(seen.OffsetAt(clock_.monotonic), 50 * kNanosPerMilli);  // the better sample counts
}

TEST_F(SessionTalk, LastsWhileKeepAlivesAreAnsweredAndEndsWhenTheyAreNot) {
  Establish();
  for (int i = 0; i < 30; ++i) {
    AdvanceBoth(kNanosPerSecond);
    const uint64_t wanted = static_cast<uint64_t>(i);
    ASSERT_TRUE(loop_.RunUntil([&] {
      return agent_session()->counters().received[static_cast<size_t>(MessageKind::kKeepAlive)] >
             wanted;
    }));
    loop_.RunReady();
  }
  EXPECT_TRUE(agent_.closed.empty()) << Ends();
  clock_.Advance(kNanosPerSecond);
  listener_->Tick();  // asks; the agent's side does not run any more
  clock_.Advance(6 * kNanosPerSecond);
  listener_->Tick();
  ASSERT_EQ(controller_.closed.size(), 1u);
  EXPECT_EQ(controller_.closed[0].cause, CloseCause::kKeepAliveTimeout);
}

TEST_F(SessionTalk, ComesAgainAfterTheControllerWasAway) {
  Establish();
  const std::string passive = "pssl:" + std::to_string(listener_->port()) + ":127.0.0.1";
  listener_.reset();  // cut, without a word
  ASSERT_TRUE(loop_.RunUntil([&] { return agent_.closed.size() == 1; }));
  EXPECT_EQ(agent_.closed[0].cause, CloseCause::kByPeer) << Ends();
  // Nobody listens: attempts fail, further and further apart.
  std::vector<Nanos> waits;
  for (size_t failures = 1; failures < 9; ++failures) {
    const Nanos wait = connector_->next_attempt_at() - agent_clock_.monotonic;
    waits.push_back(wait);
    agent_clock_.Advance(wait - 1);
    connector_->Tick();
    EXPECT_EQ(agent_.closed.size(), failures);
    agent_clock_.Advance(1);
    connector_->Tick();
    ASSERT_TRUE(loop_.RunUntil([&] { return agent_.closed.size() == failures + 1; })) << Ends();
    EXPECT_EQ(agent_.closed.back().cause, CloseCause::kConnect) << Ends();
  }
  EXPECT_LE(waits.front(), 200 * kNanosPerMilli);
  EXPECT_GE(waits.back(), 4 * kNanosPerSecond);
  EXPECT_LE(waits.back(), 8 * kNanosPerSecond);
  EXPECT_NE(connector_->last_error().find("Connection refused"), std::string::npos);

  auto listener = Listener::Listen(loop_.base(), *ParsePassiveAddress(passive),
                                   controller_tls_.get(), listener_options_, clock_, &controller_);
  ASSERT_TRUE(listener.ok()) << listener.message();
  AdvanceBoth(8 * kNanosPerSecond);
  EXPECT_TRUE(loop_.RunUntil([&] { return agent_.established_count == 2; })) << Ends();
  EXPECT_EQ(connector_->counters().established, 2u);
  connector_.reset();
}

TEST_F(SessionTalk, GoesToTheOtherControllerAtOnceWhenOneIsNotThere) {
  Listen();
  RecordingOwner standby;
  standby.refusal = Refusal{RefusalReason::kTooMany, "not yet"};
  const auto listen = [&](SessionOwner* owner) {
    return Listener::Listen(loop_.base(), *ParsePassiveAddress("pssl:0:127.0.0.1"),
                            controller_tls_.get(), listener_options_, clock_, owner);
  };
  auto other = listen(&standby);
  auto gone = listen(&standby);
  ASSERT_TRUE(other.ok() && gone.ok());
  const uint16_t nobody = (*gone)->port();
  gone->reset();
  auto tls = TlsContext::Load(agent_files_);
  ASSERT_TRUE(tls.ok()) << tls.message();
  connector_options_.others = {{true, "127.0.0.1", (*other)->port()}, Here()};
  auto agent = Connector::Connect(loop_.base(), {true, "127.0.0.1", nobody}, tls->get(),
                                  connector_options_, agent_clock_, &agent_);
  ASSERT_TRUE(agent.ok()) << agent.message();
  const auto is_there = [&] {
    (*agent)->Tick();  // the clock stands still: none of these waits
    return agent_.established_count == 1;
  };
  ASSERT_TRUE(loop_.RunUntil(is_there)) << Ends();
  EXPECT_EQ((*agent)->counters().attempts, 3u);
  EXPECT_EQ(standby.established_count, 0);

  // Where it was taken in is where it comes back to.
  controller_.sessions[0]->Close(ByeReason::kShuttingDown, "");
  ASSERT_TRUE(loop_.RunUntil([&] { return (*agent)->session() == nullptr; }));
  EXPECT_GT((*agent)->next_attempt_at(), agent_clock_.monotonic);
  agent_clock_.Advance(kNanosPerSecond);
  (*agent)->Tick();
  ASSERT_TRUE(loop_.RunUntil([&] { return agent_.established_count == 2; })) << Ends();
  EXPECT_EQ((*agent)->counters().attempts, 4u);
  agent->reset();
}

TEST_F(SessionTalk, SaysSoWhenANameCannotBeLookedUp) {
  const Address address{false, std::string(300, 'x'), 1};  // longer than any name may be
  auto connector =
      Connector::Connect(loop_.base(), address, nullptr, connector_options_, agent_clock_, &agent_);
  ASSERT_TRUE(connector.ok());
  for (int i = 0; i < 3; ++i) {
    agent_clock_.Advance((*connector)->next_attempt_at());
    (*connector)->Tick();
    loop_.RunReady(5);
  }
  EXPECT_EQ((*connector)->session(), nullptr);
  EXPECT_NE((*connector)->last_error(), "");
  EXPECT_GT((*connector)->counters().attempts, 1u);
}

TEST_F(SessionTalk, StopsForGoodWhenTold) {
  Establish();
  connector_->Stop(ByeReason::kShuttingDown);
  ASSERT_TRUE(BothClosed()) << Ends();
  EXPECT_EQ(controller_.closed[0].cause, CloseCause::kBye);
  AdvanceBoth(60 * kNanosPerSecond);
  EXPECT_EQ(connector_->counters().attempts, 1u);
}

// ---- Many ----

TEST_F(SessionTalk, KeepsAThousandSessionsInOneProcess) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  const size_t count = std::min<size_t>(1000, (files.rlim_cur - 64) / 2);
  Listen();
  auto tls = TlsContext::Load(agent_files_);
  ASSERT_TRUE(tls.ok());
  std::vector<std::unique_ptr<Connector>> agents;
  agent_.on_established = [](Session* session) {
    HostReport report;
    report.report.event_id = 1;
    report.report.end_ns = 1;
    EXPECT_TRUE(session->Send(report).ok());
  };
  for (size_t i = 0; i < count; ++i) {
    auto agent = Connector::Connect(loop_.base(), Here(), tls->get(), connector_options_,
                                    agent_clock_, &agent_);
    ASSERT_TRUE(agent.ok());
    agents.push_back(std::move(*agent));
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return controller_.messages.size() == count; }))
      << controller_.messages.size() << " of " << count << " " << Ends();
  EXPECT_EQ(listener_->session_count(), count);
  EXPECT_EQ(listener_->stranger_count(), 0u);
  for (Session* session : controller_.sessions) {
    TriggerSet set;
    set.generation = 1;
    EXPECT_TRUE(session->Send(set).ok());
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return agent_.messages.size() == count; }));
  EXPECT_EQ(listener_->counters().established, count);
}

}  // namespace
}  // namespace trumpet
