// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/trace/sonic_export.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/plan/filter_terms.h"
#include "controller/plan/flow_match.h"
#include "lib/packet/fields.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kTableV4[] = "TRUMPET";
constexpr char kTableV6[] = "TRUMPETV6";
constexpr uint32_t kHighestPriority = 9999;
constexpr uint64_t kSonicFlags = 0xff;  // of TCP
constexpr uint64_t kMaxSonicVlan = 4094;
constexpr uint64_t kIpv4Type = 0x0800;
constexpr uint64_t kIpv6Type = 0x86dd;

// All of it holds; of each test one range.
using Term = std::vector<FieldTest>;
using Terms = std::vector<Term>;

std::string Hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Status TooMany() {
  return Status::Error("it needs more than " + std::to_string(kMaxFlowMatches) + " rules");
}

// Ports have ranges there, and addresses prefixes; everything else is one value.
bool HasRanges(Field field) {
  return field == Field::kSrcIp || field == Field::kDstIp || field == Field::kSrcPort ||
         field == Field::kDstPort;
}

Result<Terms> TermsOf(const FieldTest& test) {
  if (test.is_any) return Status::Error(FieldRefName(test.ref) + "=* cannot be said to SONiC");
  if (test.is_masked) return Terms{{test}};
  Terms terms;
  for (const ValueRange& range : test.ranges) {
    FieldTest one = test;
    one.ranges = {range};
    if (HasRanges(test.ref.field)) {
      terms.push_back({one});
      continue;
    }
    for (Uint128 value = range.low; value <= range.high; ++value) {
      one.ranges = {{range.kind, value, value}};
      terms.push_back({one});
      if (terms.size() > kMaxFlowMatches) return TooMany();
    }
  }
  return terms;
}

std::optional<Term> Both(const Term& one, const Term& other) {
  Term both = one;
  both.insert(both.end(), other.begin(), other.end());
  return both;
}

Result<Terms> TermsOf(const FilterExpr& filter) {
  TermRules<Term> rules;
  rules.of_test = [](const FieldTest& test) { return TermsOf(test); };
  rules.both = Both;
  rules.most = kMaxFlowMatches;
  rules.too_many = TooMany();
  rules.no_not = Status::Error("'not' cannot be said to SONiC");
  return TermsOfFilter(filter, rules);
}

Result<std::string> PrefixText(const ValueRange& range) {
  const int width = range.kind == ValueKind::kIpv6 ? 128 : 32;
  int length = width;
  while (length > 0 && (range.low ^ range.high) >> (width - length) != 0) --length;
  const Uint128 free =
      length == 0 && width == 128 ? ~Uint128{0} : (Uint128{1} << (width - length)) - 1;
  if ((range.low & free) != 0 || (range.high & free) != free) {
    return Status::Error("addresses from " + FormatValue({range.kind, range.low}) + " to " +
                         FormatValue({range.kind, range.high}) + " are no prefix");
  }
  return FormatValue({range.kind, range.low}) + "/" + std::to_string(length);
}

// One ACL rule in the making.
struct AclRule {
  std::map<std::string, std::string> fields;
  bool is_v4 = false;
  bool is_v6 = false;
  bool is_other = false;  // neither

  Status Set(const std::string& key, const std::string& value) {
    const auto [place, is_new] = fields.emplace(key, value);
    if (is_new || place->second == value) return Status::Ok();
    return Status::Error("two tests of " + key + " cannot be said to SONiC");
  }

  Status SetAddress(const std::string& key, const ValueRange& range) {
    const bool is_ipv6 = range.kind == ValueKind::kIpv6;
    (is_ipv6 ? is_v6 : is_v4) = true;
    const auto prefix = PrefixText(range);
    return prefix.ok() ? Set(key + (is_ipv6 ? "V6" : ""), *prefix) : prefix.status();
  }

  Status SetPort(const std::string& key, const ValueRange& range) {
    const auto low = static_cast<uint32_t>(range.low);
    const auto high = static_cast<uint32_t>(range.high);
    if (low == high) return Set(key, std::to_string(low));
    return Set(key + "_RANGE", std::to_string(low) + "-" + std::to_string(high));
  }

  Status SetType(uint64_t type) {
    if (type == kIpv4Type) is_v4 = true;
    if (type == kIpv6Type) is_v6 = true;
    if (type == kIpv4Type || type == kIpv6Type) return Status::Ok();
    is_other = true;
    return Set("ETHER_TYPE", Hex(type));
  }

  Status SetFlags(uint64_t flags, uint64_t mask) {
    if (mask > kSonicFlags) return Status::Error("TCP flags beyond CWR cannot be said to SONiC");
    return Set("TCP_FLAGS", Hex(flags) + "/" + Hex(mask));
  }

  Status Add(const FieldTest& test) {
    if (test.ref.level != Level::kInnermost) {
      return Status::Error(FieldRefName(test.ref) + " cannot be said to SONiC");
    }
    if (test.is_masked) return SetFlags(test.expected, test.mask);
    const ValueRange& range = test.ranges[0];
    const auto value = static_cast<uint64_t>(range.low);
    switch (test.ref.field) {
      case Field::kSrcIp:
        return SetAddress("SRC_IP", range);
      case Field::kDstIp:
        return SetAddress("DST_IP", range);
      case Field::kSrcPort:
        return SetPort("L4_SRC_PORT", range);
      case Field::kDstPort:
        return SetPort("L4_DST_PORT", range);
      case Field::kProtocol:
        return Set("IP_PROTOCOL", std::to_string(value));
      case Field::kEthType:
        return SetType(value);
      case Field::kVlan:
        if (value > kMaxSonicVlan) break;
        return Set("VLAN_ID", std::to_string(value));
      case Field::kDscp:
        return Set("DSCP", std::to_string(value));
      case Field::kTcpFlags:
        return SetFlags(value, value | kSonicFlags);
      default:
        return Status::Error(FieldRefName(test.ref) + " cannot be said to SONiC");
    }
    return Status::Error(FieldRefName(test.ref) + "=" + std::to_string(value) +
                         " cannot be said to SONiC");
  }
};

