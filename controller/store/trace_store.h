// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceStore: traces worth keeping (abnormal, marked, of protocols), and counters of links.
//
// A trace that is told again, with a higher revision, takes the place of what was told before.
// Counters of a link and a time add up: many analyzers append to the same.
//
// Threads: one at a time; calls wait for the disk, so it is a worker's.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_STORE_H
#define TRUMPET_CONTROLLER_STORE_TRACE_STORE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/prefix.h"

namespace trumpet {

struct StoredHop {
  Nanos time = 0;
  uint32_t tag = 0;
  uint16_t switch_number = 0;
  uint8_t ttl = 0;
};

struct StoredTrace {
  uint64_t id = 0;
  uint32_t revision = 0;
  Nanos start = 0;          // of the first copy
  FlowKey flow;             // zone 0; all of it 0: not IP
  uint32_t wire_bytes = 0;  // of the packet
  uint8_t marks = 0;        // as the analyzer sets them (trace_packet.h)
  uint8_t fault = 0;        // as the judge numbers them; 0: none
  uint32_t drop_ppm = 0;    // probability of a drop, in millionths
  uint16_t last_switch = 0;
  std::vector<StoredHop> hops;  // in the order of the path
  std::string evidence;         // for people and programs; the store does not look into it
  std::string packet;           // its first bytes
};

struct TraceQuery {
  Nanos from = INT64_MIN;   // start >= from
  Nanos until = INT64_MAX;  // start < until
  // Of the packet; none: any.
  std::optional<Prefix> src;
  std::optional<Prefix> dst;
  std::vector<Prefix> within;  // src or dst lies in one of these; none: anywhere
  std::optional<uint8_t> protocol;
  std::optional<uint16_t> src_port;
  std::optional<uint16_t> dst_port;
  // Of the trace.
  uint8_t marks = 0;  // one of them at least; 0: any
  std::optional<uint8_t> fault;
  std::optional<uint16_t> through;  // a switch that made a copy
  size_t min_hops = 0;
  std::optional<uint64_t> id;
  // By start, then id; those behind this one.
  std::optional<std::pair<Nanos, uint64_t>> behind;
  size_t limit = 100;
};

// Does all of it hold, but for the limit?
bool IsAskedFor(const StoredTrace& trace, const TraceQuery& query);

// Of one direction of a link: load, and a histogram of latency.
constexpr size_t kLinkCounters = 10;
struct LinkCounters {
  uint16_t from = 0;
  uint16_t to = 0;
  Nanos time = 0;  // of the interval's begin
  std::array<uint64_t, kLinkCounters> values{};
};

struct TraceStoreCounters {
  uint64_t written = 0;        // traces, each revision; those in a spool, too
  uint64_t refused = 0;        // the disk did not take them
  uint64_t written_links = 0;  // rows of counters
  uint64_t refused_links = 0;
  uint64_t expired_files = 0;  // by age, size, or for want of room
  uint64_t stored_bytes = 0;
  // Of servers, where rows for those that are away go to a spool, and from there to the server.
  uint64_t spooled = 0;  // rows, of traces and counters
  uint64_t replayed = 0;
  uint64_t spool_lost = 0;  // they were broken
  uint64_t spool_bytes = 0;
  uint64_t servers_away = 0;
  std::string trouble;  // of one that is away
};

// An address as stores keep and compare it: "4" or "6" and its hexadecimal digits.  Empty: not IP.
std::string StoredAddress(const IpBytes& address, uint8_t ip_family);
// Takes what StoredAddress() makes; false if it is something else.
bool ReadStoredAddress(const std::string& text, IpBytes* address, uint8_t* ip_family);
// The first and the last of a prefix, as StoredAddress() writes them.
std::pair<std::string, std::string> StoredRange(const Prefix& prefix);

class TraceStore {
 public:
  virtual ~TraceStore() = default;
  // All or none of what one server or file has to take; counters() say how much was not taken, and
  // the error why.
  virtual Status Append(const std::vector<StoredTrace>& traces, Nanos now) = 0;
  virtual Status AppendCounters(const std::vector<LinkCounters>& counters, Nanos now) = 0;
  virtual Result<std::vector<StoredTrace>> Find(const TraceQuery& query) = 0;
  // Of one link, by time, from <= time < until.
  virtual Result<std::vector<LinkCounters>> FindCounters(uint16_t from_switch, uint16_t to_switch,
                                                         Nanos from, Nanos until) = 0;
  // Removes what is too old or too much.
  virtual Status Expire(Nanos now) = 0;
  virtual TraceStoreCounters counters() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_STORE_H
