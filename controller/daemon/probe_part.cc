// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/probe_part.h"

#include <map>
#include <utility>
#include <vector>

namespace trumpet {
namespace {

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
  prober.rate = parts.rate;
  prober.seed = parts.prober_seed;
  prober.log = parts.log;
  return prober;
}

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

Bouncer::Parts BouncerParts(const ProbePart::Parts& parts, ProbeRate* rate) {
  Bouncer::Parts bouncer;
  bouncer.base = parts.base;
  bouncer.clock = parts.clock;
  bouncer.net = &parts.openflow->net();
  bouncer.copies.is_ready = [collector = parts.collector] { return collector->is_ready(); };
  bouncer.copies.expect = [collector = parts.collector](const std::vector<ExpectedSlice>& slices) {
    collector->Expect(slices);
  };
  bouncer.copies.ask = [collector = parts.collector](uint32_t tag, uint64_t first,
                                                     uint32_t max_packets,
                                                     CopyWitness::Packets answer) {
    collector->AskPackets(tag, first, max_packets, std::move(answer));
  };
  bouncer.find_port = [openflow = parts.openflow](const std::string& name) {
    return openflow->CopyPort(name);
  };
  bouncer.links = [topology = parts.topology, net = &parts.openflow->net()] {
    return LinksOf(topology(), *net);
  };
  bouncer.name_of = [topology = parts.topology,
                     net = &parts.openflow->net()](const std::string& name) {
    if (net->Find(name) != nullptr) return name;
    const auto names = NamesOf(topology(), *net);
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  bouncer.rate = rate;
  bouncer.seed = parts.bouncer_seed;
  bouncer.log = parts.log;
  return bouncer;
}

}  // namespace

ProbePart::ProbePart(const Parts& parts)
    : prober_(ProberParts(parts)), bouncer_(BouncerParts(parts, prober_.rate())) {}

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
