// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopySource: where frames of tunnels arrive, an interface or a port of DPDK, and what is counted
// there.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_ANALYZER_COPY_SOURCE_H
#define TRUMPET_CONTROLLER_ANALYZER_COPY_SOURCE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lib/packet/pcap_reader.h"

namespace trumpet {

// At most kReceiveBurst in the order of their arrival; they are lent for the call.
constexpr size_t kReceiveBurst = 64;
using TakeFrames = std::function<void(const TimedFrame* frames, size_t count)>;

class CopySource {
 public:
  using Figure = std::pair<std::string, uint64_t>;

  virtual ~CopySource() = default;
  // Frames that came, and that there was no room for.
  virtual uint64_t dropped() = 0;
  // All that is counted, by name, in the order in which people want to see it.
  virtual std::vector<Figure> Figures() = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_COPY_SOURCE_H
