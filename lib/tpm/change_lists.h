// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ChangeLists: which connections changed in this epoch and in the one before.
//
// The list of the finished epoch is read while the next one is under way.  A connection that
// changes again before it was read leaves a snapshot of its old values; all others are read where
// they are. Slots are positions in the connection table; a slot stands at most once in a list.
//
// Threads: one.  Never allocates after Init(); pages that are never written cost no memory.

#ifndef TRUMPET_LIB_TPM_CHANGE_LISTS_H
#define TRUMPET_LIB_TPM_CHANGE_LISTS_H

#include <array>
#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/base/units.h"
#include "lib/model/flow_state.h"

namespace trumpet {

// Both directions of a connection at one instant.
struct ConnectionSnapshot {
  FlowKey key;  // of side 0
  FlowState states[2];
  int side_count = 0;  // 0: there was no state, 1: the flow is its own reverse
};

// Kept with a slot: where it stands in a list.
struct ChangeMark {
  uint64_t epoch;  // 0: in none
  uint32_t index;
};

class ChangeLists {
 public:
  [[nodiscard]] bool Init(uint32_t slots, PageSource* source) {
    return lists_[0].Allocate(slots, source) && lists_[1].Allocate(slots, source) &&
           snapshots_.Allocate(slots, source);
  }
  static size_t BytesFor(uint32_t slots) {
    return 2 * PageBuffer<uint32_t>::BytesFor(slots) +
           PageBuffer<ConnectionSnapshot>::BytesFor(slots);
  }

  // Nothing of the older epoch may be unread.
  void Begin(Nanos start, Nanos end) {
    epoch_++;
    sizes_[epoch_ & 1] = 0;
    cursor_ = 0;
    finished_ = current_;
    current_ = {start, end};
  }

  // The slot is about to change in this epoch.  Its values as they are must be written to the
  // answer, unless that is null.
  ConnectionSnapshot* Note(uint32_t slot, ChangeMark* mark) {
    if (mark->epoch == epoch_) return nullptr;
    ConnectionSnapshot* room = RoomIfUnread(slot, *mark);
    uint32_t& size = sizes_[epoch_ & 1];
    *mark = {epoch_, size};
    lists_[epoch_ & 1][size++] = slot;
    return room;
  }

  // The slot is about to lose its state: as Note(), but that is no change.
  ConnectionSnapshot* Leave(uint32_t slot, ChangeMark* mark) {
    ConnectionSnapshot* room = RoomIfUnread(slot, *mark);
    if (room != nullptr) mark->epoch = 0;
    return room;
  }

  // The next slot of the finished epoch; `kept` is its snapshot, null when it is to be read in
  // place.
  bool Next(uint32_t* slot, const ConnectionSnapshot** kept) {
    if (!has_unread()) return false;
    const uint32_t entry = lists_[(epoch_ - 1) & 1][cursor_++];
    *slot = entry & ~kHasSnapshot;
    *kept = (entry & kHasSnapshot) != 0 ? &snapshots_[*slot] : nullptr;
    return true;
  }

  bool has_unread() const { return cursor_ != sizes_[(epoch_ - 1) & 1]; }

  Nanos finished_start() const { return finished_.start; }
  Nanos finished_end() const { return finished_.end; }

 private:
  static constexpr uint32_t kHasSnapshot = 1u << 31;
  struct Span {
    Nanos start = 0;
    Nanos end = 0;
  };

  ConnectionSnapshot* RoomIfUnread(uint32_t slot, const ChangeMark& mark) {
    if (mark.epoch != epoch_ - 1 || mark.index < cursor_) return nullptr;
    lists_[mark.epoch & 1][mark.index] = slot | kHasSnapshot;
    return &snapshots_[slot];
  }

  uint64_t epoch_ = 2;  // so that a mark of zeroes is of no list
  std::array<uint32_t, 2> sizes_{};
  uint32_t cursor_ = 0;  // in the list of the finished epoch
  Span finished_;
  Span current_;
  std::array<PageBuffer<uint32_t>, 2> lists_;
  PageBuffer<ConnectionSnapshot> snapshots_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_CHANGE_LISTS_H
