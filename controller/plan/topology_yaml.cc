// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <map>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "controller/plan/topology.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/label.h"
#include "lib/lang/event/suggest.h"

namespace trumpet {
namespace {

using event_lang::DidYouMean;
using event_lang::DocumentNode;
using event_lang::Quote;
using event_lang::Source;
using Kind = DocumentNode::Kind;
using Names = std::vector<std::string>;

constexpr size_t kMaxHosts = 4096;
constexpr size_t kMaxLinks = 262144;
constexpr uint32_t kMaxPort = 0xffffff00;  // OFPP_MAX

const DocumentNode* ValueOf(const DocumentNode& map, std::string_view key) {
  for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (map.items[i].text == key) return &map.items[i + 1];
  }
  return nullptr;
}

// The first complaint wins; every step returns false after one.
class TopologyReader {
 public:
  explicit TopologyReader(const Source& source) : source_(source) {}

  bool Read(const DocumentNode& root, Topology* topology) {
    topology_ = topology;
    if (root.kind == Kind::kNull) return true;
    return CheckKeys(root, "a topology", {"hosts", "switches", "links"}) &&
           ReadList(root, "switches", kMaxTopologySwitches, &TopologyReader::ReadSwitch) &&
           ReadList(root, "hosts", kMaxHosts, &TopologyReader::ReadHost) &&
           ReadList(root, "links", kMaxLinks, &TopologyReader::ReadLink);
  }

  // Of networkx; keys that we do not know are attributes of somebody's.
  bool ReadGraph(const DocumentNode& root, Topology* topology) {
    topology_ = topology;
    const char* const links = ValueOf(root, "edges") != nullptr ? "edges" : "links";
    return ReadList(root, "nodes", kMaxTopologySwitches, &TopologyReader::ReadNode) &&
           ReadList(root, links, kMaxLinks, &TopologyReader::ReadEdge);
  }

  const std::string& error() const { return error_; }

 private:
  using ItemReader = bool (TopologyReader::*)(const DocumentNode&);

  bool Fail(const DocumentNode& node, const std::string& message) {
    error_ = source_.ErrorAt(node.offset, message);
    return false;
  }

  bool CheckKeys(const DocumentNode& node, const std::string& what, const Names& known) {
    if (node.kind != Kind::kMap) return Fail(node, what + " is a map of keys");
    std::map<std::string_view, bool> seen;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const DocumentNode& key = node.items[i];
      bool is_known = false;
      for (const std::string& name : known) is_known |= key.kind == Kind::kText && key.text == name;
      if (!is_known) {
        return Fail(key,
                    Quote(key.text) + " is not a key of " + what + DidYouMean(key.text, known));
      }
      if (!seen.emplace(key.text, true).second) {
        return Fail(key, Quote(key.text) + " stands twice here");
      }
    }
    return true;
  }

  bool ReadList(const DocumentNode& map, const char* key, size_t most, ItemReader read) {
    const DocumentNode* const list = ValueOf(map, key);
    if (list == nullptr || list->kind == Kind::kNull) return true;
    if (list->kind != Kind::kList) return Fail(*list, Quote(key) + " must be a list");
    if (list->items.size() > most) {
      return Fail(*list, "there are " + std::to_string(list->items.size()) + " " + key + "; " +
                             std::to_string(most) + " are allowed");
    }
    for (const DocumentNode& item : list->items) {
      if (!(this->*read)(item)) return false;
    }
    return true;
  }

  bool ReadText(const DocumentNode& map, const char* key, std::string* text) {
    const DocumentNode* const node = ValueOf(map, key);
    if (node == nullptr) return true;
    if (node->kind != Kind::kText || node->text.empty()) {
      return Fail(*node, Quote(key) + " must be a text, not empty");
    }
    return CheckText(*node, key, text);
  }

  bool CheckText(const DocumentNode& node, const char* key, std::string* text) {
    const std::string problem = event_lang::LabelProblem(key, node.text);
    if (!problem.empty()) return Fail(node, problem);
    *text = node.text;
    return true;
  }

  bool Needs(const DocumentNode& map, const std::string& what, const char* key) {
    if (ValueOf(map, key) != nullptr) return true;
    return Fail(map, "this " + what + " has no " + Quote(key));
  }

  // A name of a host or switch, which nothing else may have.
  bool Claim(const DocumentNode& at, const std::string& name) {
    if (nodes_.emplace(name, true).second) return true;
    return Fail(at, "there is another host or switch named " + Quote(name));
  }

  bool ReadSwitch(const DocumentNode& item) {
    TopologySwitch read;
    if (!CheckKeys(item, "a switch", {"name", "datapath_id", "edge_ports"}) ||
        !Needs(item, "switch", "name") || !ReadText(item, "name", &read.name) ||
        !ReadDatapathId(item, &read.datapath_id) || !ReadEdgePorts(item, &read) ||
        !Claim(*ValueOf(item, "name"), read.name) || !ClaimDatapath(item, read)) {
      return false;
    }
    switches_.push_back(read.name);
    topology_->switches.push_back(std::move(read));
    return true;
  }

