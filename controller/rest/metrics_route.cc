// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// /metrics: every figure of the controller.  Hosts and events with figures of their own are
// bounded; how many were left out is a figure, too.

#include <algorithm>
#include <utility>

#include "controller/measure/measurement_manager.h"
#include "controller/rest/report_streams.h"
#include "controller/rest/rest_call.h"

namespace trumpet {
namespace {

using Type = MetricsText::Type;

constexpr size_t kMaxSeriesHosts = 1000;
constexpr size_t kMaxSeriesEvents = 1000;

MetricsText::Labels LabelsOf(const EventView& event) { return {{"event", event.record.name}}; }
MetricsText::Labels LabelsOf(const HostView& host) { return {{"host", host.id}}; }

// Families in which each of some things, up to a number of them, has a sample.
template <typename Thing>
class FamiliesOf {
 public:
  FamiliesOf(MetricsText* text, const std::vector<Thing>& things, size_t max)
      : text_(*text), things_(things), shown_(std::min(things.size(), max)) {}

  double omitted() const { return static_cast<double>(things_.size() - shown_); }

  template <typename ValueOf>
  void Add(const char* name, Type type, const char* help, ValueOf value) {
    text_.Family(name, type, help);
    for (size_t i = 0; i < shown_; ++i) {
      text_.Add(LabelsOf(things_[i]), uint64_t{value(things_[i])});
    }
  }
  void AddSeconds(const char* name, const char* help, Nanos Thing::*value) {
    text_.Family(name, Type::kGauge, help);
    for (size_t i = 0; i < shown_; ++i) text_.AddSeconds(LabelsOf(things_[i]), things_[i].*value);
  }

