// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/settings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "lib/lang/event/suggest.h"
#include "lib/packet/parse.h"
#include "lib/wire/address.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

constexpr size_t kExtraTunnelPorts = kMaxTunnelPorts - 1;  // the first slot is the standard port

struct NumberKey {
  const char* key;
  uint32_t low;
  uint32_t high;
  uint32_t Settings::*member;
  bool at_next_start;
};

constexpr NumberKey kNumberKeys[] = {
    {"trumpet-memory-mb", 4, 65536, &Settings::memory_mb, true},
    {"trumpet-max-flows", 1024, 67108864, &Settings::max_flows, true},
    {"trumpet-max-buckets", 1, 16777216, &Settings::max_buckets, false},
    {"trumpet-max-total-buckets", 1, 268435456, &Settings::max_total_buckets, false},
    {"trumpet-max-connections", 0, 16777216, &Settings::max_connections, true},
    {"trumpet-ring-kb", 0, 65536, &Settings::ring_kb, true},
    {"trumpet-max-triggers", 1, 65536, &Settings::max_triggers, true},
    {"trumpet-sweep-budget-us", 1, 1000, &Settings::sweep_budget_us, false},
    {"trumpet-packet-budget-us", 1, 1000, &Settings::packet_budget_us, false},
    {"trumpet-watchdog-factor", 0, 1000, &Settings::watchdog_factor, false},
    {"trumpet-flow-timeout-ms", 1, 3600000, &Settings::flow_timeout_ms, false},
    {"trumpet-burst-gap-ns", 0, 1000000000, &Settings::burst_gap_ns, false},
    {"trumpet-slice-mark", 1, 4095, &Settings::slice_mark, false},
};

struct SwitchKey {
  const char* key;
  bool Settings::*member;
  bool at_next_start;
};

constexpr SwitchKey kSwitchKeys[] = {
    {"trumpet-enable", &Settings::enable, false},
    {"trumpet-reserved-huge-pages", &Settings::reserved_huge_pages, true},
};

struct TextKey {
  const char* key;
  std::string Settings::*member;
};

// Files and names.
constexpr TextKey kTextKeys[] = {
    {"trumpet-private-key", &Settings::private_key},
    {"trumpet-certificate", &Settings::certificate},
    {"trumpet-ca-cert", &Settings::ca_cert},
    {"trumpet-controller-name", &Settings::controller_name},
    {"trumpet-host-id", &Settings::host_id},
};
constexpr size_t kMaxTextKeyBytes = kMaxTextBytes;

constexpr char kControllerKey[] = "trumpet-controller";
constexpr char kUplinksKey[] = "trumpet-uplinks";
constexpr char kCarriersKey[] = "trumpet-carriers";
constexpr char kCarrierKeyPrefix[] = "key:";
constexpr char kZonesKey[] = "trumpet-zones";
constexpr char kTunnelPortsKey[] = "trumpet-tunnel-ports";

std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys{kControllerKey, kUplinksKey, kCarriersKey, kZonesKey,
                                kTunnelPortsKey};
  for (const TextKey& text : kTextKeys) keys.emplace_back(text.key);
  for (const SwitchKey& its : kSwitchKeys) keys.emplace_back(its.key);
  for (const NumberKey& number : kNumberKeys) keys.emplace_back(number.key);
  return keys;
}

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// Values come from outside and end up in a log line: keep it one line, and short.
std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) {
    quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return quoted + (text.size() > kLongest ? "...\"" : "\"");
}

std::optional<uint32_t> ReadNumber(std::string_view text, uint32_t low, uint32_t high) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < low || value > high) return std::nullopt;
  return static_cast<uint32_t>(value);
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.push_back(Trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// "vlan:7=3", "tunnel:5001=2", "vhost1=4".
std::optional<ZoneRule> ReadZoneRule(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos) return std::nullopt;
  const std::string subject = Trimmed(text.substr(0, equals));
  const auto zone = ReadNumber(Trimmed(text.substr(equals + 1)), 0, 65535);
  if (subject.empty() || !zone) return std::nullopt;
  ZoneRule rule;
  rule.zone = static_cast<uint16_t>(*zone);
  const auto read_id = [&](size_t prefix, uint32_t high) {
    const auto id = ReadNumber(subject.substr(prefix), 0, high);
    rule.id = id.value_or(0);
    return id.has_value();
  };
  if (subject.rfind("vlan:", 0) == 0) {
    rule.kind = ZoneRule::Kind::kVlan;
    if (!read_id(5, 4095)) return std::nullopt;
  } else if (subject.rfind("tunnel:", 0) == 0) {
    rule.kind = ZoneRule::Kind::kTunnel;
    if (!read_id(7, UINT32_MAX)) return std::nullopt;
  } else {
    rule.port = subject;
  }
  return rule;
}