  bool ClaimDatapath(const DocumentNode& item, const TopologySwitch& read) {
    if (read.datapath_id == 0) return true;
    const auto [found, is_new] = datapaths_.emplace(read.datapath_id, read.name);
    if (is_new) return true;
    return Fail(*ValueOf(item, "datapath_id"),
                "this is the datapath id of " + Quote(found->second) + " already");
  }

  // As Open vSwitch shows it: sixteen hexadecimal digits.
  bool ReadDatapathId(const DocumentNode& map, uint64_t* id) {
    const DocumentNode* const node = ValueOf(map, "datapath_id");
    if (node == nullptr) return true;
    std::string_view digits = node->text;
    if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), *id, 16);
    if (node->kind == Kind::kText && !digits.empty() && end.ec == std::errc() &&
        end.ptr == digits.data() + digits.size()) {
      return true;
    }
    return Fail(*node, Quote(node->text) +
                           " is not a datapath id; write up to 16 hexadecimal digits as in "
                           "0000020000000001");
  }

  // Whole numbers are texts in YAML and numbers in JSON.
  static bool ReadNumber(const DocumentNode& node, uint32_t most, uint32_t* number) {
    const char* const last = node.text.data() + node.text.size();
    const auto end = std::from_chars(node.text.data(), last, *number);
    return (node.kind == Kind::kText || node.kind == Kind::kNumber) && end.ec == std::errc() &&
           end.ptr == last && *number != 0 && *number <= most;
  }

  bool ReadEdgePorts(const DocumentNode& map, TopologySwitch* read) {
    const DocumentNode* const list = ValueOf(map, "edge_ports");
    if (list == nullptr || list->kind == Kind::kNull) return true;
    if (list->kind != Kind::kList) return Fail(*list, "'edge_ports' must be a list");
    for (const DocumentNode& item : list->items) {
      uint32_t port = 0;
      if (!ReadNumber(item, kMaxPort, &port)) {
        return Fail(item, Quote(item.text) + " is not a port; it takes 1 to " +
                              std::to_string(kMaxPort) + ", as OpenFlow numbers them");
      }
      read->edge_ports.push_back(port);
    }
    return true;
  }

  bool ReadHost(const DocumentNode& item) {
    TopologyHost host;
    if (!CheckKeys(item, "a host", {"id", "name", "prefixes", "attached_to", "labels"}) ||
        !Needs(item, "host", "id") || !ReadText(item, "id", &host.id)) {
      return false;
    }
    host.name = host.id;
    if (!ReadText(item, "name", &host.name) || !ReadText(item, "attached_to", &host.attached_to)) {
      return false;
    }
    const DocumentNode& id = *ValueOf(item, "id");
    const DocumentNode* const name = ValueOf(item, "name");
    if (!ids_.emplace(host.id, true).second) {
      return Fail(id, "there is another host with the id " + Quote(host.id));
    }
    if (!Claim(name != nullptr ? *name : id, host.name)) return false;
    if (!host.attached_to.empty() && !IsSwitch(host.attached_to)) {
      return Fail(*ValueOf(item, "attached_to"), "there is no switch " + Quote(host.attached_to) +
                                                     DidYouMean(host.attached_to, switches_));
    }
    if (!ReadPrefixes(item, &host) || !ReadLabels(item, &host)) return false;
    topology_->hosts.push_back(std::move(host));
    return true;
  }

  bool IsSwitch(const std::string& name) const {
    for (const std::string& known : switches_) {
      if (known == name) return true;
    }
    return false;
  }

  // A prefix within one of another host is fine, the same one is not: it would be counted twice.
  bool ReadPrefixes(const DocumentNode& map, TopologyHost* host) {
    const DocumentNode* const list = ValueOf(map, "prefixes");
    if (list == nullptr || list->kind == Kind::kNull) return true;
    if (list->kind != Kind::kList) return Fail(*list, "'prefixes' must be a list");
    for (const DocumentNode& item : list->items) {
      if (item.kind != Kind::kText) return Fail(item, "a prefix is a text such as 10.1.0.0/16");
      const Result<Prefix> prefix = ParsePrefix(item.text);
      if (!prefix.ok()) return Fail(item, prefix.message());
      const auto key = std::make_tuple(prefix->is_ipv6, prefix->address, prefix->length);
      const auto [found, is_new] = owners_.emplace(key, host->name);
      if (!is_new)
        return Fail(item, PrintPrefix(*prefix) + " is already one of " + Quote(found->second));
      if (owners_.size() > kMaxTopologyPrefixes) {
        return Fail(item,
                    "there are more than " + std::to_string(kMaxTopologyPrefixes) + " prefixes");
      }
      host->prefixes.push_back(*prefix);
    }
    return true;
  }

  bool ReadLabels(const DocumentNode& map, TopologyHost* host) {
    const DocumentNode* const list = ValueOf(map, "labels");
    if (list == nullptr || list->kind == Kind::kNull) return true;
    if (list->kind != Kind::kList) return Fail(*list, "'labels' must be a list");
    for (const DocumentNode& item : list->items) {
      std::string label;
      if (item.kind != Kind::kText || item.text.empty()) {
        return Fail(item, "a label is a text such as rack=r1");
      }
      if (!CheckText(item, "label", &label)) return false;
      host->labels.push_back(std::move(label));
    }
    return true;
  }

  bool ReadLink(const DocumentNode& item) {
    TopologyLink link;
    if (!CheckKeys(item, "a link", {"from", "to", "weight"}) ||
        !ReadEnd(item, "from", &link.from) || !ReadEnd(item, "to", &link.to) ||
        !ReadWeight(item, &link.weight)) {
      return false;
    }
    if (link.from == link.to) return Fail(item, "this link ends where it begins");
    topology_->links.push_back(std::move(link));
    return true;
  }

  // Names of nodes may be numbers.
  bool ReadNodeName(const DocumentNode& map, const char* key, std::string* name) {
    const DocumentNode* const node = ValueOf(map, key);
    if (node == nullptr) return Fail(map, "there is no " + Quote(key) + " here");
    if ((node->kind != Kind::kText && node->kind != Kind::kNumber) || node->text.empty()) {
      return Fail(*node, Quote(key) + " must be a text or a number");
    }
    return CheckText(*node, key, name);
  }

  bool ReadNode(const DocumentNode& item) {
    TopologySwitch read;
    if (item.kind != Kind::kMap) return Fail(item, "a node is a map of keys");
    if (!ReadNodeName(item, "id", &read.name) || !Claim(*ValueOf(item, "id"), read.name)) {
      return false;
    }
    topology_->switches.push_back(std::move(read));
    return true;
  }

  bool ReadEdge(const DocumentNode& item) {
    TopologyLink link;
    if (item.kind != Kind::kMap) return Fail(item, "a link is a map of keys");
    if (!ReadNodeName(item, "source", &link.from) || !ReadNodeName(item, "target", &link.to) ||
        !ReadWeight(item, &link.weight)) {
      return false;
    }
    for (const char* key : {"source", "target"}) {
      const DocumentNode& end = *ValueOf(item, key);
      if (nodes_.count(end.text) == 0) return Fail(end, "there is no node " + Quote(end.text));
    }
    if (link.from != link.to) topology_->links.push_back(std::move(link));
    return true;
  }

  bool ReadEnd(const DocumentNode& map, const char* key, std::string* name) {
    if (!Needs(map, "link", key) || !ReadText(map, key, name)) return false;
    if (nodes_.count(*name) != 0) return true;
    Names known;
    for (const auto& [node, unused] : nodes_) known.push_back(node);
    return Fail(*ValueOf(map, key),
                "there is no host or switch " + Quote(*name) + DidYouMean(*name, known));
  }

  bool ReadWeight(const DocumentNode& map, uint32_t* weight) {
    const DocumentNode* const node = ValueOf(map, "weight");
    if (node == nullptr) return true;
    if (ReadNumber(*node, kMaxTopologyWeight, weight)) return true;
    return Fail(*node, Quote(node->text) + " is not a weight; it takes 1 to " +
                           std::to_string(kMaxTopologyWeight));
  }

  const Source& source_;
  Topology* topology_ = nullptr;
  std::string error_;
  Names switches_;
  std::map<std::string, bool> nodes_;  // names of hosts and switches
  std::map<std::string, bool> ids_;
  std::map<uint64_t, std::string> datapaths_;                         // names of their switches
  std::map<std::tuple<bool, Uint128, uint8_t>, std::string> owners_;  // names of hosts
};

