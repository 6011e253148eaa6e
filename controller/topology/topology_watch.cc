// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/topology_watch.h"

#include <openssl/rand.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace trumpet {
namespace {

constexpr Nanos kTick = 100 * kNanosPerMilli;
constexpr uint32_t kLastPort = 0xffffff00;  // OFPP_MAX; beyond are names such as LOCAL
constexpr uint64_t kLldpCookie = kOpenflowCookie | 0x11d9;

uint64_t RandomNonce() {
  uint64_t nonce = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&nonce), int{sizeof nonce}) != 1) std::abort();
  return nonce;
}

std::string MacText(const std::array<uint8_t, 6>& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

// Before whatever others do with such frames; nobody else sends from this address.
OpenflowRule LldpRule() {
  OpenflowRule rule;
  rule.text = "table=0,priority=65535,dl_src=" + MacText(kLldpSource) +
              ",dl_dst=" + MacText(kLldpDestination) + ",dl_type=0x88cc,actions=CONTROLLER:65535";
  rule.cookie = kLldpCookie;
  return rule;
}

}  // namespace

TopologyWatch::TopologyWatch(event_base* base, const WireClock& clock,
                             const LinkDiscoveryOptions& options, OpenflowNet* net,
                             LiveTopology* topology, Log log)
    : clock_(clock),
      net_(net),
      topology_(topology),
      log_(std::move(log)),
      discovery_(options, LldpIdentity::New(), RandomNonce, this, this),
      ticker_(base, [this] { discovery_.Tick(clock_.MonotonicNow()); }) {
  OnFile();
  net_->AddObserver(this);
  ticker_.RunEvery(kTick);
}

TopologyWatch::~TopologyWatch() { net_->RemoveObserver(this); }

void TopologyWatch::OnSwitch(OpenflowSwitch* which) {
  const uint64_t id = which->datapath_id();
  if (!which->is_ready()) {
    // First the switch, so that its links are not taken for lost.
    connected_.erase(id);
    topology_->SetSwitches(connected_);
    return discovery_.RemoveSwitch(id);
  }
  connected_.insert(id);
  topology_->SetSwitches(connected_);
  OnPorts(which);
  if (!asked_.insert(id).second) return;
  OpenflowChange change;
  change.add.push_back(LldpRule());
  const std::weak_ptr<int> life = life_;
  which->Commit(std::move(change), [=, name = which->name()](const Status& status) {
    if (status.ok() || life.expired()) return;
    asked_.erase(id);  // again when it comes back
    if (log_) log_("warn", "links of switch " + name + " cannot be seen: " + status.message());
  });
}

void TopologyWatch::OnPorts(OpenflowSwitch* which) {
  if (!which->is_ready()) return;
  std::set<uint32_t> up;
  for (const auto& [number, port] : which->ports()) {
    if (port.is_up && number <= kLastPort) up.insert(number);
  }
  discovery_.SetPorts(which->datapath_id(), up, clock_.MonotonicNow());
}

void TopologyWatch::OnPacketIn(OpenflowSwitch* which, const OpenflowMessage& packet_in) {
  if (packet_in.head.cookie != kLldpCookie) return;
  discovery_.OnPacketIn({which->datapath_id(), packet_in.head.in_port},
                        reinterpret_cast<const uint8_t*>(packet_in.packet.data()),
                        packet_in.packet.size(), clock_.MonotonicNow());
}

// A frame that cannot be sent is lost, as on a wire.
void TopologyWatch::SendPacketOut(uint64_t datapath_id, uint32_t port,
                                  const std::vector<uint8_t>& frame) {
  OpenflowSwitch* const which = net_->Find(datapath_id);
  if (which == nullptr || (is_quiet_ && is_quiet_(*which, port))) return;
  const std::string_view bytes(reinterpret_cast<const char*>(frame.data()), frame.size());
  const Result<bool> sent = which->SendPacketOut(0, bytes, "output:" + std::to_string(port));
  if (!sent.ok() && log_) log_("warn", "LLDP to " + which->name() + ": " + sent.message());
}

}  // namespace trumpet