class Reader {
 public:
  SettingsResult Read(const ConfigPairs& pairs) {
    ConfigPairs sorted = pairs;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [key, value] : sorted) ReadPair(key, Trimmed(value));
    return std::move(result_);
  }

 private:
  void ReadPair(const std::string& key, const std::string& value) {
    for (const NumberKey& number : kNumberKeys) {
      if (key == number.key) return ReadNumberKey(number, value);
    }
    for (const SwitchKey& its : kSwitchKeys) {
      if (key == its.key) return ReadSwitchKey(its, value);
    }
    for (const TextKey& text : kTextKeys) {
      if (key == text.key) return ReadTextKey(text, value);
    }
    if (key == kControllerKey) return ReadController(value);
    if (key == kUplinksKey) return ReadUplinks(value);
    if (key == kCarriersKey) return ReadCarriers(value);
    if (key == kZonesKey) return ReadZones(value);
    if (key == kTunnelPortsKey) return ReadTunnelPorts(value);
    Complain("unknown setting " + Quoted(key) + " is ignored" +
             event_lang::DidYouMean(key, KnownKeys()));
  }

  void ReadNumberKey(const NumberKey& number, const std::string& value) {
    const auto read = ReadNumber(value, number.low, number.high);
    if (read) {
      result_.settings.*number.member = *read;
      return;
    }
    Complain(std::string(number.key) + " is " + Quoted(value) + "; it takes " +
             std::to_string(number.low) + " to " + std::to_string(number.high) + "; using " +
             std::to_string(Settings().*number.member));
  }

  void ReadSwitchKey(const SwitchKey& its, const std::string& value) {
    result_.settings.*its.member = value == "true";
    if (value == "true" || value == "false") return;
    Complain(std::string(its.key) + " is " + Quoted(value) +
             "; it takes true or false; using false");
  }

  void ReadTextKey(const TextKey& text, const std::string& value) {
    const bool has_control = std::any_of(value.begin(), value.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (!has_control && value.size() <= kMaxTextKeyBytes) {
      result_.settings.*text.member = value;
      return;
    }
    Complain(std::string(text.key) + " is " + Quoted(value) + "; it takes at most " +
             std::to_string(kMaxTextKeyBytes) + " bytes without control characters; ignored");
  }

  void ReadController(const std::string& value) {
    if (value.empty()) return;
    const auto addresses = ParseActiveAddresses(value);
    if (addresses.ok()) {
      result_.settings.controller = value;
      return;
    }
    Complain(std::string(kControllerKey) + " is " + Quoted(value) + "; " + addresses.message() +
             "; using no controller");
  }

  void ReadUplinks(const std::string& value) {
    if (value.empty()) return;
    for (std::string& name : SplitList(value)) {
      if (name.empty()) {
        result_.settings.uplinks.clear();
        return Complain(std::string(kUplinksKey) + " is " + Quoted(value) +
                        "; it takes port names or patterns with * and ?, parted by commas; "
                        "using the physical ports");
      }
      result_.settings.uplinks.push_back(std::move(name));
    }
  }

  // The key is not repeated: others may read the log.
  bool ReadCarrier(const std::string& part) {
    Settings& settings = result_.settings;
    if (part.rfind(kCarrierKeyPrefix, 0) != 0) {
      settings.carriers.push_back(part);
      return !part.empty();
    }
    if (!settings.carrier_key.empty()) return false;
    settings.carrier_key = part.substr(sizeof kCarrierKeyPrefix - 1);
    return !settings.carrier_key.empty();
  }

  void ReadCarriers(const std::string& value) {
    if (value.empty()) return;
    for (const std::string& part : SplitList(value)) {
      if (ReadCarrier(part)) continue;
      result_.settings.carriers.clear();
      result_.settings.carrier_key.clear();
      return Complain(std::string(kCarriersKey) +
                      " takes port names or patterns with * and ?, and at most one key:TEXT, "
                      "parted by commas; using none");
    }
  }

  void ReadZones(const std::string& value) {
    if (value.empty()) return;
    for (const std::string& part : SplitList(value)) {
      const auto rule = ReadZoneRule(part);
      if (!rule) {
        result_.settings.zones.clear();
        return Complain(std::string(kZonesKey) + " has " + Quoted(part) +
                        "; it takes PORT=ZONE, vlan:VID=ZONE and tunnel:ID=ZONE with VID 0 to "
                        "4095 and ZONE 0 to 65535; using zone 0 for all");
      }
      result_.settings.zones.push_back(*rule);
    }
  }

  bool ReadTunnelPort(const std::string& part) {
    const bool is_vxlan = part.rfind("vxlan:", 0) == 0;
    if (!is_vxlan && part.rfind("geneve:", 0) != 0) return false;
    const auto port = ReadNumber(std::string_view(part).substr(is_vxlan ? 6 : 7), 1, 65535);
    auto& ports = is_vxlan ? result_.settings.vxlan_ports : result_.settings.geneve_ports;
    if (!port || ports.size() == kExtraTunnelPorts) return false;
    ports.push_back(static_cast<uint16_t>(*port));
    return true;
  }

  void ReadTunnelPorts(const std::string& value) {
    if (value.empty()) return;
    for (const std::string& part : SplitList(value)) {
      if (ReadTunnelPort(part)) continue;
      result_.settings.vxlan_ports.clear();
      result_.settings.geneve_ports.clear();
      return Complain(std::string(kTunnelPortsKey) + " has " + Quoted(part) +
                      "; it takes vxlan:PORT and geneve:PORT with PORT 1 to 65535, at most " +
                      std::to_string(kExtraTunnelPorts) + " of a kind; using 4789 and 6081 only");
    }
  }

  void Complain(std::string text) { result_.complaints.push_back(std::move(text)); }

  SettingsResult result_;
};

}  // namespace

