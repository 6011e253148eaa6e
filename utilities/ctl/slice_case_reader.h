// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CaseReader: the fields of one planning case.

#ifndef TRUMPET_UTILITIES_CTL_SLICE_CASE_READER_H
#define TRUMPET_UTILITIES_CTL_SLICE_CASE_READER_H

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/plan/slice/schedule.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/source.h"

namespace trumpet {

// One case, read field by field.  The first complaint stays; what is asked for behind it does not
// matter any more.
class CaseReader {
  using DocumentNode = event_lang::DocumentNode;
  using Kind = DocumentNode::Kind;
  using Network = slice::Network;

 public:
  CaseReader(const event_lang::Source& source, const DocumentNode& node)
      : source_(source), node_(node) {
    RefuseDoubles();
  }

  const DocumentNode* Find(std::string_view key) const {
    for (size_t i = 0; i + 1 < node_.items.size(); i += 2) {
      if (node_.items[i].text == key) return &node_.items[i + 1];
    }
    return nullptr;
  }
  // What must be there; null, with a complaint, when it is not or of another kind.
  const DocumentNode* Need(const std::string& key, Kind kind, const char* what) {
    const DocumentNode* node = Find(key);
    if (node != nullptr && node->kind == kind) return node;
    Complain(node != nullptr ? *node : node_, "'" + key + "' has to be " + what);
    return nullptr;
  }
  std::string Text(const std::string& key) {
    const DocumentNode* node = Need(key, Kind::kText, "a text");
    return node == nullptr ? "" : node->text;
  }
  double Number(const std::string& key) {
    const DocumentNode* node = Need(key, Kind::kNumber, "a number");
    if (node == nullptr) return 0;
    double value = 0;
    std::from_chars(node->text.data(), node->text.data() + node->text.size(), value);
    if (!std::isfinite(value) || value < 0) Complain(*node, "'" + key + "' has to be 0 or more");
    return value == 0 ? 0 : value;  // not -0, which would be printed so
  }
  int64_t Whole(const DocumentNode& node) {
    int64_t value = 0;
    const char* const end = node.text.data() + node.text.size();
    const auto [rest, error] = std::from_chars(node.text.data(), end, value);
    if (node.kind != Kind::kNumber || error != std::errc() || rest != end || value < 0 ||
        value > slice::kMaxCost) {
      Complain(node, "this has to be a whole number from 0 to " + std::to_string(slice::kMaxCost));
      return 0;
    }
    return value;
  }
  int64_t Whole(const std::string& key) {
    const DocumentNode* node = Need(key, Kind::kNumber, "a number");
    return node == nullptr ? 0 : Whole(*node);
  }
  std::vector<int64_t> Wholes(const std::string& key) {
    std::vector<int64_t> values;
    const DocumentNode* node = Need(key, Kind::kList, "a list of numbers");
    if (node == nullptr) return values;
    for (const DocumentNode& item : node->items) values.push_back(Whole(item));
    return values;
  }
  int Router(const Network& network, const DocumentNode& node) {
    const auto router = node.kind == Kind::kText ? network.Find(node.text) : std::nullopt;
    if (!router) Complain(node, slice::QuoteName(node.text) + " is no router of this map");
    return router.value_or(0);
  }
  std::vector<int> Routers(const Network& network, const std::string& key) {
    std::vector<int> routers;
    const DocumentNode* node = Need(key, Kind::kList, "a list of routers");
    if (node == nullptr) return routers;
    for (const DocumentNode& item : node->items) routers.push_back(Router(network, item));
    return routers;
  }
  // Without doubles.
  std::vector<int> RouterSet(const Network& network, const std::string& key) {
    std::vector<int> routers = Routers(network, key);
    std::set<int> seen;
    const auto is_double = [&seen](int router) { return !seen.insert(router).second; };
    routers.erase(std::remove_if(routers.begin(), routers.end(), is_double), routers.end());
    return routers;
  }

  void Complain(const DocumentNode& node, const std::string& message) {
    if (error_.empty()) error_ = source_.ErrorAt(node.offset, message);
  }
  void ComplainOf(const std::string& key, const std::string& message) {
    const DocumentNode* node = Find(key);
    Complain(node == nullptr ? node_ : *node, message);
  }
  const std::string& error() const { return error_; }

 private:
  // Which of two was meant nobody knows.
  void RefuseDoubles() {
    if (node_.kind != Kind::kMap) return;
    std::set<std::string_view> seen;
    for (size_t i = 0; i + 1 < node_.items.size(); i += 2) {
      const DocumentNode& key = node_.items[i];
      if (!seen.insert(key.text).second) {
        Complain(key, slice::QuoteName(key.text) + " stands twice in this case");
      }
    }
  }

  const event_lang::Source& source_;
  const DocumentNode& node_;
  std::string error_;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_CTL_SLICE_CASE_READER_H
