// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/trace/trace_flows.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "controller/plan/flow_match.h"
#include "controller/plan/kept_clone.h"

namespace trumpet {
namespace {

constexpr char kUnseen[] = "reg13=0/0x1";
// Neither a test packet nor marked here.
constexpr char kUnmarked[] = "reg13=0/0x7";
constexpr char kForward[] = "load:1->NXM_NX_REG13[0],resubmit(,0)";
constexpr uint32_t kTestBit = 0x2;  // of reg13, see trace_tests.h
constexpr int kTosShift = 8;        // of that byte within reg13
constexpr int kFirstRulePriority = 40000;
constexpr size_t kMaxTraceFlows = 1 << 14;
constexpr int kMarkPriority = kTracePriority + 90;
constexpr uint16_t kIpv4Type = 0x0800;
constexpr uint16_t kIpv6Type = 0x86dd;

std::string Joined(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : one + "," + other;
}

std::string Hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

FilterExpr Test(Field field, std::vector<ValueRange> ranges) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref.field = field;
  filter.test.ranges = std::move(ranges);
  return filter;
}

FilterExpr Both(const FilterExpr& one, const FilterExpr& other) {
  FilterExpr both;
  both.op = FilterOp::kAnd;
  both.args = {one, other};
  return both;
}

FilterExpr IsIp() {
  return Test(Field::kEthType, {{ValueKind::kNumber, kIpv4Type, kIpv4Type},
                                {ValueKind::kNumber, kIpv6Type, kIpv6Type}});
}

FilterExpr IsIn(Field field, const std::vector<Prefix>& prefixes) {
  std::vector<ValueRange> ranges;
  ranges.reserve(prefixes.size());
  for (const Prefix& prefix : prefixes) {
    ranges.push_back(
        {prefix.is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4, FirstOf(prefix), LastOf(prefix)});
  }
  return Test(field, std::move(ranges));
}

std::string MeterText(uint32_t number, uint32_t rate) {
  const std::string text = std::to_string(std::max<uint32_t>(rate, 1));
  return "meter=" + std::to_string(number) + ",pktps,burst,stats,band=type=drop,rate=" + text +
         ",burst_size=" + text;
}

class Compiler {
 public:
  Compiler(const TraceRules& rules, const TraceSwitch& at) : rules_(rules), at_(at) {}

  Result<TraceFlows> Run() {
    AddBlacklist();
    AddEndOfTests();
    AddMarks();
    AddGates();
    AddRules();
    AddBudget();
    if (!error_.empty()) return Status::Error(error_);
    return std::move(flows_);
  }

 private:
  // What is done to a packet before rules are looked through.
  struct Gate {
    bool is_hashed = false;
    bool is_last_hop = false;
  };

  void AddFlow(int table, int priority, const std::string& match, const std::string& actions,
               int rule = -1) {
    const std::string text =
        "table=" + std::to_string(table) + ",priority=" + std::to_string(priority);
    if (flows_.flows.size() == kMaxTraceFlows && error_.empty()) {
      error_ =
          "at one switch the rules take more than " + std::to_string(kMaxTraceFlows) + " flows";
    }
    if (error_.empty()) flows_.flows.push_back({Joined(text, match) + ",actions=" + actions, rule});
  }

  // `who`: as errors begin.
  std::vector<std::string> Matches(const FilterExpr& filter, const std::string& who) {
    const Result<std::vector<std::string>> matches = FlowMatches(filter);
    if (matches.ok()) return *matches;
    if (error_.empty()) error_ = who + ": " + matches.message();
    return {};
  }

  // Of packets that fit the filter and have such an address.  A filter alone is within the limit of
  // matches, and so it is with each of the prefixes.
  std::set<std::string> Matches(const FilterExpr& filter, Field address,
                                const std::vector<Prefix>& prefixes, const std::string& who) {
    std::set<std::string> all;
    for (const Prefix& prefix : prefixes) {
      const std::vector<std::string> some = Matches(Both(filter, IsIn(address, {prefix})), who);
      all.insert(some.begin(), some.end());
    }
    return all;
  }

  // Copies on their way, from here or from elsewhere, are none of our business.
  void AddBlacklist() {
    const auto pass = [&](const std::string& match) {
      AddFlow(0, kTracePriority + 99, Joined(kUnseen, match), kForward);
    };
    pass("in_port=" + std::to_string(at_.port));
    for (const Prefix& analyzer : at_.analyzers) {
      pass(std::string(analyzer.is_ipv6 ? "ipv6,nw_proto=47,ipv6_dst=" : "ip,nw_proto=47,nw_dst=") +
           PrintPrefix(analyzer));
    }
  }

