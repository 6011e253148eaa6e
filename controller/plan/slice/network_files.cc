// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/network_files.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/utf8.h"
#include "lib/lang/event/label.h"

namespace trumpet::slice {
namespace {

std::optional<uint32_t> ParseWeight(std::string_view text) {
  uint32_t weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (error != std::errc() || end != text.data() + text.size() || weight == 0) return std::nullopt;
  return weight;
}

// A network while its file is read.
class Builder {
 public:
  explicit Builder(std::string_view source_name) : source_name_(source_name) {}

  Status ErrorAt(size_t line, const std::string& message) const {
    return Status::Error(std::string(source_name_) + ":" + std::to_string(line) + ": " + message);
  }
  Status AddLink(size_t line, std::string_view from, std::string_view to, uint32_t weight) {
    const int a = network_.AddRouter(from);
    const int b = network_.AddRouter(to);
    const bool is_new = a != b && !network_.AreLinked(a, b);
    const size_t most = std::max(network_.LinksOf(a).size(), network_.LinksOf(b).size());
    if (static_cast<size_t>(network_.router_count()) > kMaxRouters ||
        (is_new && (network_.link_count() >= kMaxLinks || most >= kMaxLinksOfRouter))) {
      return ErrorAt(line, "the map is too large here; at most " + std::to_string(kMaxRouters) +
                               " routers, " + std::to_string(kMaxLinks) + " links, " +
                               std::to_string(kMaxLinksOfRouter) + " at one router");
    }
    network_.AddLink(a, b, weight);
    return Status::Ok();
  }
  Network& network() { return network_; }

 private:
  std::string_view source_name_;
  Network network_;
};

Status ParseEdge(std::string_view line, size_t number, Builder* builder) {
  const size_t first = line.find(' ');
  const size_t second = first == line.npos ? line.npos : line.find(' ', first + 1);
  const bool has_three = second != line.npos && line.find(' ', second + 1) == line.npos;
  if (!has_three || first == 0 || second == first + 1) {
    return builder->ErrorAt(number, "a link is 'from to weight', with one space between");
  }
  const std::string_view written = line.substr(second + 1);
  const auto weight = ParseWeight(written);
  if (!weight) {
    return builder->ErrorAt(number,
                            "the weight is " + QuoteName(written) + "; it takes 1 to 4294967295");
  }
  return builder->AddLink(number, line.substr(0, first), line.substr(first + 1, second - first - 1),
                          *weight);
}

// Words of GML: brackets, "texts" and whatever else stands between blanks.
class GmlWords {
 public:
  explicit GmlWords(std::string_view text) : text_(text) {}

  // Empty at the end.  Texts keep their opening quote, so that none looks like a bracket.
  std::string_view Next() {
    SkipBlanks();
    if (at_ == text_.size()) return {};
    const size_t start = at_;
    if (text_[at_] == '"') {
      const size_t end = std::min(text_.find('"', at_ + 1), text_.size());
      line_ +=
          static_cast<size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      at_ = std::min(end + 1, text_.size());
      return text_.substr(start, end - start);
    }
    if (text_[at_] == '[' || text_[at_] == ']') return text_.substr(at_++, 1);
    at_ = std::min(text_.find_first_of(" \t\r\n[]\"", at_), text_.size());
    return text_.substr(start, at_ - start);
  }
  size_t line() const { return line_; }

 private:
  void SkipBlanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size()) return;
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '\n' && text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '\r') {
        return;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
};

class GmlReader {
 public:
  GmlReader(std::string_view text, std::string_view source_name)
      : words_(text), builder_(source_name) {}

  Result<Network> Read();

 private:
  // What a `node` or an `edge` says about itself.
  struct Element {
    std::string id, source, target, weight = "1";
  };
  Status Error(const std::string& message) { return builder_.ErrorAt(words_.line(), message); }
  Status ReadGraph();
  static std::string* PlaceOf(std::string_view key, Element* element);
  // From behind its opening bracket to the closing one.
  Status ReadElement(Element* element);
  Status SkipList();
  Status AddNode(const Element& node);
  Status AddEdge(const Element& edge);