bool Settings::operator==(const Settings& other) const {
  const auto tie = [](const Settings& s) {
    return std::tie(s.enable, s.memory_mb, s.max_flows, s.max_connections, s.ring_kb,
                    s.reserved_huge_pages, s.max_buckets, s.max_total_buckets, s.max_triggers,
                    s.sweep_budget_us, s.packet_budget_us, s.watchdog_factor, s.flow_timeout_ms,
                    s.burst_gap_ns, s.slice_mark, s.uplinks, s.carriers, s.carrier_key, s.zones,
                    s.vxlan_ports, s.geneve_ports, s.controller, s.private_key, s.certificate,
                    s.ca_cert, s.controller_name, s.host_id);
  };
  return tie(*this) == tie(other);
}

SettingsResult ReadSettings(const ConfigPairs& pairs) { return Reader().Read(pairs); }

bool NeedsNewMonitors(const Settings& from, const Settings& to) {
  return from.sweep_budget_us != to.sweep_budget_us ||
         from.packet_budget_us != to.packet_budget_us ||
         from.watchdog_factor != to.watchdog_factor || from.flow_timeout_ms != to.flow_timeout_ms ||
         from.burst_gap_ns != to.burst_gap_ns || from.vxlan_ports != to.vxlan_ports ||
         from.geneve_ports != to.geneve_ports;
}

std::vector<std::string> ChangesAtNextStart(const Settings& from, const Settings& to) {
  std::vector<std::string> keys;
  for (const NumberKey& number : kNumberKeys) {
    if (number.at_next_start && from.*number.member != to.*number.member) {
      keys.emplace_back(number.key);
    }
  }
  for (const SwitchKey& its : kSwitchKeys) {
    if (its.at_next_start && from.*its.member != to.*its.member) keys.emplace_back(its.key);
  }
  return keys;
}

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  size_t star = std::string_view::npos, resume = 0;  // the last `*`, and where its text may end
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace trumpet
