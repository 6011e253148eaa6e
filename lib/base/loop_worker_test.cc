// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/loop_worker.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

TEST(LoopWorker, WorksElsewhereAndAnswersInTheLoopInOrder) {
  const OwnedLoop base(event_base_new());
  LoopWorker worker(base.get(), 100);
  const auto loop_thread = std::this_thread::get_id();
  std::vector<int> answers;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(worker.Do([&, i] {
      EXPECT_NE(std::this_thread::get_id(), loop_thread);
      return [&, i] {
        EXPECT_EQ(std::this_thread::get_id(), loop_thread);
        answers.push_back(i);
      };
    }));
  }
  while (answers.size() < 3) event_base_loop(base.get(), EVLOOP_ONCE);
  EXPECT_EQ(answers, (std::vector<int>{0, 1, 2}));
}

TEST(LoopWorker, TakesNoMoreThanThereIsRoomForAndEndsWithWhatItTook) {
  const OwnedLoop base(event_base_new());
  std::promise<void> begun;
  std::promise<void> go;
  int done = 0;  // on the thread; read when it has ended
  {
    LoopWorker worker(base.get(), 2);
    ASSERT_TRUE(worker.Do([&] {
      begun.set_value();
      go.get_future().wait();
      ++done;
      return LoopWorker::Then();
    }));
    begun.get_future().wait();  // it waits no more, but is under way
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(worker.Do([&] {
        ++done;
        return LoopWorker::Then();
      }));
    }
    EXPECT_FALSE(worker.Do([] { return LoopWorker::Then(); }));
    worker.DoInAnyCase([&] {
      ++done;
      return LoopWorker::Then();
    });
    go.set_value();
  }
  EXPECT_EQ(done, 4);
}

}  // namespace
}  // namespace trumpet
