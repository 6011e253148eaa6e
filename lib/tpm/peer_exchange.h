// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PeerExchange: what the packet threads of one host share so that a connection whose directions
// arrive on two of them is tracked as if they arrived on one: a directory of who receives what, and
// a mailbox for each thread (docs/adr/0009).
//
// Threads: Join() and Leave() one thread at a time, Read the mailbox of a number its owner alone,
// all else any.  Nobody waits for anybody.
// Memory: the directory (16 to 32 bytes a connection) at construction; a mailbox (192 KiB) when a
// thread first joins, kept for the next one with that number, so that a late message never meets
// freed memory.

#ifndef TRUMPET_LIB_TPM_PEER_EXCHANGE_H
#define TRUMPET_LIB_TPM_PEER_EXCHANGE_H

#include <array>
#include <atomic>
#include <cstdint>

#include "lib/base/units.h"
#include "lib/tpm/peer_directory.h"
#include "lib/tpm/peer_mailbox.h"
#include "lib/tpm/peer_message.h"

namespace trumpet {

class PeerExchange {
 public:
  static constexpr int kMaxThreads = 254;
  static constexpr uint32_t kMailboxMessages = 1024;

  // For about so many TCP connections at a time, forgotten `flow_timeout_ns` after their last
  // packet.
  PeerExchange(uint64_t connections, Nanos flow_timeout_ns);
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;

  // The number of a new thread; 0 when there is no room for one more, which then is an outsider.
  uint8_t Join();
  void Leave(uint8_t thread);

  // Some thread can tell nothing: the others cannot know what they miss.
  bool has_outsiders() const { return outsiders_.load(std::memory_order_relaxed) > 0; }

  PeerDirectory& directory() { return directory_; }

  // What it takes: the directory, and each thread's mailbox.
  static size_t DirectoryBytes(uint64_t connections);
  static size_t MailboxBytes() { return PeerMailbox::BytesFor(kMailboxMessages); }

  enum class Sent { kYes, kFull, kNobody };
  Sent Send(uint8_t to, const PeerMessage& message);

  PeerMailbox& MailboxOf(uint8_t thread) { return seats_[thread - 1].mailbox; }
  Nanos flow_timeout_ns() const { return flow_timeout_ns_; }

 private:
  struct Seat {
    std::atomic<bool> is_taken{false};
    PeerMailbox mailbox;
  };

  PeerDirectory directory_;
  const Nanos flow_timeout_ns_;
  bool has_memory_ = false;
  std::atomic<int> outsiders_{0};
  std::array<Seat, kMaxThreads> seats_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PEER_EXCHANGE_H
