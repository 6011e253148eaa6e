// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyReceiver: the frames of tunnels that arrive at an interface, through a ring shared with the
// kernel (AF_PACKET, TPACKET_V3); or those of a capture file.
//
// The kernel throws away what is no GRE, nor VXLAN or Geneve where those are wanted.  It stamps
// frames with its own clock, or with the card's if that is asked for and the card does so; what it
// drops, for the ring is full, is counted.
//
// An interface may go down and up again, or away and come again under its name; looked for once in
// kLookEvery.
//
// Threads: that of the libevent loop.  A call back handles a bounded number of blocks.  Memory:
// `ring_bytes`, locked.  Needs CAP_NET_RAW to open.

#ifndef TRUMPET_CONTROLLER_ANALYZER_COPY_RECEIVER_H
#define TRUMPET_CONTROLLER_ANALYZER_COPY_RECEIVER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/analyzer/copy_source.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/parse.h"
#include "lib/packet/pcap_reader.h"

struct event;
struct event_base;

namespace trumpet {

struct CopyReceiverOptions {
  std::string interface;
  uint64_t ring_bytes = 64 * 1024 * 1024;
  bool wants_hardware_stamps = false;
  bool wants_udp_tunnels = false;     // VXLAN and Geneve, at their usual ports, besides GRE
  Nanos retire = 5 * kNanosPerMilli;  // a block that is not full waits so long
};

struct CopyReceiverCounters {
  uint64_t frames = 0;
  uint64_t bytes = 0;
  uint64_t kernel_drops = 0;
  uint64_t ring_freezes = 0;       // times that the ring was full
  uint64_t hardware_stamps = 0;    // frames that the card has stamped
  uint64_t interface_errors = 0;   // times that the interface went down, or away
  uint64_t interface_changes = 0;  // times that another one bore its name
};

using TakeFrame = std::function<void(const Frame& frame, Nanos time)>;

class CopyReceiver final : public CopySource {
 public:
  static constexpr Nanos kLookEvery = kNanosPerSecond;

  static Result<std::unique_ptr<CopyReceiver>> Open(event_base* base,
                                                    const CopyReceiverOptions& options,
                                                    TakeFrames take);
  ~CopyReceiver() override;
  CopyReceiver(const CopyReceiver&) = delete;
  CopyReceiver& operator=(const CopyReceiver&) = delete;

  // Asks the kernel for its counts, too.
  CopyReceiverCounters counters();
  uint64_t dropped() override;
  std::vector<Figure> Figures() override;

  // From libevent.
  void OnReadable();

 private:
  CopyReceiver(event_base* base, std::string interface, TakeFrames take, int socket);
  Status Configure(const CopyReceiverOptions& options);
  Status MapRing(const CopyReceiverOptions& options);
  Status Bind();
  void LookAtInterface();
  bool TakeBlock();
  void TakeError();

  const std::string interface_;
  const TakeFrames take_;
  const int socket_;
  uint8_t* ring_ = nullptr;
  size_t ring_bytes_ = 0;
  size_t block_count_ = 0;
  size_t next_block_ = 0;
  event* readable_ = nullptr;
  LoopEvent look_;
  CopyReceiverCounters counters_;
};

// The same from a file, pcap or pcapng, at once.
Status TakeCapture(const std::string& path, const TakeFrame& take);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_COPY_RECEIVER_H
