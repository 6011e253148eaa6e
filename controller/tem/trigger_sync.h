// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerSync: from what one host runs to what it should run.
//
// Wishes gather while a set is under way; the next set holds all of them at once.  At most one set
// is not acknowledged.  It is made of changes to the set that the host acknowledged last, or, if
// that is not known for sure (the host or we are new, another controller was there, a set was lost
// with its session), of all there is: hosts compare, and what is the same goes on counting.
//
// An answer says of all events of the set which do not run, also of those that were not touched: a
// host may have to oust one for another, or have room for one again.
//
// A set is handed out in parts as there is room for them, made at that moment, so that what waits
// is a list of ids.
//
// Threads: one.  Time and messages come in with the calls.
// Memory: 32 bytes for each event on the host; texts and shares of those that have some.

#ifndef TRUMPET_CONTROLLER_TEM_TRIGGER_SYNC_H
#define TRUMPET_CONTROLLER_TEM_TRIGGER_SYNC_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/units.h"
#include "lib/verdict/event_feed.h"
#include "lib/wire/message.h"

namespace trumpet {

// How far an event is on a host.
enum class SyncState : uint8_t { kWaiting, kSent, kApplied, kRefused };

// Of one event over all hosts, kept up by their TriggerSyncs.
struct TriggerTally {
  uint32_t wanted = 0;
  uint32_t applied = 0;  // of connected hosts: nobody knows what others run
  uint32_t refused = 0;
  // Our clock: when the last host came to run it.  Once all that are wanted do it stays as it is,
  // whoever comes later, until Restart().
  Nanos last_applied_ns = 0;
  bool was_complete = false;

  void Restart() {
    last_applied_ns = 0;
    was_complete = false;
  }
};
using TriggerTallies = std::unordered_map<uint32_t, TriggerTally>;  // by event id

class TriggerSync {
 public:
  // `tallies` must outlive this.
  explicit TriggerSync(TriggerTallies* tallies) : tallies_(tallies) {}
  ~TriggerSync();
  TriggerSync(const TriggerSync&) = delete;
  TriggerSync& operator=(const TriggerSync&) = delete;

  // --- wishes ---
  void Want(uint32_t event_id);
  void Drop(uint32_t event_id);
  // The event's trigger has another share of the threshold; the event is wanted.  A share that is
  // known changes nothing.
  void SetShare(uint32_t event_id, const ThresholdShare& share);

  // --- session ---
  void OnConnected(uint64_t controller_id, const Hello& hello);
  void OnDisconnected();
  // The verdicts have forgotten the host: whatever it runs is new to them when it comes again.
  void BeginAnew();
  bool is_connected() const { return is_connected_; }

  // --- sets ---
  // A trigger and its size on the wire; null: it is no longer there.  `share` is null if the host
  // has none of this event.
  struct TriggerOnWire {
    Trigger trigger;
    size_t bytes = 0;
    // The change that puts it, if it is known already: instead of `trigger`.
    std::shared_ptr<const std::string> encoded;
  };
  using Maker =
      std::function<bool(uint32_t event_id, const ThresholdShare* share, TriggerOnWire* trigger)>;
  // Makes the next part, of about `max_bytes`, of the set under way, or of a new one if there is
  // need of it; false: there is nothing to send now.
  bool NextPart(const Maker& maker, size_t max_bytes, TriggerSet* part);
  bool is_under_way() const { return is_under_way_; }
  // Of the set under way, handed out so far.
  size_t bytes_under_way() const { return is_under_way_ ? bytes_under_way_ : 0; }

  struct Outcome {
    struct Event {
      uint32_t id;
      bool begins;     // it did not count before, or has begun anew
      bool was_there;  // or may have been, of another life of the event or process of ours
    };
    bool is_known = false;  // it answers the set that is under way
    bool is_applied = false;
    bool has_begun_anew = false;  // the first set of a process that we did not know
    Nanos applied_ns = 0;         // on the host's clock
    Nanos flow_timeout_ns = 0;    // the host's; 0: not told
    std::vector<Event> applied;   // put
    std::vector<uint32_t> left;   // removed; or it had begun, and is refused or gone
    std::vector<ShareAck> shares;
  };
  // `now` on our clock.  Nothing is known while messages of the answer are still to come.
  Outcome OnAck(const TriggerAck& ack, Nanos now);
  // After a set was refused nothing is sent until this is called.
  void TryAgain() { is_halted_ = false; }
  bool is_halted() const { return is_halted_; }