  // Test packets (trace_tests.h) are copied, and forwarded nowhere.
  void AddEndOfTests() {
    if (!rules_.rules.empty()) AddFlow(0, kTracePriority + 99, "reg13=0x3/0x3", "drop");
  }

  // Marked where they come in, packets are copied at every hop or at none, whenever marks change.
  void AddMarks() {
    for (const TraceMark& mark : rules_.marks) AddMark(mark.filter, mark.hosts, PlaceAndName(mark));
    for (const TraceRule& rule : rules_.rules) {
      if (rule.is_at_edge) AddMark(rule.filter, {}, PlaceAndName(rule));
    }
  }

  // No hosts: all that there are.
  void AddMark(const FilterExpr& of_mark, const std::vector<std::string>& hosts,
               const std::string& who) {
    std::vector<Prefix> sources;
    for (const TraceHost& host : at_.hosts) {
      const bool is_meant =
          hosts.empty() || std::find(hosts.begin(), hosts.end(), host.id) != hosts.end();
      if (is_meant) sources.insert(sources.end(), host.prefixes.begin(), host.prefixes.end());
    }
    if (sources.empty()) return;
    const std::string bit = std::to_string(rules_.debug_bit + kTraceDscpShift);
    for (const std::string& match : Matches(of_mark, Field::kSrcIp, sources, who)) {
      if (!marks_.insert(match).second) continue;
      AddFlow(0, kMarkPriority, Joined(kUnmarked, match),
              "load:1->NXM_OF_IP_TOS[" + bit + "],load:1->NXM_NX_REG13[2],resubmit(,0)");
    }
  }

  // A packet meets the flow of the highest priority only, so that does all that any rule needs
  // which the packet may fit.
  void AddGates() {
    const bool has_last_hop = rules_.debug_bit >= 0 && !at_.local.empty();
    for (const TraceRule& rule : rules_.rules) {
      if (rule.sample_bits == 0) continue;
      const std::string who = PlaceAndName(rule);
      if (has_last_hop) {
        AddGate(4, Matches(rule.filter, Field::kDstIp, at_.local, who), {true, true});
      }
      AddGate(3, Matches(Visible(rule), who), {true, false});
    }
    if (has_last_hop) {
      const FilterExpr local = IsIn(Field::kDstIp, at_.local);
      AddGate(2, Matches(local, "what is local"), {false, true});
    }
    for (const TraceRule& rule : rules_.rules) {
      if (rule.sample_bits == 0 && rule.needs_bit())
        AddGate(1, Matches(Visible(rule), PlaceAndName(rule)), Gate());
    }
    for (const TraceRule& rule : rules_.rules) {
      if (rule.sample_bits == 0 && !rule.needs_bit())
        AddGate(0, Matches(rule.filter, PlaceAndName(rule)), Gate());
    }
  }

  template <typename Texts>
  void AddGate(int above, const Texts& matches, const Gate& gate) {
    for (const std::string& match : matches) {
      if (!gates_.insert(match).second) continue;  // one that does more is there
      AddFlow(0, kTracePriority + above, Joined(kUnseen, match), GateActions(above, gate));
    }
  }

  std::string GateActions(int above, const Gate& gate) const {
    std::string actions = "clone(";
    if (gate.is_last_hop) {
      const int bit = rules_.debug_bit + kTraceDscpShift;
      actions += "load:0->NXM_OF_IP_TOS[" + std::to_string(bit) + "],";
    }
    actions += std::string(kForward) + ")";
    const bool is_ip = above > 0;
    if (is_ip && rules_.debug_bit >= 0) actions += ",move:NXM_OF_IP_TOS[]->NXM_NX_REG13[8..15]";
    if (gate.is_hashed) {
      actions += ",multipath(symmetric_l3l4+udp,0,modulo_n,65536,0,NXM_NX_REG12[0..15])";
    }
    const std::string copy = "resubmit(," + std::to_string(kTraceRuleTable) + ")";
    return actions + "," + (HasMeters() ? KeptClone(copy) : copy);
  }

  void AddRules() {
    for (size_t i = 0; i < rules_.rules.size(); ++i) {
      const TraceRule& rule = rules_.rules[i];
      const int number = static_cast<int>(i);
      // Whether copies come is to be tried while budgets are used up, too.
      if (HasBudget(rule)) AddRule(rule, number, true);
      AddRule(rule, number, false);
    }
  }

