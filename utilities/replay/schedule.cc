// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/schedule.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

namespace trumpet {
namespace {

struct Line {
  Nanos at = 0;
  bool installs = false;
  std::string_view name;
};

// "TIME install NAME"; the name is the rest of the line.
std::optional<Line> ParseLine(std::string_view text) {
  Line line;
  const auto time = std::from_chars(text.data(), text.data() + text.size(), line.at);
  if (time.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(time.ptr - text.data()));
  for (const std::string_view word : {" install ", " remove "}) {
    if (text.substr(0, word.size()) != word) continue;
    line.installs = word == " install ";
    line.name = text.substr(word.size());
    return line;
  }
  return std::nullopt;
}

class ScheduleReader {
 public:
  ScheduleReader(const std::string& path, const HostVerdicts::Plans& events)
      : path_(path), events_(events), is_installed_(events.size()), is_named_(events.size()) {}

  Result<Schedule> Read(std::string_view text) {
    for (int pass = 0; pass < 2; pass++) {  // the first finds out what runs from the beginning
      size_t at = 0;
      for (number_ = 1; at < text.size(); number_++) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.empty() || line.front() == '#') continue;
        Status status = pass == 0 ? Note(line) : Take(line);
        if (!status.ok()) return status;
      }
      if (pass == 0) Begin();
    }
    return schedule_;
  }

 private:
  Status Error(const std::string& what) const {
    return Status::Error(path_ + ":" + std::to_string(number_) + ": " + what);
  }

  // Finds the line's event.
  Status Parse(std::string_view text, Line* line, size_t* event) const {
    const auto parsed = ParseLine(text);
    if (!parsed) return Error("a line is 'NANOSECONDS install NAME' or 'NANOSECONDS remove NAME'");
    *line = *parsed;
    for (*event = 0; *event < events_.size(); ++*event) {
      if (events_[*event]->spec.name == line->name) return Status::Ok();
    }
    return Error("there is no event '" + std::string(line->name) + "'");
  }

  Status Note(std::string_view text) {
    Line line;
    size_t event = 0;
    if (Status status = Parse(text, &line, &event); !status.ok()) return status;
    if (!is_named_[event]) is_installed_[event] = !line.installs;
    is_named_[event] = true;
    return Status::Ok();
  }

  void Begin() {
    now_ = events_;
    for (size_t i = 0; i < events_.size(); i++) {
      if (!is_named_[i]) is_installed_[i] = true;
    }
    schedule_.first = Installed();
  }

  Status Take(std::string_view text) {
    Line line;
    size_t event = 0;
    if (Status status = Parse(text, &line, &event); !status.ok()) return status;
    const std::string name(line.name);
    if (line.installs == is_installed_[event]) {
      return Error("'" + name + "' is " + (line.installs ? "installed already" : "not installed"));
    }
    if (!schedule_.changes.empty() && line.at < schedule_.changes.back().at) {
      return Error("the time is before that of the line above");
    }
    is_installed_[event] = line.installs;
    if (line.installs) now_[event] = Renewed(*events_[event]);
    if (schedule_.changes.empty() || line.at != schedule_.changes.back().at) {
      schedule_.changes.push_back({line.at, {}});
    }
    schedule_.changes.back().plans = Installed();
    return Status::Ok();
  }

  std::shared_ptr<const TriggerPlan> Renewed(const TriggerPlan& plan) {
    auto renewed = std::make_shared<TriggerPlan>(plan);
    renewed->spec.id = static_cast<uint32_t>(events_.size() + ++renewals_);
    return renewed;
  }

  HostVerdicts::Plans Installed() const {
    HostVerdicts::Plans plans;
    for (size_t i = 0; i < now_.size(); i++) {
      if (is_installed_[i]) plans.push_back(now_[i]);
    }
    return plans;
  }

  const std::string& path_;
  const HostVerdicts::Plans& events_;
  HostVerdicts::Plans now_;  // each with the id it has now
  std::vector<bool> is_installed_;
  std::vector<bool> is_named_;
  size_t renewals_ = 0;
  int number_ = 1;
  Schedule schedule_;
};

}  // namespace

Result<Schedule> ParseSchedule(std::string_view text, const std::string& path,
                               const HostVerdicts::Plans& events) {
  return ScheduleReader(path, events).Read(text);
}

}  // namespace trumpet
