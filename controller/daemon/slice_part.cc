// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/slice_part.h"

#include <optional>
#include <utility>

#include "lib/wire/address.h"

namespace trumpet {

Result<std::unique_ptr<SlicePart>> SlicePart::Start(const Parts& parts, const SlicesConfig& slices,
                                                    const AnalyzersConfig& analyzers) {
  std::unique_ptr<SlicePart> part(new SlicePart(parts, slices));
  AnalyzerCollectorOptions options;
  options.name = parts.name;
  options.binds_names_to_certificates = analyzers.checks_certificates;
  options.listener.session.keep_alive_interval = analyzers.ask_interval;
  part->collector_ =
      std::make_unique<AnalyzerCollector>(parts.base, options, *parts.clock, parts.log);
  part->traces_ = std::make_unique<TraceAsker>(parts.base, *parts.clock, part->collector_.get());
  Status status = part->Listen(analyzers);
  if (status.ok()) status = part->TakeSamples();
  if (!status.ok()) return status;
  part->campaigns().SetCollector(part->collector_.get());
  part->prober_ = std::make_unique<LatencyProber>(*parts.clock, parts.openflow,
                                                  part->collector_.get(), &part->latencies_);
  part->probing_->RunEvery(LatencyProber::kInterval);
  return part;
}

SlicePart::SlicePart(const Parts& parts, SlicesConfig slices)
    : parts_(parts),
      config_(std::move(slices)),
      flows_(*parts.clock, parts.switches, config_.campaigns.demand_memory,
             config_.campaigns.run.copy_overhead),
      sampled_(config_.campaigns.demand_memory, config_.campaigns.run.copy_overhead) {
  datapath_ = std::make_unique<DatapathDriver>(
      parts_.base, parts_.manager, [this](const std::string& name) -> std::optional<DatapathPlace> {
        for (const DatapathSwitchConfig& one : config_.switches) {
          if (one.name != name) continue;
          DatapathPlace place = one.place;
          place.flow = parts_.copy_flows_of(name);
          return place;
        }
        return std::nullopt;
      });
  CampaignParts campaigns;
  campaigns.clock = parts_.clock;
  campaigns.store = parts_.campaigns;
  campaigns.reports = parts_.reports;
  campaigns.log = parts_.log;
  loop_ = std::make_unique<CampaignLoop>(parts_.base, campaigns, config_.campaigns);
  probing_ = std::make_unique<LoopEvent>(parts_.base, [this] { prober_->Round(); });
  this->campaigns().SetLatencies(&latencies_);
  this->campaigns().AddDriver(datapath_.get());
  this->campaigns().AddDriver(parts_.openflow);
  this->campaigns().AddDemandSource(&flows_);
  counting_ = std::make_unique<LoopEvent>(parts_.base, [this] { CountFlows(); });
  counting_->RunEvery(FlowCounters::kPeriod);
  // Who holds the lock of events runs the campaigns, too: of two controllers never each one half.
  starter_ = std::make_unique<LoopEvent>(parts_.base, [this] {
    const StoreState events = parts_.events->state();
    if (events == StoreState::kReady && !is_started_) this->campaigns().Start();
    if (events == StoreState::kStandby && is_started_) this->campaigns().StandBy();
    if (events != StoreState::kAway) is_started_ = events == StoreState::kReady;
  });
  starter_->RunEvery(100 * kNanosPerMilli);
}

SlicePart::~SlicePart() = default;

Status SlicePart::Listen(const AnalyzersConfig& config) {
  for (const std::string& text : config.listen) {
    const Result<Address> address = ParsePassiveAddress(text, kDefaultAnalyzerPort);
    if (!address.ok()) return address.status();
    if (address->is_tls && tls_ == nullptr) {
      auto tls = TlsContext::Load(config.tls);
      if (!tls.ok()) return Status::Error("analyzers at " + text + ": " + tls.message());
      tls_ = std::move(*tls);
    }
    const auto port = collector_->Listen(*address, address->is_tls ? tls_.get() : nullptr);
    if (!port.ok()) return Status::Error("analyzers at " + text + ": " + port.message());
    ports_.push_back(*port);
    parts_.log("info", "analyzers: listening at " + text + ", port " + std::to_string(*port));
  }
  return Status::Ok();
}

Status SlicePart::TakeSamples() {
  if (config_.samples.listen.empty()) return Status::Ok();
  auto samples = SampleReceiver::Open(parts_.base, config_.samples, *parts_.clock, &sampled_);
  if (!samples.ok()) return samples.status();
  samples_ = std::move(*samples);
  for (const uint16_t port : samples_->ports()) {
    parts_.log("info", "samples of traffic: listening at UDP port " + std::to_string(port));
  }
  campaigns().AddDemandSource(&sampled_);
  return Status::Ok();
}

// Of what campaigns will ask for, those that have not run for long among them.
void SlicePart::CountFlows() {
  const Nanos now = parts_.clock->MonotonicNow();
  campaigns().VisitPrefixes([&](const Prefix& prefix) { flows_.Watch(prefix, now); });
  flows_.Round();
}

std::vector<uint16_t> SlicePart::sample_ports() const {
  return samples_ == nullptr ? std::vector<uint16_t>() : samples_->ports();
}

void SlicePart::AddSampleMetrics(MetricsText* text) const {
  const SampleCounters counters = samples_ == nullptr ? SampleCounters() : samples_->counters();
  text->Counter("trumpet_slice_samples", "Samples of traffic taken by sFlow, NetFlow and IPFIX.",
                counters.samples);
  text->Family("trumpet_slice_sample_datagrams", MetricsText::Type::kCounter,
               "Datagrams of sFlow, NetFlow and IPFIX.");
  const uint64_t refused = counters.strangers + counters.malformed + counters.unknown;
  text->Add({{"result", "read"}}, counters.datagrams - refused);
  text->Add({{"result", "stranger"}}, counters.strangers);
  text->Add({{"result", "malformed"}}, counters.malformed);
  text->Add({{"result", "unknown_protocol"}}, counters.unknown);
  text->Counter("trumpet_slice_sample_sets_without_template",
                "Sets of records that came before their template.",
                samples_ == nullptr ? 0 : samples_->unknown_sets());
}

void SlicePart::AddMetrics(MetricsText* text) const {
  const CampaignManager& campaigns = loop_->manager();
  const CampaignCounters& counters = campaigns.counters();
  text->Gauge("trumpet_analyzers_connected", "Analyzers that take copies of packets.",
              static_cast<double>(collector_->Analyzers().size()));
  const TraceAskerCounters& questions = traces_->counters();
  text->Family("trumpet_trace_questions", MetricsText::Type::kCounter,
               "Questions about traces to analyzers.");
  text->Add({{"state", "asked"}}, questions.questions);
  text->Add({{"state", "incomplete"}}, questions.incomplete);
  text->Add({{"state", "cancelled"}}, questions.cancelled);
  text->Add({{"state", "refused"}}, questions.refused);
  text->Family("trumpet_slice_copy_latency_seconds", MetricsText::Type::kGauge,
               "From a switch to the analyzer, as probes of the last minute say.");
  for (const LatencyView& view : latencies_.All(parts_.clock->MonotonicNow())) {
    text->AddSeconds({{"switch", view.latency.switch_name}}, view.latency.latency);
  }
  text->Gauge("trumpet_slice_campaigns", "Campaigns of slices that are kept.",
              static_cast<double>(campaigns.Campaigns(Caller()).size()));
  text->Gauge("trumpet_slice_running", "Runs under way.", static_cast<double>(campaigns.running()));
  text->Gauge("trumpet_slice_granted_bps", "Of the budget, what they may take.",
              static_cast<double>(campaigns.granted_bps()));
  text->Family("trumpet_slice_runs", MetricsText::Type::kCounter, "Runs that have ended.");
  text->Add({{"state", "done"}}, counters.runs_done);
  text->Add({{"state", "failed"}}, counters.runs_failed);
  text->Add({{"state", "stopped"}}, counters.runs_stopped);
  text->Counter("trumpet_slice_slots", "Slots that were run.", counters.slots);
  text->Counter("trumpet_slice_bootstrap_slots", "Slots that looked at unknown prefixes.",
                counters.bootstrap_slots);
  text->Counter("trumpet_slice_failed_slots", "Slots that some switch could not be turned on for.",
                counters.failed_slots);
  text->Counter("trumpet_slice_over_budget", "Slots that copied more than the budget.",
                counters.over_budget);
  text->Counter("trumpet_slice_copied_bytes", "Bytes copied, with the headers of tunnels.",
                counters.copied_bytes);
  text->Counter("trumpet_slice_triggers", "Runs that events have asked for.", counters.triggers);
  text->Counter("trumpet_slice_triggers_withheld", "Likewise, sooner than EVERY.",
                counters.triggers_withheld);
  AddSampleMetrics(text);
}

void SlicePart::Stop() {
  probing_->Cancel();
  counting_->Cancel();
  campaigns().Stop();
  collector_->Stop();
}

}  // namespace trumpet
