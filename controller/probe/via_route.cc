// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/via_route.h"

#include <algorithm>
#include <cstdio>

namespace trumpet {
namespace {

constexpr uint64_t kViaCookie = kOpenflowCookie | uint64_t{8} << 40;
constexpr uint64_t kIdMask = 0xffffffffff;

std::string MacText(const MacBytes& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

// Of several links side by side the one with the lowest port.
const BounceLink* FindLink(const std::string& from, const std::string& to,
                           const std::vector<BounceLink>& links) {
  const BounceLink* found = nullptr;
  for (const BounceLink& link : links) {
    if (link.from != from || link.to != to || link.from_port == 0 || link.to_port == 0) continue;
    if (found == nullptr || link.from_port < found->from_port) found = &link;
  }
  return found;
}

}  // namespace

Result<std::vector<ViaHop>> FindVia(const std::string& switch_name, uint32_t in_port,
                                    const std::vector<std::string>& via,
                                    const std::vector<BounceLink>& links) {
  std::vector<ViaHop> hops = {{switch_name, in_port, 0}};
  for (const std::string& next : via) {
    const bool is_there = std::any_of(hops.begin(), hops.end(),
                                      [&](const ViaHop& hop) { return hop.switch_name == next; });
    if (is_there) return Status::Error("'via' would take packets to switch '" + next + "' twice");
    const BounceLink* const link = FindLink(hops.back().switch_name, next, links);
    if (link == nullptr) {
      return Status::Error("no link of switch '" + hops.back().switch_name + "' to switch '" +
                           next + "' has been found by LLDP");
    }
    hops.back().out_port = link->from_port;
    hops.push_back({next, link->to_port, 0});
  }
  return hops;
}

OpenflowClaim ViaClaim() { return ClaimOfKind(kViaCookie); }

OpenflowRule ViaRuleOf(const ViaHop& hop, const ViaFlow& flow) {
  OpenflowRule rule;
  rule.text = "table=0,priority=" + std::to_string(kViaPriority) +
              ",hard_timeout=" + std::to_string(flow.lasts / kNanosPerSecond + 1) +
              ",in_port=" + std::to_string(hop.in_port) + ",dl_dst=" + MacText(flow.address) +
              ",actions=";
  rule.text += hop.out_port != 0 ? "output:" + std::to_string(hop.out_port)
                                 : "set_field:" + MacText(flow.to) + "->eth_dst,resubmit(,0)";
  rule.cookie = kViaCookie | (flow.probe & kIdMask);
  rule.lasts = false;
  return rule;
}

}  // namespace trumpet
