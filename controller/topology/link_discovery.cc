// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/link_discovery.h"

#include <algorithm>
#include <utility>

namespace trumpet {

LinkDiscovery::LinkDiscovery(const LinkDiscoveryOptions& options, const LldpIdentity& identity,
                             std::function<uint64_t()> random, PacketPort* port,
                             LinkListener* listener)
    : options_(options),
      identity_(identity),
      random_(std::move(random)),
      port_(port),
      listener_(listener) {}

LinkDiscovery::Ends LinkDiscovery::EndsOf(const SwitchPortId& a, const SwitchPortId& b) {
  return a < b ? Ends(a, b) : Ends(b, a);
}

LinkDiscovery::Port* LinkDiscovery::Find(const SwitchPortId& id) {
  const auto found = ports_.find(id);
  return found == ports_.end() ? nullptr : &found->second;
}

void LinkDiscovery::TellChanges() {
  if (!has_changed_) return;
  has_changed_ = false;
  if (listener_ != nullptr) listener_->OnLinks();
}

// --- ports ---

void LinkDiscovery::SetPorts(uint64_t datapath_id, const std::set<uint32_t>& ports, Nanos now) {
  std::vector<SwitchPortId> gone;
  for (auto port = ports_.lower_bound({datapath_id, 0});
       port != ports_.end() && port->first.datapath_id == datapath_id; ++port) {
    if (ports.count(port->first.port) == 0) gone.push_back(port->first);
  }
  for (const SwitchPortId& id : gone) RemovePort(id);
  for (const uint32_t port : ports) AddPort({datapath_id, port}, now);
  TellChanges();
}

void LinkDiscovery::AddPort(const SwitchPortId& id, Nanos now) {
  if (ports_.count(id) != 0) return;
  if (ports_.size() >= options_.max_ports) {
    ++counters_.ports_left_out;
    return;
  }
  Enqueue(id, &ports_[id], now, /*is_first=*/true);
}

void LinkDiscovery::RemovePort(const SwitchPortId& id) {
  Unlink(id, Find(id));
  ports_.erase(id);
}

void LinkDiscovery::SetEdgePorts(std::set<SwitchPortId> edge_ports) {
  edge_ports_ = std::move(edge_ports);
  for (const SwitchPortId& id : edge_ports_) {
    if (Port* const port = Find(id)) Unlink(id, port);
  }
  TellChanges();
}

// --- sending ---

// New ports go first, so that a link is known soon; all others have waited the same time.
void LinkDiscovery::Enqueue(const SwitchPortId& id, Port* port, Nanos at, bool is_first) {
  port->queued = ++queued_;
  if (is_first) {
    due_.push_front({at, id, port->queued});
  } else {
    due_.push_back({at, id, port->queued});
  }
}

void LinkDiscovery::Send(const SwitchPortId& id, Port* port, Nanos now) {
  if (edge_ports_.count(id) != 0) return;
  Sent& sent = port->sent[port->next_sent++ % port->sent.size()];
  sent = {random_(), now, true};
  ++counters_.sent;
  port_->SendPacketOut(id.datapath_id, id.port, EncodeLldp({id, sent.nonce}, identity_));
}

void LinkDiscovery::Tick(Nanos now) {
  const uint64_t most = counters_.sent + options_.max_burst;
  while (!due_.empty() && due_.front().at <= now && counters_.sent < most) {
    const Due due = due_.front();
    due_.pop_front();
    Port* const port = Find(due.id);
    if (port == nullptr || port->queued != due.queued) continue;  // it went, and maybe came again
    Send(due.id, port, now);
    Enqueue(due.id, port, now + options_.interval, /*is_first=*/false);
  }
  if (now < next_forgetting_) return;
  next_forgetting_ = now + options_.interval / 4;
  for (auto& [id, port] : ports_) {
    if (port.heard && now - port.heard_at > options_.forget_after) Unlink(id, &port);
  }
  TellChanges();
}

// --- hearing ---

bool LinkDiscovery::Redeem(const LldpProbe& probe, Nanos now) {
  Port* const port = Find(probe.from);
  if (port == nullptr) return false;
  for (Sent& sent : port->sent) {
    if (!sent.may_come || sent.nonce != probe.nonce) continue;
    sent.may_come = false;
    return now - sent.at <= options_.frame_life;
  }
  return false;
}

void LinkDiscovery::OnPacketIn(const SwitchPortId& at, const uint8_t* frame, size_t size,
                               Nanos now) {
  if (edge_ports_.count(at) != 0) {
    ++counters_.from_edge_ports;
    return;
  }
  Port* const port = Find(at);
  if (port == nullptr) {
    ++counters_.from_unknown_ports;
    return;
  }
  LldpProbe probe;
  switch (DecodeLldp(frame, size, identity_, &probe)) {
    case LldpVerdict::kForeign:
      ++counters_.foreign;
      return;
    case LldpVerdict::kMalformed:
      ++counters_.malformed;
      return;
    case LldpVerdict::kForged:
      ++counters_.forged;
      return;
    case LldpVerdict::kOurs:
      break;
  }
  if (!Redeem(probe, now)) {
    ++counters_.stale;
    return;
  }
  ++counters_.accepted;
  Hear(at, port, probe.from, now);
  TellChanges();
}

void LinkDiscovery::Hear(const SwitchPortId& at, Port* port, const SwitchPortId& from, Nanos now) {
  if (port->heard && *port->heard != from) Unlink(at, port);
  port->heard = from;
  port->heard_at = now;
  const Port* const other = Find(from);
  const bool is_both_ways = other != nullptr && other->heard && *other->heard == at && from != at;
  if (!is_both_ways || !links_.insert(EndsOf(at, from)).second) return;
  ++counters_.links_found;
  has_changed_ = true;
}

void LinkDiscovery::Unlink(const SwitchPortId& id, Port* port) {
  if (!port->heard) return;
  if (links_.erase(EndsOf(id, *port->heard)) != 0) {
    ++counters_.links_lost;
    has_changed_ = true;
  }
  port->heard.reset();
}

std::vector<DiscoveredLink> LinkDiscovery::Links() const {
  std::vector<DiscoveredLink> links;
  for (const auto& [a, b] : links_) {
    links.push_back({a, b, std::min(ports_.at(a).heard_at, ports_.at(b).heard_at)});
  }
  return links;
}

}  // namespace trumpet
