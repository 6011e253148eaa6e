// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PollBook: the questions that one host has been asked and has not answered.
//
// Threads: one.  Memory: at most kMaxQuestions; older polls are given up beyond that, and their
// answers overlooked: the verdict does without them at its deadline.

#ifndef TRUMPET_CONTROLLER_TEM_POLL_BOOK_H
#define TRUMPET_CONTROLLER_TEM_POLL_BOOK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "controller/tem/network_event.h"
#include "lib/wire/limits.h"
#include "lib/wire/message.h"

namespace trumpet {

class PollBook {
 public:
  static constexpr size_t kMaxQuestions = 1u << 17;

  // The messages that ask all of `orders`, which are of one host.
  std::vector<Poll> Ask(std::vector<PollOrder> orders) {
    std::vector<Poll> polls;
    for (size_t first = 0; first < orders.size(); first += kMaxPollQuestions) {
      Poll poll;
      poll.number = ++last_number_;
      Open open;
      open.number = poll.number;
      const size_t last = std::min(orders.size(), first + kMaxPollQuestions);
      for (size_t i = first; i < last; ++i) {
        poll.questions.push_back({orders[i].event_id, orders[i].start_ns, orders[i].bucket_key});
        open.orders.push_back(std::move(orders[i]));
      }
      open.left = open.orders.size();
      question_count_ += open.orders.size();
      open_.push_back(std::move(open));
      polls.push_back(std::move(poll));
    }
    while (question_count_ > kMaxQuestions) GiveUpOldest();
    return polls;
  }

  // Calls visit(order, answer) for every answer to a question that was asked.
  template <typename Visitor>
  void Take(const PollReply& reply, const Visitor& visit) {
    for (Open& open : open_) {
      if (open.number != reply.number) continue;
      for (const PollAnswer& answer : reply.answers) {
        if (answer.question >= open.orders.size()) continue;
        visit(open.orders[answer.question], answer);
        if (open.left > 0) --open.left;
      }
      break;
    }
    while (!open_.empty() && open_.front().left == 0) GiveUpOldest();
  }

  void Clear() {
    open_.clear();
    question_count_ = 0;
  }
  size_t question_count() const { return question_count_; }

 private:
  struct Open {
    uint64_t number = 0;
    std::vector<PollOrder> orders;
    size_t left = 0;
  };

  void GiveUpOldest() {
    question_count_ -= open_.front().orders.size();
    open_.pop_front();
  }

  uint64_t last_number_ = 0;
  std::deque<Open> open_;
  size_t question_count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_POLL_BOOK_H
