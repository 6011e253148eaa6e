// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/analyzer_config.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "controller/daemon/config_reader.h"
#include "controller/store/clickhouse_place.h"
#include "controller/traces/trace_routes.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr Nanos kDay = 86400 * kNanosPerSecond;

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "analyzer";
}

void ReadController(ConfigSection* section, AnalyzerConfig* config) {
  section->Text("address", &config->controller);
  const auto parsed = ParseActiveAddress(config->controller);
  if (!parsed.ok()) section->ComplainOf("address", parsed.message());
  section->Text("private_key", &config->tls.private_key);
  section->Text("certificate", &config->tls.certificate);
  section->Text("ca_certificate", &config->tls.ca_certificate);
  section->Text("name", &config->analyzer.connector.session.expected_peer_name);
}

void ReadDpdk(ConfigSection* section, AnalyzerConfig* config) {
  DpdkReceiverOptions& dpdk = config->dpdk;
  section->Text("eal", &config->dpdk_eal);
  section->Texts("ports", &dpdk.ports);
  if (std::set<std::string>(dpdk.ports.begin(), dpdk.ports.end()).size() != dpdk.ports.size()) {
    section->ComplainOf("ports", "a port is named twice");
  }
  size_t mtu = dpdk.mtu;
  section->Count("mtu", 0, 16000, &mtu);
  dpdk.mtu = static_cast<uint32_t>(mtu);
  section->Duration("pause", 0, 100 * kNanosPerMilli, &dpdk.pause);
}

void ReadCapture(ConfigSection* section, AnalyzerConfig* config) {
  section->Texts("interfaces", &config->interfaces);
  section->Bytes("ring", 2 << 20, uint64_t{4} << 30, &config->receiver.ring_bytes);
  config->dpdk.ring_bytes = config->receiver.ring_bytes;
  section->Bool("hardware_stamps", &config->receiver.wants_hardware_stamps);
  section->Section("dpdk", [&](ConfigSection* inner) { ReadDpdk(inner, config); });
}

void ReadPackets(ConfigSection* section, AnalyzerConfig* config) {
  SliceBookOptions& book = config->analyzer.book;
  section->Bytes("memory", 1'000'000, uint64_t{1} << 40, &book.max_bytes);
  size_t snap = book.snap_bytes;
  section->Count("snap", 64, 16384, &snap);
  book.snap_bytes = static_cast<uint32_t>(snap);
  PacketArchiveOptions& archive = config->analyzer.archive;
  section->Text("directory", &archive.directory);
  section->Bytes("max_size", 1'000'000, 1'000'000'000'000'000, &archive.max_bytes);
  section->Duration("keep", kNanosPerSecond, 3650 * kDay, &archive.keep);
}

void ReadSwitches(ConfigSection* section, SwitchBook* switches) {
  std::vector<std::pair<std::string, std::string>> pairs;
  section->Pairs("switches", &pairs);
  for (const auto& [name, text] : pairs) {
    char* end = nullptr;
    const unsigned long number = std::strtoul(text.c_str(), &end, 10);
    const bool is_number = !text.empty() && *end == '\0' && number <= kMaxSwitchNumber;
    const Status added =
        is_number
            ? switches->Add(name, static_cast<uint16_t>(number))
            : Status::Error(name + ": '" + text + "' is no number of a switch; 0 to 1023 are");
    if (!added.ok()) section->ComplainOf("switches", added.message());
  }
}

void ReadTopology(ConfigSection* section, LiveTracesOptions* traces) {
  std::string path;
  section->Text("topology", &path);
  if (path.empty()) return;
  auto topology = ReadTopologyFile(path);
  if (!topology.ok()) return section->ComplainOf("topology", topology.message());
  traces->topology = std::move(*topology);
  const Status added = AddSwitches(traces->topology, &traces->switches);
  if (!added.ok()) section->ComplainOf("topology", added.message());
}

void ReadTraces(ConfigSection* section, LiveTracesOptions* traces) {
  section->Text("directory", &traces->store.folder);
  section->Text("store", &traces->servers);
  const Status place =
      traces->servers.empty() ? Status::Ok() : ParseClickHousePlace(traces->servers).status();
  if (!place.ok()) section->ComplainOf("store", place.message());
  section->Bytes("spool", 1'000'000, 1'000'000'000'000'000, &traces->max_spool_bytes);
  section->Bytes("max_size", 1'000'000, 1'000'000'000'000'000, &traces->store.max_bytes);
  section->Duration("keep", kNanosPerSecond, 3650 * kDay, &traces->store.max_age);
  ReadSwitches(section, &traces->switches);
  ReadTopology(section, traces);
  traces->takes_network = traces->switches.names().empty();
  section->Bool("all_copies", &traces->maker.sees_all_copies);
  std::vector<std::string> pairs;
  section->Texts("nat", &pairs);
  for (const std::string& pair : pairs) {
    const Status added = traces->maker.copies.pairs.Add(pair);
    if (!added.ok()) section->ComplainOf("nat", added.message());
  }
  size_t dscp = traces->maker.copies.debug_dscp;
  section->Count("debug_dscp", 0, 63, &dscp);
  traces->maker.copies.debug_dscp = static_cast<uint8_t>(dscp);
  TraceTableOptions& table = traces->maker.table;
  section->Duration("wait", 10 * kNanosPerMilli, 60 * kNanosPerSecond, &table.quiet);
  table.max_quiet = table.retain = 3 * table.quiet;
  section->Count("max_traces", 1, 1 << 24, &table.max_traces);
  table.max_hops = 4 * table.max_traces;
}

void ReadAll(ConfigSection* root, AnalyzerConfig* config) {
  root->Text("name", &config->analyzer.name);
  if (config->analyzer.name.empty()) root->ComplainOf("name", "an analyzer needs a name");
  root->Section("controller", [&](ConfigSection* section) { ReadController(section, config); });
  root->Section("capture", [&](ConfigSection* section) { ReadCapture(section, config); });
  root->Section("packets", [&](ConfigSection* section) { ReadPackets(section, config); });
  root->Section("traces", [&](ConfigSection* section) { ReadTraces(section, &config->traces); });
}

}  // namespace

AnalyzerConfig DefaultAnalyzerConfig(const std::string& config_directory,
                                     const std::string& state_directory) {
  AnalyzerConfig config;
  config.controller = "ssl:127.0.0.1:" + std::to_string(kDefaultAnalyzerPort);
  config.tls = {config_directory + "/analyzer-privkey.pem", config_directory + "/analyzer-cert.pem",
                config_directory + "/ca.pem"};
  config.analyzer.name = HostName();
  config.analyzer.archive.directory = state_directory + "/packets";
  config.traces.maker.copies.leaves_slices = true;
  return config;
}

Status ReadAnalyzerConfig(std::string_view text, std::string_view source_name,
                          AnalyzerConfig* config) {
  const event_lang::Source source{source_name, text};
  const auto document = event_lang::ReadYaml(source);
  if (!document.ok()) return document.status();
  AnalyzerConfig read = *config;
  std::vector<std::string> errors;
  ConfigSection root(source, &*document, "", &errors);
  ReadAll(&root, &read);
  root.Finish();
  if (!errors.empty()) return Status::Error(JoinErrors(errors));
  *config = std::move(read);
  return Status::Ok();
}

}  // namespace trumpet
