// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketArchive: packets of finished runs as pcapng files, one for each slice:
//
//   run-7/slot-0-query-2.pcapng
//
// with an interface for each switch, and the query in the comment.  Old runs go when there are too
// many bytes, or after a time.
//
// Threads: one.  Blocks for the time that a slice's file takes to write.

#ifndef TRUMPET_CONTROLLER_ANALYZER_PACKET_ARCHIVE_H
#define TRUMPET_CONTROLLER_ANALYZER_PACKET_ARCHIVE_H

#include <cstdint>
#include <string>
#include <utility>

#include "controller/analyzer/slice_book.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct PacketArchiveOptions {
  std::string directory;  // empty: nothing is kept
  uint64_t max_bytes = 10'000'000'000;
  Nanos keep = 7 * 86400 * kNanosPerSecond;
};

class PacketArchive {
 public:
  explicit PacketArchive(PacketArchiveOptions options) : options_(std::move(options)) {}

  bool is_on() const { return !options_.directory.empty(); }
  // Nothing is written of a slice without packets.
  Status Write(const SliceRecord& slice);
  // Removes what is too old or too much, oldest runs first.  `now`: wall clock.
  Status RemoveOld(Nanos now);

 private:
  const PacketArchiveOptions options_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_PACKET_ARCHIVE_H
