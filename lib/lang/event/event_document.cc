// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/event_document.h"

#include <charconv>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "lib/lang/event/compile.h"
#include "lib/lang/event/granularity_parser.h"
#include "lib/lang/event/label.h"
#include "lib/lang/event/suggest.h"

namespace trumpet::event_lang {
namespace {

using Kind = DocumentNode::Kind;

const std::vector<std::string>& EventKeys() {
  static const std::vector<std::string> keys = {
      "filter",      "predicate", "flow_granularity", "time_interval", "event",
      "for",         "scope",     "observe",          "severity",      "name",
      "max_buckets", "deadline",  "report_rate"};
  return keys;
}

bool IsScalar(const DocumentNode& node) {
  return node.kind == Kind::kText || node.kind == Kind::kNumber;
}

// The value of `key` is not what is wanted: "a text", "a list".
std::string WrongKind(const DocumentNode& node, const char* key, const char* wanted) {
  return Quote(key) + (node.kind == Kind::kNull ? " is empty; it" : "") + " must be " + wanted;
}

// Reads one item of the list.  The first complaint wins; every step returns false after one.
class ItemReader {
 public:
  ItemReader(const Source& source, const DocumentNode& item, const MeasuredCheck& check)
      : source_(source), item_(item), check_(check) {}

  bool Read(EventSpec* spec) {
    spec_ = spec;
    if (item_.kind == Kind::kText) return ReadLine(item_);
    if (item_.kind != Kind::kMap) {
      return FailAt(item_.offset, "an event is a map of keys or a line of text");
    }
    return CollectKeys() && ReadParts() && ReadOptions();
  }

  size_t error_offset() const { return error_offset_; }
  const std::string& error() const { return error_; }
  // Where the name stands, or the item if it has none.
  size_t name_offset() const { return Find("name") ? Find("name")->offset : item_.offset; }

 private:
  bool CollectKeys() {
    for (size_t i = 0; i + 1 < item_.items.size(); i += 2) {
      const DocumentNode& key = item_.items[i];
      bool is_known = false;
      for (const std::string& known : EventKeys()) is_known |= key.text == known;
      if (key.kind != Kind::kText || !is_known) {
        return FailAt(key.offset, Quote(key.text) + " is not a key of an event" +
                                      DidYouMean(key.text, EventKeys()));
      }
      if (!values_.emplace(key.text, &item_.items[i + 1]).second) {
        return FailAt(key.offset, Quote(key.text) + " stands twice in this event");
      }
    }
    return true;
  }

  bool ReadParts() {
    const DocumentNode* const line = Find("event");
    if (line == nullptr) return ReadFourParts();
    for (const char* key : {"filter", "predicate", "flow_granularity", "time_interval"}) {
      if (const DocumentNode* const part = Find(key)) {
        return FailAt(part->offset, Quote(key) + " cannot stand beside 'event'");
      }
    }
    if (line->kind != Kind::kText) return FailKind(*line, "event", "a line of text");
    return ReadLine(*line);
  }

  bool ReadLine(const DocumentNode& node) {
    EventText text;
    size_t offset = 0;
    std::string message;
    if (!SplitEventLine(node.text, &text, &offset, &message)) {
      return FailIn(node, offset, message);
    }
    Diagnostic error;
    if (CompileEvent(text, spec_, &error, check_)) return true;
    const size_t part_start = static_cast<size_t>(text[error.part].data() - node.text.data());
    return FailIn(node, part_start + error.offset, error.message);
  }

  bool ReadFourParts() {
    static const DocumentNode kNothing;
    const DocumentNode* const nodes[] = {Find("filter"), Find("predicate"),
                                         Find("flow_granularity"), Find("time_interval")};
    const char* const keys[] = {"filter", "predicate", "flow_granularity", "time_interval"};
    std::string_view parts[4];
    for (size_t i = 0; i < 4; ++i) {
      const bool may_be_absent = i == static_cast<size_t>(Part::kGranularity);
      if (nodes[i] == nullptr && may_be_absent) continue;
      if (nodes[i] == nullptr) {
        return FailAt(item_.offset, "this event has no " + Quote(keys[i]));
      }
      if (nodes[i]->kind == Kind::kNull && may_be_absent) continue;
      if (!IsScalar(*nodes[i])) return FailKind(*nodes[i], keys[i], "a text");
      parts[i] = nodes[i]->text;
    }
    Diagnostic error;
    if (CompileEvent({parts[0], parts[1], parts[2], parts[3]}, spec_, &error, check_)) return true;
    return FailIn(*nodes[static_cast<size_t>(error.part)], error.offset, error.message);
  }

