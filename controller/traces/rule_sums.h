// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RuleSums: what each trace rule has brought: connections, packets and bytes; and, where it is a
// sample, how many there are in all, with an interval of 95 % (sample_estimate.h).
//
//   RuleSums sums(seed, window);
//   sums.Set(rules);           // by their places, which copies name
//   sums.Add(report);          // for each trace, as it is told the first time
//
// With a window the last one that is complete is told, else all since Set().
//
// Threads: one.  Memory: of each sampled rule kMaxConnections of a window; those of more are taken
// together in heaps, which makes intervals wider, never narrower.

#ifndef TRUMPET_CONTROLLER_TRACES_RULE_SUMS_H
#define TRUMPET_CONTROLLER_TRACES_RULE_SUMS_H

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/traces/trace_maker.h"
#include "controller/traces/trace_network.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

// Of a file as docs/trace-rules.md says, JSON if its name ends in .json.
Result<std::vector<ToldRule>> ReadRulesFile(const std::string& path);

class RuleSums {
 public:
  static constexpr size_t kMaxConnections = 65536;

  // `window` 0: there is none.
  RuleSums(uint64_t seed, Nanos window) : seed_(seed), window_(window) {}

  // If they are others than before, counting begins anew.
  void Set(std::vector<ToldRule> rules);
  const std::vector<ToldRule>& rules() const { return rules_; }
  void Add(const TraceReport& report);
  // The bytes that copies have of the packet, if its rule cuts it; 0: it does not, or there is
  // none.
  uint32_t TruncatedTo(const TraceReport& report) const;
  // A list, in the order of the rules.
  nlohmann::ordered_json Show() const;

 private:
  struct Connection {
    uint64_t packets = 0;
    uint64_t bytes = 0;
  };
  struct Sums {
    uint64_t packets = 0;
    uint64_t bytes = 0;
    uint64_t truncated = 0;  // packets that the rule has cut
    uint64_t in_tunnels = 0;
    uint64_t in_heaps = 0;  // packets of connections beyond kMaxConnections
    std::unordered_map<uint64_t, Connection> connections;
    std::vector<Connection> heaps;
  };

  const ToldRule* RuleOf(const TraceReport& report) const;
  Connection* ConnectionOf(const FlowKey& flow, Sums* sums) const;
  static nlohmann::ordered_json OfAll(const ToldRule& rule, const Sums& sums);

  uint64_t seed_;
  Nanos window_;
  std::vector<ToldRule> rules_;
  std::vector<Sums> now_;  // by rule
  std::vector<Sums> last_;
  Nanos begin_ = 0;  // of now_
  Nanos last_begin_ = 0;
  Nanos newest_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_RULE_SUMS_H
