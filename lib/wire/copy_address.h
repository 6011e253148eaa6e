// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyAddress: where the copies of a measurement program go.
//
//   udp:10.0.0.9:4729, udp:[2001:db8::9]:4729    a datagram for each copy
//   erspan:10.0.0.9, erspan:[2001:db8::9]        ERSPAN II over GRE
//
// Addresses only, no names: nobody looks names up in a switch.
//
// Threads: pure function.

#ifndef TRUMPET_LIB_WIRE_COPY_ADDRESS_H
#define TRUMPET_LIB_WIRE_COPY_ADDRESS_H

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/status.h"

namespace trumpet {

struct CopyAddress {
  bool is_erspan = false;
  std::string host;   // an address, without brackets
  uint16_t port = 0;  // of UDP
};

Result<CopyAddress> ParseCopyAddress(std::string_view text);

// Whether a text is meant to be one, right or wrong.
bool LooksLikeCopyAddress(std::string_view text);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_COPY_ADDRESS_H
