// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/tenant_packets.h"

#include <algorithm>
#include <vector>

#include "lib/packet/prefix.h"

namespace trumpet {
namespace {

bool IsWithin(const FieldValue& address, const std::vector<Prefix>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
    return prefix.is_ipv6 == (address.kind == ValueKind::kIpv6) &&
           FirstOf(prefix) <= address.value && address.value <= LastOf(prefix);
  });
}

}  // namespace

std::string WhyTenantMayNotSend(const Caller& caller, const ProbePacket& packet) {
  if (caller.tenant.empty()) return "";
  if (!IsWithin(packet.src, caller.prefixes) || !IsWithin(packet.dst, caller.prefixes)) {
    return "srcIP and dstIP must lie within this tenant's prefixes";
  }
  if (packet.src_mac != kProbeMac) return "srcMAC is not for tenants to choose";
  return packet.vlan ? "vlan is not for tenants to choose" : "";
}

}  // namespace trumpet
