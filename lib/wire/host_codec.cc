// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/host_codec.h"

#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

constexpr uint64_t kMaxMac = (uint64_t{1} << 48) - 1;

using PbKeyValues = google::protobuf::RepeatedPtrField<pb::KeyValue>;

bool CheckKeyValues(const PbKeyValues& pairs, const Place& parent, Checker* checker) {
  if (!checker->Count(parent, "external_ids", pairs.size(), kMaxKeyValues)) return false;
  for (int i = 0; i < pairs.size(); ++i) {
    const Place place(parent, "external_ids", i);
    if (!checker->Name(place, "key", pairs[i].key()) ||
        !checker->Text(place, "value", pairs[i].value(), kMaxLongTextBytes)) {
      return false;
    }
  }
  return true;
}

bool CheckPort(const pb::Port& port, const Place& place, Checker* checker) {
  if (!checker->Name(place, "bridge", port.bridge()) ||
      !checker->Name(place, "name", port.name()) ||
      !checker->Text(place, "type", port.type(), kMaxTextBytes) ||
      !checker->Count(place, "macs", port.macs_size(), kMaxMacs)) {
    return false;
  }
  for (const uint64_t mac : port.macs()) {
    if (!checker->Range(place, "macs", mac, 0, kMaxMac)) return false;
  }
  if (!checker->Range(place, "mac_in_use", port.mac_in_use(), 0, kMaxMac) ||
      !checker->Text(place, "link_state", port.link_state(), kMaxTextBytes) ||
      !checker->Text(place, "error", port.error(), kMaxTextBytes) ||
      !checker->Text(place, "remote_ip", port.remote_ip(), kMaxTextBytes) ||
      !checker->Text(place, "local_ip", port.local_ip(), kMaxTextBytes)) {
    return false;
  }
  return CheckKeyValues(port.external_ids(), place, checker);
}

void Write(const std::vector<KeyValue>& pairs, PbKeyValues* out) {
  for (const KeyValue& pair : pairs) {
    pb::KeyValue* added = out->Add();
    added->set_key(pair.key);
    added->set_value(pair.value);
  }
}

std::vector<KeyValue> Read(const PbKeyValues& in) {
  std::vector<KeyValue> pairs;
  pairs.reserve(in.size());
  for (const pb::KeyValue& pair : in) pairs.push_back({pair.key(), pair.value()});
  return pairs;
}

void Write(const Port& port, pb::Port* out) {
  out->set_bridge(port.bridge);
  out->set_name(port.name);
  out->set_of_port(port.of_port);
  out->set_type(port.type);
  out->mutable_macs()->Add(port.macs.begin(), port.macs.end());
  Write(port.external_ids, out->mutable_external_ids());
  out->set_is_uplink(port.is_uplink);
  out->set_mac_in_use(port.mac_in_use);
  out->set_link_state(port.link_state);
  out->set_error(port.error);
  out->set_remote_ip(port.remote_ip);
  out->set_local_ip(port.local_ip);
}

Port Read(const pb::Port& in) {
  Port port;
  port.bridge = in.bridge();
  port.name = in.name();
  port.of_port = in.of_port();
  port.type = in.type();
  port.macs.assign(in.macs().begin(), in.macs().end());
  port.external_ids = Read(in.external_ids());
  port.is_uplink = in.is_uplink();
  port.mac_in_use = in.mac_in_use();
  port.link_state = in.link_state();
  port.error = in.error();
  port.remote_ip = in.remote_ip();
  port.local_ip = in.local_ip();
  return port;
}

}  // namespace

bool Check(const pb::HostFacts& facts, const Place& place, Checker* checker) {
  if (!checker->Count(place, "part", facts.part(), kMaxPorts) ||
      !checker->Count(place, "bridges", facts.bridges_size(), kMaxBridges) ||
      !checker->Count(place, "ports", facts.ports_size(), kMaxPorts) ||
      !CheckKeyValues(facts.external_ids(), place, checker)) {
    return false;
  }
  for (int i = 0; i < facts.bridges_size(); ++i) {
    const Place bridge(place, "bridges", i);
    if (!checker->Name(bridge, "name", facts.bridges(i).name()) ||
        !checker->Text(bridge, "datapath_type", facts.bridges(i).datapath_type(), kMaxTextBytes) ||
        !CheckKeyValues(facts.bridges(i).external_ids(), bridge, checker)) {
      return false;
    }
  }
  for (int i = 0; i < facts.ports_size(); ++i) {
    if (!CheckPort(facts.ports(i), Place(place, "ports", i), checker)) return false;
  }
  return true;
}

void Write(const HostFacts& facts, pb::HostFacts* out) {
  out->set_part(facts.part);
  out->set_is_last(facts.is_last);
  Write(facts.external_ids, out->mutable_external_ids());
  for (const Bridge& bridge : facts.bridges) {
    pb::Bridge* added = out->add_bridges();
    added->set_name(bridge.name);
    added->set_datapath_id(bridge.datapath_id);
    added->set_datapath_type(bridge.datapath_type);
    Write(bridge.external_ids, added->mutable_external_ids());
  }
  for (const Port& port : facts.ports) Write(port, out->add_ports());
}

HostFacts Read(const pb::HostFacts& in) {
  HostFacts facts;
  facts.part = in.part();
  facts.is_last = in.is_last();
  facts.external_ids = Read(in.external_ids());
  for (const pb::Bridge& bridge : in.bridges()) {
    facts.bridges.push_back(
        {bridge.name(), bridge.datapath_id(), Read(bridge.external_ids()), bridge.datapath_type()});
  }
  for (const pb::Port& port : in.ports()) facts.ports.push_back(Read(port));
  return facts;
}

}  // namespace trumpet
