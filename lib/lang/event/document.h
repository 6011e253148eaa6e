// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Document: a YAML or JSON file as a small tree whose nodes know their place.
//
// Both readers refuse files beyond Source::max_bytes and nesting beyond kMaxDocumentDepth, and
// YAML's anchors, aliases and tags, so that the tree is never larger than its text.

#ifndef TRUMPET_LIB_LANG_EVENT_DOCUMENT_H
#define TRUMPET_LIB_LANG_EVENT_DOCUMENT_H

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/lang/event/source.h"

namespace trumpet::event_lang {

constexpr size_t kMaxDocumentDepth = 16;

struct DocumentNode {
  enum class Kind { kNull, kText, kNumber, kBool, kList, kMap };

  Kind kind = Kind::kNull;
  size_t offset = 0;                // where the node starts in the file
  std::string text;                 // kText: the decoded scalar; kNumber: as written
  std::vector<DocumentNode> items;  // kList: the items; kMap: key, value, key, value, ...
};

// YAML has no numbers or booleans here: every scalar is kText.  Errors carry their place.
Result<DocumentNode> ReadYaml(const Source& source);
Result<DocumentNode> ReadJson(const Source& source);

// Common to both: refuses large files and bytes that are not UTF-8.
Status CheckDocumentText(const Source& source);

// Builds the tree from the readers' callbacks.  Remembers the first complaint, after which
// it ignores everything.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(const Source& source) : source_(source) { open_.push_back(&root_); }

  void Scalar(DocumentNode::Kind kind, size_t offset, std::string text);
  void Begin(DocumentNode::Kind kind, size_t offset);
  void End();
  void Complain(size_t offset, const std::string& message);

  bool has_error() const { return !error_.empty(); }
  // The one top-level node; an error if something was wrong.
  Result<DocumentNode> Take();

 private:
  DocumentNode* Add(DocumentNode::Kind kind, size_t offset);

  const Source& source_;
  DocumentNode root_;                // a list that holds the top-level node
  std::vector<DocumentNode*> open_;  // from the root to where nodes are added
  std::string error_;
};

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_DOCUMENT_H
