// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/flow_match.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "controller/plan/filter_terms.h"

namespace trumpet {
namespace {

constexpr uint64_t kIpv4Type = 0x0800;
constexpr uint64_t kIpv6Type = 0x86dd;
constexpr uint64_t kTcp = 6;
constexpr uint64_t kUdp = 17;
constexpr uint64_t kSctp = 132;

struct Masked {
  Uint128 value = 0;
  Uint128 mask = 0;
};

// All of it holds.
struct Term {
  std::map<Field, Masked> fields;
};
using Terms = std::vector<Term>;

Uint128 AllOnes(int width) { return width == 128 ? ~Uint128{0} : (Uint128{1} << width) - 1; }

// False: no value has both.
bool Narrow(Term* term, Field field, const Masked& with) {
  Masked& have = term->fields[field];
  const Uint128 common = have.mask & with.mask;
  if ((have.value & common) != (with.value & common)) return false;
  have.value |= with.value;
  have.mask |= with.mask;
  return true;
}

std::optional<Term> Both(const Term& one, const Term& other) {
  Term both = one;
  for (const auto& [field, masked] : other.fields) {
    if (!Narrow(&both, field, masked)) return std::nullopt;
  }
  return both;
}

Status TooMany() {
  return Status::Error("the filter needs more than " + std::to_string(kMaxFlowMatches) +
                       " OpenFlow matches");
}

Masked Exactly(uint64_t value, int width) { return {value, AllOnes(width)}; }

// The type of packet that has the field with such a value; nothing if any has.
std::optional<uint64_t> TypeFor(ValueKind kind) {
  if (kind == ValueKind::kIpv4) return kIpv4Type;
  if (kind == ValueKind::kIpv6) return kIpv6Type;
  return std::nullopt;
}

// Switches take masks of these fields; of others a range is so many values.
bool TakesMasks(Field field) {
  switch (field) {
    case Field::kProtocol:
    case Field::kEthType:
    case Field::kVlan:
    case Field::kDscp:
    case Field::kEcn:
    case Field::kTtl:
    case Field::kInPort:
      return false;
    default:
      return true;
  }
}

// A range of numbers as values under masks, each as large as fits.
void AddRange(Field field, const ValueRange& range, int width, Terms* terms) {
  Uint128 low = range.low;
  const Uint128 all = AllOnes(width);
  while (low <= range.high) {
    Uint128 size_mask = 0;  // bits that are free
    while (size_mask != all && TakesMasks(field)) {
      const Uint128 wider = size_mask << 1 | 1;
      if ((low & wider) != 0 || (low | wider) > range.high) break;
      size_mask = wider;
    }
    Term term;
    term.fields[field] = {low, all & ~size_mask};
    if (const auto type = TypeFor(range.kind)) term.fields[Field::kEthType] = Exactly(*type, 16);
    terms->push_back(std::move(term));
    if ((low | size_mask) == all || terms->size() > kMaxFlowMatches) return;
    low = (low | size_mask) + 1;
  }
}

Result<Terms> TermsOf(const FieldTest& test) {
  const Field field = test.ref.field;
  if (test.ref.level == Level::kInner) {
    return Status::Error(FieldRefName(test.ref) + " is out of sight for OpenFlow switches");
  }
  Terms terms;
  if (test.is_masked) {
    Term term;
    term.fields[field] = {test.expected, test.mask};
    terms.push_back(std::move(term));
    return terms;
  }
  if (test.is_any) {
    const bool is_address = field == Field::kSrcIp || field == Field::kDstIp;
    if (!is_address) {
      return Status::Error(FieldRefName(test.ref) + "=* cannot be said to OpenFlow switches");
    }
    for (const uint64_t type : {kIpv4Type, kIpv6Type}) {
      Term term;
      term.fields[Field::kEthType] = Exactly(type, 16);
      terms.push_back(std::move(term));
    }
    return terms;
  }
  for (const ValueRange& range : test.ranges) {
    AddRange(field, range, FieldWidth(field, range.kind), &terms);
    if (terms.size() > kMaxFlowMatches) return TooMany();
  }
  return terms;
}

Result<Terms> TermsOf(const FilterExpr& filter) {
  TermRules<Term> rules;
  rules.of_test = [](const FieldTest& test) { return TermsOf(test); };
  rules.both = Both;
  rules.most = kMaxFlowMatches;
  rules.too_many = TooMany();
  rules.no_not = Status::Error("'not' cannot be said to OpenFlow switches");
  return TermsOfFilter(filter, rules);
}

bool Has(const Term& term, std::initializer_list<Field> fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](Field field) { return term.fields.count(field) != 0; });
}

