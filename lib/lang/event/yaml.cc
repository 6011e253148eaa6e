// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <exception>
#include <sstream>
#include <string>
#include <string_view>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "lib/lang/event/document.h"

namespace trumpet::event_lang {
namespace {

using Kind = DocumentNode::Kind;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool StartsWithNull(std::string_view text) {
  for (const std::string_view null : {"~", "null", "Null", "NULL"}) {
    if (text.substr(0, null.size()) != null) continue;
    const char next = text.size() > null.size() ? text[null.size()] : '\n';
    if (IsBlank(next) || next == '\n' || next == ',' || next == ']' || next == '}') return true;
  }
  return false;
}

// A line without its comment, nor the blanks before that.
std::string_view ContentOf(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || IsBlank(line[i - 1]))) line = line.substr(0, i);
  }
  while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
  return line;
}

// An empty value is no token, so the library gives it the mark of the `next` one.  Its place is
// behind the ':' or '-' that it follows: nothing but blanks and comments lies between.
size_t PlaceOfNull(std::string_view text, size_t next) {
  const bool is_empty_key = next < text.size() && text[next] == ':';
  if (is_empty_key || StartsWithNull(text.substr(next))) return next;
  // On the line of a token no comment stands before it, but a '#' in quotes may.  And there may be
  // many such values: the rest of the line is not looked at for each.
  size_t end = next;
  while (next < text.size() && end > 0 && IsBlank(text[end - 1])) --end;
  if (next < text.size() && end > 0 && text[end - 1] != '\n') return end;
  for (;;) {
    const size_t line_break = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const size_t start = line_break == std::string_view::npos ? 0 : line_break + 1;
    const size_t behind = ContentOf(text.substr(start, end - start)).size();
    if (behind > 0) return start + behind;
    if (start == 0) return next;
    end = start - 1;
  }
}

// Receives the parser's events instead of its node tree: aliases are refused before anything is
// expanded, and every node keeps its mark.
class Handler : public YAML::EventHandler {
 public:
  Handler(std::string_view text, const LineIndex& lines, DocumentBuilder* builder)
      : text_(text), lines_(lines), builder_(*builder) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++document_count_ > 1) {
      builder_.Complain(OffsetOf(mark), "the file holds more than one YAML document");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CheckPlain(mark, "", anchor);
    builder_.Scalar(Kind::kNull, PlaceOfNull(text_, OffsetOf(mark)), "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    builder_.Complain(OffsetOf(mark),
                      "YAML aliases are not accepted here; quote a text that "
                      "begins with '*'");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckPlain(mark, tag, anchor);
    // The library takes the end of the file for a missing quote when a line break precedes it.
    if (!IsQuoteClosed(text_, OffsetOf(mark), value)) {
      builder_.Complain(OffsetOf(mark), "not valid YAML: this quote is never closed");
    }
    builder_.Scalar(Kind::kText, OffsetOf(mark), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckPlain(mark, tag, anchor);
    builder_.Begin(Kind::kList, OffsetOf(mark));
  }
  void OnSequenceEnd() override { builder_.End(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CheckPlain(mark, tag, anchor);
    builder_.Begin(Kind::kMap, OffsetOf(mark));
  }
  void OnMapEnd() override { builder_.End(); }

 private:
  size_t OffsetOf(const YAML::Mark& mark) const { return lines_.OffsetOf(mark.line, mark.column); }

  // "?" and "!" are how the parser calls untagged plain and quoted scalars.
  void CheckPlain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) builder_.Complain(OffsetOf(mark), "YAML anchors are not accepted here");
    if (!tag.empty() && tag != "?" && tag != "!") {
      builder_.Complain(OffsetOf(mark), "YAML tags are not accepted here");
    }
  }

  const std::string_view text_;
  const LineIndex& lines_;
  DocumentBuilder& builder_;
  int document_count_ = 0;
};

std::string Explain(const YAML::ParserException& error) {
  std::string message = "not valid YAML: " + error.msg;
  if (error.msg.find("alias") != std::string::npos || error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR) {
    message += " (quote a text that begins with '*')";
  }
  return message;
}

}  // namespace

Result<DocumentNode> ReadYaml(const Source& source) {
  const Status status = CheckDocumentText(source);
  if (!status.ok()) return status;
  DocumentBuilder builder(source);
  const LineIndex lines(source.text);
  Handler handler(source.text, lines, &builder);
  // The one place where the library's exceptions end.
  try {
    std::istringstream stream{std::string(source.text)};
    YAML::Parser parser(stream);
    while (!builder.has_error() && parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::ParserException& error) {
    builder.Complain(lines.OffsetOf(error.mark.line, error.mark.column), Explain(error));
  } catch (const std::exception& error) {
    builder.Complain(0, std::string("not valid YAML: ") + error.what());
  }
  return builder.Take();
}

}  // namespace trumpet::event_lang
