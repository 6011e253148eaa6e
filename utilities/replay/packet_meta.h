// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketMeta: what a capture does not say of its packets, from a file beside it.
//
//   path,qlen1,qlen2,qlen3,in_port,is_ctrl
//   0,14,29,5,1,0
//
// Line n + 1 describes packet n.

#ifndef TRUMPET_UTILITIES_REPLAY_PACKET_META_H
#define TRUMPET_UTILITIES_REPLAY_PACKET_META_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"

namespace trumpet {

struct PacketMeta {
  uint16_t path = 0;              // which of two ways the packet takes: 0 or 1
  uint16_t queue_length[3] = {};  // at hop 1, 2, 3
  uint16_t in_port = 0;
  uint16_t is_ctrl = 0;  // 0 or 1
};

// Errors name the line.
Result<std::vector<PacketMeta>> ParsePacketMeta(std::string_view text, const std::string& name);

// The metadata of a capture, packet by packet.
class PacketMetas {
 public:
  // `path` empty: there is no file, and packets come without.
  static Result<PacketMetas> Load(const std::string& path);

  // Has the capture, of so many packets, all that the file describes?
  Status CheckCount(uint64_t count) const;

  // May be false of a capture that has grown since it was counted.
  bool Describes(uint64_t index) const { return path_.empty() || index < metas_.size(); }

  // Of the packet `index`, which the file describes.
  PacketMeta Of(uint64_t index) const { return path_.empty() ? PacketMeta() : metas_[index]; }

 private:
  std::string path_;
  std::vector<PacketMeta> metas_;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_PACKET_META_H
