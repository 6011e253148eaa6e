// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SlicePlanner: plans campaigns where it delays nobody: on a thread of its own, one after the
// other, for the solver is not reentrant.
//
// Threads: calls and answers are the loop's.

#ifndef TRUMPET_CONTROLLER_SLICE_SLICE_PLANNER_H
#define TRUMPET_CONTROLLER_SLICE_SLICE_PLANNER_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "controller/plan/slice/link_rates.h"
#include "controller/plan/slice/network.h"
#include "controller/plan/slice/planner.h"
#include "controller/plan/topology.h"
#include "lib/base/status.h"
#include "lib/lang/slice/slice_language.h"

struct event;
struct event_base;

namespace trumpet {

// The network as slices are planned on it.
struct SliceMap {
  slice::Network network;
  std::vector<int> borders;
  std::vector<slice::RoutedPrefix> routes;
  uint64_t version = 0;
};

// Switches are routers.  Those that hosts are attached to are its borders, and prefixes of hosts
// leave there.
SliceMap MakeSliceMap(const Topology& topology, uint64_t version);

struct SlicePlanRequest {
  std::string source_name;  // for errors
  std::string text;         // that `campaign` was read from
  SliceCampaign campaign;
  std::shared_ptr<const SliceMap> map;
  slice::SlicePlanOptions options;  // borders and routes are the map's
  bool is_explained = false;
  std::string analyzer_at;  // a router; empty: nobody knows, and `links` stays empty
};

struct SlicePlanAnswer {
  slice::SlicePlan plan;
  std::string explanation;             // if it was asked for
  std::vector<slice::LinkRate> links;  // likewise, towards the analyzer
};

class SlicePlanner {
 public:
  using Done = std::function<void(Result<SlicePlanAnswer>)>;

  virtual ~SlicePlanner() = default;
  // `done` comes from the loop, never from within the call.
  virtual void Plan(SlicePlanRequest request, Done done) = 0;
};

// The whole of it, at once.
Result<SlicePlanAnswer> PlanNow(const SlicePlanRequest& request);

class ThreadedSlicePlanner final : public SlicePlanner {
 public:
  static constexpr size_t kMaxWaiting = 64;

  explicit ThreadedSlicePlanner(event_base* base);
  // Waits for the plan under way; answers that are still due do not come.
  ~ThreadedSlicePlanner() override;

  void Plan(SlicePlanRequest request, Done done) override;

 private:
  struct Job {
    SlicePlanRequest request;
    Done done;
  };
  struct Answer {
    Result<SlicePlanAnswer> answer;
    Done done;
  };

  void Work();
  void Deliver();

  int doorbell_;
  event* wake_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  bool is_ending_ = false;
  std::deque<Job> jobs_;
  std::deque<Answer> answers_;
  std::thread thread_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_SLICE_PLANNER_H
