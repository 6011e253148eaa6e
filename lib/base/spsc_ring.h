// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SpscRing: variable-sized records from one thread to another, without locks.
//
//   producer:  if (void* room = ring.Reserve(size)) { fill(room); ring.Commit(); }
//   consumer:  while (auto record = ring.Peek()) { use(record); ring.Release(); }
//
// Threads: exactly one producer and one consumer.  Neither ever waits: Reserve() answers null when
// the record does not fit now.  Records are 8-byte aligned and contiguous.
// Memory: taken at construction.

#ifndef TRUMPET_LIB_BASE_SPSC_RING_H
#define TRUMPET_LIB_BASE_SPSC_RING_H

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace trumpet {

class SpscRing {
 public:
  struct Record {
    const void* data = nullptr;  // null: nothing there
    size_t size = 0;
    explicit operator bool() const { return data != nullptr; }
  };

  // `capacity` in bytes, a power of two, at least 64.
  explicit SpscRing(size_t capacity)
      : capacity_(capacity), words_(new uint64_t[capacity / sizeof(uint64_t)]()) {
    assert(capacity >= 64 && (capacity & (capacity - 1)) == 0);
  }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer: room for one record of `size` bytes, or null.
  void* Reserve(size_t size) {
    const size_t need = kHeader + RoundUp(size);
    if (need > free_end_ - head_ && !FindRoom(need)) return nullptr;
    reserved_ = need;
    return Put(At(head_), size);
  }

  // Producer: makes the reserved record visible.
  void Commit() {
    head_ += reserved_;
    published_head_.store(head_, std::memory_order_release);
  }

  // Producer: records that become visible together, when the batch is done with.  Nobody else may
  // reserve meanwhile.  Meant for a local variable, whose members need not be in memory.
  class Batch {
   public:
    explicit Batch(SpscRing* ring)
        : ring_(ring),
          words_(ring->words_.get()),
          capacity_(ring->capacity_),
          head_(ring->head_),
          free_end_(ring->free_end_) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() {
      ring_->head_ = head_;
      ring_->published_head_.store(head_, std::memory_order_release);
    }

    // One more record, whose room is to be filled at once; or null.  The `slack` bytes behind it
    // may be written, too, before the next one is added.
    void* Add(size_t size, size_t slack = 0) {
      const size_t need = kHeader + RoundUp(size);
      if (need + slack > free_end_ - head_ && !FindRoom(need + slack)) return nullptr;
      void* const room = Put(At(words_, capacity_, head_), size);
      head_ += need;
      return room;
    }

   private:
    bool FindRoom(size_t need) {
      ring_->head_ = head_;
      if (!ring_->FindRoom(need)) return false;
      head_ = ring_->head_;
      free_end_ = ring_->free_end_;
      return true;
    }

    SpscRing* const ring_;
    uint64_t* const words_;
    const size_t capacity_;
    size_t head_;
    size_t free_end_;
  };

  // Producer: where the next record begins.
  size_t position() const { return head_; }

  // Consumer: the oldest record, not yet released.
  Record Peek() {
    for (;;) {
      if (read_ == known_head_) {
        known_head_ = published_head_.load(std::memory_order_acquire);
        if (read_ == known_head_) return {};
      }
      const uint64_t size = *At(read_);
      if (size != kSkip) return {At(read_) + 1, static_cast<size_t>(size)};
      read_ += capacity_ - (read_ & (capacity_ - 1));
    }
  }

  // Consumer: the same, if it was there when end() was asked for `end`.
  Record PeekUntil(size_t end) { return read_ < end ? Peek() : Record(); }

  // Consumer: whether all records before this position() were passed.
  bool IsPassed(size_t position) const { return read_ >= position; }

  // Consumer: where what is there now ends.
  size_t end() const { return published_head_.load(std::memory_order_acquire); }

  // Consumer: gives the record that Peek() showed back to the producer.
  void Release() {
    Pass();
    ReleasePassed();
  }

  // Consumer: goes on to the next record, and keeps the one that Peek() showed until
  // ReleasePassed(), so that several can be used together.
  void Pass() { read_ += kHeader + RoundUp(static_cast<size_t>(*At(read_))); }
  void ReleasePassed() { tail_.store(read_, std::memory_order_release); }

  size_t capacity() const { return capacity_; }

  // The longest record that always fits in the end.
  size_t max_record() const { return capacity_ / 2 - kHeader; }

  // Bytes in use, seen from any thread: an estimate.
  size_t used() const {
    // The tail first: the head is never behind what it was before.
    const size_t tail = tail_.load(std::memory_order_acquire);
    return published_head_.load(std::memory_order_relaxed) - tail;
  }

 private:
  static constexpr size_t kHeader = sizeof(uint64_t);
  static constexpr uint64_t kSkip = UINT64_MAX;  // the rest up to the end of the buffer is empty

  static size_t RoundUp(size_t size) { return (size + 7) & ~size_t{7}; }
  static uint64_t* At(uint64_t* words, size_t capacity, size_t position) {
    return &words[(position & (capacity - 1)) / sizeof(uint64_t)];
  }
  uint64_t* At(size_t position) { return At(words_.get(), capacity_, position); }
  static void* Put(uint64_t* at, size_t size) {
    *at = size;
    return at + 1;
  }

  // Producer: `need` bytes in one piece from `head_` on, or from the start of the buffer.
  [[gnu::noinline]] bool FindRoom(size_t need) {
    if (need > capacity_ / 2) return false;  // could never be sure to fit
    const size_t to_end = capacity_ - (head_ & (capacity_ - 1));
    const size_t skip = to_end < need ? to_end : 0;
    const size_t tail = tail_.load(std::memory_order_acquire);
    if (capacity_ - (head_ - tail) < skip + need) return false;
    if (skip != 0) *At(head_) = kSkip;
    head_ += skip;
    const size_t piece = std::min(capacity_ - (head_ & (capacity_ - 1)), capacity_ / 2);
    free_end_ = std::min(tail + capacity_, head_ + piece);
    return true;
  }

  const size_t capacity_;
  std::unique_ptr<uint64_t[]> words_;

  // Positions only grow; their remainder modulo capacity is the place in the buffer.
  alignas(64) size_t head_ = 0;  // producer's own
  size_t free_end_ = 0;          // of the piece from `head_` on that is known to be free
  size_t reserved_ = 0;
  alignas(64) std::atomic<size_t> published_head_{0};
  alignas(64) size_t read_ = 0;  // consumer's own
  size_t known_head_ = 0;
  alignas(64) std::atomic<size_t> tail_{0};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_SPSC_RING_H
