// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Datagrams of exporters, several behind each other (two bytes of size before each): the decoder
// stays within them, and rates of what it read are no nonsense.

#include <cstdint>
#include <cstdlib>

#include "controller/slice/sampled_demand.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trumpet::FlowExportDecoder decoder;
  trumpet::SampledDemand demand(300 * trumpet::kNanosPerSecond, 50);
  std::vector<trumpet::FlowSample> samples;
  trumpet::ByteCursor input(data, size);
  while (input.left() > 2) {
    const size_t wanted = input.Be16();
    const trumpet::ByteCursor datagram = input.Take(std::min(wanted, input.left()));
    decoder.Decode(datagram.here(), datagram.left(), &samples);
  }
  for (const trumpet::FlowSample& sample : samples) {
    if (sample.destination.length == 0 || sample.packets < sample.sampled || sample.duration < 0) {
      std::abort();
    }
    demand.Add(0, sample, trumpet::kNanosPerSecond);
  }
  for (const bool is_ipv6 : {false, true}) {
    trumpet::Prefix all;
    all.is_ipv6 = is_ipv6;
    const auto rate = demand.RateOf(all, trumpet::kNanosPerSecond);
    if (rate && *rate < 0) std::abort();
  }
  return 0;
}