Result<Topology> Read(const Source& source, const Result<DocumentNode>& root, bool is_json) {
  if (!root.ok()) return root.status();
  Topology topology;
  TopologyReader reader(source);
  const bool is_graph = is_json && root->kind == Kind::kMap && ValueOf(*root, "nodes") != nullptr;
  const bool is_read =
      is_graph ? reader.ReadGraph(*root, &topology) : reader.Read(*root, &topology);
  if (!is_read) return Status::Error(reader.error());
  return topology;
}

}  // namespace

Result<Topology> ParseTopologyYaml(std::string_view text, std::string_view source_name) {
  const Source source{source_name, text};
  return Read(source, event_lang::ReadYaml(source), /*is_json=*/false);
}

Result<Topology> ParseTopologyJson(std::string_view text, std::string_view source_name) {
  const Source source{source_name, text};
  return Read(source, event_lang::ReadJson(source), /*is_json=*/true);
}

Result<Topology> ParseTopology(std::string_view text, std::string_view source_name) {
  constexpr std::string_view kEnd = ".json";
  const bool is_json = source_name.size() > kEnd.size() &&
                       source_name.substr(source_name.size() - kEnd.size()) == kEnd;
  return is_json ? ParseTopologyJson(text, source_name) : ParseTopologyYaml(text, source_name);
}

}  // namespace trumpet
