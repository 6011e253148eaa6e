// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs of trumpet-replay in tests: arguments in, lines and exit status out, and captures for them.

#ifndef TRUMPET_TESTS_REPLAY_REPLAY_KIT_TEST_H
#define TRUMPET_TESTS_REPLAY_REPLAY_KIT_TEST_H

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "lib/packet/test_captures.h"
#include "lib/packet/test_frames.h"
#include "utilities/replay/replay.h"

namespace trumpet::replay_kit {

using namespace test_captures;
using namespace test_frames;

constexpr uint32_t kStart = 1700000000;  // seconds

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

// A FILE that ends in a string.
class Output {
 public:
  Output() : file_(open_memstream(&data_, &size_)) {}
  ~Output() { std::free(data_); }
  std::FILE* file() { return file_; }
  std::string Close() {
    std::fclose(file_);
    return std::string(data_, size_);
  }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

inline Outcome Replayed(const std::vector<std::string>& arguments) {
  Output out;
  Output err;
  Outcome outcome;
  outcome.status = RunReplay(arguments, out.file(), err.file());
  outcome.out = out.Close();
  outcome.err = err.Close();
  return outcome;
}

inline Bytes TextBytes(const std::string& text) { return Bytes(text.begin(), text.end()); }

inline Bytes UdpFrame(uint16_t dst_port, size_t payload_bytes) {
  Ipv4Header ip;
  ip.protocol = kProtocolUdp;
  const Bytes udp =
      Join({Be16(1000), Be16(dst_port), Be16(8 + payload_bytes), Be16(0), Zeros(payload_bytes)});
  return Ethernet(0x0800, Ipv4(ip, udp));
}

// `count` packets of 100 bytes of payload, `gap_ns` apart, to ports 80 and 81 in turn.
inline Bytes Traffic(int count, uint32_t gap_ns, uint32_t first_ns = 0) {
  Bytes capture = PcapHeader(kNanoMagic);
  for (int i = 0; i < count; ++i) {
    const uint64_t ns = first_ns + uint64_t{gap_ns} * static_cast<uint64_t>(i);
    const Bytes packet = PcapPacket(kStart + static_cast<uint32_t>(ns / 1000000000),
                                    static_cast<uint32_t>(ns % 1000000000),
                                    UdpFrame(static_cast<uint16_t>(80 + i % 2), 100));
    capture.insert(capture.end(), packet.begin(), packet.end());
  }
  return capture;
}

}  // namespace trumpet::replay_kit

#endif  // TRUMPET_TESTS_REPLAY_REPLAY_KIT_TEST_H
