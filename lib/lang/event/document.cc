// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/document.h"

namespace trumpet::event_lang {

Status CheckDocumentText(const Source& source) {
  if (source.text.size() > source.max_bytes) {
    return Status::Error(source.ErrorAt(0, "the file is longer than the " +
                                               std::to_string(source.max_bytes) +
                                               " bytes that are allowed"));
  }
  size_t offset = 0;
  if (!IsUtf8(source.text, &offset)) {
    return Status::Error(source.ErrorAt(offset, "the file is not UTF-8 here"));
  }
  offset = source.text.find('\0');
  if (offset != std::string_view::npos) {
    return Status::Error(source.ErrorAt(offset, "the file holds a zero byte here"));
  }
  return Status::Ok();
}

void DocumentBuilder::Scalar(DocumentNode::Kind kind, size_t offset, std::string text) {
  if (DocumentNode* node = Add(kind, offset)) node->text = std::move(text);
}

void DocumentBuilder::Begin(DocumentNode::Kind kind, size_t offset) {
  if (open_.size() > kMaxDocumentDepth) Complain(offset, "the file is nested too deep here");
  if (DocumentNode* node = Add(kind, offset)) open_.push_back(node);
}

void DocumentBuilder::End() {
  if (!has_error()) open_.pop_back();
}

void DocumentBuilder::Complain(size_t offset, const std::string& message) {
  if (!has_error()) error_ = source_.ErrorAt(offset, message);
}

Result<DocumentNode> DocumentBuilder::Take() {
  if (has_error()) return Status::Error(error_);
  if (root_.items.empty()) return Status::Error(source_.ErrorAt(0, "the file is empty"));
  return std::move(root_.items[0]);
}

// Pointers in open_ stay valid: only the innermost open node's items move when it grows, and
// none of those is open.
DocumentNode* DocumentBuilder::Add(DocumentNode::Kind kind, size_t offset) {
  if (has_error()) return nullptr;
  DocumentNode& parent = *open_.back();
  parent.items.emplace_back();
  parent.items.back().kind = kind;
  parent.items.back().offset = offset;
  return &parent.items.back();
}

}  // namespace trumpet::event_lang
