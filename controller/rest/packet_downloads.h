// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketDownloads: packets of runs from analyzers to clients, as pcapng.
//
// What each analyzer has kept follows that of the one before, all of it in one section
// (lib/packet/pcapng_joiner.h).  A download pulls: it asks an analyzer for the next piece while its
// reader keeps up, so it costs kMaxWaiting bytes and a piece, however much there is.  One whose
// reader takes nothing for kStall is cut off.  Where an analyzer fails after the answer has begun,
// the connection ends without the end of the answer, and the log says why: a client never takes a
// part for the whole.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_REST_PACKET_DOWNLOADS_H
#define TRUMPET_CONTROLLER_REST_PACKET_DOWNLOADS_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "controller/rest/http_exchange.h"
#include "controller/slice/packet_keeper.h"
#include "lib/base/loop_event.h"

namespace trumpet {

class RestServer;
struct RestParts;

struct PacketDownloadCounters {
  uint64_t begun = 0;
  uint64_t broken_off = 0;  // for want of an analyzer, or of a right to go on
  uint64_t bytes = 0;
};

class PacketDownloads {
 public:
  static constexpr size_t kMaxWaiting = 512 * 1024;  // bytes, beyond which no piece is asked for
  static constexpr size_t kMaxDownloads = 16;
  static constexpr Nanos kStall = 30 * kNanosPerSecond;

  PacketDownloads(RestServer* server, const RestParts& parts);
  ~PacketDownloads();

  bool is_full() const { return downloads_.size() >= kMaxDownloads; }
  // `title` for messages: "run 7 of campaign 'web'".  From `keepers`, in this order.
  void Begin(std::shared_ptr<HttpExchange> exchange, const std::string& title, uint64_t run,
             std::vector<std::string> keepers);
  // All of them.
  void End();

  const PacketDownloadCounters& counters() const { return counters_; }

 private:
  struct Download;

  void Pump(const std::shared_ptr<Download>& download);
  void Take(const std::shared_ptr<Download>& download, const PacketFilePiece& piece);
  void Finish(Download* download);
  void Fail(Download* download, const std::string& why);
  void FailOf(Download* download, const std::string& keeper, const std::string& why);
  void Tick();

  RestServer* const server_;
  const RestParts& parts_;
  // Shared with answers that are still to come.
  std::list<std::shared_ptr<Download>> downloads_;
  PacketDownloadCounters counters_;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_PACKET_DOWNLOADS_H
