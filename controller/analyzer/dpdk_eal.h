// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DpdkEal: DPDK's environment (EAL), started with an administrator's arguments and ended with this.
//
// * What it says goes to our log, whatever stream it writes to; what is wrong with its arguments
//   comes back as an error, and ends nothing.
// * It leaves no files: it shares its memory with nobody (--in-memory, or without huge pages
//   --no-shconf), and it has no socket for telemetry.
// * The calling thread keeps the processors that it had, and no further threads wait for work.
//
// Threads: Start() and the end on one thread, at whose time no other one writes to standard output.
// A process has one environment, ever: a second one is an error.

#ifndef TRUMPET_CONTROLLER_ANALYZER_DPDK_EAL_H
#define TRUMPET_CONTROLLER_ANALYZER_DPDK_EAL_H

#include <functional>
#include <memory>
#include <string>

#include "lib/base/status.h"

namespace trumpet {

// Of this build: without libdpdk Start() is an error that says so.
bool HasDpdk();

class DpdkEal {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  // `arguments` between blanks, such as "--no-huge --vdev=net_af_packet0,iface=eth1".  `log` is
  // called from any thread.
  static Result<std::unique_ptr<DpdkEal>> Start(const std::string& arguments, Log log);
  ~DpdkEal();
  DpdkEal(const DpdkEal&) = delete;
  DpdkEal& operator=(const DpdkEal&) = delete;

 private:
  class Stream;
  DpdkEal();

  std::unique_ptr<Stream> stream_;
  bool is_started_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_DPDK_EAL_H
