// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PcapReader: the frames of one capture (pcap or pcapng), in file order.
//
// Time stamps are exact to the nanosecond.  A frame cut by the snap length keeps
// its length on the wire.  A frame check sequence that the capture states is cut
// off both lengths; a per-packet one (pcapng packet flags) is not known.  Packets
// of captures without Ethernet come as it would carry them (link_header.h).
// Errors name the capture and the packet, counted from 1 as other tools do.
// Threads: one reader, one thread.

#ifndef TRUMPET_LIB_PACKET_PCAP_READER_H
#define TRUMPET_LIB_PACKET_PCAP_READER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/link_header.h"
#include "lib/packet/parse.h"
#include "lib/packet/pcapng_fcs.h"

struct pcap;

namespace trumpet {

struct TimedFrame {
  Nanos time = 0;  // since 1970
  Frame frame;     // borrowed from whoever delivered it, until it is asked for the next
};

class PcapReader {
 public:
  // `path` must be a regular file.
  static Result<PcapReader> OpenFile(const std::string& path);

  // A capture in memory; `data` must outlive the reader.  `name` is for errors.
  static Result<PcapReader> OpenImage(const std::string& name, const uint8_t* data, size_t size);

  // False at the end.  After an error the reader is of no further use.
  Result<bool> Next(TimedFrame* frame);

  // Frames delivered so far.
  uint64_t frame_count() const { return frame_count_; }

 private:
  struct Closer {
    void operator()(pcap* capture) const;
  };

  // `open` opens the capture, each time anew.
  static Result<PcapReader> Open(const std::string& name, const std::function<CaptureFile()>& open);

  PcapReader(std::string name, pcap* capture);  // takes over `capture`

  Status ErrorAt(const std::string& what) const;

  std::string name_;
  std::unique_ptr<pcap, Closer> capture_;
  uint32_t fcs_bytes_;               // what the file states of all packets
  std::optional<PcapngFcs> pcapng_;  // if it is that format
  LinkHeader link_;
  uint64_t frame_count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PCAP_READER_H
