// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <sys/socket.h>

#include <utility>

#include "controller/daemon/openflow_part.h"
#include "controller/openflow/datapath_id.h"
#include "lib/lang/probe/probe_language.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

void ReadCopies(ConfigSection* section, OpenflowSwitchConfig* one) {
  if (!section->is_there()) return;
  size_t port = 0;
  size_t number = 0;
  size_t kind = 0;
  section->Count("port", 1, 0xfeff, &port);
  section->Count("number", 1, kMaxSwitchNumber, &number);
  section->Choice("tunnel", {"gre", "erspan"}, &kind);
  section->Text("analyzer", &one->analyzer);
  sockaddr_storage unused;
  if (!one->analyzer.empty() && ToSocketAddress(one->analyzer, 0, &unused) == 0) {
    section->ComplainOf("analyzer", "'" + one->analyzer + "' is no IPv4 or IPv6 address");
  }
  if (number == 0 || (port == 0) == one->analyzer.empty()) {
    section->Complain("copies need a number, and a port or the address of an analyzer");
  }
  one->copy = {static_cast<uint32_t>(port), static_cast<uint16_t>(number), kind == 1};
}

void ReadSwitch(ConfigSection* section, std::vector<OpenflowSwitchConfig>* switches) {
  OpenflowSwitchConfig one;
  std::string id;
  section->Text("name", &one.name);
  section->Text("datapath_id", &id);
  section->Text("connect", &one.connect);
  section->Section("copies", [&](ConfigSection* copies) { ReadCopies(copies, &one); });
  if (one.name.empty()) section->Complain("a switch needs a name");
  const Result<uint64_t> parsed = ParseDatapathId(id);
  if (parsed.ok()) one.datapath_id = *parsed;
  if (!parsed.ok()) section->ComplainOf("datapath_id", parsed.message());
  if (!one.connect.empty()) {
    const auto address = ParseActiveAddress(one.connect, kOpenflowPort);
    if (!address.ok()) section->ComplainOf("connect", address.message());
  }
  for (const OpenflowSwitchConfig& other : *switches) {
    if (other.name == one.name) section->ComplainOf("name", "another switch has this name");
    if (other.datapath_id == one.datapath_id) {
      section->ComplainOf("datapath_id", "another switch has this id");
    }
  }
  switches->push_back(std::move(one));
}

}  // namespace

void ReadOpenflow(ConfigSection* section, OpenflowConfig* config) {
  section->Texts("listen", &config->listen);
  for (const std::string& text : config->listen) {
    const auto address = ParsePassiveAddress(text, kOpenflowPort);
    if (!address.ok()) section->ComplainOf("listen", address.message());
  }
  section->Text("private_key", &config->tls.private_key);
  section->Text("certificate", &config->tls.certificate);
  section->Text("ca_certificate", &config->tls.ca_certificate);
  section->Count("max_switches", 1, 4096, &config->max_switches);
  size_t probe_rate = config->probe_rate;
  section->Count("probe_rate", 1, kMaxProbeRate, &probe_rate);
  config->probe_rate = static_cast<uint32_t>(probe_rate);
  std::vector<std::string> analyzers;
  section->Texts("analyzers", &analyzers);
  for (const std::string& text : analyzers) {
    const auto prefix = ParsePrefix(text);
    if (prefix.ok()) config->analyzers.push_back(*prefix);
    if (!prefix.ok()) section->ComplainOf("analyzers", prefix.message());
  }
  config->switches.clear();
  section->Sections("switches", [&](ConfigSection* one) { ReadSwitch(one, &config->switches); });
}

}  // namespace trumpet
