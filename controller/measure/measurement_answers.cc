// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// How measurements are, what they have measured, and what they answer.

#include <utility>

#include "controller/measure/measurement_manager.h"

namespace trumpet {

NetworkMeasurement MeasurementManager::MakeView(const Live& live) const {
  NetworkMeasurement view{live.record, live.definition,    live.program, live.problem,
                          {},          live.copies.Total()};
  std::map<std::string, MeasurementHost> hosts;
  for (const std::string& id : live.ran_on) {
    const auto host = parts_.hosts->FindHost(id);
    const bool is_awaited = host && host->sessions != 0;
    if (is_awaited) hosts[id] = {id, MeasurementOnHost::kAway, ""};
  }
  for (const std::string& name : live.definition.hosts) {
    const auto host = parts_.hosts->FindHost(name);
    const std::string id = host ? host->id : name;
    hosts[id] = {id, MeasurementOnHost::kAway, ""};
  }
  for (const auto& [id, programs] : running_) {
    if (!IsFor(live, id)) continue;
    MeasurementHost& host = hosts[id] = {id, MeasurementOnHost::kWaiting, ""};
    const auto refusal = live.refusals.find(id);
    if (refusal != live.refusals.end()) {
      host = {id, MeasurementOnHost::kRefused, refusal->second};
    } else if (programs.count({live.record.name, live.record.id}) != 0) {
      host.state = MeasurementOnHost::kRunning;
    }
  }
  for (auto& [id, host] : hosts) {
    host.switch_id = PlaceAt(live.definition.places, NamedOf(id)).switch_id;
    host.copies = live.copies.Of(id);
    view.hosts.push_back(std::move(host));
  }
  return view;
}

std::vector<NetworkMeasurement> MeasurementManager::Measurements() const {
  std::vector<NetworkMeasurement> views;
  for (const auto& [name, live] : live_) views.push_back(MakeView(live));
  return views;
}

std::optional<NetworkMeasurement> MeasurementManager::Find(const std::string& name) const {
  const auto live = live_.find(name);
  if (live == live_.end()) return std::nullopt;
  return MakeView(live->second);
}

const MeasurementDefinition* MeasurementManager::FindDefinition(const std::string& name) const {
  const auto live = live_.find(name);
  return FindProgram(name) == nullptr ? nullptr : &live->second.definition;
}

const MeasureProgram* MeasurementManager::FindProgram(const std::string& name) const {
  const auto live = live_.find(name);
  if (live == live_.end() || !live->second.record.is_enabled) return nullptr;
  return live->second.problem.empty() ? &live->second.program : nullptr;
}

std::vector<std::string> MeasurementManager::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, live] : live_) names.push_back(name);
  return names;
}

MeasurementManager::Askable MeasurementManager::AskableOf(const NetworkMeasurement& view,
                                                          const std::string& host) {
  Askable askable;
  for (const MeasurementHost& one : view.hosts) {
    if (!host.empty() && one.id != host) continue;
    switch (one.state) {
      case MeasurementOnHost::kRunning:
        askable.hosts.push_back(one.id);
        break;
      case MeasurementOnHost::kAway:
        askable.silent.push_back({one.id, "it is not connected"});
        break;
      case MeasurementOnHost::kWaiting:
        askable.silent.push_back({one.id, "it does not run it"});
        break;
      case MeasurementOnHost::kRefused:
        askable.silent.push_back({one.id, one.error});
        break;
    }
  }
  return askable;
}

// Why nobody can be asked; a host that is none of the measurement's was misspelt.
std::string MeasurementManager::NobodyToAsk(const Askable& askable, const NetworkMeasurement& view,
                                            const std::string& host) {
  constexpr size_t kMost = 16;
  if (host.empty()) return "no host that runs it is connected";
  const std::string quoted = "'" + host.substr(0, 64) + "'";
  if (!askable.silent.empty()) return "host " + quoted + ": " + askable.silent[0].why;
  std::string text = "measurement '" + view.record.name + "' is not on a host " + quoted;
  for (size_t i = 0; i < view.hosts.size() && i < kMost; ++i) {
    text += (i == 0 ? "; it is on " : ", ") + view.hosts[i].id;
  }
  return view.hosts.size() > kMost ? text + ", ..." : text;
}

Result<uint64_t> MeasurementManager::Read(const std::string& name, const std::string& host,
                                          std::vector<CellQuestion> questions,
                                          CellReader::Done done) {
  const auto view = Find(name);
  if (!view) return Status::Error("there is no measurement named '" + name + "'");
  uint64_t cells = 0;
  for (const CellQuestion& question : questions) cells += question.wants_keys ? 0 : question.count;
  if (cells > kMaxCellsRead) {
    return Status::Error("that are " + std::to_string(cells) + " cells; one read takes at most " +
                         std::to_string(kMaxCellsRead) + ": read one variable, or of one key");
  }
  Askable askable = AskableOf(*view, host.empty() ? host : NamedOf(host).id);
  if (askable.hosts.empty()) return Status::Error(NobodyToAsk(askable, *view, host));
  const uint64_t number =
      reader_.Read({name, view->record.id}, std::move(questions), std::move(askable.hosts),
                   std::move(askable.silent), std::move(done));
  if (number == 0) return Status::Error("too many reads are under way; try again");
  return number;
}

Status MeasurementManager::Ask(const std::string& name, const std::string& host,
                               std::vector<AskedField> fields, ProgramAsker::Done done) {
  const auto view = Find(name);
  if (!view) return Status::Error("there is no measurement named '" + name + "'");
  Askable askable = AskableOf(*view, host.empty() ? host : NamedOf(host).id);
  if (askable.hosts.empty()) return Status::Error(NobodyToAsk(askable, *view, host));
  const auto& headers = view->program.header_fields;
  const bool is_taken = asker_.Ask(
      {{name, view->record.id},
       std::move(fields),
       view->program.endpoints.size(),
       kMeasureFieldCount + headers.size()},
      std::move(askable.hosts),
      [silent = std::move(askable.silent), done = std::move(done)](const RequestAnswer& answer) {
        RequestAnswer whole = answer;
        whole.silent.insert(whole.silent.begin(), silent.begin(), silent.end());
        done(whole);
      });
  return is_taken ? Status::Ok() : Status::Error("too many requests are under way; try again");
}

}  // namespace trumpet
