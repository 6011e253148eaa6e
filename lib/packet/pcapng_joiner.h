// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PcapngJoiner: files of PcapngWriter, one after the other, as one file with one section.
//
// pcapng allows several sections, but programs that read it take the names of interfaces from the
// first (Wireshark 4.0 does).  So the interfaces of each file are numbered on from those of the one
// before, and have the file's comment as their description.
//
// Threads: one.  Memory: a block, and what Add() is given.

#ifndef TRUMPET_LIB_PACKET_PCAPNG_JOINER_H
#define TRUMPET_LIB_PACKET_PCAPNG_JOINER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/status.h"

namespace trumpet {

class PcapngJoiner {
 public:
  static constexpr size_t kMaxBlockBytes = 256 * 1024;

  // The next bytes of the files; appends to `out` what comes of them.  After an error, which says
  // what is no block of ours, it must not be called again.
  Status Add(std::string_view bytes, std::string* out);
  // No block is begun and not ended.
  bool is_whole() const { return rest_.empty(); }

 private:
  Status Take(std::string_view block, std::string* out);
  Status TakeSection(std::string_view block, std::string* out);
  Status TakeInterface(std::string_view block, std::string* out);
  Status TakePacket(std::string_view block, std::string* out);

  std::string rest_;     // of Add(): a block that is begun
  std::string comment_;  // of the section that is read
  bool has_section_ = false;
  uint32_t first_interface_ = 0;  // of that section
  uint32_t interface_count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PCAPNG_JOINER_H
