// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/event_input.h"

#include <charconv>
#include <set>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/event_language.h"
#include "lib/lang/event/label.h"
#include "vswitchd-plugin/input_file.h"

namespace trumpet {
namespace {

using event_lang::Quote;

bool StartsWith(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// Sets what `key=value` says; an unknown key is answered by false.
bool SetOption(const std::string& key, const std::string& value, EventSpec* spec, Status* status) {
  const auto refuse = [&](const char* takes) {
    *status = Status::Error(key + " is " + Quote(value) + "; it takes " + takes);
    return true;
  };
  if (key == "name" || key == "severity") {
    const std::string problem =
        key == "name" ? event_lang::EventNameProblem(value) : event_lang::LabelProblem(key, value);
    if (!problem.empty()) *status = Status::Error(problem);
    (key == "name" ? spec->name : spec->severity) = value;
  } else if (key == "for") {
    uint32_t count = 0;
    const char* end = value.data() + value.size();
    const auto [last, error] = std::from_chars(value.data(), end, count);
    if (error != std::errc() || last != end || count == 0) {
      return refuse("1 to 4294967295 intervals");
    }
    spec->for_count = count;
  } else if (key == "scope") {
    if (value != "host" && value != "network") return refuse("host or network");
    spec->scope = value == "host" ? Scope::kHost : Scope::kNetwork;
  } else if (key == "observe") {
    if (value == "source") {
      spec->observe = Observe::kSource;
    } else if (value == "destination") {
      spec->observe = Observe::kDestination;
    } else if (value == "all") {
      spec->observe = Observe::kAll;
    } else {
      return refuse("source, destination or all");
    }
  } else {
    return false;
  }
  return true;
}

Result<std::vector<EventSpec>> ReadOneLine(const std::vector<std::string>& arguments) {
  Result<EventSpec> event = ParseEventLine(arguments.back(), "event", RefuseMeasured);
  if (!event.ok()) return event.status();
  std::set<std::string> seen;
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    const std::string key = arguments[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
    Status status = Status::Ok();
    if (equals == std::string::npos || !SetOption(key, value, &*event, &status)) {
      return Status::Error(Quote(arguments[i]) +
                           " is not an option; before the event may stand name=, for=, scope=, "
                           "observe= and severity= (quote an event with spaces)");
    }
    if (!status.ok()) return status;
    if (!seen.insert(key).second) return Status::Error(key + "= is given twice");
  }
  return std::vector<EventSpec>{std::move(*event)};
}

}  // namespace

Result<std::vector<EventSpec>> ReadEventArguments(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Status::Error("an event is missing");
  const std::string& text = arguments.back();
  const bool is_file = StartsWith(text, "@");
  const bool is_json = StartsWith(text, "{") || StartsWith(text, "[");
  const bool is_yaml = StartsWith(text, "events:") || StartsWith(text, "-");
  if (!is_file && !is_json && !is_yaml) return ReadOneLine(arguments);
  if (arguments.size() > 1) {
    return Status::Error(Quote(arguments[0]) +
                         " goes with a one-line event only; a file says it beside each event");
  }
  if (is_json) return ParseEventsJson(text, "event", RefuseMeasured);
  if (is_yaml) return ParseEventsYaml(text, "event", RefuseMeasured);
  const std::string path = text.substr(1);
  Result<std::string> file = ReadInputFile(path, "events");
  if (!file.ok()) return file.status();
  return ParseEventsFile(*file, path, RefuseMeasured);
}

}  // namespace trumpet
