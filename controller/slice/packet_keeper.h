// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketKeeper: the analyzers as whoever hands out packets sees them.  Each has kept the packets of
// runs that have ended, and tells them piece by piece (controller/analyzer/packet_files.h).
//
// Threads: all on the loop of the controller; answers come from the loop, never from within a call.

#ifndef TRUMPET_CONTROLLER_SLICE_PACKET_KEEPER_H
#define TRUMPET_CONTROLLER_SLICE_PACKET_KEEPER_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/wire/slice_message.h"

namespace trumpet {

class PacketKeeper {
 public:
  using Piece = std::function<void(const Result<PacketFilePiece>&)>;

  virtual ~PacketKeeper() = default;

  // The analyzers that are connected, by name.
  virtual std::vector<std::string> Keepers() const = 0;
  // What `keeper` has kept of `run`, from there on.  An error names the analyzer and says why there
  // is no answer; a piece has none.
  virtual void AskPacketFile(const std::string& keeper, uint64_t run, const PacketFilePlace& from,
                             Piece answer) = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_PACKET_KEEPER_H