  GmlWords words_;
  Builder builder_;
  bool has_graph_ = false;
};

Status GmlReader::SkipList() {
  for (size_t depth = 1; depth > 0;) {
    const std::string_view word = words_.Next();
    if (word.empty()) return Error("the file ends inside a list");
    if (word == "[") ++depth;
    if (word == "]") --depth;
  }
  return Status::Ok();
}

// A value as a name: texts lose their opening quote.
std::string NameOfValue(std::string_view value) {
  return std::string(value.substr(value.front() == '"' ? 1 : 0));
}

// The place of what an element says of `key`; null: it is of no use to us.
std::string* GmlReader::PlaceOf(std::string_view key, Element* element) {
  if (key == "id") return &element->id;
  if (key == "source") return &element->source;
  if (key == "target") return &element->target;
  return key == "weight" ? &element->weight : nullptr;
}

Status GmlReader::ReadElement(Element* element) {
  for (;;) {
    const std::string key(words_.Next());
    if (key.empty()) return Error("the file ends inside a list");
    if (key == "]") return Status::Ok();
    const std::string_view value = words_.Next();
    if (value.empty() || value == "]") return Error(QuoteName(key) + " has no value");
    std::string* const place = PlaceOf(key, element);
    if (value == "[") {
      if (place != nullptr) return Error(QuoteName(key) + " is a list; it takes one value");
      const Status status = SkipList();
      if (!status) return status;
    } else if (place != nullptr) {
      *place = key == "weight" ? std::string(value) : NameOfValue(value);
    }
  }
}

Status GmlReader::AddNode(const Element& node) {
  if (node.id.empty()) return Error("this node has no id");
  if (builder_.network().Find(node.id)) return Error("node " + QuoteName(node.id) + " is twice");
  if (static_cast<size_t>(builder_.network().AddRouter(node.id)) >= kMaxRouters) {
    return Error("the map is too large; at most " + std::to_string(kMaxRouters) + " routers");
  }
  return Status::Ok();
}

Status GmlReader::AddEdge(const Element& edge) {
  for (const std::string& end : {edge.source, edge.target}) {
    if (!builder_.network().Find(end)) {
      return Error("this edge ends at " + QuoteName(end) + ", and no node before it has this id");
    }
  }
  const auto weight = ParseWeight(edge.weight);
  if (!weight) {
    return Error("the weight is " + QuoteName(edge.weight) + "; it takes 1 to 4294967295");
  }
  return builder_.AddLink(words_.line(), edge.source, edge.target, *weight);
}

Status GmlReader::ReadGraph() {
  for (;;) {
    const std::string key(words_.Next());
    if (key.empty()) return Error("the file ends inside the graph");
    if (key == "]") return Status::Ok();
    const std::string_view value = words_.Next();
    if (value.empty() || value == "]") return Error(QuoteName(key) + " has no value");
    if (value != "[") continue;
    Status status = Status::Ok();
    Element element;
    if (key == "node" || key == "edge") {
      status = ReadElement(&element);
      if (status.ok()) status = key == "node" ? AddNode(element) : AddEdge(element);
    } else {
      status = SkipList();
    }
    if (!status.ok()) return status;
  }
}

Result<Network> GmlReader::Read() {
  for (;;) {
    const std::string key(words_.Next());
    if (key.empty()) break;
    const std::string_view value = words_.Next();
    if (value.empty() || value == "]") return Error(QuoteName(key) + " has no value");
    if (value != "[") continue;
    if (key == "graph" && has_graph_) return Error("a second graph in one file");
    const Status status = key == "graph" ? ReadGraph() : SkipList();
    if (!status.ok()) return status;
    has_graph_ = has_graph_ || key == "graph";
  }
  if (!has_graph_) return Error("there is no graph in this file");
  return std::move(builder_.network());
}

Result<Topology> TopologyOf(const Network& network, std::string_view source_name) {
  const auto error = [&](const std::string& message) {
    return Status::Error(std::string(source_name) + ": " + message);
  };
  if (static_cast<size_t>(network.router_count()) > kMaxTopologySwitches) {
    return error("there are " + std::to_string(network.router_count()) + " nodes; " +
                 std::to_string(kMaxTopologySwitches) + " are allowed");
  }
  Topology topology;
  for (int from = 0; from < network.router_count(); ++from) {
    const std::string problem = event_lang::LabelProblem("id", network.NameOf(from));
    if (!problem.empty()) return error(problem);
    topology.switches.push_back({network.NameOf(from)});
    for (const NetworkLink& link : network.LinksOf(from)) {
      if (link.to < from) continue;  // it stands at its other end
      if (link.weight > kMaxTopologyWeight) {
        return error("the weight between " + QuoteName(network.NameOf(from)) + " and " +
                     QuoteName(network.NameOf(link.to)) + " is " + std::to_string(link.weight) +
                     "; at most " + std::to_string(kMaxTopologyWeight) + " are allowed");
      }
      topology.links.push_back({network.NameOf(from), network.NameOf(link.to), link.weight});
    }
  }
  return topology;
}

}  // namespace

Result<Network> ParseEdges(std::string_view text, std::string_view source_name) {
  Builder builder(source_name);
  text = WithoutByteOrderMark(text);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const Status status = ParseEdge(line, number, &builder);
    if (!status.ok()) return status;
  }
  return std::move(builder.network());
}

Result<Network> ParseGml(std::string_view text, std::string_view source_name) {
  return GmlReader(WithoutByteOrderMark(text), source_name).Read();
}

Network NetworkOf(const Topology& topology) {
  Network network;
  for (const TopologySwitch& router : topology.switches) network.AddRouter(router.name);
  for (const TopologyLink& link : topology.links) {
    const auto from = network.Find(link.from);
    const auto to = network.Find(link.to);
    if (from && to) network.AddLink(*from, *to, link.weight);
  }
  return network;
}

Result<Topology> ParseTopologyFile(std::string_view text, std::string_view source_name) {
  constexpr std::string_view kEnd = ".gml";
  const bool is_gml = source_name.size() > kEnd.size() &&
                      source_name.substr(source_name.size() - kEnd.size()) == kEnd;
  if (!is_gml) return ParseTopology(text, source_name);
  const Result<Network> network = ParseGml(text, source_name);
  if (!network) return network.status();
  return TopologyOf(*network, source_name);
}

}  // namespace trumpet::slice
