// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/openflow_part.h"

#include <utility>

#include "controller/openflow/datapath_id.h"
#include "controller/probe/bouncer.h"
#include "controller/probe/via_route.h"
#include "controller/rest/json_views.h"
#include "controller/slice/copy_flows.h"
#include "lib/base/text_table.h"
#include "lib/wire/address.h"

namespace trumpet {
namespace {

constexpr Nanos kLookPeriod = 500 * kNanosPerMilli;

const char* StateOf(const OpenflowSwitch& one) {
  return one.is_ready() ? "ready" : one.channel() != nullptr ? "coming" : "away";
}

std::string VersionOf(const OpenflowSwitch& one) {
  return one.channel() == nullptr ? "-" : "1." + std::to_string(one.channel()->version() - 1);
}

std::string AddressOf(const OpenflowSwitch& one) {
  return one.channel() == nullptr ? "-" : one.channel()->peer_address();
}

// What is the other controller's while that one acts: it alone knows what is to be there.
std::vector<OpenflowClaim> TheirClaims() { return {SliceClaim(), BounceClaim(), ViaClaim()}; }

}  // namespace

Result<std::unique_ptr<OpenflowPart>> OpenflowPart::Start(event_base* base, OpenflowConfig config,
                                                          const WireClock& clock, uint64_t seed,
                                                          Log log) {
  OpenflowOptions options;
  options.max_switches = config.max_switches;
  options.claims = TheirClaims();
  options.claims.push_back(TraceRuleClaim());
  options.more_claims = config.more_claims;
  options.standing_rules = config.standing_rules;
  options.seed = seed;
  for (const OpenflowSwitchConfig& one : config.switches) {
    options.names[one.datapath_id] = one.name;
    if (one.is_marked && one.analyzer.empty()) {
      auto& standing = options.standing_rules[one.datapath_id];
      for (OpenflowRule& rule : CopyFlows(one.copy)) standing.push_back(std::move(rule));
    }
  }
  std::unique_ptr<OpenflowPart> part(new OpenflowPart(base, std::move(config), log));
  part->net_ = std::make_unique<OpenflowNet>(base, std::move(options), clock, std::move(log));
  OpenflowPart* const self = part.get();
  part->driver_ = std::make_unique<OpenflowDriver>(
      base, part->net_.get(), [self](const std::string& name) { return self->CopyPort(name); });
  part->looking_ = std::make_unique<LoopEvent>(base, [self] { self->LookAtMadePorts(); });
  part->looking_->RunEvery(kLookPeriod);
  const Status status = part->Open();
  if (!status.ok()) return Status::Error("openflow: " + status.message());
  return part;
}

void OpenflowPart::ActFor(const EventStore* events) {
  starter_ = std::make_unique<LoopEvent>(base_, [this, events] {
    const StoreState state = events->state();
    for (const OpenflowClaim& claim : TheirClaims()) {
      if (state == StoreState::kReady && !is_acting_) net_->EndClaim(claim);
      if (state == StoreState::kStandby && is_acting_) net_->GiveBack(claim);
    }
    if (state != StoreState::kAway) is_acting_ = state == StoreState::kReady;
  });
  starter_->RunEvery(100 * kNanosPerMilli);
}

std::optional<OpenflowCopyPort> OpenflowPart::CopyPort(const std::string& name) const {
  for (const OpenflowSwitchConfig& one : config_.switches) {
    if (one.name != name) continue;
    OpenflowCopyPort copy = one.copy;
    if (!one.analyzer.empty() && made_port_) copy.port = made_port_(one.datapath_id);
    if (copy.port != 0) return copy;
  }
  return std::nullopt;
}

// Loaded when the first address asks for it.
Result<TlsContext*> OpenflowPart::Tls() {
  if (tls_ == nullptr) {
    auto tls = TlsContext::Load(config_.tls);
    if (!tls.ok()) return tls.status();
    tls_ = std::move(*tls);
  }
  return tls_.get();
}

Status OpenflowPart::Open() {
  for (const std::string& text : config_.listen) {
    const Result<Address> address = ParsePassiveAddress(text, kOpenflowPort);
    if (!address.ok()) return address.status();
    const Result<TlsContext*> tls = address->is_tls ? Tls() : Result<TlsContext*>(nullptr);
    if (!tls.ok()) return tls.status();
    const Result<uint16_t> port = net_->Listen(*address, *tls);
    if (!port.ok()) return port.status();
    ports_.push_back(*port);
  }
  for (const OpenflowSwitchConfig& one : config_.switches) {
    if (one.connect.empty()) continue;
    const Result<Address> address = ParseActiveAddress(one.connect, kOpenflowPort);
    if (!address.ok()) return address.status();
    const Result<TlsContext*> tls = address->is_tls ? Tls() : Result<TlsContext*>(nullptr);
    if (!tls.ok()) return tls.status();
    const Status status = net_->Connect(*address, *tls);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

std::vector<TracePlace> OpenflowPart::TracePlaces(const Topology& topology) const {
  std::vector<Prefix> analyzers = config_.analyzers;
  std::vector<TracePlace> places;
  for (const OpenflowSwitchConfig& one : config_.switches) {
    if (one.copy.switch_number == 0) continue;
    const auto analyzer = ParsePrefix(one.analyzer);
    if (analyzer) analyzers.push_back(*analyzer);
    TracePlace place{one.name, one.datapath_id, TraceSwitch()};
    place.at.number = one.copy.switch_number;
    place.at.is_erspan = one.copy.is_erspan;
    place.at.port = CopyPort(one.name).value_or(OpenflowCopyPort()).port;
    for (const TopologyHost& host : topology.hosts) {
      if (host.attached_to != one.name) continue;
      place.at.local.insert(place.at.local.end(), host.prefixes.begin(), host.prefixes.end());
      place.at.hosts.push_back({host.id, host.prefixes});
    }
    places.push_back(std::move(place));
  }
  for (TracePlace& place : places) {
    place.at.analyzers = analyzers;
    place.at.switch_count = static_cast<uint32_t>(places.size());
  }
  return places;
}

CopyFlowState OpenflowPart::CopyFlowsOf(const std::string& switch_name) const {
  for (const OpenflowSwitchConfig& one : config_.switches) {
    if (one.name != switch_name || !one.is_marked) continue;
    return HasCopyFlows(one) ? CopyFlowState::kOurs : CopyFlowState::kMissing;
  }
  return CopyFlowState::kAdministrators;
}

bool OpenflowPart::HasCopyFlows(const OpenflowSwitchConfig& one) const {
  const OpenflowSwitch* const which = net_->Find(one.datapath_id);
  if (which == nullptr) return false;
  if (one.analyzer.empty()) return which->has_standing_rules();
  const auto made = made_flows_.find(one.datapath_id);
  const auto copy = CopyPort(one.name);
  return which->is_ready() && made != made_flows_.end() && !made->second.is_purged &&
         copy.has_value() && made->second.port == copy->port;
}

// Once they are committed the switch keeps them; what is left to us is to see whether the port is
// another one.
void OpenflowPart::LookAtMadePorts() {
  for (const OpenflowSwitchConfig& one : config_.switches) {
    if (!one.is_marked || one.analyzer.empty()) continue;
    OpenflowSwitch* const which = net_->Find(one.datapath_id);
    const auto copy = CopyPort(one.name);
    if (which == nullptr || !which->is_ready() || !copy) continue;
    MadeFlows& made = made_flows_[one.datapath_id];
    if (made.is_asked_for || made.is_purged || made.port == copy->port) continue;
    made.is_asked_for = true;
    which->Commit({{}, CopyFlows(*copy)},
                  [this, &made, port = copy->port, name = one.name](const Status& status) {
                    made.is_asked_for = false;
                    if (status.ok()) {
                      made.port = port;
                      made.problem.clear();
                    } else if (made.problem != status.message()) {
                      made.problem = status.message();
                      log_("warn", "switch " + name + " has no flows that copy: " + made.problem);
                    }
                  });
  }
}

void OpenflowPart::AddMetrics(MetricsText* text) const {
  OpenflowSwitchCounters all;
  uint64_t ready = 0;
  for (const OpenflowSwitch* one : net_->Switches()) {
    const OpenflowSwitchCounters counters = one->counters();
    ready += one->is_ready();
    all.connections += counters.connections;
    all.commits += counters.commits;
    all.failed_commits += counters.failed_commits;
    all.reconciled_missing += counters.reconciled_missing;
    all.reconciled_stray += counters.reconciled_stray;
    all.packets_in += counters.packets_in;
    all.packets_out += counters.packets_out;
    all.channels.Add(counters.channels);
  }
  const OpenflowNetCounters& net = net_->counters();
  uint64_t malformed = 0;
  for (const CloseCause cause : {CloseCause::kProtocol, CloseCause::kHandshakeTimeout,
                                 CloseCause::kFrameTimeout, CloseCause::kTls}) {
    malformed += net.closed[static_cast<size_t>(cause)];
  }
  text->Gauge("trumpet_openflow_switches", "Switches that are connected and in order.",
              static_cast<double>(ready));
  text->Counter("trumpet_openflow_connections", "Connections of switches.", all.connections);
  text->Counter("trumpet_openflow_rejected", "Connections ended for what the peer sent or did not.",
                malformed);
  text->Counter("trumpet_openflow_refused", "Connections there was no room for.", net.refused);
  text->Counter("trumpet_openflow_commits", "Changes of rules that hold.", all.commits);
  text->Counter("trumpet_openflow_failed_commits",
                "Changes that were refused, of which none holds.", all.failed_commits);
  text->Counter("trumpet_openflow_missing_rules", "Rules put back when a switch came again.",
                all.reconciled_missing);
  text->Counter("trumpet_openflow_stray_rules", "Rules of ours removed then.",
                all.reconciled_stray);
  text->Counter("trumpet_openflow_errors", "Errors that switches have told.", all.channels.errors);
  text->Counter("trumpet_openflow_packets_in", "Packets from switches.", all.packets_in);
  text->Counter("trumpet_openflow_packets_out", "Packets to switches.", all.packets_out);
  text->Counter("trumpet_openflow_packets_held", "Packets that had no room on their way out.",
                all.channels.packets_held);
}

std::string OpenflowPart::ListText() const {
  TextTable table(
      {"NAME", "DATAPATH", "STATE", "OPENFLOW", "ADDRESS", ">PORTS", ">RULES", "LAST ERROR"});
  for (const OpenflowSwitch* one : net_->Switches()) {
    table.Add({one->name(), DatapathIdText(one->datapath_id()), StateOf(*one), VersionOf(*one),
               AddressOf(*one), std::to_string(one->ports().size()),
               std::to_string(one->rule_count()), one->last_error()});
  }
  return table.is_empty() ? "no switch has come\n" : table.ToString(0);
}

std::string OpenflowPart::ListJson() const {
  Json list = Json::array();
  for (const OpenflowSwitch* one : net_->Switches()) {
    Json ports = Json::array();
    for (const auto& [number, port] : one->ports()) {
      ports.push_back({{"number", number}, {"name", port.name}, {"up", port.is_up}});
    }
    list.push_back({{"name", one->name()},
                    {"datapath_id", DatapathIdText(one->datapath_id())},
                    {"state", StateOf(*one)},
                    {"version", VersionOf(*one)},
                    {"address", AddressOf(*one)},
                    {"ports", std::move(ports)},
                    {"rules", one->rule_count()},
                    {"copies_port", CopyPort(one->name()).value_or(OpenflowCopyPort()).port},
                    {"last_error", one->last_error()}});
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// What of ours is there, as the switch tells it.
void OpenflowPart::Show(const std::string& name, CommandReply reply) const {
  OpenflowSwitch* const one = net_->Find(name);
  if (one == nullptr) {
    return reply(Status::Error("there is no switch '" + name + "'; openflow/list shows them"));
  }
  one->AskFlows(kAllTables, kOpenflowCookie, kOpenflowCookieMask,
                [reply](const Result<std::vector<OpenflowFlow>>& flows) {
                  if (!flows.ok()) return reply(flows.status());
                  std::string text;
                  for (const OpenflowFlow& flow : *flows) {
                    text += "cookie=0x" + DatapathIdText(flow.cookie) +
                            " packets=" + std::to_string(flow.packets) + " " + flow.Text() + "\n";
                  }
                  reply(text.empty() ? "nothing of ours\n" : text);
                });
}

void OpenflowPart::Purge(const std::string& name, CommandReply reply) {
  OpenflowSwitch* const one = net_->Find(name);
  if (one == nullptr) {
    return reply(Status::Error("there is no switch '" + name + "'; openflow/list shows them"));
  }
  made_flows_[one->datapath_id()].is_purged = true;
  one->Purge([reply, name](const Status& status) {
    if (!status.ok()) return reply(status);
    reply("nothing of ours is left at " + name + "\n");
  });
}

std::vector<DaemonCommand> OpenflowPart::MakeCommands() {
  return {{"openflow/list", "[json]", 0, 1,
           [this](const CommandArguments& arguments, const CommandReply& reply) {
             reply(arguments.empty() ? ListText() : ListJson());
           }},
          {"openflow/show", "SWITCH", 1, 1,
           [this](const CommandArguments& arguments, const CommandReply& reply) {
             Show(arguments[0], reply);
           }},
          {"openflow/purge", "SWITCH", 1, 1,
           [this](const CommandArguments& arguments, const CommandReply& reply) {
             Purge(arguments[0], reply);
           }}};
}

}  // namespace trumpet
