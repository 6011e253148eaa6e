// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of network-wide verdicts: hosts with the host's half of the matter, a controller, and a
// network between them that takes its time, in a clock that only the test moves.

#ifndef TRUMPET_CONTROLLER_TEM_NETWORK_TEST_KIT_H
#define TRUMPET_CONTROLLER_TEM_NETWORK_TEST_KIT_H

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/tem/network_verdicts.h"
#include "lib/verdict/event_feed.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace kit {

// Cells that are on their way.
struct CellsCopy {
  explicit CellsCopy(const PartialView& from, size_t word_count)
      : view(from), key(from.bucket_key), words(from.words, from.words + word_count) {}
  PartialView partial() const {
    PartialView partial = view;
    partial.bucket_key = key;
    partial.words = words.data();
    return partial;
  }

  PartialView view;
  std::string key;
  std::vector<uint64_t> words;
};

// What went over the network.  Bytes are an estimate of the messages' payload: key, words and some
// bytes around them, in messages that take all there is to say at the time.
struct Traffic {
  uint64_t cells = 0;
  uint64_t cells_bytes = 0;
  uint64_t questions = 0;
  uint64_t question_bytes = 0;
  uint64_t interval_ends = 0;
  uint64_t share_orders = 0;

  uint64_t items() const { return cells + questions + share_orders; }
  uint64_t bytes() const { return cells_bytes + question_bytes + 16 * share_orders; }
};

class NetworkSim {
 public:
  using Delay = std::function<Nanos()>;

  NetworkSim(const NetworkOptions& options, Delay one_way)
      : verdicts(options), one_way_(std::move(one_way)) {}

  // Runs `action` at `time`, after all that was scheduled for it before.
  void At(Nanos time, std::function<void()> action) {
    actions_.emplace(std::make_pair(time, ++sequence_), std::move(action));
  }

  void Run(Nanos until) {
    for (;;) {
      const Nanos due = verdicts.NextDue();
      const Nanos next = actions_.empty() ? INT64_MAX : actions_.begin()->first.first;
      if (std::min(due, next) > until) break;
      now_ = std::max(now_, std::min(due, next));
      if (next < due) {
        const std::function<void()> action = std::move(actions_.begin()->second);
        actions_.erase(actions_.begin());
        action();
      }
      Advance();
    }
    now_ = std::max(now_, until);
  }

  uint32_t AddHost(const std::string& name) {
    const uint32_t host = *verdicts.AddHost(name);
    if (host >= hosts_.size()) hosts_.resize(host + 1);
    return host;
  }

  // The event on the host, which counts from `from` until `until`.
  void Place(const std::shared_ptr<const TriggerPlan>& plan, uint32_t host, Nanos from,
             Nanos until = INT64_MAX) {
    const uint32_t event = plan->spec.id;
    hosts_[host].feeds[event] = std::make_unique<EventFeed>(plan, from, host);
    At(from - Ms(5), [this, event, host] { verdicts.Invite(event, host, &output); });
    At(from, [this, event, host, from] { verdicts.Join(event, host, from); });
    if (until == INT64_MAX) return;
    At(until, [this, event, host, until] { verdicts.Leave(event, host, until, &output); });
  }

  EventFeed& feed(uint32_t host, uint32_t event) { return *hosts_[host].feeds.at(event); }

  // Closes the host's intervals up to `until`; what it has to say, to be delivered in any order.
  std::vector<std::function<void()>> Close(uint32_t host, Nanos until) {
    Outbox outbox(this, host);
    for (auto& [event, feed] : hosts_[host].feeds) feed->Close(until, &outbox);
    return std::move(outbox.messages);
  }

  void EndUntil(uint32_t host, Nanos until) {
    ++traffic.interval_ends;
    verdicts.EndUntil(host, until, now());
  }

  // May the host answer for intervals that end at `end`?
  std::function<bool(uint32_t host, Nanos end)> answers = [](uint32_t, Nanos) { return true; };

  Nanos now() const { return now_; }

  NetworkVerdicts verdicts;
  NetworkOutput output;  // reports stay; polls and shares are on their way
  Traffic traffic;

 private:
  struct Host {
    std::map<uint32_t, std::unique_ptr<EventFeed>> feeds;
  };

  struct Outbox : FeedSink {
    Outbox(NetworkSim* sim_in, uint32_t host_in) : sim(sim_in), host(host_in) {}
    void OnCells(const PartialView& cells) override {
      const size_t words = sim->feed(host, cells.event_id).plan().word_count;
      messages.push_back([sim = sim, host = host, copy = CellsCopy(cells, words)] {
        sim->CountCells(copy);
        sim->verdicts.Add(host, copy.partial(), copy.words.size());
      });
    }
    void OnIncomplete(uint32_t event, Nanos start, Nanos end, uint32_t reasons) override {
      messages.push_back([sim = sim, host = host, event, start, end, reasons] {
        sim->verdicts.AddIncomplete(host, start, end, reasons, event);
      });
    }
    NetworkSim* sim;
    uint32_t host;
    std::vector<std::function<void()>> messages;
  };

  void CountCells(const CellsCopy& copy) {
    ++traffic.cells;
    traffic.cells_bytes += 4 + copy.key.size() + 3 * copy.words.size();
  }

  void Advance() {
    while (!verdicts.Advance(now_, output.reports.size() + 4, &output)) {
    }
    for (const PollOrder& poll : output.polls) SendPoll(poll);
    output.polls.clear();
    for (const ShareOrder& order : output.shares) SendShare(order);
    output.shares.clear();
  }

  // A session keeps order, so nothing arrives before what was sent earlier.
  Nanos ArrivalAt(uint32_t host) {
    Nanos& last = last_arrival_.try_emplace(host, INT64_MIN).first->second;
    last = std::max(last, now_ + one_way_());
    return last;
  }

  void SendPoll(const PollOrder& poll) {
    ++traffic.questions;
    traffic.question_bytes += 4 + poll.bucket_key.size();
    At(ArrivalAt(poll.host), [this, poll] {
      const EventFeed& feed = *hosts_[poll.host].feeds.at(poll.event_id);
      const Nanos end = poll.start_ns + feed.plan().spec.interval_ns();
      if (!answers(poll.host, end)) return;
      PartialView cells;
      cells.event_id = poll.event_id;
      cells.epoch_start = poll.start_ns;
      cells.bucket_key = poll.bucket_key;
      const FeedAnswer answer = feed.Answer(poll.bucket_key, poll.start_ns, &cells);
      const size_t words = answer == FeedAnswer::kValues ? feed.plan().word_count : 0;
      At(now_ + one_way_(), [this, poll, answer, copy = CellsCopy(cells, words)] {
        CountCells(copy);
        verdicts.Answer(poll.host, answer, copy.partial(), copy.words.size(), 0, now_);
      });
    });
  }

  void SendShare(const ShareOrder& order) {
    ++traffic.share_orders;
    At(ArrivalAt(order.host), [this, order] {
      const Nanos from = hosts_[order.host].feeds.at(order.event_id)->SetShare(order.share);
      At(now_ + one_way_(), [this, order, from] {
        verdicts.ShareApplied(order.event_id, order.host, order.share.generation, from, &output);
      });
    });
  }

  Delay one_way_;
  Nanos now_ = INT64_MIN / 2;
  uint64_t sequence_ = 0;
  std::map<std::pair<Nanos, uint64_t>, std::function<void()>> actions_;
  std::map<uint32_t, Nanos> last_arrival_;
  std::vector<Host> hosts_;
};

}  // namespace kit
}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_NETWORK_TEST_KIT_H
