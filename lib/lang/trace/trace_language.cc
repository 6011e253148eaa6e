// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/trace/trace_language.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "lib/lang/event/compile.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/label.h"
#include "lib/lang/event/print.h"
#include "lib/lang/event/suggest.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;
using event_lang::Quote;
using Kind = DocumentNode::Kind;
using Names = std::vector<std::string>;

// A filter is an event's, whose other parts say nothing.
bool ReadFilter(std::string_view text, FilterExpr* filter, event_lang::Diagnostic* error) {
  EventSpec event;
  if (!event_lang::CompileEvent({text, "1", {}, "1s"}, &event, error)) return false;
  *filter = std::move(event.filter);
  return true;
}

// The first complaint wins; every step returns false after one.
class RulesReader {
 public:
  explicit RulesReader(const event_lang::Source& source) : source_(source) {}

  bool Read(const DocumentNode& root, TraceRules* rules) {
    Values values;
    if (!Collect(root, "a set of trace rules",
                 {"debug_bit", "base", "switch_rate", "network_rate", "rules", "marks"}, &values)) {
      return false;
    }
    uint32_t debug_bit = 0;
    bool has_base = false;
    if (!ReadCount(values, "debug_bit", 0, 5, &debug_bit) ||
        !ReadCount(values, "switch_rate", 1, kMaxTraceRate, &rules->switch_rate) ||
        !ReadCount(values, "network_rate", 1, kMaxTraceRate, &rules->network_rate) ||
        !ReadBool(values, "base", &has_base)) {
      return false;
    }
    if (values.count("debug_bit") != 0) rules->debug_bit = static_cast<int>(debug_bit);
    if (has_base) rules->rules = BaseTraceRules(rules->debug_bit >= 0);
    for (TraceRule& rule : rules->rules) {
      names_.insert(rule.name);
      rule.place = source_.PlaceOf(values["base"]->offset);
    }
    if (!ReadRules(values, rules)) return false;
    if (has_base && rules->debug_bit >= 0) MoveBehindEdges(&rules->rules);
    return ReadMarks(values, rules) && CheckEdges(root, *rules);
  }

  // `name` is known otherwise.
  bool ReadMark(const DocumentNode& item, const std::string& name, TraceMark* mark) {
    Values values;
    if (!Collect(item, "a mark", {"filter", "hosts"}, &values)) return false;
    const std::string problem = event_lang::EventNameProblem(name);
    if (!problem.empty()) return Fail(item.offset, problem);
    mark->name = name;
    return ReadFilterOf(values, &mark->filter) && ReadHosts(values, mark);
  }

  const std::string& error() const { return error_; }

 private:
  using Values = std::map<std::string, const DocumentNode*>;

  bool Fail(size_t offset, const std::string& message) {
    error_ = source_.ErrorAt(offset, message);
    return false;
  }

