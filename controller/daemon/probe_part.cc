// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/probe_part.h"

#include <map>
#include <utility>
#include <vector>

namespace trumpet {
namespace {

// As OpenFlow calls the switches that the topology calls otherwise.
std::map<std::string, std::string> NamesOf(const Topology& topology, const OpenflowNet& net) {
  std::map<std::string, std::string> names;
  for (const TopologySwitch& one : topology.switches) {
    const OpenflowSwitch* const which = net.Find(one.datapath_id);
    names[one.name] = which == nullptr ? one.name : which->name();
  }
  return names;
}

// Each from both of its ends.
std::vector<BounceLink> LinksOf(const Topology& topology, const OpenflowNet& net) {
  const auto names = NamesOf(topology, net);
  const auto name_of = [&](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  std::vector<BounceLink> links;
  for (const TopologyLink& link : topology.links) {
    const std::string from = name_of(link.from);
    const std::string to = name_of(link.to);
    links.push_back({from, link.from_port, to, link.to_port});
    links.push_back({to, link.to_port, from, link.from_port});
  }
  return links;
}

// Of a switch that users may call as the topology does.
std::function<std::string(const std::string&)> NameFinder(const ProbePart::Parts& parts) {
  return [topology = parts.topology, net = &parts.openflow->net()](const std::string& name) {
    if (net->Find(name) != nullptr) return name;
    const auto names = NamesOf(topology(), *net);
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
}

DropExplainer::Parts ExplainerParts(const ProbePart::Parts& parts) {
  DropExplainer::Parts explainer;
  explainer.net = &parts.openflow->net();
  explainer.ask = [traces = parts.traces](TraceQuestion question, TraceAsker::Answer answer) {
    return traces->Ask(std::move(question), std::move(answer));
  };
  explainer.name_of = NameFinder(parts);
  explainer.port_behind = [topology = parts.topology, net = &parts.openflow->net()](
                              const std::string& from, const std::string& to) {
    for (const BounceLink& link : LinksOf(topology(), *net)) {
      if (link.from == from && link.to == to && link.to_port != 0) return link.to_port;
    }
    return uint32_t{0};
  };
  return explainer;
}

Prober::Parts ProberParts(const ProbePart::Parts& parts) {
  Prober::Parts prober;
  prober.base = parts.base;
  prober.clock = parts.clock;
  prober.net = &parts.openflow->net();
  prober.traces.is_alone = [traces = parts.traces] { return traces->is_alone(); };
  prober.traces.ask = [traces = parts.traces](TraceQuestion question, TraceAsker::Answer answer) {
    return traces->Ask(std::move(question), std::move(answer));
  };
  prober.rules = parts.rules;
  prober.links = [topology = parts.topology, net = &parts.openflow->net()] {
    return LinksOf(topology(), *net);
  };
  prober.name_of = NameFinder(parts);
  prober.rate = parts.rate;
  prober.seed = parts.prober_seed;
  prober.log = parts.log;
  return prober;
}

Bouncer::Parts BouncerParts(const ProbePart::Parts& parts, ProbeRate* rate) {
  Bouncer::Parts bouncer;
  bouncer.base = parts.base;
  bouncer.clock = parts.clock;
  bouncer.net = &parts.openflow->net();
  bouncer.has_analyzer = [collector = parts.collector] { return collector->is_ready(); };
  bouncer.expect = [collector = parts.collector](const std::vector<ExpectedSlice>& slices) {
    collector->Expect(slices);
  };
  bouncer.ask = [collector = parts.collector](
                    uint32_t tag, uint32_t max_packets,
                    std::function<void(const Result<BounceRecords>&)> answer) {
    collector->AskPacketsOfAnalyzers(tag, 0, max_packets, std::move(answer));
  };
  bouncer.find_port = [openflow = parts.openflow](const std::string& name) {
    return openflow->CopyPort(name);
  };
  bouncer.links = [topology = parts.topology, net = &parts.openflow->net()] {
    return LinksOf(topology(), *net);
  };
  bouncer.name_of = NameFinder(parts);
  bouncer.rate = rate;
  bouncer.seed = parts.bouncer_seed;
  bouncer.log = parts.log;
  return bouncer;
}

// The longest prefix of a host that has the address.
std::optional<Prefix> BlockOf(const Topology& topology, const FieldValue& address) {
  std::optional<Prefix> block;
  for (const TopologyHost& host : topology.hosts) {
    for (const Prefix& prefix : host.prefixes) {
      const bool has_it = prefix.is_ipv6 == (address.kind == ValueKind::kIpv6) &&
                          FirstOf(prefix) <= address.value && address.value <= LastOf(prefix);
      if (has_it && (!block || block->length < prefix.length)) block = prefix;
    }
  }
  return block;
}

DropDebugger::Parts DropParts(const ProbePart::Parts& parts, Prober* prober) {
  DropDebugger::Parts drops;
  drops.base = parts.base;
  drops.clock = parts.clock;
  drops.sender.start = [prober](ProbeRequest request, std::vector<ProbePacket> packets,
                                const std::string& caller, const std::string& tenant) {
    return prober->StartSeries(std::move(request), std::move(packets), caller, tenant);
  };
  drops.sender.find = [prober](uint64_t id) { return prober->Find(id); };
  drops.sender.stop = [prober](uint64_t id) { prober->Stop(id); };
  drops.sender.debug_dscp = [prober] { return prober->debug_dscp(); };
  drops.sender.rate = parts.rate;
  drops.block_of = [topology = parts.topology](const FieldValue& address) {
    return BlockOf(topology(), address);
  };
  drops.seed = parts.drop_seed;
  drops.log = parts.log;
  return drops;
}

}  // namespace

ProbePart::ProbePart(const Parts& parts)
    : prober_(ProberParts(parts)),
      bouncer_(BouncerParts(parts, prober_.rate())),
      drops_(DropParts(parts, &prober_)),
      explainer_(ExplainerParts(parts)) {}

void ProbePart::AddMetrics(MetricsText* text) const {
  const ProberCounters& probes = prober_.counters();
  text->Gauge("trumpet_probes_running", "Probes that are not done yet.",
              static_cast<double>(prober_.running_count()));
  text->Counter("trumpet_probes_begun", "Probes that were begun.", probes.probes);
  text->Counter("trumpet_probes_refused", "Probes that were not.", probes.refused);
  text->Counter("trumpet_probe_packets_sent", "Packets of probes sent to switches.",
                probes.packets);
  text->Counter("trumpet_probe_packets_held",
                "Times that one had to wait for the rate of all probes.", probes.held);
  text->Counter("trumpet_probe_packets_traced", "Those of which there is a trace.", probes.traced);
  const DropDebuggerCounters& drops = drops_.counters();
  text->Gauge("trumpet_drop_searches_running", "Searches for the cause of drops under way.",
              static_cast<double>(drops_.running_count()));
  text->Counter("trumpet_drop_searches_begun", "Searches that were begun.", drops.searches);
  text->Counter("trumpet_drop_searches_refused", "Searches that were not.", drops.refused);
  text->Counter("trumpet_drop_searches_stopped", "Searches that somebody stopped.", drops.stopped);
  text->Counter("trumpet_drop_search_rounds", "Probes that searches have sent.", drops.rounds);
  const BouncerCounters& bounces = bouncer_.counters();
  text->Gauge("trumpet_bounces_running", "Measurements of links that are not done yet.",
              static_cast<double>(bouncer_.running_count()));
  text->Counter("trumpet_bounces_begun", "Measurements of links that were begun.", bounces.bounces);
  text->Counter("trumpet_bounces_refused", "Measurements of links that were not.", bounces.refused);
  text->Counter("trumpet_bounce_packets_sent", "Packets that were sent out of a link to come back.",
                bounces.packets);
  text->Counter("trumpet_bounce_packets_returned", "Those that came back.", bounces.returned);
}

}  // namespace trumpet
