// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LinkBook: what traces say of the links between switches, added up by the second.
//
// A link leads from one switch of a path to the next one that has a copy.  Latencies are
// differences of the arrival of copies at the analyzer: the ways of the copies are in them.
//
// Threads: one.  Memory: a row for each link and second that is not taken yet.

#ifndef TRUMPET_CONTROLLER_TRACES_LINK_BOOK_H
#define TRUMPET_CONTROLLER_TRACES_LINK_BOOK_H

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "controller/store/trace_store.h"
#include "controller/traces/trace_maker.h"

namespace trumpet {

// Indexes of LinkCounters::values.
enum LinkValue : size_t {
  kLinkPackets,
  kLinkBytes,
  kLinkConnections,  // that begin: packets with SYN
  kLinkDropped,      // packets that were lost there, if they could go nowhere else
  kLinkCopiesLost,   // packets that passed there, whose next copy was lost
  kLinkLooped,
  kLinkBelow10us,
  kLinkBelow100us,
  kLinkBelow1ms,
  kLinkLonger,
};

class LinkBook {
 public:
  // Of a trace that is told the first time only: what comes late changes nothing here.
  void Add(const TraceReport& report);
  size_t size() const { return rows_.size(); }
  // By link and time.
  std::vector<LinkCounters> TakeAll();

 private:
  LinkCounters& Row(uint16_t from, uint16_t to, Nanos time);

  std::map<std::tuple<uint16_t, uint16_t, Nanos>, LinkCounters> rows_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_LINK_BOOK_H