// A switch takes a field only of packets that are said to have it.
Terms WithTypes(const Term& term) {
  Terms terms = {term};
  const auto split = [&](Field field, int width, std::initializer_list<uint64_t> values) {
    Terms parts;
    for (const Term& one : terms) {
      for (const uint64_t value : values) {
        Term part = one;
        if (Narrow(&part, field, Exactly(value, width))) parts.push_back(std::move(part));
      }
    }
    terms = std::move(parts);
  };
  if (Has(term, {Field::kTcpFlags})) {
    split(Field::kProtocol, 8, {kTcp});
  } else if (Has(term, {Field::kSrcPort, Field::kDstPort})) {
    split(Field::kProtocol, 8, {kTcp, kUdp, kSctp});
  }
  if (Has(terms.empty() ? term : terms[0],
          {Field::kProtocol, Field::kDscp, Field::kEcn, Field::kTtl, Field::kTcpFlags})) {
    split(Field::kEthType, 16, {kIpv4Type, kIpv6Type});
  }
  return terms;
}

std::string Hex(Uint128 value) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return std::string("0x") + text;
}

std::string Print(Field field, const Masked& masked, bool is_v6) {
  const bool is_exact = masked.mask == AllOnes(FieldWidth(field, ValueKind::kNumber));
  const auto number = [&](const char* name) {
    return std::string(name) + "=" + Hex(masked.value) + (is_exact ? "" : "/" + Hex(masked.mask));
  };
  const auto address = [&](const char* name, ValueKind kind) {
    return std::string(name) + "=" + FormatValue({kind, masked.value}) + "/" +
           FormatValue({kind, masked.mask});
  };
  const ValueKind ip = is_v6 ? ValueKind::kIpv6 : ValueKind::kIpv4;
  switch (field) {
    case Field::kSrcIp:
      return address(is_v6 ? "ipv6_src" : "nw_src", ip);
    case Field::kDstIp:
      return address(is_v6 ? "ipv6_dst" : "nw_dst", ip);
    case Field::kSrcMac:
      return address("dl_src", ValueKind::kMac);
    case Field::kDstMac:
      return address("dl_dst", ValueKind::kMac);
    case Field::kSrcPort:
      return number("tp_src");
    case Field::kDstPort:
      return number("tp_dst");
    case Field::kTcpFlags:
      return "tcp_flags=" + Hex(masked.value) + "/" + Hex(masked.mask);
    case Field::kTunnelId:
      return number("tun_id");
    case Field::kProtocol:
      return number("nw_proto");
    case Field::kEthType:
      return number("dl_type");
    case Field::kVlan:
      return number("dl_vlan");
    case Field::kDscp:
      return number("ip_dscp");
    case Field::kEcn:
      return number("nw_ecn");
    case Field::kTtl:
      return number("nw_ttl");
    default:  // a port is no number that could be hexadecimal
      return "in_port=" + std::to_string(static_cast<uint32_t>(masked.value));
  }
}

std::string Print(const Term& term) {
  const auto type = term.fields.find(Field::kEthType);
  const bool is_v6 = type != term.fields.end() && type->second.value == kIpv6Type;
  std::string text;
  // The types come first: what needs them is refused otherwise.
  for (const bool is_type : {true, false}) {
    for (const auto& [field, masked] : term.fields) {
      if ((field == Field::kEthType || field == Field::kProtocol) != is_type) continue;
      std::string part = Print(field, masked, is_v6);
      const bool is_ethernet = field == Field::kEthType;
      std::string& first = is_ethernet ? part : text;
      if (!text.empty()) first += ",";
      first += is_ethernet ? text : part;
      if (is_ethernet) text = std::move(part);
    }
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> FlowMatches(const FilterExpr& filter) {
  const Result<Terms> terms = TermsOf(filter);
  if (!terms.ok()) return terms.status();
  std::vector<std::string> matches;
  for (const Term& term : *terms) {
    for (const Term& typed : WithTypes(term)) matches.push_back(Print(typed));
  }
  std::sort(matches.begin(), matches.end());
  matches.erase(std::unique(matches.begin(), matches.end()), matches.end());
  if (matches.size() > kMaxFlowMatches) return TooMany();
  return matches;
}

}  // namespace trumpet
