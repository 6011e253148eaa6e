// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/json_body.h"

#include <set>
#include <string_view>

#include "controller/rest/event_body.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/document.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;

// Null if there is none.  No document is nested deeper than kMaxDocumentDepth.
const DocumentNode* FindDoubledKey(const DocumentNode& node) {
  const bool is_map = node.kind == DocumentNode::Kind::kMap;
  std::set<std::string_view> keys;
  for (size_t i = 0; i < node.items.size(); ++i) {
    const DocumentNode& item = node.items[i];
    if (is_map && i % 2 == 0) {
      if (!keys.insert(item.text).second) return &item;
    } else if (const DocumentNode* const doubled = FindDoubledKey(item)) {
      return doubled;
    }
  }
  return nullptr;
}

}  // namespace

Status CheckJsonBody(const std::string& text) {
  const event_lang::Source source{kEventBodyName, text};
  const Result<DocumentNode> root = event_lang::ReadJson(source);
  if (!root.ok()) return root.status();
  const DocumentNode* const doubled = FindDoubledKey(*root);
  if (doubled == nullptr) return Status::Ok();
  return Status::Error(
      source.ErrorAt(doubled->offset, event_lang::Quote(doubled->text) + " stands twice here"));
}

Result<nlohmann::ordered_json> ReadJsonBody(const std::string& text) {
  const Status status = CheckJsonBody(text);
  if (!status.ok()) return status;
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

}  // namespace trumpet
