// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/peer_exchange.h"

namespace trumpet {
namespace {

constexpr uint64_t kEntriesPerConnection = 2;  // so that lines of eight seldom fill up

}  // namespace

PeerExchange::PeerExchange(uint64_t connections, Nanos flow_timeout_ns)
    : flow_timeout_ns_(flow_timeout_ns) {
  has_memory_ = directory_.Init(connections * kEntriesPerConnection, flow_timeout_ns);
}

size_t PeerExchange::DirectoryBytes(uint64_t connections) {
  return PeerDirectory::BytesFor(connections * kEntriesPerConnection);
}

uint8_t PeerExchange::Join() {
  for (uint8_t thread = 1; has_memory_ && thread <= kMaxThreads; thread++) {
    Seat& seat = seats_[thread - 1];
    if (seat.is_taken.load(std::memory_order_acquire)) continue;
    if (!seat.mailbox.has_memory()) seat.mailbox.Init(kMailboxMessages);
    while (seat.mailbox.Peek() != nullptr) seat.mailbox.Pop();  // for whoever had the number before
    seat.mailbox.Settle();
    seat.is_taken.store(true, std::memory_order_release);
    return thread;
  }
  outsiders_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

void PeerExchange::Leave(uint8_t thread) {
  if (thread == 0) {
    outsiders_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    seats_[thread - 1].is_taken.store(false, std::memory_order_release);
  }
}

PeerExchange::Sent PeerExchange::Send(uint8_t to, const PeerMessage& message) {
  Seat& seat = seats_[to - 1];
  if (!seat.is_taken.load(std::memory_order_acquire)) return Sent::kNobody;
  return seat.mailbox.Push(message) ? Sent::kYes : Sent::kFull;
}

}  // namespace trumpet
