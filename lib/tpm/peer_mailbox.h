// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PeerMailbox: messages from all packet threads to one, in a ring of fixed size.
//
// A sender takes a cell by moving the head, fills it and shows it by the cell's turn; a cell's turn
// tells both sides whose it is, so neither reads the other's position.  A sender that meets a full
// ring, or too many others at once, gives up: the caller counts it.
//
// Threads: any may Push(), one reads, any other may ask pushed() and settled().  Nobody waits.
// Memory: taken by Init().

#ifndef TRUMPET_LIB_TPM_PEER_MAILBOX_H
#define TRUMPET_LIB_TPM_PEER_MAILBOX_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "lib/tpm/peer_message.h"

namespace trumpet {

class PeerMailbox {
 public:
  // `capacity` is a power of two.
  void Init(uint32_t capacity) {
    capacity_ = capacity;
    cells_ = std::make_unique<Cell[]>(capacity);
    for (uint32_t i = 0; i < capacity; i++) cells_[i].turn.store(i, std::memory_order_relaxed);
  }
  bool has_memory() const { return cells_ != nullptr; }
  static size_t BytesFor(uint32_t capacity) { return capacity * sizeof(Cell); }

  // False: full.
  [[nodiscard]] bool Push(const PeerMessage& message) {
    constexpr int kTries = 16;
    uint64_t at = head_.load(std::memory_order_relaxed);
    for (int i = 0; i < kTries; i++) {
      Cell& cell = CellAt(at);
      const uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn < at) return false;  // not read since the last lap
      if (turn > at) {              // another sender was here
        at = head_.load(std::memory_order_relaxed);
      } else if (head_.compare_exchange_weak(at, at + 1, std::memory_order_seq_cst)) {
        cell.message = message;
        cell.turn.store(at + 1, std::memory_order_release);
        return true;
      }
    }
    return false;
  }

  // The oldest message, null when there is none; valid until Pop().
  const PeerMessage* Peek() const {
    const Cell& cell = CellAt(read_);
    return cell.turn.load(std::memory_order_acquire) == read_ + 1 ? &cell.message : nullptr;
  }
  void Pop() {
    CellAt(read_).turn.store(read_ + capacity_, std::memory_order_release);
    read_++;
  }

  // Reader: what was read so far has had all its effects.
  void Settle() {
    if (settled_.load(std::memory_order_relaxed) != read_) {
      settled_.store(read_, std::memory_order_release);
    }
  }

  // Any thread: how many messages were sent, and how many settled.
  uint64_t pushed() const { return head_.load(std::memory_order_seq_cst); }
  uint64_t settled() const { return settled_.load(std::memory_order_acquire); }

 private:
  struct alignas(64) Cell {
    std::atomic<uint64_t> turn{0};  // its position: empty; the next one: full
    PeerMessage message;
  };

  Cell& CellAt(uint64_t position) { return cells_[position & (capacity_ - 1)]; }
  const Cell& CellAt(uint64_t position) const { return cells_[position & (capacity_ - 1)]; }

  std::unique_ptr<Cell[]> cells_;
  uint64_t capacity_ = 0;
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) uint64_t read_ = 0;
  std::atomic<uint64_t> settled_{0};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PEER_MAILBOX_H
