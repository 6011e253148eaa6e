// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BgpConnection: what happened on one TCP connection of BGP, packet by packet: who opened it, what
// each said in its OPEN, when it was established, how long each was silent, who closed it and how.
//
// Side 0 is the peer with the lower address, whoever opened the connection.
//
// Threads: values; one at a time.  Memory: bounded, whatever the packets say.

#ifndef TRUMPET_CONTROLLER_TRACES_BGP_CONNECTION_H
#define TRUMPET_CONTROLLER_TRACES_BGP_CONNECTION_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/traces/stored_segment.h"
#include "lib/base/units.h"
#include "lib/packet/bgp.h"
#include "lib/packet/bgp_stream.h"

namespace trumpet {

// Something of a timeline.
struct BgpEvent {
  Nanos time = 0;
  int side = -1;  // who did it; -1: both
  std::string what;
};

// Counts of one side; of several connections they add up.
struct BgpSideSums {
  uint64_t packets = 0;
  uint64_t lost = 0;  // of these: in the network
  uint64_t carried_bytes = 0;
  uint64_t messages = 0;
  uint64_t keepalives = 0;
  uint64_t updates = 0;
  uint64_t announced = 0;
  uint64_t withdrawn = 0;
  uint64_t refreshes = 0;       // asked to be told all routes again
  uint64_t not_read = 0;        // messages that were cut short in copies
  uint64_t malformed = 0;       // messages
  uint64_t not_read_bytes = 0;  // that lie in no message
  Nanos longest_gap = 0;        // between two messages, while it was established

  void Add(const BgpSideSums& other);
};

struct BgpSide {
  BgpSideSums sums;
  BgpStream stream;
  std::optional<uint32_t> syn;  // its sequence
  std::optional<BgpOpen> open;
  bool has_opened = false;    // an OPEN was seen, read or not
  bool has_kept = false;      // a KEEPALIVE was
  bool has_updated = false;   // an UPDATE was
  bool has_told_all = false;  // End-of-RIB
  bool has_finished = false;  // FIN or RST
  bool was_late = false;      // told once a connection
  Nanos heard = 0;            // its last message, or packet that could not be read
};

enum class BgpClose : uint8_t { kNone, kNotification, kFin, kReset };

class BgpConnection {
 public:
  // An UPDATE that could be read.
  using Tell = std::function<void(Nanos time, const BgpUpdate& update)>;

  static constexpr size_t kMaxEvents = 32;

  // `number`: of the session's connections, from 1.
  explicit BgpConnection(uint64_t number) : number_(number) {}

  // Whether a packet is of a later connection with the same ports.
  bool IsBehind(int side, const StoredSegment& segment) const;
  void Take(Nanos time, int side, const StoredSegment& segment, bool is_lost, const Tell& tell);
  // What waited for packets that did not come.
  void Finish(const Tell& tell);

  const BgpSide& side(int number) const { return sides_[static_cast<size_t>(number)]; }
  uint64_t number() const { return number_; }
  Nanos begin() const { return begin_; }
  Nanos last() const { return last_; }
  // 0: it was not.
  Nanos established() const { return established_; }
  bool began_before() const { return began_before_; }  // the copies
  BgpClose close() const { return close_; }
  Nanos close_time() const { return close_time_; }
  int closer() const { return closer_; }
  const BgpNotification& notification() const { return notification_; }  // of kNotification
  bool has_collided() const;
  // What both agreed on, in seconds; nullopt: not known; 0: no limit.
  std::optional<uint16_t> hold_seconds() const;
  // How long the side had been silent at that time, or when the connection was closed.
  Nanos Silence(int side, Nanos now) const;
  const std::vector<BgpEvent>& events() const { return events_; }
  uint64_t events_left_out() const { return events_left_out_; }

 private:
  void TakeFlags(Nanos time, int side, const StoredSegment& segment);
  void TakeMessage(int side, const BgpMessage& message, const Tell& tell);
  void TakeOpen(int side, const BgpMessage& message);
  void TakeUpdate(int side, const BgpMessage& message, const Tell& tell);
  void TakeNotification(int side, const BgpMessage& message);
  void NoteEstablished(Nanos time);
  void NoteHeard(Nanos time, int side);
  void Close(Nanos time, int side, BgpClose how);
  void Add(Nanos time, int side, std::string what);
  BgpSide& At(int side) { return sides_[static_cast<size_t>(side)]; }

  uint64_t number_;
  std::array<BgpSide, 2> sides_;
  bool has_packet_ = false;
  bool began_before_ = false;
  Nanos begin_ = 0;
  Nanos last_ = 0;
  Nanos established_ = 0;
  BgpClose close_ = BgpClose::kNone;
  Nanos close_time_ = 0;
  int closer_ = -1;
  BgpNotification notification_;
  std::vector<BgpEvent> events_;
  uint64_t events_left_out_ = 0;
};

// "12.3 s"
std::string SecondsText(Nanos span);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_BGP_CONNECTION_H
