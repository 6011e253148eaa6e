// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HostBook: the hosts that the topology names or that have ever come, with their sessions.
//
// Threads: one.  Pointers to hosts hold until Forget().

#ifndef TRUMPET_CONTROLLER_TEM_HOST_BOOK_H
#define TRUMPET_CONTROLLER_TEM_HOST_BOOK_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/tem/poll_book.h"
#include "controller/tem/trigger_sync.h"
#include "lib/model/host_place.h"
#include "lib/wire/session.h"

namespace trumpet {

struct ManagedHost {
  ManagedHost(std::string host_id, TriggerTallies* tallies)
      : id(std::move(host_id)), sync(tallies) {}

  const std::string id;
  std::string name;
  std::string software;
  std::string address;               // of the last session
  std::string certificate_name;      // that it came with first: nobody else may be this host
  bool is_in_file = false;           // the topology's
  std::optional<uint32_t> position;  // in the topology, with those whom the file does not name
  std::vector<Prefix> prefixes;      // of the file
  std::optional<HostPlace> told_place;
  Session* session = nullptr;  // established; else null
  TriggerSync sync;
  PollBook polls;
  std::optional<uint32_t> number;  // for NetworkVerdicts, until it is forgotten
  bool is_placed = false;          // on all events there are, since it has its number
  bool is_queued = false;          // for the pump
  bool waits_for_room = false;     // to begin a set
  size_t set_bytes = 0;            // of the set under way, as it is counted for that room
  Nanos set_began_at = 0;          // monotonic
  bool is_slow = false;            // its set is no longer counted

  HostFacts facts;
  HostFacts facts_to_come;  // parts that have come of the next ones
  bool are_facts_broken = false;

  uint64_t sessions = 0;
  std::string last_error;
  Nanos connected_since_ns = 0;  // Unix time; of the last session
  Nanos last_seen_ns = 0;        // likewise
  Nanos left_at = 0;             // monotonic; when the last session ended
  Nanos epoch_ns = 0;
  Nanos ended_until_ns = 0;
  bool is_monitor_off = false;  // as it says
  SessionCounters past;         // of sessions that have ended
};

class HostBook {
 public:
  explicit HostBook(TriggerTallies* tallies) : tallies_(tallies) {}

  using ById = std::map<std::string, std::unique_ptr<ManagedHost>>;
  const ById& all() const { return by_id_; }

  ManagedHost* Find(const std::string& id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second.get();
  }
  // By id, or else by name.
  ManagedHost* FindByName(const std::string& id_or_name) const {
    if (ManagedHost* host = Find(id_or_name)) return host;
    for (const auto& [id, host] : by_id_) {
      if (host->name == id_or_name) return host.get();
    }
    return nullptr;
  }
  ManagedHost* FindByNumber(uint32_t number) const {
    return number < by_number_.size() ? by_number_[number] : nullptr;
  }

  ManagedHost* Add(const std::string& id) {
    std::unique_ptr<ManagedHost>& host = by_id_[id];
    if (host == nullptr) host = std::make_unique<ManagedHost>(id, tallies_);
    return host.get();
  }
  void SetNumber(ManagedHost* host, uint32_t number) {
    host->number = number;
    if (number >= by_number_.size()) by_number_.resize(number + 1);
    by_number_[number] = host;
  }
  void Forget(ManagedHost* host) {
    if (host->number) by_number_[*host->number] = nullptr;
    by_id_.erase(by_id_.find(host->id));
  }
  // The number is the verdicts' again.
  void ForgetNumber(ManagedHost* host) {
    if (host->number) by_number_[*host->number] = nullptr;
    host->number.reset();
    host->is_placed = false;
  }

 private:
  TriggerTallies* const tallies_;
  ById by_id_;
  std::vector<ManagedHost*> by_number_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_HOST_BOOK_H
