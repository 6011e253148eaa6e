// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProbeBook: probes as users have them: to begin, and to see what came of them (docs/probes.md).
//
// Threads: one, that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_PROBE_PROBE_BOOK_H
#define TRUMPET_CONTROLLER_PROBE_PROBE_BOOK_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/probe/probe_findings.h"
#include "lib/lang/probe/probe_language.h"

namespace trumpet {

enum class ProbeState : uint8_t { kSending, kWaiting, kDone };

struct ProbeView {
  uint64_t id = 0;
  std::string caller;
  std::string tenant;  // of the caller; empty: none
  ProbeRequest request;
  uint32_t in_port = 0;
  ProbeState state = ProbeState::kSending;
  Nanos began = 0;                 // Unix time
  std::vector<Nanos> sent;         // of each packet, Unix time
  std::vector<ProbeTrace> traces;  // one of each packet at most, by packet
  ProbeConclusion conclusion;      // once it is done
  std::vector<std::string> notes;  // why copies may not come, or packets could not be sent
  std::map<std::string, std::string> silent;  // analyzers, and why nothing came from them
};

struct ProbeStart {
  enum class Refusal : uint8_t { kNone, kWrong, kNotNow, kTooMany };

  uint64_t id = 0;  // if there is no refusal
  Refusal refusal = Refusal::kNone;
  std::string why;
};

class ProbeBook {
 public:
  virtual ~ProbeBook() = default;
  virtual ProbeStart Start(const ProbeRequest& request, const std::string& caller,
                           const std::string& tenant) = 0;
  // Null: there is none, or it is forgotten.
  virtual const ProbeView* Find(uint64_t id) const = 0;
  // The newest first.
  virtual std::vector<const ProbeView*> List() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_PROBE_BOOK_H
