// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SampleReceiver: takes sFlow, NetFlow and IPFIX at UDP ports, from the routers it was told of, and
// gives what they tell to a SampledDemand.
//
// Threads: that of the libevent loop; a call back handles a bounded number of datagrams.  Memory:
// kMaxExporters, each with its templates.  Everything that is not taken is counted.

#ifndef TRUMPET_CONTROLLER_SLICE_SAMPLE_RECEIVER_H
#define TRUMPET_CONTROLLER_SLICE_SAMPLE_RECEIVER_H

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/slice/flow_export.h"
#include "controller/slice/sampled_demand.h"
#include "lib/base/status.h"
#include "lib/wire/wire_clock.h"

struct event;
struct event_base;

namespace trumpet {

struct SamplesConfig {
  std::vector<std::string> listen;  // "192.0.2.1:6343", "[::]:6343"; none: nowhere
  std::vector<Prefix> from;         // routers; datagrams of others are not taken
};

struct SampleCounters {
  uint64_t datagrams = 0;
  uint64_t samples = 0;
  uint64_t strangers = 0;  // datagrams of nobody in `from`, or of more than kMaxExporters
  uint64_t malformed = 0;  // datagrams
  uint64_t unknown = 0;    // datagrams of other protocols
};

class SampleReceiver {
 public:
  static constexpr size_t kMaxExporters = 1024;

  // `demand` and `clock` must outlive it.
  static Result<std::unique_ptr<SampleReceiver>> Open(event_base* base, const SamplesConfig& config,
                                                      const WireClock& clock,
                                                      SampledDemand* demand);
  ~SampleReceiver();
  SampleReceiver(const SampleReceiver&) = delete;
  SampleReceiver& operator=(const SampleReceiver&) = delete;

  const SampleCounters& counters() const { return counters_; }
  // Sets of records whose template has not come yet.
  uint64_t unknown_sets() const;
  const std::vector<uint16_t>& ports() const { return ports_; }

  // From libevent.
  void OnReadable(int socket);

 private:
  SampleReceiver(const SamplesConfig& config, const WireClock& clock, SampledDemand* demand)
      : config_(config), clock_(clock), demand_(demand) {}
  Status Listen(event_base* base, const std::string& address);
  void Take(const uint8_t* data, size_t size, const sockaddr_storage& from);

  struct Exporter {
    uint32_t number;
    FlowExportDecoder decoder;
  };
  struct Socket {
    int descriptor;
    event* readable;
  };

  const SamplesConfig config_;
  const WireClock& clock_;
  SampledDemand* const demand_;
  std::vector<Socket> sockets_;
  std::vector<uint16_t> ports_;
  std::map<std::pair<bool, Uint128>, Exporter> exporters_;
  std::vector<FlowSample> samples_;  // of the datagram under way
  SampleCounters counters_;
};

// "ADDRESS:PORT", "[ADDRESS]:PORT"; empty if it is one, else what is wrong.
std::string SampleListenProblem(const std::string& text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_SAMPLE_RECEIVER_H
