// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DropBook: searches for the cause of drops as users have them: to begin, to stop, and to see what
// was found (docs/probes.md).
//
// Threads: one, that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_PROBE_DROP_BOOK_H
#define TRUMPET_CONTROLLER_PROBE_DROP_BOOK_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/probe/drop_findings.h"
#include "controller/probe/probe_book.h"
#include "lib/packet/prefix.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {

constexpr uint32_t kMaxDropPackets = 500;  // of the flow, in the first round

// Packets of a flow, as they come in at a port of a switch.
struct DropSearchRequest {
  std::string switch_name;
  std::string port;  // by name or number
  ProbePacket packet;
  std::string trace;  // that says that it is dropped; empty: there is none
  // Whose addresses may be tried instead; none: those of the host, by the topology.
  std::optional<Prefix> src_within;
  std::optional<Prefix> dst_within;
  std::vector<Prefix> bounds;  // outside of which no address may be tried; empty: there are none
  uint32_t count = 40;
  uint32_t rate = 0;  // packets per second; 0: half of what the controller may send
  uint32_t wait_seconds = 5;
};

enum class DropSearchState : uint8_t { kRunning, kDone, kStopped };

// Packets that are alike.
struct DropKindView {
  DropField field = DropField::kNone;  // in which they differ from those of the flow
  std::string value;
  DropTally tally;
  std::vector<std::string> lost;  // traces, a few of them
  std::vector<std::string> passed;
};

struct DropSearchView {
  uint64_t id = 0;
  std::string caller;
  std::string tenant;  // of the caller; empty: none
  DropSearchRequest request;
  DropSearchState state = DropSearchState::kRunning;
  Nanos began = 0;  // Unix time
  Nanos ended = 0;
  uint32_t sent = 0;                // packets
  std::vector<uint64_t> probes;     // a round each
  std::vector<DropKindView> kinds;  // the flow's own first
  DropFindings findings;            // once it has ended
  std::vector<std::string> notes;
  std::map<std::string, std::string> silent;  // analyzers, and why nothing came from them
};

class DropBook {
 public:
  virtual ~DropBook() = default;
  virtual ProbeStart Start(const DropSearchRequest& request, const std::string& caller,
                           const std::string& tenant) = 0;
  // What was found so far is what is found.  False: it is none, or it has ended.
  virtual bool Stop(uint64_t id) = 0;
  // Null: there is none, or it is forgotten.
  virtual const DropSearchView* Find(uint64_t id) const = 0;
  // The newest first.
  virtual std::vector<const DropSearchView*> List() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_DROP_BOOK_H