 private:
  MetricsText& text_;
  const std::vector<Thing>& things_;
  const size_t shown_;
};

void AddController(const RestCall& call, MetricsText* text) {
  text->Family("trumpet_build_info", Type::kGauge, "The controller's version; always 1.");
  text->Add({{"version", TRUMPET_VERSION}}, uint64_t{1});
  text->Family("trumpet_start_time_seconds", Type::kGauge,
               "When the controller's API began, in Unix time.");
  text->AddSeconds({}, call.server->started_ns());
  text->Gauge("trumpet_event_store_ready", "Whether events can be changed (1) or not (0).",
              call.parts.events->is_store_ready() ? 1 : 0);
  text->Gauge("trumpet_standby", "Whether another controller acts for the database (1).",
              call.parts.events->is_standing_by() ? 1 : 0);
}

void AddEvents(const RestCall& call, MetricsText* text) {
  const std::vector<EventView> events = call.parts.events->Events(call.caller);
  uint64_t enabled = 0;
  uint64_t with_problem = 0;
  for (const EventView& event : events) {
    enabled += event.record.is_enabled ? 1 : 0;
    with_problem += event.problem.empty() ? 0 : 1;
  }
  text->Family("trumpet_events", Type::kGauge, "Events there are.");
  text->Add({{"state", "enabled"}}, enabled);
  text->Add({{"state", "disabled"}}, events.size() - enabled);
  text->Gauge("trumpet_events_with_problem", "Stored events that cannot be run.",
              static_cast<double>(with_problem));
  FamiliesOf<EventView> families(text, events, kMaxSeriesEvents);
  text->Gauge("trumpet_events_omitted", "Events without figures of their own here.",
              families.omitted());
  families.Add("trumpet_event_hosts_wanted", Type::kGauge, "Hosts that the event is placed on.",
               [](const EventView& event) { return event.wanted; });
  families.Add("trumpet_event_hosts_applied", Type::kGauge, "Of these, hosts whose threads run it.",
               [](const EventView& event) { return event.applied; });
  families.Add("trumpet_event_reports", Type::kCounter, "Reports of the event.",
               [](const EventView& event) { return event.counters.reports; });
  families.Add("trumpet_event_reports_suppressed", Type::kCounter,
               "Reports of the event that its rate limit withheld.",
               [](const EventView& event) { return event.counters.reports_suppressed; });
}

void AddHosts(const RestCall& call, MetricsText* text) {
  const std::vector<HostView> hosts = call.parts.events->Hosts();
  text->Gauge("trumpet_hosts", "Hosts that are known.", static_cast<double>(hosts.size()));
  text->Gauge("trumpet_hosts_connected", "Hosts whose agents are connected.",
              static_cast<double>(call.parts.events->connected_hosts()));
  FamiliesOf<HostView> families(text, hosts, kMaxSeriesHosts);
  text->Gauge("trumpet_hosts_omitted", "Hosts without figures of their own here.",
              families.omitted());
  families.Add("trumpet_host_connected", Type::kGauge, "Whether the host's agent is connected.",
               [](const HostView& host) { return host.is_connected ? 1u : 0u; });
  families.Add("trumpet_host_monitor_off", Type::kGauge,
               "Whether the host's monitor is switched off, as its agent says.",
               [](const HostView& host) { return host.is_monitor_off ? 1u : 0u; });
  families.AddSeconds("trumpet_host_clock_offset_seconds",
                      "How far the host's clock is before the controller's.",
                      &HostView::clock_offset_ns);
  families.AddSeconds("trumpet_host_clock_skew_bound_seconds",
                      "How far the clocks can differ at most.", &HostView::skew_bound_ns);
  families.AddSeconds("trumpet_host_round_trip_seconds",
                      "Time of a question to the host's agent and its answer.", &HostView::rtt_ns);
  families.Add("trumpet_host_events_wanted", Type::kGauge, "Events that the host should run.",
               [](const HostView& host) { return host.events_wanted; });
  families.Add("trumpet_host_events_applied", Type::kGauge, "Events that the host's threads run.",
               [](const HostView& host) { return host.events_applied; });
  families.Add("trumpet_host_queued_bytes", Type::kGauge, "Bytes that wait to be sent to the host.",
               [](const HostView& host) { return host.queued_bytes; });
  families.Add("trumpet_host_sessions", Type::kCounter, "Sessions of the host's agent so far.",
               [](const HostView& host) { return host.sessions; });
}

void AddNetwork(const RestCall& call, MetricsText* text) {
  const NetworkCounters counters = call.parts.events->network_counters();
  const struct {
    const char* name;
    const char* help;
    uint64_t value;
  } families[] = {
      {"intervals_decided", "Intervals of events decided.", counters.intervals_decided},
      {"intervals_incomplete", "Of these, with hosts missing at the deadline.",
       counters.intervals_incomplete},
      {"reports", "Reports of network-wide events.", counters.reports},
      {"clears", "Ends of occurrences reported.", counters.clears},
      {"reports_suppressed", "Reports that rate limits withheld.", counters.reports_suppressed},
      {"partials", "Counts of buckets taken in from hosts.", counters.partials},
      {"late_partials", "Counts dropped that came after their verdict.", counters.late_partials},
      {"early_partials", "Counts dropped that were too far ahead.", counters.early_partials},
      {"refused_partials", "Counts dropped for want of room.", counters.refused_partials},
      {"replaced_partials", "Counts that were told twice.", counters.replaced_partials},
      {"malformed_partials", "Counts that were none of the event's.", counters.malformed},
      {"stranger_partials", "Counts from hosts that do not run the event.", counters.strangers},
      {"late_flow_states", "States of flows that came too late.", counters.late_flow_states},
      {"refused_flow_states", "States of flows dropped for want of room.",
       counters.refused_flow_states},
      {"buckets_evicted", "Buckets forgotten to make room.", counters.buckets_evicted},
      {"polls", "Questions to hosts about buckets.", counters.polls},
      {"poll_answers", "Answers to them in time.", counters.poll_answers},
      {"polls_spared", "Buckets decided without asking.", counters.polls_spared},
      {"polls_refused", "Buckets not asked about, being too many.", counters.polls_refused},
  };
  for (const auto& family : families) {
    text->Counter(std::string("trumpet_network_") + family.name, family.help, family.value);
  }
  const NetworkBudget& budget = call.parts.events->budget();
  text->Gauge("trumpet_network_waiting_bytes", "Memory of counts that wait for their verdict.",
              static_cast<double>(budget.bytes));
  text->Gauge("trumpet_network_waiting_bytes_limit", "What that may be at most.",
              static_cast<double>(budget.max_bytes));
  text->Gauge("trumpet_network_buckets", "Buckets alive.", static_cast<double>(budget.buckets));
  text->Gauge("trumpet_network_flows", "Flows whose state is kept.",
              static_cast<double>(budget.flows));
}

void AddLatencies(const RestCall& call, MetricsText* text) {
  const VerdictLatencies& latencies = call.parts.events->latencies();
  const struct {
    const char* name;
    const char* help;
    const LatencyHistogram& histogram;
  } steps[] = {
      {"end_to_delivery", "From an interval's end until the last host awaited had delivered.",
       latencies.end_to_delivery},
      {"delivery_to_verdict", "From there to the verdict.", latencies.delivery_to_verdict},
      {"verdict_to_publication", "From the verdict until the store and all subscribers had it.",
       latencies.verdict_to_publication},
      {"end_to_publication", "From an interval's end until its reports were published.",
       latencies.end_to_publication},
  };
  for (const auto& step : steps) {
    text->Family(std::string("trumpet_report_") + step.name + "_seconds", Type::kHistogram,
                 step.help);
    text->Add({}, step.histogram);
  }
}

void AddAgents(const RestCall& call, MetricsText* text) {
  const ListenerCounters counters = call.parts.events->listener_counters();
  text->Counter("trumpet_agent_connections", "Connections taken in at agents' addresses.",
                counters.accepted);
  text->Counter("trumpet_agent_sessions", "Sessions with agents established.",
                counters.established);
  text->Counter("trumpet_agent_refusals", "Agents that were not taken in.", counters.refused);
  text->Counter("trumpet_agent_strangers_evicted", "Connections without hello ended to make room.",
                counters.strangers_evicted);
  text->Counter("trumpet_agent_accept_failures", "Connections that could not be taken in.",
                counters.accept_failures);
  text->Family("trumpet_agent_sessions_closed", Type::kCounter, "Ends of sessions, by cause.");
  for (size_t i = 0; i < kCloseCauseCount; ++i) {
    text->Add({{"cause", CloseCauseName(static_cast<CloseCause>(i))}}, counters.closed[i]);
  }
  text->Counter("trumpet_agent_received_bytes", "Bytes from agents.",
                counters.sessions.bytes_received);
  text->Counter("trumpet_agent_sent_bytes", "Bytes to agents.", counters.sessions.bytes_sent);
  const auto sum = [](const KindCounts& counts) {
    uint64_t total = 0;
    for (uint64_t count : counts) total += count;
    return total;
  };
  text->Counter("trumpet_agent_received_messages", "Messages from agents.",
                sum(counters.sessions.received));
  text->Counter("trumpet_agent_sent_messages", "Messages to agents.", sum(counters.sessions.sent));
  text->Counter("trumpet_agent_dropped_messages",
                "Messages to agents that found no room in their queue, or waited in it at the end.",
                sum(counters.sessions.dropped));
}

void AddReports(const RestCall& call, MetricsText* text) {
  const ReportHub& hub = *call.parts.reports;
  text->Gauge("trumpet_reports_last_number", "Number of the last report.",
              static_cast<double>(hub.last_number()));
  if (hub.store() == nullptr) return;
  const ReportStoreCounters counters = hub.store()->counters();
  text->Counter("trumpet_report_store_appended", "Reports given to the store.", counters.appended);
  text->Counter("trumpet_report_store_written", "Reports written.", counters.written);
  text->Counter("trumpet_report_store_lost",
                "Reports that found no room, or that the disk refused.", counters.lost);
  text->Counter("trumpet_report_store_expired", "Reports removed for age or size.",
                counters.expired);
  text->Counter("trumpet_report_store_write_failures", "Writes that the disk refused.",
                counters.write_failures);
  text->Gauge("trumpet_report_store_waiting", "Reports that wait to be written.",
              static_cast<double>(counters.waiting));
  text->Gauge("trumpet_report_store_bytes", "Size of the store.",
              static_cast<double>(counters.stored_bytes));
  text->Gauge("trumpet_report_store_failing", "Whether writing fails now.",
              counters.problem.empty() ? 0 : 1);
}

void AddMeasurements(const RestCall& call, MetricsText* text) {
  if (call.parts.measurements == nullptr) return;
  const auto measurements = call.parts.measurements->Measurements();
  text->Family("trumpet_measurement_hosts_running", Type::kGauge,
               "Hosts that run the measurement.");
  for (const NetworkMeasurement& measurement : measurements) {
    uint64_t running = 0;
    for (const MeasurementHost& host : measurement.hosts) {
      running += host.state == MeasurementOnHost::kRunning ? 1 : 0;
    }
    text->Add({{"measurement", measurement.record.name}}, running);
  }
  text->Family("trumpet_measurement_collected", Type::kCounter,
               "Packets that hosts have collected for the measurement.");
  for (const NetworkMeasurement& measurement : measurements) {
    text->Add({{"measurement", measurement.record.name}}, measurement.copies.collected);
  }
  text->Family("trumpet_measurement_copies", Type::kCounter, "What became of them.");
  for (const NetworkMeasurement& measurement : measurements) {
    const EndpointCopies sum = measurement.copies.Sum();
    const std::pair<const char*, uint64_t> results[] = {{"sent", sum.sent},
                                                        {"over_rate", sum.over_rate},
                                                        {"failed", sum.failed},
                                                        {"lost", measurement.copies.lost},
                                                        {"unbound", measurement.copies.unbound}};
    for (const auto& [result, count] : results) {
      text->Add({{"measurement", measurement.record.name}, {"result", result}}, count);
    }
  }
}

void AddAccess(const RestCall& call, MetricsText* text) {
  const AccessCounters& counters = call.server->access().counters();
  text->Family("trumpet_http_access", Type::kCounter, "Requests let in or refused, by reason.");
  text->Add({{"result", "allowed"}}, counters.allowed);
  text->Add({{"result", "no_token"}}, counters.without_token);
  text->Add({{"result", "wrong_token"}}, counters.wrong_token);
  text->Add({{"result", "expired_token"}}, counters.expired_token);
  text->Add({{"result", "too_many_failures"}}, counters.too_many_failures);
  text->Gauge("trumpet_http_tokens", "Tokens in force.",
              static_cast<double>(call.server->access().token_count()));
  text->Gauge("trumpet_http_token_file_failing", "Whether the token file cannot be used as it is.",
              call.server->access().problem().empty() ? 0 : 1);
}

void AddHttp(const RestCall& call, MetricsText* text) {
  const HttpServer& http = call.server->http();
  const HttpCounters& counters = http.counters();
  text->Gauge("trumpet_http_connections", "Clients connected.",
              static_cast<double>(http.connection_count()));
  text->Gauge("trumpet_http_streams", "Streams of reports.",
              static_cast<double>(http.stream_count()));
  text->Gauge("trumpet_http_pending_bytes", "Bytes of requests that are not whole yet.",
              static_cast<double>(http.pending_bytes()));
  text->Counter("trumpet_http_connections_accepted", "Connections of clients.",
                counters.connections);
  text->Family("trumpet_http_cut", Type::kCounter, "Connections refused or cut off, by reason.");
  text->Add({{"reason", "connections"}}, counters.refused_total);
  text->Add({{"reason", "connections_of_address"}}, counters.refused_address);
  text->Add({{"reason", "unfinished_request"}}, counters.unfinished_requests);
  text->Add({{"reason", "slow_request"}}, counters.slow_requests);
  text->Add({{"reason", "slow_answer"}}, counters.slow_answers);
  text->Add({{"reason", "slow_stream"}}, counters.slow_streams);
  text->Add({{"reason", "overflow"}}, counters.overflows);
  text->Counter("trumpet_http_abandoned_answers", "Clients that left before their answer.",
                counters.abandoned_answers);
  text->Counter("trumpet_http_uploads_refused", "Long bodies refused, being too many at once.",
                counters.uploads_refused);
  text->Family("trumpet_http_requests", Type::kCounter, "Requests answered.");
  for (const auto& entry : call.server->request_counts()) {
    text->Add({{"path", entry.first.route},
               {"method", entry.first.method},
               {"status", std::to_string(entry.first.status)}},
              entry.second);
  }
  text->Family("trumpet_http_request_duration_seconds", Type::kHistogram,
               "From a whole request to the beginning of its answer.");
  text->Add({}, call.server->durations());
  text->Counter("trumpet_http_streamed_reports", "Reports given to streams.",
                call.streams->sent_reports());
  text->Counter("trumpet_http_stream_gaps", "Times a stream missed reports no longer known.",
                call.streams->gaps());
}

void AddSimulations(const RestCall& call, MetricsText* text) {
  const SimulationCounters& counters = call.simulations->counters();
  text->Gauge("trumpet_simulations_running", "Simulations under way.",
              static_cast<double>(call.simulations->running_count()));
  text->Counter("trumpet_simulations_started", "Simulations begun.", counters.started);
  text->Counter("trumpet_simulations_refused", "Simulations refused, being too many at once.",
                counters.refused);
  text->Counter("trumpet_simulations_killed", "Simulations ended for their time or output.",
                counters.killed);
  text->Counter("trumpet_simulations_failed", "Simulations that failed.", counters.failed);
}

}  // namespace

void ShowMetrics(const RestCall& call) {
  MetricsText text;
  AddController(call, &text);
  AddEvents(call, &text);
  AddHosts(call, &text);
  AddNetwork(call, &text);
  AddLatencies(call, &text);
  AddAgents(call, &text);
  AddReports(call, &text);
  AddMeasurements(call, &text);
  AddAccess(call, &text);
  AddHttp(call, &text);
  AddSimulations(call, &text);
  if (call.parts.add_metrics) call.parts.add_metrics(&text);
  HttpReply answer;
  answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
  answer.body = text.text();
  call.exchange->Answer(std::move(answer));
}

}  // namespace trumpet
