// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/loop_worker.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace trumpet {

LoopWorker::LoopWorker(event_base* base, size_t max_waiting)
    : max_waiting_(max_waiting), doorbell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const auto ring = [](evutil_socket_t, short, void* self) {
    static_cast<LoopWorker*>(self)->Deliver();
  };
  wake_ = event_new(base, doorbell_, EV_READ | EV_PERSIST, ring, this);
  event_add(wake_, nullptr);
  thread_.emplace();
}

LoopWorker::~LoopWorker() {
  thread_.reset();
  event_free(wake_);
  close(doorbell_);
}

bool LoopWorker::Do(Job job) { return DoUnless(std::move(job), max_waiting_); }

void LoopWorker::DoInAnyCase(Job job) { DoUnless(std::move(job), SIZE_MAX); }

bool LoopWorker::DoUnless(Job job, size_t max_waiting) {
  return thread_->Do([this, job = std::move(job)] { Bring(job()); }, max_waiting);
}

void LoopWorker::Bring(Then then) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (then) done_.push_back(std::move(then));
  const uint64_t one = 1;
  const ssize_t written = write(doorbell_, &one, sizeof one);
  (void)written;  // it fails only if the loop has been woken very often already
}

void LoopWorker::Deliver() {
  uint64_t rings = 0;
  const ssize_t taken = read(doorbell_, &rings, sizeof rings);
  (void)taken;
  std::vector<Then> done;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done.swap(done_);
  }
  for (const Then& then : done) then();
}

}  // namespace trumpet