  bool HasMeters() const {
    return std::any_of(rules_.rules.begin(), rules_.rules.end(),
                       [this](const TraceRule& rule) { return HasBudget(rule); });
  }

  bool HasBudget(const TraceRule& rule) const {
    return rule.copies_per_second != 0 || Budget() != 0;
  }

  // `is_test`: of test packets only, without budgets.
  void AddRule(const TraceRule& rule, int number, bool is_test) {
    uint32_t bits = is_test ? kTestBit : 0;
    if (rule.needs_bit()) bits |= 1u << (rules_.debug_bit + kTraceDscpShift + kTosShift);
    std::string in_registers;
    if (bits != 0) in_registers = "reg13=" + Hex(bits) + "/" + Hex(bits);
    if (rule.sample_bits != 0) {
      in_registers = Joined(in_registers, "reg12=0/" + Hex((1u << rule.sample_bits) - 1));
    }
    const int priority = kFirstRulePriority - 2 * number + (is_test ? 1 : 0);
    const std::string actions = CopyActions(rule, number, !is_test);
    for (const std::string& match : Matches(Visible(rule), PlaceAndName(rule))) {
      AddFlow(kTraceRuleTable, priority, Joined(in_registers, match), actions, number);
    }
  }

  std::string CopyActions(const TraceRule& rule, int number, bool has_budget) {
    std::string actions;
    if (has_budget && rule.copies_per_second != 0) {
      const uint32_t meter = kFirstTraceMeter + 1 + static_cast<uint32_t>(number);
      flows_.meters.push_back(MeterText(meter, rule.copies_per_second));
      actions = "meter:" + std::to_string(meter) + ",";
    }
    const std::string port_bits = std::to_string(kTracePortBits - 1);
    const std::string tag = std::to_string(
        at_.is_erspan ? TraceTag(static_cast<uint32_t>(number), 0)
                      : SliceGreKey(at_.number, TraceTag(static_cast<uint32_t>(number), 0)));
    const std::string field = at_.is_erspan ? "tun_erspan_idx" : "tun_id";
    if (at_.is_erspan) actions += "set_field:" + std::to_string(at_.number) + "->tun_id,";
    actions += "set_field:" + tag + "->" + field + ",move:NXM_OF_IN_PORT[0.." + port_bits + "]->" +
               (at_.is_erspan ? field : "NXM_NX_TUN_ID") + "[0.." + port_bits + "],";
    if (!has_budget || Budget() == 0) return actions + Output(rule.snap_bytes);
    lengths_.insert(rule.snap_bytes);
    return actions + "load:" + std::to_string(rule.snap_bytes) +
           "->NXM_NX_REG12[16..31],resubmit(," + std::to_string(kTraceBudgetTable) + ")";
  }

  std::string Output(uint16_t snap_bytes) const {
    const std::string port = std::to_string(at_.port);
    if (snap_bytes == 0) return "output:" + port;
    return "output(port=" + port + ",max_len=" + std::to_string(snap_bytes) + ")";
  }

  // Copies per second of this switch; 0: no limit.
  uint32_t Budget() const {
    if (rules_.network_rate == 0) return rules_.switch_rate;
    const uint32_t share =
        std::max<uint32_t>(rules_.network_rate / std::max<uint32_t>(at_.switch_count, 1), 1);
    return rules_.switch_rate == 0 ? share : std::min(share, rules_.switch_rate);
  }

  // A meter comes first in its list of actions, so the second one has a table of its own.
  void AddBudget() {
    if (Budget() == 0 || lengths_.empty()) return;
    flows_.meters.push_back(MeterText(kFirstTraceMeter, Budget()));
    for (const uint16_t length : lengths_) {
      AddFlow(kTraceBudgetTable, kFirstRulePriority,
              "reg12=" + Hex(uint32_t{length} << 16) + "/0xffff0000",
              "meter:" + std::to_string(kFirstTraceMeter) + "," + Output(length));
    }
  }

  const TraceRules& rules_;
  const TraceSwitch& at_;
  TraceFlows flows_;
  std::set<std::string> gates_;  // their matches
  std::set<std::string> marks_;  // likewise
  std::set<uint16_t> lengths_;   // of copies
  std::string error_;
};

}  // namespace

FilterExpr Visible(const TraceRule& rule) {
  const bool needs_ip = rule.needs_bit() || rule.sample_bits != 0;
  return needs_ip ? Both(rule.filter, IsIp()) : rule.filter;
}

Result<TraceFlows> CompileTraceRules(const TraceRules& rules, const TraceSwitch& at) {
  return Compiler(rules, at).Run();
}

}  // namespace trumpet
