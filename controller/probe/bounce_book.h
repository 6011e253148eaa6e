// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BounceBook: round trips of links as users have them: to begin, and to see what came of them
// (docs/probes.md).
//
// Threads: one, that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_PROBE_BOUNCE_BOOK_H
#define TRUMPET_CONTROLLER_PROBE_BOUNCE_BOOK_H

#include <cstdint>
#include <string>
#include <vector>

#include "controller/probe/bounce_findings.h"
#include "controller/probe/probe_book.h"

namespace trumpet {

constexpr uint32_t kMaxBouncePackets = 1000;

// Out of a port of the switch, by name or number, or to a neighbour of it.
struct BounceRequest {
  std::string switch_name;
  std::string port;           // empty: any to `to`
  std::string to;             // empty: whoever is behind `port`
  uint32_t count = 20;        // packets
  uint32_t rate = 10;         // of them per second
  uint32_t wait_seconds = 2;  // for copies, behind the last packet
};

// One way; the numbers of ports are OpenFlow's.
struct BounceLink {
  std::string from;
  uint32_t from_port = 0;
  std::string to;
  uint32_t to_port = 0;
};

struct BounceView {
  uint64_t id = 0;
  std::string caller;
  BounceRequest request;
  BounceLink link;
  ProbeState state = ProbeState::kSending;
  Nanos began = 0;  // Unix time
  uint32_t sent = 0;
  BounceFindings findings;         // up to now
  std::vector<std::string> notes;  // what went wrong
};

class BounceBook {
 public:
  virtual ~BounceBook() = default;
  virtual ProbeStart Start(const BounceRequest& request, const std::string& caller) = 0;
  // Null: there is none, or it is forgotten.
  virtual const BounceView* Find(uint64_t id) const = 0;
  // The newest first.
  virtual std::vector<const BounceView*> List() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_BOUNCE_BOOK_H
