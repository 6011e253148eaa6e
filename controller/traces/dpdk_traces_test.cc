// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What comes through a port of DPDK makes the traces that the capture makes.

#include <gtest/gtest.h>

#include <string>

#include "controller/analyzer/dpdk_kit_test.h"
#include "controller/traces/program_kit_test.h"

namespace trumpet {
namespace {

class DpdkTraces : public ProgramTest {
 protected:
  DpdkTraces() : ProgramTest(RunTraceProgram) {}

  // What the port gives, until it gave so many.
  std::vector<trace_network::TimedBytes> Through(const std::string& capture, size_t count) {
    const VirtualDevice device("net_pcap9", "rx_pcap=" + capture);
    const OwnedLoop base = NewPreciseLoop();
    std::vector<trace_network::TimedBytes> frames;
    const auto take = [&](const TimedFrame* taken, size_t taken_count) {
      for (size_t i = 0; i < taken_count; ++i) {
        const Frame& frame = taken[i].frame;
        frames.push_back({taken[i].time, {frame.data, frame.data + frame.captured_length}});
      }
      if (frames.size() >= count) event_base_loopbreak(base.get());
    };
    const auto receiver =
        DpdkReceiver::Open(base.get(), *DpdkProcess::Get().eal, {{device.name()}}, take);
    EXPECT_TRUE(receiver.ok());
    LoopEvent alarm(base.get(), [&] { event_base_loopbreak(base.get()); });
    alarm.RunAfter(60 * kNanosPerSecond);
    event_base_dispatch(base.get());
    return frames;
  }
  std::string Analyzed(const std::string& capture, const std::string& topology) {
    std::ostringstream out;
    EXPECT_EQ(RunTraceProgram({"--all", "--topology=" + topology, capture}, &out, &err_), 0)
        << err_.str();
    return out.str();
  }
};

TEST_F(DpdkTraces, AreThoseOfTheCaptureToTheLastByte) {
  const trace_network::Network network = trace_network::WithADrop();
  const std::string topology = Write("net.yaml", std::string(kTopology));
  const std::string capture = Write("copies.pcap", network.Capture());
  const auto frames = Through(capture, network.Frames().size());
  ASSERT_EQ(frames.size(), network.Frames().size());
  const std::string through = Write("through.pcap", trace_network::Network::CaptureOf(frames));
  const std::string lines = Analyzed(capture, topology);
  EXPECT_NE(lines.find("\"verdict\":\"dropped\""), std::string::npos);
  EXPECT_EQ(Analyzed(through, topology), lines);
}

}  // namespace
}  // namespace trumpet
