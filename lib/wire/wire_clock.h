// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// WireClock: the time that sessions go by; a test brings its own.

#ifndef TRUMPET_LIB_WIRE_WIRE_CLOCK_H
#define TRUMPET_LIB_WIRE_WIRE_CLOCK_H

#include <ctime>

#include "lib/base/units.h"

namespace trumpet {

class WireClock {
 public:
  virtual ~WireClock() = default;
  virtual Nanos UnixNow() const = 0;       // may be set
  virtual Nanos MonotonicNow() const = 0;  // never is
};

class SystemWireClock final : public WireClock {
 public:
  Nanos UnixNow() const override { return Read(CLOCK_REALTIME); }
  Nanos MonotonicNow() const override { return Read(CLOCK_MONOTONIC); }

 private:
  static Nanos Read(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return now.tv_sec * kNanosPerSecond + now.tv_nsec;
  }
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_WIRE_CLOCK_H
