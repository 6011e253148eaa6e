// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/slice_planner.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "controller/plan/slice/network_files.h"

namespace trumpet {

SliceMap MakeSliceMap(const Topology& topology, uint64_t version) {
  SliceMap map;
  map.network = slice::NetworkOf(topology);
  map.version = version;
  std::map<std::string, size_t> known;  // routes
  const auto add = [](std::vector<int>* routers, int router) {
    if (std::find(routers->begin(), routers->end(), router) != routers->end()) return;
    routers->push_back(router);
  };
  for (const TopologyHost& host : topology.hosts) {
    const auto router = map.network.Find(host.attached_to);
    if (!router) continue;
    add(&map.borders, *router);
    for (const Prefix& prefix : host.prefixes) {
      const auto [route, is_new] = known.emplace(PrintPrefix(prefix), map.routes.size());
      if (is_new) map.routes.push_back({prefix, {}});
      add(&map.routes[route->second].egresses, *router);
    }
  }
  return map;
}

Result<SlicePlanAnswer> PlanNow(const SlicePlanRequest& request) {
  slice::SlicePlanOptions options = request.options;
  options.borders = request.map->borders;
  options.routes = request.map->routes;
  auto plan = slice::PlanSlices(request.campaign, {request.source_name, request.text},
                                request.map->network, options);
  if (!plan) return plan.status();
  SlicePlanAnswer answer;
  if (request.is_explained) {
    answer.explanation = ExplainPlan(*plan, request.campaign, request.map->network);
    const auto analyzer = request.map->network.Find(request.analyzer_at);
    if (analyzer) answer.links = ExpectedLinkRates(request.map->network, *plan, *analyzer);
  }
  answer.plan = std::move(*plan);
  return answer;
}

ThreadedSlicePlanner::ThreadedSlicePlanner(event_base* base)
    : doorbell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      wake_(event_new(
          base, doorbell_, EV_READ | EV_PERSIST,
          [](evutil_socket_t fd, short, void* self) {
            eventfd_t rings;
            eventfd_read(fd, &rings);
            static_cast<ThreadedSlicePlanner*>(self)->Deliver();
          },
          this)),
      thread_([this] { Work(); }) {
  event_add(wake_, nullptr);
}

ThreadedSlicePlanner::~ThreadedSlicePlanner() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    jobs_.clear();
  }
  wanted_.notify_one();
  thread_.join();
  event_free(wake_);
  close(doorbell_);
}

void ThreadedSlicePlanner::Plan(SlicePlanRequest request, Done done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (jobs_.size() < kMaxWaiting) {
    jobs_.push_back({std::move(request), std::move(done)});
    wanted_.notify_one();
    return;
  }
  answers_.push_back({Status::Error("too many campaigns wait to be planned"), std::move(done)});
  eventfd_write(doorbell_, 1);
}

void ThreadedSlicePlanner::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wanted_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
    if (is_ending_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    Result<SlicePlanAnswer> answer = PlanNow(job.request);
    lock.lock();
    answers_.push_back({std::move(answer), std::move(job.done)});
    eventfd_write(doorbell_, 1);
  }
}

void ThreadedSlicePlanner::Deliver() {
  std::deque<Answer> answers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    answers.swap(answers_);
  }
  for (Answer& answer : answers) answer.done(std::move(answer.answer));
}

}  // namespace trumpet