  bool Collect(const DocumentNode& map, const std::string& what, const Names& known,
               Values* values) {
    if (map.kind != Kind::kMap) return Fail(map.offset, what + " is a map of keys");
    for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
      const DocumentNode& key = map.items[i];
      bool is_known = false;
      for (const std::string& name : known) is_known |= key.text == name;
      if (key.kind != Kind::kText || !is_known) {
        return Fail(key.offset, Quote(key.text) + " is not a key of " + what +
                                    event_lang::DidYouMean(key.text, known));
      }
      if (!values->emplace(key.text, &map.items[i + 1]).second) {
        return Fail(key.offset, Quote(key.text) + " stands twice here");
      }
    }
    return true;
  }

  static const DocumentNode* Find(const Values& values, const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : found->second;
  }

  bool ReadCount(const Values& values, const char* key, uint32_t least, uint32_t most,
                 uint32_t* count) {
    const DocumentNode* const node = Find(values, key);
    if (node == nullptr) return true;
    const char* const end = node->text.data() + node->text.size();
    const auto read = std::from_chars(node->text.data(), end, *count);
    const bool is_number = node->kind == Kind::kText || node->kind == Kind::kNumber;
    if (is_number && read.ec == std::errc() && read.ptr == end && *count >= least &&
        *count <= most) {
      return true;
    }
    return Fail(node->offset, Quote(key) + " takes a whole number from " + std::to_string(least) +
                                  " to " + std::to_string(most));
  }

  bool ReadBool(const Values& values, const char* key, bool* value) {
    const DocumentNode* const node = Find(values, key);
    if (node == nullptr) return true;
    *value = node->text == "true";
    const bool is_word = node->kind == Kind::kText || node->kind == Kind::kBool;
    if (is_word && (*value || node->text == "false")) return true;
    return Fail(node->offset, Quote(key) + " takes true or false");
  }

  bool ReadRules(const Values& values, TraceRules* rules) {
    const DocumentNode* const list = Find(values, "rules");
    if (list == nullptr || list->kind == Kind::kNull) return true;
    if (list->kind != Kind::kList) return Fail(list->offset, "'rules' must be a list");
    for (const DocumentNode& item : list->items) {
      if (rules->rules.size() == kMaxTraceRules) {
        return Fail(item.offset,
                    "there are more than " + std::to_string(kMaxTraceRules) + " rules");
      }
      TraceRule rule;
      if (!ReadRule(item, rules->debug_bit >= 0, &rule)) return false;
      rules->rules.push_back(std::move(rule));
    }
    return true;
  }

  bool ReadRule(const DocumentNode& item, bool has_debug_bit, TraceRule* rule) {
    Values values;
    if (!Collect(item, "a trace rule",
                 {"name", "filter", "marked", "edge", "sample", "truncate", "rate"}, &values)) {
      return false;
    }
    uint32_t snap_bytes = 0;
    rule->place = PlaceOfFilter(item, values);
    if (!ReadName(item, values, "rule", &names_, &rule->name) ||
        !ReadFilterOf(values, &rule->filter) || !ReadBool(values, "marked", &rule->is_marked) ||
        !ReadBool(values, "edge", &rule->is_at_edge) || !ReadSample(values, rule) ||
        !ReadCount(values, "truncate", kLeastTraceBytes, UINT16_MAX, &snap_bytes) ||
        !ReadCount(values, "rate", 1, kMaxTraceRate, &rule->copies_per_second)) {
      return false;
    }
    rule->snap_bytes = static_cast<uint16_t>(snap_bytes);
    return CheckBit(values, *rule, has_debug_bit);
  }

  bool CheckBit(const Values& values, const TraceRule& rule, bool has_debug_bit) {
    if (rule.is_marked && !has_debug_bit) {
      return Fail(Find(values, "marked")->offset,
                  "a rule for marked packets needs a 'debug_bit' beside 'rules'");
    }
    if (!rule.is_at_edge) return true;
    const size_t offset = Find(values, "edge")->offset;
    if (!has_debug_bit) {
      return Fail(offset, "a rule of the edge needs a 'debug_bit' beside 'rules'");
    }
    if (rule.is_marked) return Fail(offset, "a rule is 'marked' or of the 'edge', not both");
    if (rule.sample_bits == 0) return true;
    return Fail(offset, "a rule of the edge takes all of its packets: it has no 'sample'");
  }

  bool ReadName(const DocumentNode& item, const Values& values, const std::string& what,
                std::set<std::string>* names, std::string* name) {
    const DocumentNode* const node = Find(values, "name");
    if (node == nullptr) return Fail(item.offset, "this " + what + " has no 'name'");
    const std::string problem = event_lang::EventNameProblem(node->text);
    if (node->kind != Kind::kText) return Fail(node->offset, "'name' must be a text");
    if (!problem.empty()) return Fail(node->offset, problem);
    if (!names->insert(node->text).second) {
      return Fail(node->offset, "there is another " + what + " named " + Quote(node->text));
    }
    *name = node->text;
    return true;
  }

  bool ReadMarks(const Values& values, TraceRules* rules) {
    const DocumentNode* const list = Find(values, "marks");
    if (list == nullptr || list->kind == Kind::kNull) return true;
    if (list->kind != Kind::kList) return Fail(list->offset, "'marks' must be a list");
    std::set<std::string> names;
    for (const DocumentNode& item : list->items) {
      if (rules->marks.size() == kMaxTraceMarks) {
        return Fail(item.offset,
                    "there are more than " + std::to_string(kMaxTraceMarks) + " marks");
      }
      Values of_mark;
      TraceMark mark;
      if (!Collect(item, "a mark", {"name", "filter", "hosts"}, &of_mark)) return false;
      mark.place = PlaceOfFilter(item, of_mark);
      if (!ReadName(item, of_mark, "mark", &names, &mark.name) ||
          !ReadFilterOf(of_mark, &mark.filter) || !ReadHosts(of_mark, &mark)) {
        return false;
      }
      rules->marks.push_back(std::move(mark));
    }
    const Status status = CheckTraceMarks(*rules);
    return status.ok() || Fail(list->offset, status.message());
  }

  // The last rule of the base set takes whatever is marked, and would leave them nothing.
  static void MoveBehindEdges(std::vector<TraceRule>* rules) {
    const auto marked =
        rules->begin() + static_cast<std::ptrdiff_t>(BaseTraceRules(true).size() - 1);
    const auto behind = std::find_if(rules->rbegin(), rules->rend(), [](const TraceRule& rule) {
                          return rule.is_at_edge;
                        }).base();
    if (behind > marked) std::rotate(marked, marked + 1, behind);
  }

  bool CheckEdges(const DocumentNode& root, const TraceRules& rules) {
    const Status status = CheckTraceEdges(rules);
    return status.ok() || Fail(root.offset, status.message());
  }

  bool ReadHosts(const Values& values, TraceMark* mark) {
    const DocumentNode* const list = Find(values, "hosts");
    if (list == nullptr) return true;
    if (list->kind != Kind::kList || list->items.empty()) {
      return Fail(list->offset, "'hosts' must be a list of hosts of the topology");
    }
    for (const DocumentNode& item : list->items) {
      const bool is_name = item.kind == Kind::kText || item.kind == Kind::kNumber;
      if (!is_name || item.text.empty()) {
        return Fail(item.offset, "a host is named by its 'id' in the topology");
      }
      mark->hosts.push_back(item.text);
    }
    return true;
  }

  // What switches cannot be told is nearly always there.
  std::string PlaceOfFilter(const DocumentNode& item, const Values& values) const {
    const DocumentNode* const filter = Find(values, "filter");
    return source_.PlaceOf(filter != nullptr ? filter->offset : item.offset);
  }

  bool ReadFilterOf(const Values& values, FilterExpr* filter) {
    const DocumentNode* const node = Find(values, "filter");
    if (node == nullptr) return true;
    if (node->kind != Kind::kText) return Fail(node->offset, "'filter' must be a text");
    event_lang::Diagnostic error;
    if (ReadFilter(node->text, filter, &error)) return true;
    return Fail(event_lang::RawOffset(source_.text, node->offset, node->text, error.offset),
                error.message);
  }

  bool ReadSample(const Values& values, TraceRule* rule) {
    const DocumentNode* const node = Find(values, "sample");
    if (node == nullptr) return true;
    for (int bits = 1; bits <= kMaxTraceSampleBits; ++bits) {
      if (node->kind != Kind::kText || node->text != "1/" + std::to_string(1u << bits)) continue;
      rule->sample_bits = static_cast<uint8_t>(bits);
      return true;
    }
    return Fail(node->offset, "'sample' takes 1/N, where N is a power of two from 2 to 65536");
  }

  const event_lang::Source& source_;
  std::set<std::string> names_;
  std::string error_;
};

