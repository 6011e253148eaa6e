// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DpdkReceiver: the frames of tunnels that arrive at ports of DPDK, cards or virtual devices.
//
// One thread polls all ports, throws away what is no tunnel, stamps frames with the system's clock
// and copies them into a ring for each port, from which the loop takes them as it does from the
// kernel's (CopyReceiver).  Where it finds nothing it sleeps for `pause`; without a pause it takes
// a whole processor.  What net_pcap reads from a file keeps the file's time stamps.
//
// Frames are there up to the length of one buffer of DPDK (2,048 bytes); of longer ones the rest is
// cut off, which no copy's headers reach to.
//
// Threads: that of the libevent loop; it has one of its own.  Memory: `ring_bytes` for each port,
// and from DPDK's memory 20 MB.  What there was no room for, in the port or in the ring, is
// counted.

#ifndef TRUMPET_CONTROLLER_ANALYZER_DPDK_RECEIVER_H
#define TRUMPET_CONTROLLER_ANALYZER_DPDK_RECEIVER_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/analyzer/copy_source.h"
#include "controller/analyzer/dpdk_eal.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

struct event_base;

namespace trumpet {

struct DpdkReceiverOptions {
  std::vector<std::string> ports;  // "0000:01:00.0", "net_af_packet0"
  uint64_t ring_bytes = 64 * 1024 * 1024;
  bool wants_udp_tunnels = false;
  uint32_t mtu = 0;                    // of ports; 0: as their drivers have it
  Nanos pause = 100 * kNanosPerMicro;  // where no frame came; 0: none
  Nanos retire = 5 * kNanosPerMilli;   // a few frames wait so long for more
};

class DpdkReceiver {
 public:
  // `eal` must outlive it.
  static Result<std::unique_ptr<DpdkReceiver>> Open(event_base* base, const DpdkEal& eal,
                                                    const DpdkReceiverOptions& options,
                                                    TakeFrames take);
  virtual ~DpdkReceiver() = default;

  // Of each port, in the order of the options.
  virtual std::vector<CopySource*> Sources() = 0;
  // Processor time of the polling thread.
  virtual Nanos polling_time() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_DPDK_RECEIVER_H
