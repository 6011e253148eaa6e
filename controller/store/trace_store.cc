// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_store.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

size_t BytesOf(bool is_ipv6) { return is_ipv6 ? 16 : 4; }

std::string ToText(Uint128 number, bool is_ipv6) {
  std::string text(1 + 2 * BytesOf(is_ipv6), is_ipv6 ? '6' : '4');
  for (size_t i = text.size(); i-- > 1; number >>= 4) {
    text[i] = kDigits[static_cast<unsigned>(number & 15)];
  }
  return text;
}

bool IsIn(const Prefix& prefix, const std::string& address) {
  const auto range = StoredRange(prefix);
  return address >= range.first && address <= range.second;
}

bool FitsPacket(const FlowKey& flow, const TraceQuery& query) {
  if (query.protocol.value_or(flow.protocol) != flow.protocol ||
      query.src_port.value_or(flow.src_port) != flow.src_port ||
      query.dst_port.value_or(flow.dst_port) != flow.dst_port) {
    return false;
  }
  if (!query.src && !query.dst && query.within.empty()) return true;
  const std::string src = StoredAddress(flow.src_ip, flow.ip_family);
  const std::string dst = StoredAddress(flow.dst_ip, flow.ip_family);
  if ((query.src && !IsIn(*query.src, src)) || (query.dst && !IsIn(*query.dst, dst))) return false;
  return query.within.empty() ||
         std::any_of(query.within.begin(), query.within.end(),
                     [&](const Prefix& prefix) { return IsIn(prefix, src) || IsIn(prefix, dst); });
}

bool IsThrough(const StoredTrace& trace, uint16_t switch_number) {
  return std::any_of(trace.hops.begin(), trace.hops.end(),
                     [&](const StoredHop& hop) { return hop.switch_number == switch_number; });
}

}  // namespace

bool IsAskedFor(const StoredTrace& trace, const TraceQuery& query) {
  // Ids are ordered as the stores order them: signed.
  const auto place = [](Nanos start, uint64_t id) {
    return std::make_pair(start, static_cast<int64_t>(id));
  };
  return trace.start >= query.from && trace.start < query.until &&
         trace.hops.size() >= query.min_hops &&
         (query.marks == 0 || (query.marks & trace.marks) != 0) &&
         query.fault.value_or(trace.fault) == trace.fault &&
         query.id.value_or(trace.id) == trace.id && FitsPacket(trace.flow, query) &&
         (!query.through || IsThrough(trace, *query.through)) &&
         (!query.behind ||
          place(trace.start, trace.id) > place(query.behind->first, query.behind->second));
}

std::string StoredAddress(const IpBytes& address, uint8_t ip_family) {
  if (ip_family == 0) return "";
  Uint128 number = 0;
  for (size_t i = 0; i < BytesOf(ip_family == 6); ++i) number = number << 8 | address[i];
  return ToText(number, ip_family == 6);
}

bool ReadStoredAddress(const std::string& text, IpBytes* address, uint8_t* ip_family) {
  *address = IpBytes();
  *ip_family = 0;
  if (text.empty()) return true;
  const bool is_ipv6 = text[0] == '6';
  if ((!is_ipv6 && text[0] != '4') || text.size() != 1 + 2 * BytesOf(is_ipv6) ||
      text.find_first_not_of(kDigits) != text.npos) {
    return false;
  }
  Uint128 number = 0;
  for (const char digit : text.substr(1)) {
    number = number << 4 | static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  *ip_family = is_ipv6 ? 6 : 4;
  for (size_t i = BytesOf(is_ipv6); i-- > 0; number >>= 8) {
    (*address)[i] = static_cast<uint8_t>(number);
  }
  return true;
}

std::pair<std::string, std::string> StoredRange(const Prefix& prefix) {
  return {ToText(FirstOf(prefix), prefix.is_ipv6), ToText(LastOf(prefix), prefix.is_ipv6)};
}

}  // namespace trumpet
