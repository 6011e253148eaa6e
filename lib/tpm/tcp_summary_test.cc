// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a connection of which two threads each saw a part when one tells the other.

#include <gtest/gtest.h>

#include "lib/tpm/tcp_test_kit.h"

namespace trumpet::testing {
namespace {

// Connection 1 of two threads.  The client's packets arrive at `here`, which `there` tells what it
// knows; true: a history was given up.
struct Threads {
  bool Tell(bool is_whole = false) {
    const FlowKey flow = ClientFlow(1);
    const auto connection_of = [&](Tap* tap) {
      return tap->table().Find(flow, tap->table().HashOf(flow), kNoConnection, tap->now());
    };
    TcpSummary summary;
    EXPECT_TRUE(there.table().Summarize(connection_of(&there), &summary));
    return here.table().Adopt(connection_of(&here), summary, here.now(), is_whole);
  }

  Tap here;
  Tap there;
};

TEST(TcpSummary, BringsTheAcknowledgementsThatOnlyTheOtherThreadSaw) {
  Threads threads;
  threads.here.FromClient(Data(1000, 5000));
  threads.there.FromServer(PureAck(3000));
  EXPECT_FALSE(threads.Tell());
  const Answer answer = threads.here.FromClient(Data(6000, 100));
  EXPECT_EQ(answer.ack(), 3000);
  EXPECT_EQ(answer.seq(), 6100);
}

TEST(TcpSummary, LeavesTheHigherNumbersWhoeverSawThem) {
  Threads threads;
  threads.here.FromClient(Data(1000, 5000));
  threads.here.FromServer(PureAck(2000));
  threads.there.FromClient(Data(1000, 1000));
  threads.there.FromServer(PureAck(1500));
  EXPECT_FALSE(threads.Tell());
  const Answer own = threads.here.FromClient(PureAck(1));
  EXPECT_EQ(own.seq(), 6000);
  EXPECT_EQ(own.ack(), 2000);

  threads.there.FromClient(Data(2000, 7000));
  threads.there.FromServer(PureAck(8000));
  EXPECT_FALSE(threads.Tell());
  const Answer told = threads.here.FromClient(PureAck(1));
  EXPECT_EQ(told.seq(), 9000);
  EXPECT_EQ(told.ack(), 8000);
}

// Who came later does not know how often the numbers went round.
TEST(TcpSummary, BringsTheNumbersOfTheThreadThatKnowsMore) {
  Threads threads;
  threads.there.FromClient(Data(0xfffffc18, 1000));  // up to 2^32
  threads.there.FromClient(Data(0, 1000));
  threads.here.FromClient(Data(1000, 500));
  EXPECT_EQ(threads.here.FromClient(PureAck(1)).seq(), 1500);
  EXPECT_TRUE(threads.Tell()) << "what was sent here has other numbers now";
  EXPECT_EQ(threads.here.FromClient(PureAck(1)).seq(), (int64_t{1} << 32) + 1500);
  EXPECT_FALSE(threads.Tell()) << "and has them already";
}

// A repetition is one only with the history of the thread that saw the data first.
TEST(TcpSummary, KeepsTheHistoryOfNumbersThatStay) {
  Threads threads;
  threads.here.FromClient(Data(1000, 100), kUs);
  threads.here.FromClient(Data(1100, 100), kUs);
  threads.there.FromServer(PureAck(1000));
  EXPECT_FALSE(threads.Tell());
  const Answer again = threads.here.FromClient(Data(1100, 100));
  EXPECT_TRUE(again.facts.is_lost);
  EXPECT_TRUE(again.facts.lost_in_burst);
}

TEST(TcpSummary, KeepsTheMoreOfTheDuplicatesThatStillCount) {
  Threads threads;
  threads.here.FromClient(Data(1000, 9000));
  threads.there.FromClient(Data(1000, 9000));
  for (int i = 0; i < 4; i++) threads.there.FromServer(PureAck(1000));
  threads.here.FromServer(PureAck(2000));
  EXPECT_FALSE(threads.Tell());
  EXPECT_EQ(threads.here.FromClient(PureAck(1)).dup(), 3 * 1460 - 1000);
}

// The other thread knows of all packets that arrived here.
TEST(TcpSummary, ReplacesWhatIsKnownHereWhenItIsWhole) {
  Threads threads;
  threads.here.FromClient(Data(1000, 100));
  threads.there.FromClient(Data(1000, 100));
  threads.there.FromServer(PureAck(1100));
  EXPECT_FALSE(threads.Tell(true)) << "with the same numbers";
  EXPECT_EQ(threads.here.FromClient(PureAck(1)).ack(), 1100);
  threads.there.FromClient(Data(1100, 400));
  EXPECT_TRUE(threads.Tell(true));
  EXPECT_EQ(threads.here.FromClient(PureAck(1)).seq(), 1500);
}

TEST(TcpSummary, KnowsTheSynThatStartedTheConnection) {
  Threads threads;
  threads.there.FromClient(Syn(999));
  threads.here.FromClient(Data(1000, 100));
  threads.Tell();
  EXPECT_EQ(threads.here.FromClient(Syn(999)).seq(), 1100) << "the same SYN again";
  EXPECT_EQ(threads.here.FromClient(Syn(5000)).seq(), 5001) << "another one starts anew";
}

}  // namespace
}  // namespace trumpet::testing
