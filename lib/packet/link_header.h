// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LinkHeader: packets of captures without Ethernet (raw IP, BSD's loopback, Linux's cooked
// captures) as Ethernet would carry them, for code that knows nothing else.
//
// The addresses are zero, but for the sender's where the capture has it; the frame counts as long
// as Ethernet would have it.  Threads: one capture, one thread.

#ifndef TRUMPET_LIB_PACKET_LINK_HEADER_H
#define TRUMPET_LIB_PACKET_LINK_HEADER_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/packet/parse.h"

namespace trumpet {

enum class LinkKind : uint8_t { kEthernet, kRawIp, kNull, kLoop, kCooked, kCooked2 };

// Of a DLT_* number of libpcap; none: not known here.
std::optional<LinkKind> LinkKindOf(int link_type);
// Their names, for errors.
std::string KnownLinkTypes();

class LinkHeader {
 public:
  explicit LinkHeader(LinkKind kind) : kind_(kind) {}

  bool is_ethernet() const { return kind_ == LinkKind::kEthernet; }
  // The frame as Ethernet; its bytes are good until the next call.  A header that is cut off gives
  // a frame of which nothing was captured.
  Frame AsEthernet(const Frame& frame);

 private:
  LinkKind kind_;
  std::vector<uint8_t> bytes_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_LINK_HEADER_H
