// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/control_commands.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "controller/rest/json_views.h"
#include "controller/view/api_tables.h"
#include "lib/base/text_table.h"
#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kShownReports = 20;
constexpr size_t kMaxReports = 10000;

using Answer = Result<std::string>;

const Caller& LocalCaller() {
  static const Caller caller;
  return caller;
}

std::string Pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <typename Values>
Json ListOf(const Values& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(ToJson(value));
  return list;
}

Answer ReadFile(const std::string& path) {
  const auto fail = [&](const char* what) {
    return Status::Error("reading events from '" + path + "': " + what);
  };
  // The daemon's working directory is not that of whoever typed the path.
  if (path.empty() || path[0] != '/') return fail("the path must be absolute");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail(strerror(errno));
  struct stat found {};
  const bool is_file = fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
  std::string text(kMaxFileBytes + 1, '\0');
  size_t size = 0;
  ssize_t got = 0;
  while (is_file && size < text.size() && (got = read(fd, &text[size], text.size() - size)) > 0) {
    size += static_cast<size_t>(got);
  }
  close(fd);
  if (!is_file) return fail("it is not a regular file");
  if (got < 0) return fail(strerror(errno));
  if (size > kMaxFileBytes) return fail("it is larger than 1 MiB");
  text.resize(size);
  return text;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

struct Document {
  std::string text;
  std::string source = "event";
  DocumentFormat format = DocumentFormat::kYaml;
};

// [name=NAME] LINE, a YAML or JSON text, or @FILE; as trumpet/event-add of the switch takes them.
Result<Document> ReadDocument(const CommandArguments& arguments, const MeasuredCheck& check) {
  Document document;
  std::string text = arguments.back();
  const bool has_name = arguments.size() == 2;
  if (has_name && arguments[0].compare(0, 5, "name=") != 0) {
    return Status::Error("'" + arguments[0] + "' is not name=NAME");
  }
  if (text.empty()) return Status::Error("the event is empty");
  const bool is_file = text[0] == '@';
  const bool is_document =
      is_file || text.compare(0, 7, "events:") == 0 || text.find_first_of("-[{") == 0;
  if (is_document) {
    if (has_name) return Status::Error("name= goes with an event of one line only");
    if (is_file) {
      document.source = text.substr(1);
      Answer content = ReadFile(document.source);
      if (!content) return content.status();
      text = std::move(*content);
      if (EndsWith(document.source, ".json")) document.format = DocumentFormat::kJson;
    }
    document.text = std::move(text);
    return document;
  }
  Result<EventSpec> event = ParseEventLine(text, "event", check);
  if (!event) return event.status();
  if (!has_name)
    return Status::Error("an event of one line needs a name: name=NAME in front of it");
  event->name = arguments[0].substr(5);
  document.text = PrintEventsYaml({*event});
  return document;
}

class ControlCommands {
 public:
  ControlCommands(EventManager* manager, const ReportHub* hub, const Notifier* notifier,
                  std::function<Topology()> topology)
      : manager_(manager), hub_(hub), notifier_(notifier), topology_(std::move(topology)) {}

  void Add(const CommandArguments& arguments, const CommandReply& reply) const {
    const Result<Document> document = ReadDocument(arguments, manager_->measured_check());
    if (!document) return reply(document.status());
    manager_->Put(document->text, document->format, document->source,
                  EventManager::IfThere::kReplace, LocalCaller(), Told(reply, "added"));
  }
  void Delete(const CommandArguments& arguments, const CommandReply& reply) const {
    manager_->Remove(arguments, LocalCaller(), Told(reply, "removed"));
  }
  Answer Check(const CommandArguments& arguments, bool as_json) const {
    const Result<Document> document = ReadDocument(arguments, manager_->measured_check());
    if (!document) return document.status();
    const auto checks =
        manager_->Check(document->text, document->format, document->source, LocalCaller());
    if (!checks) return checks.status();
    const Json list = ListOf(*checks);
    return as_json ? Pretty(list) : CheckTable(list);
  }
  Answer ListEvents(const CommandArguments&, bool as_json) const {
    const Json list = ListOf(manager_->Events(LocalCaller()));
    return as_json ? Pretty(list) : EventTable(list);
  }
  Answer ShowEvent(const CommandArguments& arguments, bool as_json) const {
    const auto event = manager_->FindEvent(arguments[0], LocalCaller());
    if (!event)
      return Status::Error("there is no event '" + arguments[0] + "'; event/list shows them");
    Json json = ToJson(*event);
    const Json hosts = ListOf(manager_->HostsOf(arguments[0]));
    if (!as_json) return EventText(json, hosts);
    json["hosts"] = hosts;
    return Pretty(json);
  }
  Answer ListHosts(const CommandArguments&, bool as_json) const {
    const Json list = ListOf(manager_->Hosts());
    return as_json ? Pretty(list) : HostTable(list);
  }
  Answer ShowHost(const CommandArguments& arguments, bool as_json) const {
    const auto host = manager_->FindHost(arguments[0]);
    if (!host)
      return Status::Error("there is no host '" + arguments[0] + "'; host/list shows them");
    const Json json = ToJson(*host);
    return as_json ? Pretty(json) : HostText(json);
  }
  Answer ShowTopology(const CommandArguments&, bool as_json) const {
    const Json json = ToJson(topology_());
    return as_json ? Pretty(json) : TopologyText(json);
  }
  Answer ListReports(const CommandArguments& arguments, bool as_json) const;
  Answer ShowStatus(const CommandArguments&, bool as_json) const;

 private:
  // Says which events were changed.
  static EventManager::Changed Told(const CommandReply& reply, const char* what) {
    return [reply, what](const Result<std::vector<EventRecord>>& records) {
      if (!records) return reply(records.status());
      std::string text;
      for (const EventRecord& record : *records)
        text += std::string(what) + " " + record.name + "\n";
      reply(text);
    };
  }

  EventManager* const manager_;
  const ReportHub* const hub_;
  const Notifier* const notifier_;
  const std::function<Topology()> topology_;
};

Answer ControlCommands::ListReports(const CommandArguments& arguments, bool as_json) const {
  uint64_t count = kShownReports;
  if (!arguments.empty()) {
    const char* const end = arguments[0].data() + arguments[0].size();
    const auto [last, error] = std::from_chars(arguments[0].data(), end, count);
    if (error != std::errc() || last != end || count == 0 || count > kMaxReports) {
      return Status::Error("the count of reports is '" + arguments[0] + "'; it takes 1 to 10000");
    }
  }
  bool is_whole = false;
  const uint64_t last = hub_->last_number();
  const ReportRows rows = hub_->After(last - std::min(last, count), count, &is_whole);
  Json list = Json::array();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    list.push_back(Json::parse(ToJsonText(**row), nullptr, false));
  }
  return as_json ? Pretty(list) : ReportTable(list);
}