  bool ReadOptions() {
    return ReadLabel("name", &spec_->name) && ReadLabel("severity", &spec_->severity) &&
           ReadCount("for", UINT32_MAX, &spec_->for_count) &&
           ReadCount("max_buckets", kMaxBucketsPerEvent, &spec_->max_buckets) &&
           ReadCount("report_rate", kMaxReportRate, &spec_->report_rate) && ReadDeadline() &&
           ReadScope() && ReadObserve() && CheckMeasuredOptions();
  }

  // Nothing is counted at hosts, and an interval's values are told before those of the next one.
  bool CheckMeasuredOptions() {
    if (MeasuredStatesOf(spec_->predicate).empty()) return true;
    for (const char* key : {"observe", "max_buckets"}) {
      if (const DocumentNode* const node = Find(key)) {
        if (node->text == "source") continue;  // as it is printed
        return FailAt(node->offset, Quote(key) + " is about packets; measured values have none");
      }
    }
    if (spec_->scope == Scope::kHost) {
      return FailAt(Find("scope")->offset,
                    "measured values are those of all hosts together; the scope is 'network'");
    }
    if (spec_->deadline_ms <= spec_->interval_ms) return true;
    return FailAt(Find("deadline")->offset,
                  "an event with measured values waits for hosts for an interval at most");
  }

  bool ReadLabel(const char* key, std::string* label) {
    const DocumentNode* const node = Find(key);
    if (node == nullptr) return true;
    const bool is_name = std::string_view(key) == "name";
    if (!IsScalar(*node)) return FailKind(*node, key, is_name ? "a text, not empty" : "a text");
    const std::string problem =
        is_name ? EventNameProblem(node->text) : LabelProblem(key, node->text);
    if (!problem.empty()) return FailAt(node->offset, problem);
    *label = node->text;
    return true;
  }

  bool ReadCount(const char* key, uint32_t largest, uint32_t* count) {
    const DocumentNode* const node = Find(key);
    if (node == nullptr) return true;
    const char* const end = node->text.data() + node->text.size();
    uint32_t value = 0;
    const auto read = std::from_chars(node->text.data(), end, value);
    if (!IsScalar(*node) || read.ec != std::errc() || read.ptr != end || value < 1 ||
        value > largest) {
      return FailAt(node->offset, Quote(key) + " is " + Describe(*node) +
                                      "; it takes a whole number from 1 to " +
                                      std::to_string(largest));
    }
    *count = value;
    return true;
  }

  bool ReadDeadline() {
    const DocumentNode* const node = Find("deadline");
    if (node == nullptr) return true;
    Diagnostic error;
    if (IsScalar(*node) && ParseInterval(node->text, &spec_->deadline_ms, &error)) return true;
    return FailAt(node->offset, "'deadline' is " + Describe(*node) +
                                    "; it takes whole milliseconds from 1ms to one day (86400s)");
  }

  bool ReadScope() {
    int choice = static_cast<int>(spec_->scope);
    if (!ReadChoice("scope", {"network", "host"}, &choice)) return false;
    spec_->scope = static_cast<Scope>(choice);
    return true;
  }

  bool ReadObserve() {
    int choice = static_cast<int>(spec_->observe);
    if (!ReadChoice("observe", {"source", "destination", "all"}, &choice)) return false;
    spec_->observe = static_cast<Observe>(choice);
    return true;
  }

  // Names stand in the order of the enumeration's values.
  bool ReadChoice(const char* key, const std::vector<std::string>& names, int* choice) {
    const DocumentNode* const node = Find(key);
    if (node == nullptr) return true;
    std::string list;
    for (size_t i = 0; i < names.size(); ++i) {
      if (node->kind == Kind::kText && node->text == names[i]) {
        *choice = static_cast<int>(i);
        return true;
      }
      list += i == 0 ? names[i] : (i + 1 < names.size() ? ", " : " or ") + names[i];
    }
    return FailAt(node->offset, Quote(key) + " is " + Describe(*node) + "; it takes " + list +
                                    DidYouMean(node->text, names));
  }