  // --- how it is ---
  struct View {
    SyncState state = SyncState::kWaiting;
    Nanos applied_ns = 0;
    Nanos acknowledged_ns = 0;
    std::string error;
  };
  bool Find(uint32_t event_id, View* view) const;
  // Is it wanted, or may it be on the host still?
  bool Knows(uint32_t event_id) const { return FindEntry(event_id) != nullptr; }
  uint64_t generation() const { return acknowledged_generation_; }
  uint32_t wanted_count() const { return wanted_count_; }
  uint32_t applied_count() const { return applied_count_; }  // 0 while it is not connected
  bool IsSettled() const;                                    // the host runs what it should
  const std::string& last_error() const { return last_error_; }
  uint64_t refused_sets() const { return refused_sets_; }
  std::vector<uint32_t> WantedIds() const;
  std::vector<uint32_t> UnwantedIds() const;  // that may be on the host still

 private:
  // kPutInVain: as it was wanted before it was dropped, and perhaps wanted again.
  enum class Flight : uint8_t { kNone, kPut, kPutInVain, kRemove };
  struct Entry {
    uint32_t id = 0;
    bool is_wanted = false;
    bool is_dirty = false;      // stands in dirty_
    bool may_be_there = false;  // on the host, as far as acknowledged
    bool is_counting = false;   // and wanted, since `begins` was told
    bool has_begun = false;     // that was told, and not yet that it has left
    Flight flight = Flight::kNone;
    SyncState state = SyncState::kWaiting;
    Nanos applied_ns = 0;
    Nanos acknowledged_ns = 0;
  };
  struct Item {
    uint32_t id;
    bool is_put;
  };

  Entry* FindEntry(uint32_t event_id);
  const Entry* FindEntry(uint32_t event_id) const;
  void SetState(Entry* entry, SyncState state);
  void CountApplied(int32_t sign);
  void MarkDirty(Entry* entry);
  void BeginSet();
  void ForgetDirty();
  bool HasBegun() const;
  bool HasNeed() const;
  void TakeOmitted(Outcome* outcome);
  void TakeErrors(Nanos now, Outcome* outcome);
  void TakeRefusal(Entry* entry, const EventError& error, Nanos now, Outcome* outcome);
  static void TakeEnd(Entry* entry, Outcome* outcome);
  void TakeAnswer(Entry* entry, const TriggerAck& ack, Nanos now, Outcome* outcome);
  void LoseBase();
  void Sweep();

  TriggerTallies* const tallies_;
  std::vector<Entry> entries_;  // by id
  std::vector<uint32_t> dirty_;
  std::map<uint32_t, ThresholdShare> shares_;  // by event
  std::map<uint32_t, std::string> errors_;     // likewise
  uint32_t wanted_count_ = 0;
  uint32_t applied_count_ = 0;

  bool is_connected_ = false;
  bool is_base_known_ = false;
  bool is_halted_ = false;
  Nanos process_start_ns_ = 0;      // of the agent that we knew last
  bool may_host_have_all_ = false;  // of the set under way, from before
  bool is_process_new_ = false;     // it has not acknowledged anything yet
  uint64_t last_generation_ = 0;
  uint64_t acknowledged_generation_ = 0;

  bool is_under_way_ = false;
  uint64_t base_generation_ = 0;
  std::vector<Item> items_;  // of the set under way
  size_t next_item_ = 0;     // not handed out yet
  uint32_t next_part_ = 0;
  size_t bytes_under_way_ = 0;
  TriggerAck answer_;  // as far as it has come
  bool has_answer_begun_ = false;
  bool host_has_set_ = false;

  std::string last_error_;
  uint64_t refused_sets_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_TRIGGER_SYNC_H