Json ReceiversJson(const Notifier* notifier) {
  Json list = Json::array();
  if (notifier == nullptr) return list;
  for (const ReceiverView& receiver : notifier->Receivers()) {
    list.push_back({{"name", receiver.name},
                    {"delivered", receiver.delivered},
                    {"waiting", receiver.waiting},
                    {"dropped", receiver.dropped},
                    {"failed_attempts", receiver.requests.failed},
                    {"last_error", receiver.requests.last_error}});
  }
  return list;
}

Answer ControlCommands::ShowStatus(const CommandArguments&, bool as_json) const {
  const NetworkCounters network = manager_->network_counters();
  const ListenerCounters agents = manager_->listener_counters();
  const NetworkBudget& budget = manager_->budget();
  Json json = {{"store", manager_->is_store_ready() ? "ok" : manager_->store_state()},
               {"events", manager_->Events(LocalCaller()).size()},
               {"hosts", manager_->Hosts().size()},
               {"hosts_connected", manager_->connected_hosts()},
               {"settled", manager_->is_settled()},
               {"intervals_decided", network.intervals_decided},
               {"intervals_incomplete", network.intervals_incomplete},
               {"reports", network.reports},
               {"clears", network.clears},
               {"reports_suppressed", network.reports_suppressed},
               {"partials", network.partials},
               {"late_partials", network.late_partials},
               {"refused_partials", network.refused_partials},
               {"buckets_evicted", network.buckets_evicted},
               {"polls", network.polls},
               {"buckets", budget.buckets},
               {"bytes_waiting", budget.bytes},
               {"sessions_accepted", agents.accepted},
               {"last_report", hub_->last_number()}};
  if (hub_->store() != nullptr) {
    const ReportStoreCounters store = hub_->store()->counters();
    json["reports_written"] = store.written;
    json["reports_lost"] = store.lost;
    json["report_store"] = store.problem.empty() ? "ok" : store.problem;
  }
  const Json receivers = ReceiversJson(notifier_);
  if (as_json) {
    json["receivers"] = receivers;
    return Pretty(json);
  }
  std::string text;
  for (const auto& [key, value] : json.items()) {
    std::string words = key;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += words + ": " + ApiText(json, key.c_str()) + "\n";
  }
  TextTable table({"receiver", ">delivered", ">waiting", ">dropped", ">failed", "last error"});
  for (const Json& receiver : receivers) {
    table.Add({ApiText(receiver, "name"), ApiText(receiver, "delivered"),
               ApiText(receiver, "waiting"), ApiText(receiver, "dropped"),
               ApiText(receiver, "failed_attempts"), ApiText(receiver, "last_error")});
  }
  return table.is_empty() ? text : text + "\n" + table.ToString(0);
}

}  // namespace

