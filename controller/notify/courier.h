// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Courier: takes one message at a time to one receiver, again and again until it is taken.
//
// Attempts are apart by a backoff with jitter, or by what the receiver asks for (Retry-After). Only
// so many requests of all couriers are under way at once; the others wait for their turn.
//
// Threads: one, that of the loop.

#ifndef TRUMPET_CONTROLLER_NOTIFY_COURIER_H
#define TRUMPET_CONTROLLER_NOTIFY_COURIER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/notify/http_sender.h"
#include "controller/notify/notify_options.h"
#include "lib/base/backoff.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"

namespace trumpet {

class Courier;

// How many requests may be under way, and who waits for one of them to end.
class SendSlots {
 public:
  explicit SendSlots(size_t count) : free_(count) {}
  bool Take(Courier* courier);  // false: it will be told
  void Release();
  void Forget(Courier* courier);

 private:
  size_t free_;
  std::deque<Courier*> waiting_;
};

struct CourierCounters {
  uint64_t attempts = 0;
  uint64_t taken = 0;    // messages
  uint64_t failed = 0;   // attempts
  uint64_t refused = 0;  // messages that the receiver will never take
  uint64_t expired = 0;  // messages given up
  Nanos last_taken_ns = 0;
  std::string last_error;  // of the message under way; empty: none
};

class Courier {
 public:
  enum class End : uint8_t { kTaken, kRefused, kExpired };
  using Body = std::function<std::string()>;  // asked at each attempt
  using Done = std::function<void(End)>;

  // `path` comes after the receiver's URL.  `give_up_after` 0: never.
  Courier(event_base* base, HttpSender* sender, SendSlots* slots, const NotifyReceiver& receiver,
          const std::string& path, Nanos give_up_after, uint64_t seed);
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Reads the files of headers again; what was read before stays when one cannot be read.
  Status ReadHeaders();

  bool is_busy() const { return static_cast<bool>(done_); }
  // Only when not busy.  `done` is called once, from the loop.
  void Send(Body body, Done done);

  const CourierCounters& counters() const { return counters_; }

 private:
  friend class SendSlots;
  void Attempt();
  void OnAnswer(const PostAnswer& answer);
  void Finish(End end);

  HttpSender* const sender_;
  SendSlots* const slots_;
  const NotifyReceiver& receiver_;
  const std::string url_;
  const Nanos give_up_after_;
  std::vector<std::string> headers_;
  Backoff backoff_;
  LoopEvent next_attempt_;
  Body body_;
  Done done_;
  Nanos first_attempt_ns_ = 0;
  CourierCounters counters_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

// Unix time.
Nanos NotifyNow();

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_COURIER_H