Result<TraceRules> Read(const event_lang::Source& source, const Result<DocumentNode>& root) {
  if (!root.ok()) return root.status();
  TraceRules rules;
  RulesReader reader(source);
  if (!reader.Read(*root, &rules)) return Status::Error(reader.error());
  return rules;
}

Result<TraceMark> ReadMark(const event_lang::Source& source, const Result<DocumentNode>& root,
                           const std::string& name) {
  if (!root.ok()) return root.status();
  TraceMark mark;
  RulesReader reader(source);
  if (!reader.ReadMark(*root, name, &mark)) return Status::Error(reader.error());
  return mark;
}

TraceRule MakeRule(const char* name, const char* filter) {
  TraceRule rule;
  rule.name = name;
  event_lang::Diagnostic error;
  [[maybe_unused]] const bool is_filter = ReadFilter(filter, &rule.filter, &error);
  assert(is_filter);
  return rule;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

Result<TraceRules> ParseTraceRulesYaml(std::string_view text, std::string_view source_name) {
  const event_lang::Source source{source_name, text};
  return Read(source, event_lang::ReadYaml(source));
}

Result<TraceRules> ParseTraceRulesJson(std::string_view text, std::string_view source_name) {
  const event_lang::Source source{source_name, text};
  return Read(source, event_lang::ReadJson(source));
}

Result<TraceMark> ParseTraceMarkYaml(std::string_view text, std::string_view source_name,
                                     const std::string& name) {
  const event_lang::Source source{source_name, text};
  return ReadMark(source, event_lang::ReadYaml(source), name);
}

Result<TraceMark> ParseTraceMarkJson(std::string_view text, std::string_view source_name,
                                     const std::string& name) {
  const event_lang::Source source{source_name, text};
  return ReadMark(source, event_lang::ReadJson(source), name);
}

Status CheckTraceMarks(const TraceRules& rules) {
  if (rules.marks.empty()) return Status::Ok();
  if (rules.debug_bit < 0) return Status::Error("marks need a 'debug_bit' beside 'rules'");
  const bool is_copied = std::any_of(rules.rules.begin(), rules.rules.end(),
                                     [](const TraceRule& rule) { return rule.is_marked; });
  if (is_copied) return Status::Ok();
  return Status::Error("no rule copies what is marked: there is none with 'marked'");
}

Status CheckTraceEdges(const TraceRules& rules) {
  const TraceRule* taken_by = nullptr;  // that is marked
  const TraceRule* edge = nullptr;
  for (const TraceRule& rule : rules.rules) {
    const bool takes_all =
        rule.is_marked && rule.sample_bits == 0 && rule.filter.op == FilterOp::kTrue;
    if (takes_all && taken_by == nullptr) taken_by = &rule;
    if (!rule.is_at_edge) continue;
    edge = &rule;
    if (taken_by == nullptr) continue;
    return Status::Error("rule '" + rule.name + "' of the edge would take nothing: rule '" +
                         taken_by->name + "' before it takes whatever is marked");
  }
  if (edge == nullptr || taken_by != nullptr) return Status::Ok();
  return Status::Error("rule '" + edge->name +
                       "' is of the edge, and no rule behind it copies whatever is marked there: "
                       "have 'base: true', or a rule with 'marked: true' and no filter");
}

std::string PrintTraceRules(const TraceRules& rules) {
  std::string text;
  const auto number = [&](const char* key, int64_t value) {
    text += std::string(key) + ": " + std::to_string(value) + "\n";
  };
  if (rules.debug_bit >= 0) number("debug_bit", rules.debug_bit);
  if (rules.switch_rate != 0) number("switch_rate", rules.switch_rate);
  if (rules.network_rate != 0) number("network_rate", rules.network_rate);
  text += rules.rules.empty() ? "rules: []\n" : "rules:\n";
  for (const TraceRule& rule : rules.rules) {
    text += "  - name: " + Quoted(rule.name) +
            "\n    filter: " + Quoted(event_lang::PrintFilter(rule.filter)) + "\n";
    if (rule.is_marked) text += "    marked: true\n";
    if (rule.is_at_edge) text += "    edge: true\n";
    if (rule.sample_bits != 0)
      text += "    sample: 1/" + std::to_string(1u << rule.sample_bits) + "\n";
    if (rule.snap_bytes != 0) number("    truncate", rule.snap_bytes);
    if (rule.copies_per_second != 0) number("    rate", rule.copies_per_second);
  }
  if (!rules.marks.empty()) text += "marks:\n";
  for (const TraceMark& mark : rules.marks) {
    text += "  - name: " + Quoted(mark.name) +
            "\n    filter: " + Quoted(event_lang::PrintFilter(mark.filter)) + "\n";
    if (mark.hosts.empty()) continue;
    text += "    hosts: [";
    for (const std::string& host : mark.hosts) {
      text += (&host == &mark.hosts.front() ? "" : ", ") + Quoted(host);
    }
    text += "]\n";
  }
  return text;
}

std::vector<TraceRule> BaseTraceRules(bool has_debug_bit) {
  std::vector<TraceRule> rules = {
      MakeRule("handshakes", "tcpFlags=+syn or tcpFlags=+fin or tcpFlags=+rst"),
      MakeRule("bgp", "Protocol=TCP and (srcPort=179 or dstPort=179)"),
      MakeRule("pfc", "ethType=0x8808"),
      // A switch does not see the opcode; notifications have the DSCP that cards give them.
      MakeRule("roce-cnp", "Protocol=UDP and dstPort=4791 and dscp=48"),
  };
  if (has_debug_bit) {
    rules.push_back(MakeRule("marked", "*"));
    rules.back().is_marked = true;
  }
  return rules;
}

}  // namespace trumpet
