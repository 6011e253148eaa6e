// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SlicePart: campaigns of slices in trumpet-controller, with the analyzers that take their copies
// and the drivers that turn them on.
//
// Threads: that of the libevent loop.  Lifetime: what Parts name must outlive it.

#ifndef TRUMPET_CONTROLLER_DAEMON_SLICE_PART_H
#define TRUMPET_CONTROLLER_DAEMON_SLICE_PART_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/daemon/config_reader.h"
#include "controller/rest/metrics_text.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/slice/campaign_loop.h"
#include "controller/slice/datapath_driver.h"
#include "controller/slice/flow_counters.h"
#include "controller/slice/latency_prober.h"
#include "controller/slice/sample_receiver.h"
#include "controller/slice/trace_asker.h"
#include "controller/store/event_store.h"
#include "controller/tem/event_manager.h"
#include "controller/tem/report_hub.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/wire/tls_context.h"
#include "lib/wire/wire_clock.h"

struct event_base;

namespace trumpet {

// A switch whose datapath has our monitor in it.
struct DatapathSwitchConfig {
  std::string name;
  DatapathPlace place;
};

struct AnalyzersConfig {
  std::vector<std::string> listen;  // "pssl:6651", "ptcp:6651:127.0.0.1"; none: nowhere
  TlsFiles tls;
  bool checks_certificates = true;       // an analyzer's name must stand in its certificate
  Nanos ask_interval = kNanosPerSecond;  // whether they are there; not from the file
};

struct SlicesConfig {
  CampaignOptions campaigns;
  std::vector<DatapathSwitchConfig> switches;
  SamplesConfig samples;
};

void ReadAnalyzers(ConfigSection* section, AnalyzersConfig* config);
void ReadSlices(ConfigSection* section, SlicesConfig* config);

class SlicePart {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  struct Parts {
    event_base* base = nullptr;
    const WireClock* clock = nullptr;
    EventStore* events = nullptr;  // who holds its lock runs the campaigns
    EventStore* campaigns = nullptr;
    EventManager* manager = nullptr;
    ReportHub* reports = nullptr;
    SliceDriver* openflow = nullptr;  // for switches that the datapath driver does not serve
    OpenflowNet* switches = nullptr;  // whose flows count what prefixes take
    std::function<CopyFlowState(const std::string& switch_name)> copy_flows_of;
    std::string name;  // of this controller
    Log log;
  };

  // Listens for analyzers.
  static Result<std::unique_ptr<SlicePart>> Start(const Parts& parts, const SlicesConfig& slices,
                                                  const AnalyzersConfig& analyzers);
  ~SlicePart();

  CampaignManager& campaigns() { return loop_->manager(); }
  AnalyzerCollector& collector() { return *collector_; }
  PacketKeeper* packets() { return collector_.get(); }
  TraceAsker* traces() { return traces_.get(); }
  const std::vector<uint16_t>& ports() const { return ports_; }
  // Of UDP, where samples are taken.
  std::vector<uint16_t> sample_ports() const;
  void AddMetrics(MetricsText* text) const;
  // Turns everything off, and takes leave of the analyzers.
  void Stop();

 private:
  SlicePart(const Parts& parts, SlicesConfig slices);
  Status Listen(const AnalyzersConfig& config);
  Status TakeSamples();
  void CountFlows();
  void AddSampleMetrics(MetricsText* text) const;

  const Parts parts_;
  const SlicesConfig config_;
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<AnalyzerCollector> collector_;
  std::unique_ptr<TraceAsker> traces_;
  std::unique_ptr<DatapathDriver> datapath_;
  LatencyBook latencies_;
  std::unique_ptr<LatencyProber> prober_;
  std::unique_ptr<LoopEvent> probing_;
  FlowCounters flows_;  // before the campaigns that ask them
  SampledDemand sampled_;
  std::unique_ptr<SampleReceiver> samples_;  // if anybody is to send some
  std::unique_ptr<CampaignLoop> loop_;
  std::unique_ptr<LoopEvent> counting_;
  std::unique_ptr<LoopEvent> starter_;
  bool is_started_ = false;
  std::vector<uint16_t> ports_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_SLICE_PART_H
