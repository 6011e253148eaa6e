// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/farewell.h"

namespace trumpet {
namespace {

constexpr const char* kCauseNames[kCloseCauseCount] = {"by-us",         "by-peer",
                                                       "bye",           "refused",
                                                       "connect",       "tls",
                                                       "protocol",      "handshake-timeout",
                                                       "frame-timeout", "keep-alive-timeout",
                                                       "stuck"};
constexpr const char* kByeNames[] = {"shutting down", "reconfigured", "replaced", "protocol error",
                                     "too slow"};
constexpr const char* kRefusalNames[] = {"no common version", "not allowed", "duplicate host",
                                         "too many sessions", "shutting down"};

std::string WithText(const char* reason, const std::string& text) {
  return text.empty() ? reason : std::string(reason) + ": " + text;
}

}  // namespace

const char* CloseCauseName(CloseCause cause) { return kCauseNames[static_cast<size_t>(cause)]; }

std::string FarewellOf(ByeReason reason, const std::string& text) {
  return WithText(kByeNames[static_cast<size_t>(reason)], text);
}

std::string FarewellOf(const Bye& bye) { return FarewellOf(bye.reason, bye.text); }

std::string FarewellOf(const Refusal& refusal) {
  return WithText(kRefusalNames[static_cast<size_t>(refusal.reason)], refusal.text);
}

}  // namespace trumpet
