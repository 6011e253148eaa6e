// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopySender: sends what a measurement program collects to the addresses of its endpoints.
//
// Over UDP, a datagram for each copy tells all its fields:
//
//   {"program":"hh","switch":3,"time_ns":17...,"endpoint":"C","packet":{"eth.dst":...}}
//
// Over ERSPAN II the copy is a frame (lib/measure/copy_frame.h); the session is switch.id, the
// index pkt.input_port, and copies of each endpoint are counted in the sequence number.
//
// Copies beyond the rate, and those that the machine does not take, are counted and dropped:
// nothing waits.
//
// Threads: one at a time; never a packet thread.

#ifndef TRUMPET_VSWITCHD_PLUGIN_COPY_SENDER_H
#define TRUMPET_VSWITCHD_PLUGIN_COPY_SENDER_H

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/measure/copy_frame.h"
#include "lib/measure/program_state.h"
#include "lib/model/measure_copies.h"
#include "lib/model/measure_place.h"
#include "lib/packet/mirror_header.h"

namespace trumpet {

// An endpoint that has an address, and what became of its copies.
struct CopyTarget {
  std::string endpoint;
  std::string address;
  EndpointCopies copies = {};
};

// {"time_ns":17...,"endpoint":"C","packet":{"eth.dst":...}}
std::string CopyText(const MeasureProgram& program, const CollectedPacket& copy);

class CopySender {
 public:
  // Null if no endpoint has an address.  An error if `place` names an endpoint that the program has
  // not, an address is none, or the machine gives no socket.  `program` must outlive the sender.
  static Result<std::unique_ptr<CopySender>> Open(const std::string& name,
                                                  const CompiledProgram& program,
                                                  const MeasurementPlace& place);
  ~CopySender();
  CopySender(const CopySender&) = delete;
  CopySender& operator=(const CopySender&) = delete;

  // Sends the copy.  False: its endpoint has no address.  `now` is monotonic.
  bool Send(const CollectedPacket& copy, Nanos now);

  std::vector<CopyTarget> Targets() const;
  std::vector<EndpointCopies> Counts() const;  // of all endpoints, in the program's order

 private:
  struct Way {
    int socket = -1;
    bool is_erspan = false;
    uint32_t sequence = 0;
    CopyTarget target;
  };

  CopySender(const CompiledProgram& program, const MeasurementPlace& place)
      : program_(program),
        switch_id_(place.switch_id.value_or(0)),
        spacing_(kNanosPerSecond / place.copies_per_second) {}
  Status OpenWay(const std::string& endpoint, const std::string& address);
  bool HasRoom(Nanos now);
  bool SendFrame(Way* way, const CollectedPacket& copy);

  const CompiledProgram& program_;
  const uint8_t switch_id_;
  const Nanos spacing_;     // between copies, in the long run
  Nanos next_ = INT64_MIN;  // when a copy would be due at that rate
  std::string start_;       // of a datagram
  std::vector<Way> ways_;   // by endpoint
  std::array<uint8_t, kMaxCopyFrameBytes> frame_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_COPY_SENDER_H