std::vector<DaemonCommand> MakeControlCommands(EventManager* manager, const ReportHub* hub,
                                               const Notifier* notifier,
                                               std::function<Topology()> topology) {
  // The handlers hold it together.
  const auto commands =
      std::make_shared<ControlCommands>(manager, hub, notifier, std::move(topology));
  using Show = Answer (ControlCommands::*)(const CommandArguments&, bool) const;
  using Change = void (ControlCommands::*)(const CommandArguments&, const CommandReply&) const;
  // `json`, as the first argument, is no argument of the command.
  const auto shows = [commands](Show show, size_t min_args) {
    return [commands, show, min_args](CommandArguments arguments, const CommandReply& reply) {
      const bool as_json = arguments.size() > min_args && arguments[0] == "json";
      if (as_json) arguments.erase(arguments.begin());
      reply(((*commands).*show)(arguments, as_json));
    };
  };
  const auto changes = [commands](Change change) {
    return [commands, change](const CommandArguments& arguments, const CommandReply& reply) {
      ((*commands).*change)(arguments, reply);
    };
  };
  const char* const event = "[name=NAME] EVENT|@FILE";
  return {
      {"event/list", "[json]", 0, 1, shows(&ControlCommands::ListEvents, 0)},
      {"event/show", "[json] NAME", 1, 2, shows(&ControlCommands::ShowEvent, 1)},
      {"event/add", event, 1, 2, changes(&ControlCommands::Add)},
      {"event/del", "NAME...", 1, 1000, changes(&ControlCommands::Delete)},
      {"event/check", std::string("[json] ") + event, 1, 3, shows(&ControlCommands::Check, 1)},
      {"host/list", "[json]", 0, 1, shows(&ControlCommands::ListHosts, 0)},
      {"host/show", "[json] HOST", 1, 2, shows(&ControlCommands::ShowHost, 1)},
      {"report/list", "[json] [COUNT]", 0, 2, shows(&ControlCommands::ListReports, 0)},
      {"tem/status", "[json]", 0, 1, shows(&ControlCommands::ShowStatus, 0)},
      {"topology/show", "[json]", 0, 1, shows(&ControlCommands::ShowTopology, 0)},
  };
}

DaemonFigures MakeDaemonFigures(const EventManager& manager, const ReportHub& hub,
                                const Notifier* notifier) {
  DaemonFigures figures;
  const NetworkCounters network = manager.network_counters();
  const ListenerCounters agents = manager.listener_counters();
  figures.totals[TRUMPET_COUNTER_agent_sessions] = agents.established;
  figures.totals[TRUMPET_COUNTER_agent_refused] = agents.refused;
  figures.totals[TRUMPET_COUNTER_partials] = network.partials;
  figures.totals[TRUMPET_COUNTER_intervals] = network.intervals_decided;
  figures.totals[TRUMPET_COUNTER_reports] = network.reports;
  figures.totals[TRUMPET_COUNTER_reports_withheld] = network.reports_suppressed;
  if (hub.store() != nullptr) {
    figures.totals[TRUMPET_COUNTER_reports_lost] = hub.store()->counters().lost;
  }
  if (notifier != nullptr) {
    for (const ReceiverView& receiver : notifier->Receivers()) {
      figures.totals[TRUMPET_COUNTER_notify_delivered] += receiver.requests.taken;
      figures.totals[TRUMPET_COUNTER_notify_failed] += receiver.requests.failed;
      figures.totals[TRUMPET_COUNTER_notify_dropped] += receiver.dropped;
    }
  }
  const NetworkBudget& budget = manager.budget();
  figures.memory_usage = {
      {"buckets", static_cast<unsigned>(budget.buckets)},
      {"events", static_cast<unsigned>(manager.Events(LocalCaller()).size())},
      {"flows", static_cast<unsigned>(budget.flows)},
      {"hosts-connected", static_cast<unsigned>(manager.connected_hosts())},
      {"waiting-kB", static_cast<unsigned>(budget.bytes / 1024)},
  };
  return figures;
}

}  // namespace trumpet
