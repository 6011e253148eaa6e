// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/command_relay.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <set>
#include <thread>

namespace trumpet {
namespace {

// What the control thread hears: a latch, without Open vSwitch.
class Bell {
 public:
  void Ring() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++rings_;
    changed_.notify_all();
  }
  void WaitPast(int* seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return rings_ > *seen; });
    *seen = rings_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rings_ = 0;
};

class CommandRelayTest : public testing::Test {
 protected:
  CommandRelayTest()
      : base_(event_base_new()),
        relay_(std::make_unique<CommandRelay>(
            base_, [this] { bell_.Ring(); }, [this] { ++figures_wanted_; })) {}
  ~CommandRelayTest() override {
    relay_.reset();
    event_base_free(base_);
  }

  void TurnLoop() { event_base_loop(base_, EVLOOP_NONBLOCK); }
  std::string AnswerTo(void* request) {
    const auto answer = relay_->NextAnswer();
    if (!answer) return "(none)";
    EXPECT_EQ(answer->request, request);
    return answer->text.ok() ? *answer->text : "error: " + answer->text.message();
  }

  Bell bell_;
  int figures_wanted_ = 0;
  event_base* base_;
  std::unique_ptr<CommandRelay> relay_;
  int one_ = 1;
  int two_ = 2;
};

TEST_F(CommandRelayTest, RunsACommandInTheLoop) {
  relay_->Add("echo", [](const CommandArguments& arguments, const CommandReply& reply) {
    reply(arguments.at(0));
  });
  relay_->Receive(&one_, "echo", {"hello"});
  EXPECT_FALSE(relay_->NextAnswer());
  TurnLoop();
  EXPECT_EQ(AnswerTo(&one_), "hello");
  EXPECT_EQ(AnswerTo(&one_), "(none)");
}

TEST_F(CommandRelayTest, RefusesACommandNobodyAdded) {
  relay_->Receive(&one_, "nonsense", {});
  TurnLoop();
  EXPECT_EQ(AnswerTo(&one_), "error: nonsense is not a command");
}

TEST_F(CommandRelayTest, LetsAnAnswerComeLaterAndOnlyOnce) {
  CommandReply later;
  relay_->Add("wait",
              [&](const CommandArguments&, CommandReply reply) { later = std::move(reply); });
  relay_->Receive(&one_, "wait", {});
  TurnLoop();
  EXPECT_FALSE(relay_->NextAnswer());
  later(std::string("done"));
  later(std::string("twice"));
  EXPECT_EQ(AnswerTo(&one_), "done");
  EXPECT_EQ(AnswerTo(&one_), "(none)");
}

TEST_F(CommandRelayTest, AnswersWhatIsUnderWayWhenItCloses) {
  CommandReply later;
  relay_->Add("wait",
              [&](const CommandArguments&, CommandReply reply) { later = std::move(reply); });
  relay_->Receive(&one_, "wait", {});
  TurnLoop();
  relay_->Receive(&two_, "wait", {});
  relay_->Close(Status::Error("leaving"));
  std::set<void*> answered;
  while (const auto answer = relay_->NextAnswer()) {
    EXPECT_EQ(answer->text.message(), "leaving");
    EXPECT_TRUE(answered.insert(answer->request).second);
  }
  EXPECT_EQ(answered, (std::set<void*>{&one_, &two_}));

  later(std::string("late"));
  EXPECT_FALSE(relay_->NextAnswer());
  relay_->Receive(&one_, "wait", {});
  EXPECT_EQ(AnswerTo(&one_), "error: leaving");
}

TEST_F(CommandRelayTest, DropsAnswersThatComeAfterItsEnd) {
  CommandReply later;
  relay_->Add("wait",
              [&](const CommandArguments&, CommandReply reply) { later = std::move(reply); });
  relay_->Receive(&one_, "wait", {});
  TurnLoop();
  relay_.reset();
  later(std::string("late"));  // touches nothing that is gone
}

TEST_F(CommandRelayTest, AsksForFiguresInTheLoop) {
  relay_->AskFigures();
  relay_->AskFigures();
  EXPECT_EQ(figures_wanted_, 0);
  TurnLoop();
  EXPECT_EQ(figures_wanted_, 1);
}

// Two threads, as in the daemon: commands one after the other and in heaps, answered at once or
// from a timer.
TEST_F(CommandRelayTest, CarriesThousandsOfCommandsBetweenTwoThreads) {
  constexpr int kCommands = 20000;
  constexpr int kHeap = 50;
  CommandReply held;
  relay_->Add("number", [&](const CommandArguments& arguments, CommandReply reply) {
    if (held) held(std::string("held"));
    held = nullptr;
    if (arguments[0].back() == '7') {
      held = std::move(reply);
    } else {
      reply(arguments[0]);
    }
  });
  relay_->Add("stop", [&](const CommandArguments&, const CommandReply& reply) {
    if (held) held(std::string("held"));
    held = nullptr;
    reply(std::string("stopping"));
    event_base_loopexit(base_, nullptr);
  });

  int answers = 0;
  int held_answers = 0;
  std::thread control([&] {
    std::vector<int> numbers(kCommands);
    int seen = 0;
    const auto wait_for = [&](int wanted) {
      while (answers < wanted) {
        bell_.WaitPast(&seen);
        while (const auto answer = relay_->NextAnswer()) {
          ++answers;
          const int number = *static_cast<int*>(answer->request);
          if (*answer->text == "held") {
            ++held_answers;
            EXPECT_EQ(number % 10, 7);
          } else {
            EXPECT_EQ(*answer->text, std::to_string(number));
          }
        }
      }
    };
    for (int i = 0; i < kCommands; ++i) {
      numbers[i] = i;
      relay_->Receive(&numbers[i], "number", {std::to_string(i)});
      if (i % kHeap == kHeap - 1) {
        relay_->AskFigures();
        wait_for(i);  // the last one may be held until the next comes
      }
    }
    wait_for(kCommands);
    relay_->Receive(&two_, "stop", {});
  });
  event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY);
  control.join();
  EXPECT_EQ(answers, kCommands);
  EXPECT_EQ(held_answers, kCommands / 10);
  EXPECT_GE(figures_wanted_, 1);
}

}  // namespace
}  // namespace trumpet
