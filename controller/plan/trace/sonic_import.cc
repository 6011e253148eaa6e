// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/trace/sonic_import.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "controller/plan/flow_match.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/label.h"
#include "lib/lang/trace/trace_language.h"
#include "lib/packet/fields.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;
using event_lang::Quote;
using Fields = std::map<std::string, std::string>;
using Kind = DocumentNode::Kind;

constexpr char kSampleRate[] = "sample_rate";
constexpr char kTruncateSize[] = "truncate_size";

struct Row {
  std::string key;
  Fields fields;
  std::map<std::string, size_t> places;  // of the values, in the text
};

// Numbers of SONiC are decimal, or hexadecimal after 0x.
std::optional<uint32_t> Number(std::string_view text, uint32_t most) {
  const bool is_hex = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X";
  if (is_hex) text.remove_prefix(2);
  uint32_t value = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!is_whole || value > most) return std::nullopt;
  return value;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string Get(const Fields& fields, const std::string& key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

std::string TextOf(const DocumentNode& node) {
  if (node.kind != Kind::kList) return node.text;
  std::string text;
  for (const DocumentNode& item : node.items) text += (text.empty() ? "" : ",") + item.text;
  return text;
}

// The rows of a table, whose keys are in capital letters if `is_upper`.
std::vector<Row> RowsOf(const DocumentNode& root, const std::string& table, bool is_upper) {
  std::vector<Row> rows;
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    if (root.items[i].text != table || root.items[i + 1].kind != Kind::kMap) continue;
    const DocumentNode& map = root.items[i + 1];
    for (size_t k = 0; k + 1 < map.items.size(); k += 2) {
      Row row;
      row.key = map.items[k].text;
      const DocumentNode& fields = map.items[k + 1];
      for (size_t f = 0; fields.kind == Kind::kMap && f + 1 < fields.items.size(); f += 2) {
        std::string key = fields.items[f].text;
        if (!key.empty() && key.back() == '@') key.pop_back();  // of lists in the database
        const auto change = [&](char c) {
          const bool is_small = c >= 'a' && c <= 'z';
          return is_upper && is_small ? static_cast<char>(c - 'a' + 'A') : c;
        };
        std::transform(key.begin(), key.end(), key.begin(), change);
        row.fields[key] = TextOf(fields.items[f + 1]);
        row.places[key] = fields.items[f + 1].offset;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// The tests of one ACL rule; the first that cannot be said makes a problem.
class MatchReader {
 public:
  MatchReader(const Fields& fields, const SonicPorts& ports) : fields_(fields), ports_(ports) {}

  void Read(const std::string& table_type) {
    for (const auto& [key, value] : fields_) ReadField(key, value);
    const bool names_type = fields_.count("ETHER_TYPE") + fields_.count("IP_TYPE") != 0;
    if (names_type || is_v4_ || is_v6_) return;
    if (table_type == "MIRROR") tests_.push_back("ethType=0x0800");
    if (table_type == "MIRRORV6") tests_.push_back("ethType=0x86dd");
  }

  std::string Filter() const {
    std::string text;
    for (const std::string& test : tests_) text += (text.empty() ? "" : " and ") + test;
    return text.empty() ? "*" : text;
  }
  const std::string& problem() const { return problem_; }

 private:
  void Fail(const std::string& key, const std::string& value) {
    if (problem_.empty()) problem_ = key + " " + Quote(value) + " cannot be said";
  }

  void ReadField(const std::string& key, const std::string& value) {
    static const std::map<std::string, std::pair<const char*, uint32_t>> numbers = {
        {"L4_SRC_PORT", {"srcPort", 65535}}, {"L4_DST_PORT", {"dstPort", 65535}},
        {"IP_PROTOCOL", {"Protocol", 255}},  {"NEXT_HEADER", {"Protocol", 255}},
        {"ETHER_TYPE", {"ethType", 65535}},  {"VLAN_ID", {"vlan", 4094}}};
    if (key == "PRIORITY" || key.rfind("MIRROR_", 0) == 0) return;
    const auto number = numbers.find(key);
    if (number != numbers.end()) {
      const auto read = Number(value, number->second.second);
      if (!read) return Fail(key, value);
      tests_.push_back(std::string(number->second.first) + "=" + std::to_string(*read));
    } else if (key == "SRC_IP" || key == "DST_IP" || key == "SRC_IPV6" || key == "DST_IPV6") {
      ReadAddress(key, value);
    } else if (key == "L4_SRC_PORT_RANGE" || key == "L4_DST_PORT_RANGE") {
      ReadRange(key, value);
    } else if (key == "TCP_FLAGS") {
      ReadFlags(key, value);
    } else if (key == "DSCP") {
      ReadDscp(key, value);
    } else if (key == "IP_TYPE") {
      ReadIpType(key, value);
    } else if (key == "IN_PORTS") {
      ReadInPorts(key, value);
    } else {
      Fail(key, value);
    }
  }

  // Bits behind the length may be set there.
  void ReadAddress(const std::string& key, const std::string& value) {
    const std::vector<std::string> parts = Split(value, '/');
    auto address = ParseIpv4(parts[0]);
    if (!address) address = ParseIpv6(parts[0]);
    if (!address || parts.size() > 2) return Fail(key, value);
    const bool is_v6 = address->kind == ValueKind::kIpv6;
    const uint32_t width = is_v6 ? 128 : 32;
    const auto length = parts.size() == 2 ? Number(parts[1], width) : width;
    if (!length) return Fail(key, value);
    (is_v6 ? is_v6_ : is_v4_) = true;
    const bool is_source = key[0] == 'S';
    const Field field = is_source ? Field::kSrcIp : Field::kDstIp;
    tests_.push_back(std::string(is_source ? "srcIP=" : "dstIP=") +
                     FormatValue(MaskToPrefix(field, *address, static_cast<int>(*length))) + "/" +
                     std::to_string(*length));
  }

  void ReadRange(const std::string& key, const std::string& value) {
    const std::vector<std::string> ends = Split(value, '-');
    const auto low = Number(ends[0], 65535);
    const auto high = Number(ends.back(), 65535);
    if (ends.size() != 2 || !low || !high || *low > *high) return Fail(key, value);
    tests_.push_back(std::string(key[3] == 'S' ? "srcPort=" : "dstPort=") + std::to_string(*low) +
                     "-" + std::to_string(*high));
  }

  // "0x12/0x12": the value of the bits in the mask.
  bool ReadMasked(const std::string& text, uint32_t all, uint32_t* value, uint32_t* mask) {
    const std::vector<std::string> parts = Split(text, '/');
    const auto read = Number(parts[0], all);
    const auto read_mask = parts.size() == 2 ? Number(parts[1], all) : all;
    if (parts.size() > 2 || !read || !read_mask) return false;
    *value = *read & *read_mask;
    *mask = *read_mask;
    return true;
  }

  void ReadFlags(const std::string& key, const std::string& value) {
    constexpr const char* kNames[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};
    uint32_t flags = 0;
    uint32_t mask = 0;
    if (!ReadMasked(value, 0xff, &flags, &mask)) return Fail(key, value);
    std::string text;
    for (size_t bit = 0; bit < std::size(kNames); ++bit) {
      if ((mask >> bit & 1) == 0) continue;
      text += (flags >> bit & 1) != 0 ? '+' : '-';
      text += kNames[bit];
    }
    tests_.push_back(text.empty() ? "Protocol=TCP" : "tcpFlags=" + text);
  }

  void ReadDscp(const std::string& key, const std::string& value) {
    uint32_t wanted = 0;
    uint32_t mask = 0;
    if (!ReadMasked(value, 63, &wanted, &mask)) return Fail(key, value);
    std::string values;
    for (uint32_t dscp = 0; dscp < 64; ++dscp) {
      if ((dscp & mask) == wanted) values += (values.empty() ? "" : ",") + std::to_string(dscp);
    }
    tests_.push_back("dscp={" + values + "}");
  }

  void ReadIpType(const std::string& key, const std::string& value) {
    static const std::map<std::string, const char*> types = {{"ANY", ""},
                                                             {"IP", "ethType={0x0800,0x86dd}"},
                                                             {"IPV4", "ethType=0x0800"},
                                                             {"IPV4ANY", "ethType=0x0800"},
                                                             {"IPV6ANY", "ethType=0x86dd"},
                                                             {"ARP", "ethType=0x0806"}};
    std::string upper = value;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const auto type = types.find(upper);
    if (type == types.end()) return Fail(key, value);
    if (*type->second != '\0') tests_.emplace_back(type->second);
  }

  void ReadInPorts(const std::string& key, const std::string& value) {
    std::string numbers;
    for (const std::string& name : Split(value, ',')) {
      const auto port = ports_.find(name);
      if (port == ports_.end()) return Fail(key, name);
      numbers += (numbers.empty() ? "" : ",") + std::to_string(port->second);
    }
    tests_.push_back("inPort={" + numbers + "}");
  }

  const Fields& fields_;
  const SonicPorts& ports_;
  std::vector<std::string> tests_;
  std::string problem_;
  bool is_v4_ = false;
  bool is_v6_ = false;
};

class Importer {
 public:
  Importer(const event_lang::Source& source, const DocumentNode& root, const SonicPorts& ports)
      : source_(source), root_(root), ports_(ports) {}

  Result<SonicImport> Run() {
    for (Row& row : RowsOf(root_, "MIRROR_SESSION", false)) {
      Status status = CheckSession(row);
      if (!status.ok()) return status;
      import_.sessions.push_back({row.key, std::move(row.fields)});
    }
    for (Row& row : RowsOf(root_, "POLICER", false)) policers_[row.key] = std::move(row.fields);
    for (Row& row : RowsOf(root_, "ACL_TABLE", false)) tables_[row.key] = std::move(row.fields);
    for (const SonicSession& session : import_.sessions) NoteSession(session);
    for (const Row& row : RulesInOrder()) {
      if (!AddRule(row)) return Status::Error(std::string(source_.name) + ": " + error_);
    }
    return std::move(import_);
  }

 private:
  void Note(const std::string& text) { import_.notes.push_back(text); }

  // What rules say of sampling and length depends on these.
  Status CheckSession(const Row& session) const {
    const std::pair<const char*, uint32_t> numbers[] = {{kSampleRate, UINT32_MAX},
                                                        {kTruncateSize, UINT16_MAX}};
    for (const auto& [key, most] : numbers) {
      const std::string text = Get(session.fields, key);
      if (text.empty() || Number(text, most)) continue;
      return Status::Error(source_.ErrorAt(
          session.places.at(key), std::string(key) + " of session " + Quote(session.key) + " is " +
                                      Quote(text) + "; it takes 0 to " + std::to_string(most)));
    }
    return Status::Ok();
  }

  void NoteSession(const SonicSession& session) {
    if (session.is_span()) {
      Note("session " + Quote(session.name) + " goes to a port, not to an analyzer");
    }
    if (!session.Get("src_port").empty()) {
      Note("session " + Quote(session.name) + " mirrors whole ports, which is no rule");
    }
  }

  static std::string TableOf(const Row& row) { return Split(row.key, '|')[0]; }
  static uint32_t PriorityOf(const Row& row) {
    return Number(Get(row.fields, "PRIORITY"), UINT32_MAX).value_or(0);
  }

  // Table after table, the highest priority first.
  std::vector<Row> RulesInOrder() const {
    std::vector<Row> rows = RowsOf(root_, "ACL_RULE", true);
    std::stable_sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) {
      const std::string table = TableOf(one);
      const std::string other_table = TableOf(other);
      if (table != other_table) return table < other_table;
      return PriorityOf(one) > PriorityOf(other);
    });
    return rows;
  }

  const SonicSession* FindSession(const std::string& name) const {
    for (const SonicSession& session : import_.sessions) {
      if (session.name == name) return &session;
    }
    return nullptr;
  }

  // False: an error.
  bool AddRule(const Row& row) {
    const auto table = tables_.find(TableOf(row));
    const std::string type = table == tables_.end() ? "" : Get(table->second, "type");
    const auto leave = [&](const std::string& why) {
      Note("rule " + Quote(row.key) + " is left out: " + why);
      return true;
    };
    std::string session_name;
    for (const char* key : {"MIRROR_EGRESS_ACTION", "MIRROR_INGRESS_ACTION", "MIRROR_ACTION"}) {
      if (!Get(row.fields, key).empty()) session_name = Get(row.fields, key);
    }
    if (session_name.empty()) {
      // Only there it hides packets from rules of mirroring.
      return type.rfind("MIRROR", 0) != 0 || leave("it mirrors nothing, but may hide packets");
    }
    if (table == tables_.end()) return leave("there is no such table");
    const SonicSession* const session = FindSession(session_name);
    if (session == nullptr) return leave("there is no session " + Quote(session_name));
    MatchReader match(row.fields, ports_);
    match.Read(type);
    if (!match.problem().empty()) return leave(match.problem());
    const std::string priority = Get(row.fields, "PRIORITY");
    if (!priority.empty() && !Number(priority, UINT32_MAX)) {
      Note("rule " + Quote(row.key) + " comes last: its PRIORITY is " + Quote(priority));
    }
    const bool is_egress =
        row.fields.count("MIRROR_EGRESS_ACTION") != 0 || Get(table->second, "stage") == "egress";
    if (is_egress)
      Note("rule " + Quote(row.key) + " copies packets as they come, not as they leave");
    return Take(row.key, match.Filter(), *session);
  }

  bool Take(const std::string& name, const std::string& filter, const SonicSession& session) {
    const std::string problem = event_lang::EventNameProblem(name);
    if (!problem.empty()) {
      Note("rule " + Quote(name) + " is left out: " + problem);
      return true;
    }
    if (!names_.insert(name).second) {
      error_ = "there is another rule named " + Quote(name);
      return false;
    }
    const auto rules = ParseTraceRulesYaml("rules: [{name: r, filter: '" + filter + "'}]", name);
    const auto matches = rules.ok() ? FlowMatches(rules->rules[0].filter)
                                    : Result<std::vector<std::string>>(rules.status());
    if (!matches.ok()) {
      Note("rule " + Quote(name) + " is left out: " + matches.message());
      return true;
    }
    if (import_.rules.rules.size() == kMaxTraceRules) {
      error_ = "there are more than " + std::to_string(kMaxTraceRules) + " rules that mirror";
      return false;
    }
    TraceRule rule = rules->rules[0];
    rule.name = name;
    SetSample(session, &rule);
    SetLength(session, &rule);
    SetRate(session, &rule);
    import_.rules.rules.push_back(std::move(rule));
    return true;
  }

  void SetSample(const SonicSession& session, TraceRule* rule) {
    const auto rate = Number(session.Get(kSampleRate), UINT32_MAX).value_or(0);
    while (rule->sample_bits < kMaxTraceSampleBits && (rate >> (rule->sample_bits + 1)) != 0) {
      ++rule->sample_bits;
    }
    if (rate < 2) return;
    Note("rule " + Quote(rule->name) + ": of packets one in " + std::to_string(rate) +
         " becomes of connections one in " + std::to_string(1u << rule->sample_bits));
  }

  void SetLength(const SonicSession& session, TraceRule* rule) {
    const auto length = Number(session.Get(kTruncateSize), UINT16_MAX).value_or(0);
    if (length == 0) return;
    if (length < kLeastTraceBytes) {
      Note("rule " + Quote(rule->name) + ": copies have at least " +
           std::to_string(kLeastTraceBytes) + " bytes, not " + std::to_string(length));
    }
    rule->snap_bytes = static_cast<uint16_t>(std::max<uint32_t>(length, kLeastTraceBytes));
  }

  void SetRate(const SonicSession& session, TraceRule* rule) {
    const std::string name = session.Get("policer");
    if (name.empty()) return;
    const auto policer = policers_.find(name);
    const auto leave = [&](const std::string& why) {
      Note("rule " + Quote(rule->name) + " is not limited: " + why);
    };
    if (policer == policers_.end()) return leave("there is no policer " + Quote(name));
    const std::string written = Get(policer->second, "cir");
    if (written.empty() || Get(policer->second, "meter_type") != "packets") {
      return leave("policer " + Quote(name) + " has no rate of packets");
    }
    const auto rate = Number(written, kMaxTraceRate);
    if (!rate || *rate == 0) {
      return leave("policer " + Quote(name) + " has a rate of " + Quote(written) +
                   "; a rule takes 1 to " + std::to_string(kMaxTraceRate) + " copies per second");
    }
    rule->copies_per_second = *rate;
  }

  const event_lang::Source& source_;
  const DocumentNode& root_;
  const SonicPorts& ports_;
  std::map<std::string, Fields> policers_;
  std::map<std::string, Fields> tables_;
  std::set<std::string> names_;
  SonicImport import_;
  std::string error_;
};

}  // namespace

Result<SonicImport> ImportSonic(std::string_view text, std::string_view source_name,
                                const SonicPorts& ports) {
  const event_lang::Source source{source_name, text};
  const Result<DocumentNode> root = event_lang::ReadJson(source);
  if (!root.ok()) return root.status();
  if (root->kind != Kind::kMap) {
    return Status::Error(source.ErrorAt(root->offset, "a config_db is a map of tables"));
  }
  return Importer(source, *root, ports).Run();
}

}  // namespace trumpet
