// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a sealed file of traces may hold, in a small file beside it (traces-7.summary): from when to
// when its traces begin, and a Bloom filter of their ids, senders and receivers.  A question that
// it can have nothing for does not open it.
//
// It never says no to what was in the file when it was sealed, and nothing comes to it later.
// Whoever finds no summary, or one that is broken, looks into the file itself.
//
//   block 0     a magic text, the first and the last start, how many blocks follow
//   block 1...  448 bits of the filter each: a key has all its bits in one
//
// Each block begins with a hash of the rest, so that a disk that mixes bits up cannot hide traces.
//
// Threads: one at a time each.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_SUMMARY_H
#define TRUMPET_CONTROLLER_STORE_TRACE_SUMMARY_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/store/trace_store.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

// The summary of a file of traces.
std::string SummaryPathOf(const std::string& part_path);

class TraceSummaryWriter {
 public:
  // Addresses as StoredAddress() has them.
  void Add(uint64_t id, Nanos start, const std::string& src, const std::string& dst);
  // Takes the place of what is there.
  Status Write(const std::string& path);

 private:
  std::vector<uint64_t> keys_;  // hashes
  Nanos first_ = INT64_MAX;
  Nanos last_ = INT64_MIN;
};

class TraceSummary {
 public:
  // Null if there is none that can be read.
  static std::unique_ptr<TraceSummary> Open(const std::string& path);
  ~TraceSummary();
  TraceSummary(const TraceSummary&) = delete;
  TraceSummary& operator=(const TraceSummary&) = delete;

  // May there be a trace that the query is for?  A read of 64 bytes for each key it has.
  bool MayHave(const TraceQuery& query) const;
  // No trace begins before; INT64_MAX if there are none.
  Nanos first() const { return first_; }

 private:
  explicit TraceSummary(int fd) : fd_(fd) {}
  bool MayHaveKey(uint64_t key) const;

  const int fd_;
  Nanos first_ = 0;
  Nanos last_ = 0;
  uint64_t block_count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_SUMMARY_H