  static std::string Describe(const DocumentNode& node) {
    if (node.kind == Kind::kList) return "a list";
    if (node.kind == Kind::kMap) return "a map";
    return node.kind == Kind::kNull ? "empty" : Quote(node.text);
  }

  const DocumentNode* Find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }

  bool FailKind(const DocumentNode& node, const char* key, const char* wanted) {
    return FailAt(node.offset, WrongKind(node, key, wanted));
  }

  // At a place of the node's decoded text.
  bool FailIn(const DocumentNode& node, size_t decoded_offset, const std::string& message) {
    const bool is_text = node.kind == Kind::kText;
    return FailAt(
        is_text ? RawOffset(source_.text, node.offset, node.text, decoded_offset) : node.offset,
        message);
  }

  bool FailAt(size_t offset, const std::string& message) {
    error_offset_ = offset;
    error_ = message;
    return false;
  }

  const Source& source_;
  const DocumentNode& item_;
  const MeasuredCheck& check_;
  EventSpec* spec_ = nullptr;
  std::map<std::string, const DocumentNode*> values_;
  size_t error_offset_ = 0;
  std::string error_;
};

Status Unexpected(const Source& source, const DocumentNode& root) {
  return Status::Error(
      source.ErrorAt(root.offset, "expected a map with the key 'events', or a list of events"));
}

// The list of items in `root`.
Result<const DocumentNode*> FindList(const Source& source, const DocumentNode& root) {
  if (root.kind == Kind::kList) return &root;
  if (root.kind != Kind::kMap || root.items.empty()) return Unexpected(source, root);
  const DocumentNode* list = nullptr;
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const DocumentNode& key = root.items[i];
    if (key.text != "events") {
      return Status::Error(source.ErrorAt(key.offset, Quote(key.text) +
                                                          " is not a key here; only 'events' is" +
                                                          DidYouMean(key.text, {"events"})));
    }
    if (list != nullptr) return Status::Error(source.ErrorAt(key.offset, "'events' stands twice"));
    list = &root.items[i + 1];
    if (list->kind != Kind::kList) {
      return Status::Error(source.ErrorAt(list->offset, WrongKind(*list, "events", "a list")));
    }
  }
  return list;
}

}  // namespace

Result<std::vector<EventSpec>> ReadEvents(const Source& source, const DocumentNode& root,
                                          const MeasuredCheck& check) {
  const Result<const DocumentNode*> list = FindList(source, root);
  if (!list.ok()) return list.status();
  std::vector<EventSpec> specs;
  std::map<std::string, size_t> places;  // of each name, by number in the file
  std::string errors;
  size_t error_count = 0;
  // Finding a line means reading the file up to it, so the errors that are not shown do without.
  const auto complain = [&](size_t offset, const std::string& message) {
    if (++error_count > kMaxErrorsShown) return;
    errors += (errors.empty() ? "" : "\n") + source.ErrorAt(offset, message);
  };
  for (const DocumentNode& item : (*list)->items) {
    EventSpec spec;
    ItemReader reader(source, item, check);
    const size_t number = specs.size() + 1;  // its place counts, wrong events included
    specs.emplace_back();
    if (!reader.Read(&spec)) {
      complain(reader.error_offset(), reader.error());
      continue;
    }
    if (spec.name.empty()) spec.name = "event-" + std::to_string(number);
    const auto [place, is_new] = places.emplace(spec.name, number);
    if (!is_new) {
      complain(reader.name_offset(), "the name " + Quote(spec.name) + " is taken by event " +
                                         std::to_string(place->second) + " of the file");
    }
    specs.back() = std::move(spec);
  }
  if (error_count > kMaxErrorsShown) {
    errors += "\n" + std::string(source.name) + ": " +
              std::to_string(error_count - kMaxErrorsShown) + " more errors";
  }
  if (error_count > 0) return Status::Error(errors);
  return specs;
}

}  // namespace trumpet::event_lang