class Exporter {
 public:
  Exporter(const TraceRules& rules, const SonicTunnel& tunnel) : rules_(rules), tunnel_(tunnel) {}

  Result<SonicExport> Run() {
    document_["MIRROR_SESSION"] = Json::object();
    for (const bool is_v6 : {false, true}) {
      document_["ACL_TABLE"][is_v6 ? kTableV6 : kTableV4] = {
          {"policy_desc", "Trace rules"},
          {"type", is_v6 ? "MIRRORV6" : "MIRROR"},
          {"stage", "ingress"},
          {"ports", Json::array()}};
    }
    document_["ACL_RULE"] = Json::object();
    for (const TraceRule& rule : rules_.rules) {
      const Status status = AddRule(rule);
      if (!status) return Status::Error(PlaceAndName(rule) + ": " + status.message());
    }
    return SonicExport{document_.dump(4) + "\n", Notes()};
  }

 private:
  std::vector<std::string> Notes() const {
    std::vector<std::string> notes;
    const auto limit = [&](uint32_t rate, const char* whose) {
      if (rate == 0) return;
      notes.push_back("the limit of " + std::to_string(rate) + " copies per second of " + whose +
                      " is left out: limits of SONiC are of sessions");
    };
    limit(rules_.switch_rate, "each switch");
    limit(rules_.network_rate, "all switches together");
    for (const TraceRule& rule : rules_.rules) {
      if (!rule.is_at_edge) continue;
      notes.push_back(PlaceAndName(rule) +
                      " marks no packets at the edge: every switch copies what its filter fits");
    }
    for (const TraceMark& mark : rules_.marks) {
      notes.push_back(PlaceAndName(mark) + " is left out: Everflow marks no packets");
    }
    return notes;
  }

  Status AddRule(const TraceRule& rule) {
    const Result<Terms> terms = TermsOf(rule.filter);
    if (!terms.ok()) return terms.status();
    for (const Term& term : *terms) {
      AclRule acl;
      for (const FieldTest& test : term) {
        if (Status status = acl.Add(test); !status) return status;
      }
      if (rule.is_marked) {
        std::string bit = std::to_string(1u << rules_.debug_bit);
        bit += "/" + bit;
        if (Status status = acl.Set("DSCP", bit); !status) return status;
      }
      if (acl.is_v4 + acl.is_v6 + acl.is_other > 1) continue;  // no packet is both
      acl.fields["MIRROR_INGRESS_ACTION"] = SessionOf(rule);
      if (!acl.is_v6) AddTo(kTableV4, rule.name, acl.fields);
      if (acl.is_v4 || acl.is_other) continue;
      if (const auto protocol = acl.fields.extract("IP_PROTOCOL")) {
        acl.fields["NEXT_HEADER"] = protocol.mapped();
      }
      AddTo(kTableV6, rule.name, acl.fields);
    }
    return Status::Ok();
  }

  // Numbered, so that names stay different whatever there was in them.
  void AddTo(const char* table, const std::string& name,
             const std::map<std::string, std::string>& fields) {
    ++rule_count_;
    std::string key = std::string(table) + "|RULE_" + std::to_string(rule_count_) + "_";
    for (const char c : name) {
      const bool is_plain =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
      key += is_plain ? c : '_';
    }
    Json& rule = document_["ACL_RULE"][key];
    rule["PRIORITY"] = std::to_string(kHighestPriority - std::min(rule_count_, kHighestPriority));
    for (const auto& [field, value] : fields) rule[field] = value;
  }

  // Sampling, length and rate are of sessions there.
  std::string SessionOf(const TraceRule& rule) {
    const auto way = std::make_tuple(rule.sample_bits, rule.snap_bytes, rule.copies_per_second);
    const auto [place, is_new] = sessions_.emplace(way, "");
    if (!is_new) return place->second;
    place->second = "trumpet" + (sessions_.size() == 1 ? "" : std::to_string(sessions_.size()));
    Json session = {{"type", "ERSPAN"},
                    {"src_ip", tunnel_.source},
                    {"dst_ip", tunnel_.destination},
                    {"gre_type", "0x88be"},
                    {"dscp", "8"},
                    {"ttl", "64"},
                    {"queue", "0"}};
    if (rule.sample_bits != 0) session["sample_rate"] = std::to_string(1u << rule.sample_bits);
    if (rule.snap_bytes != 0) session["truncate_size"] = std::to_string(rule.snap_bytes);
    if (rule.copies_per_second != 0) {
      const std::string rate = std::to_string(rule.copies_per_second);
      session["policer"] = place->second;
      document_["POLICER"][place->second] = {{"meter_type", "packets"},
                                             {"mode", "sr_tcm"},
                                             {"cir", rate},
                                             {"cbs", rate},
                                             {"red_packet_action", "drop"}};
    }
    document_["MIRROR_SESSION"][place->second] = session;
    return place->second;
  }

  const TraceRules& rules_;
  const SonicTunnel& tunnel_;
  Json document_;
  std::map<std::tuple<uint8_t, uint16_t, uint32_t>, std::string> sessions_;
  uint32_t rule_count_ = 0;
};

}  // namespace

Result<SonicExport> ExportSonic(const TraceRules& rules, const SonicTunnel& tunnel) {
  return Exporter(rules, tunnel).Run();
}

}  // namespace trumpet
