// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PcapngFcs: how long the frame check sequence of each packet of a pcapng capture is, which libpcap
// does not tell.
//
// Reads the file once more, beside libpcap, packet by packet.  A packet may state the length itself
// (epb_flags, in bytes), or its interface does for all of its packets (if_fcslen, in bits).

#ifndef TRUMPET_LIB_PACKET_PCAPNG_FCS_H
#define TRUMPET_LIB_PACKET_PCAPNG_FCS_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace trumpet {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using CaptureFile = std::unique_ptr<std::FILE, FileCloser>;

class PcapngFcs {
 public:
  // `file` is at its begin.
  explicit PcapngFcs(CaptureFile file) : file_(std::move(file)) {}

  // Bytes of the check sequence of the next packet; 0 if none is stated.  What is wrong with the
  // file is libpcap's to say: from there on, and at the end, the answer is 0.
  uint32_t OfNextPacket();

 private:
  bool ReadBlock();
  uint32_t U32(size_t offset) const;
  uint16_t U16(size_t offset) const;
  bool FindOption(size_t offset, uint16_t code, uint16_t length, size_t* value) const;
  uint32_t OfInterface() const;
  uint32_t OfPacket() const;

  CaptureFile file_;  // null behind its end
  bool is_big_endian_ = false;
  std::vector<uint8_t> block_;        // the last one read, without its length at the end
  std::vector<uint32_t> interfaces_;  // bytes that each of the section states
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PCAPNG_FCS_H
