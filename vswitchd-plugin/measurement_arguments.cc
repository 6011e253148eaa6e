// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/measurement_arguments.h"

#include <algorithm>
#include <charconv>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/wire/copy_address.h"
#include "vswitchd-plugin/input_file.h"

namespace trumpet {
namespace {

using event_lang::Quote;

Status Unexpected(const std::string& argument) {
  return Status::Error("unexpected argument " + Quote(argument));
}

// "name=value"; false if it is not that.
bool Split(const std::string& argument, std::string* name, std::string* value) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  *name = argument.substr(0, equals);
  *value = argument.substr(equals + 1);
  return true;
}

Status ReadNumber(const std::string& name, const std::string& text, uint64_t low, uint64_t high,
                  uint64_t* number) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end || value < low || value > high) {
    return Status::Error(name + " is " + Quote(text) + "; it takes " + std::to_string(low) +
                         " to " + std::to_string(high));
  }
  *number = value;
  return Status::Ok();
}

// "eth0,vm*"; nothing: the switch has none.
Status ReadEdges(const std::string& text, std::optional<std::vector<std::string>>* edges) {
  if (edges->has_value()) return Status::Error("edge= is given twice");
  edges->emplace();
  if (text.empty()) return Status::Ok();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin || (*edges)->size() == kMaxEdgePorts) {
      return Status::Error("edge is " + Quote(text) + "; it takes at most " +
                           std::to_string(kMaxEdgePorts) + " names of ports, with commas between");
    }
    (*edges)->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return Status::Ok();
}

// ENDPOINT=udp:... or erspan:...
Status ReadEndpoint(const std::string& name, const std::string& value, MeasurementPlace* place) {
  if (place->endpoints.emplace(name, value).second) return Status::Ok();
  return Status::Error(name + "= is given twice");
}

// edge=, switch=, lab=, copy-rate= and endpoints; `is_place` tells whether it was one of them.
Status ReadPlace(const std::string& name, const std::string& value, MeasurementPlace* place,
                 bool* is_place) {
  *is_place = true;
  if (name == "edge") return ReadEdges(value, &place->edges);
  if (LooksLikeCopyAddress(value)) return ReadEndpoint(name, value, place);
  if (name == "copy-rate") {
    uint64_t rate = 0;
    Status status = ReadNumber(name, value, 1, kMaxCopiesPerSecond, &rate);
    place->copies_per_second = static_cast<uint32_t>(rate);
    return status;
  }
  if (name == "switch") {
    uint64_t number = 0;
    Status status = ReadNumber(name, value, 0, UINT8_MAX, &number);
    place->switch_id = static_cast<uint8_t>(number);
    return status;
  }
  *is_place = name == "lab";
  if (!*is_place) return Status::Ok();
  place->is_lab = value == "yes";
  if (place->is_lab || value == "no") return Status::Ok();
  return Status::Error("lab is " + Quote(value) + "; it takes yes or no");
}

Status ReadParams(const std::vector<std::string>& arguments, MeasurementPlace* place,
                  MafiaOptions* options) {
  for (size_t i = 2; i < arguments.size(); ++i) {
    std::string name;
    std::string value;
    if (!Split(arguments[i], &name, &value)) {
      return Status::Error(Quote(arguments[i]) +
                           " is not PARAM=VALUE (quote a program with spaces)");
    }
    bool is_place = false;
    if (Status status = ReadPlace(name, value, place, &is_place); !status.ok()) return status;
    if (is_place) continue;
    if (!options->params.emplace(name, value).second) {
      return Status::Error(name + "= is given twice");
    }
  }
  return Status::Ok();
}

}  // namespace

Result<ProgramToAdd> ReadProgramArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return Status::Error("a program takes NAME and its text, or @FILE");
  ProgramToAdd added;
  added.name = arguments[0];
  std::string text = arguments[1];
  std::string place = added.name;
  MafiaOptions options;
  if (Status status = ReadParams(arguments, &added.place, &options); !status.ok()) return status;
  if (!text.empty() && text[0] == '@') {
    place = text.substr(1);
    Result<std::string> file = ReadInputFile(place, "a program");
    if (!file.ok()) return file.status();
    text = std::move(*file);
  }
  MafiaCheck check = CheckMafia(text, place, options);
  if (!check.ok()) return Status::Error(FormatMafiaProblem(place, check.errors[0]));
  for (const MafiaProblem& warning : check.warnings) {
    added.warnings.push_back(FormatMafiaProblem(place, warning));
  }
  added.program = std::move(check.program);
  added.program.name = added.name;
  return added;
}

Result<ProgramQuestion> ReadProgramQuestion(const std::vector<std::string>& arguments) {
  ProgramQuestion question;
  question.name = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string name;
    std::string value;
    if (!Split(arguments[i], &name, &value)) {
      if (i > 1 || arguments[i].empty()) return Unexpected(arguments[i]);
      question.variable = arguments[i];
    } else if (name == "key") {
      question.key = value;
    } else if (name == "top") {
      uint64_t top = 0;
      if (Status status = ReadNumber(name, value, 1, kMaxShownCells, &top); !status.ok()) {
        return status;
      }
      question.top = static_cast<size_t>(top);
    } else {
      return Unexpected(arguments[i]);
    }
  }
  if (question.variable.empty() && arguments.size() > 1) {
    return Status::Error("key= and top= go with a variable");
  }
  return question;
}

Result<ProgramRequest> ReadProgramRequest(const std::vector<std::string>& arguments) {
  ProgramRequest request;
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    std::string name;
    std::string value;
    if (!Split(argument, &name, &value) || name != "request") {
      rest.push_back(argument);
      continue;
    }
    uint64_t number = 0;
    if (Status status = ReadNumber(name, value, 0, UINT16_MAX, &number); !status.ok()) {
      return status;
    }
    request.request = static_cast<uint16_t>(number);
  }
  if (rest.empty()) return Status::Error("the name of the program is missing");
  Result<ProgramQuestion> question = ReadProgramQuestion(rest);
  if (!question.ok()) return question.status();
  if (question->variable.empty() == question->key.has_value() || question->top != kDefaultCells) {
    return Status::Error("a request takes a variable and a value of its key, or neither");
  }
  request.question = std::move(*question);
  return request;
}

Status ReadBudgetArguments(const std::vector<std::string>& arguments, MeasureBudget* budget) {
  const struct {
    const char* name;
    uint64_t most;
    uint64_t* value;
  } kLimits[] = {{"operators", 1 << 20, &budget->operators},
                 {"hashes", 1 << 20, &budget->hashes},
                 {"cache-lines", 1 << 20, &budget->cache_lines},
                 {"bytes", uint64_t{1} << 32, &budget->bytes}};
  for (const std::string& argument : arguments) {
    std::string name;
    std::string value;
    if (!Split(argument, &name, &value)) return Unexpected(argument);
    const auto* const limit = std::find_if(std::begin(kLimits), std::end(kLimits),
                                           [&name](const auto& each) { return name == each.name; });
    if (limit == std::end(kLimits)) return Unexpected(argument);
    Status status = ReadNumber(name, value, 0, limit->most, limit->value);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace trumpet
