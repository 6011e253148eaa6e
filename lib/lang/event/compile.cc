// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/compile.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lib/lang/event/ast.h"
#include "lib/lang/event/check.h"
#include "lib/lang/event/filter_parser.h"
#include "lib/lang/event/granularity_parser.h"
#include "lib/lang/event/lower.h"
#include "lib/lang/event/measured_check.h"
#include "lib/lang/event/predicate_parser.h"

namespace trumpet::event_lang {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Where the commas are that part the event, or where a bracket has no partner.
class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  bool Run() {
    for (size_t i = 0; i < line_.size(); ++i) {
      const char c = line_[i];
      if (c == '(' || c == '{') open_.push_back(i);
      if ((c == ')' || c == '}') && !Close(i)) return false;
      if (c == ',' && open_.empty()) commas_.push_back(i);
    }
    if (open_.empty()) return true;
    return FailAt(open_.back(), " is never closed");
  }

  const std::vector<size_t>& commas() const { return commas_; }
  size_t error_offset() const { return error_offset_; }
  const std::string& error() const { return error_; }

 private:
  bool Close(size_t i) {
    if (open_.empty()) return FailAt(i, " closes nothing");
    const char opening = line_[open_.back()];
    open_.pop_back();
    if ((opening == '(') == (line_[i] == ')')) return true;
    return FailAt(i, std::string(" cannot close '") + opening + "'");
  }

  bool FailAt(size_t offset, const std::string& what) {
    error_offset_ = offset;
    error_ = Quote(line_.substr(offset, 1)) + what;
    return false;
  }

  const std::string_view line_;
  std::vector<size_t> open_;
  std::vector<size_t> commas_;
  size_t error_offset_ = 0;
  std::string error_;
};

// Is what looks like the granularity the interval, with nothing where that should be?
bool HasCommaBehindInterval(std::string_view line, const std::vector<size_t>& commas) {
  if (commas.size() < 3 || line.find_first_not_of(kBlanks, commas.back() + 1) != line.npos) {
    return false;
  }
  const size_t start = commas[commas.size() - 2] + 1;
  uint32_t interval_ms = 0;
  Diagnostic error;
  return ParseInterval(line.substr(start, commas.back() - start), &interval_ms, &error);
}

// Printed, numbers and names may be longer than they were written; that must be read again.
bool CheckPrinted(const EventSpec& spec, Diagnostic* error) {
  if (PrintEventLine(spec).size() <= kMaxEventBytes) return true;
  return Fail(error, Part::kFilter, 0,
              "this event is longer than " + std::to_string(kMaxEventBytes) +
                  " bytes in its canonical form");
}

}  // namespace

std::string_view EventText::operator[](Part part) const {
  switch (part) {
    case Part::kFilter:
      return filter;
    case Part::kPredicate:
      return predicate;
    case Part::kGranularity:
      return granularity;
    case Part::kInterval:
      break;
  }
  return interval;
}

bool SplitEventLine(std::string_view line, EventText* text, size_t* offset, std::string* message) {
  Splitter splitter(line);
  if (!splitter.Run()) {
    *offset = splitter.error_offset();
    *message = splitter.error();
    return false;
  }
  const std::vector<size_t>& commas = splitter.commas();
  if (commas.size() < 2) {
    *offset = line.size();
    *message = "an event is 'filter, predicate, granularity, interval'; this one has only " +
               std::string(commas.empty() ? "one part" : "two parts");
    return false;
  }
  if (HasCommaBehindInterval(line, commas)) {
    *offset = commas.back();
    *message = "an event ends with its time interval; this ',' is one too many";
    return false;
  }
  text->filter = line.substr(0, commas[0]);
  text->predicate = line.substr(commas[0] + 1, commas[1] - commas[0] - 1);
  text->interval = line.substr(commas.back() + 1);
  text->granularity = line.substr(commas[1] + 1, 0);
  if (commas.size() > 2) {
    text->granularity = line.substr(commas[1] + 1, commas.back() - commas[1] - 1);
  }
  return true;
}

bool CompileEvent(const EventText& text, EventSpec* spec, Diagnostic* error,
                  const MeasuredCheck& check) {
  for (Part part : {Part::kFilter, Part::kPredicate, Part::kGranularity, Part::kInterval}) {
    if (text[part].size() <= kMaxEventBytes) continue;
    return Fail(error, part, 0,
                "this text is longer than " + std::to_string(kMaxEventBytes) + " bytes");
  }
  EventAst event;
  event.interval_offset = std::min(text.interval.find_first_not_of(kBlanks), text.interval.size());
  return ParseFilter(text.filter, &event.filter, error) &&
         ParsePredicate(text.predicate, &event.predicate, error) &&
         ParseGranularity(text.granularity, &event.granularity, error) &&
         ParseInterval(text.interval, &event.interval_ms, error) && CheckEvent(event, error) &&
         CheckMeasured(event, check, error) && LowerEvent(event, spec, error) &&
         CheckPrinted(*spec, error);
}

}  // namespace trumpet::event_lang
