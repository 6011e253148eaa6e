// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/output.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "lib/base/utf8.h"

namespace trumpet {
namespace {

// Does every reader take it for a text, quoted or not?  Numbers, dates and the like begin with no
// letter; words for truth and nothing are more in YAML 1.1 than in 1.2.
bool IsPlainYaml(const std::string& text) {
  constexpr std::string_view kOthers[] = {"true", "false", "yes", "no", "on",
                                          "off",  "null",  "y",   "n"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::string word;
  std::transform(text.begin(), text.end(), std::back_inserter(word), lower);
  if (word.empty() || word[0] < 'a' || word[0] > 'z') return false;
  if (text.find_first_of(":#{}[],&*!|>'\"%@`\n") != text.npos) return false;
  return std::find(std::begin(kOthers), std::end(kOthers), word) == std::end(kOthers);
}

void EmitYaml(const ApiJson& value, YAML::Emitter* out) {
  if (value.is_object()) {
    *out << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      *out << YAML::Key << key << YAML::Value;
      EmitYaml(item, out);
    }
    *out << YAML::EndMap;
  } else if (value.is_array()) {
    *out << (value.empty() ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
    for (const ApiJson& item : value) EmitYaml(item, out);
    *out << YAML::EndSeq;
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    *out << (IsPlainYaml(text) ? YAML::Auto : YAML::DoubleQuoted) << text;
  } else if (value.is_null()) {
    *out << YAML::Null;
  } else {
    *out << value.dump();
  }
}

std::vector<std::string> LinesOf(const std::string& document) {
  std::vector<std::string> lines;
  std::istringstream stream(document);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// 0 if it is no number that counts things.
size_t NumberOf(const ApiJson& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_number_unsigned() ? found->get<size_t>() : 0;
}

// Fit for a terminal: whole characters, and none that move its cursor.
bool IsPrintable(const std::string& line) {
  for (size_t at = 0; at < line.size();) {
    const size_t length = Utf8Length(line, at);
    const auto first = static_cast<unsigned char>(line[at]);
    const bool is_control = (first < ' ' && first != '\t') || first == 0x7f ||
                            (first == 0xc2 && static_cast<unsigned char>(line[at + 1]) < 0xa0);
    if (length == 0 || is_control) return false;
    at += length;
  }
  return true;
}

// The line with a mark below the place; columns are counted in characters.
std::string ShowPlace(const std::vector<std::string>& lines, size_t number, size_t column) {
  if (number == 0 || number > lines.size() || column == 0) return "";
  const std::string& line = lines[number - 1];
  if (!IsPrintable(line)) return "";
  std::string before;
  size_t characters = 1;
  for (const char c : line) {
    const bool begins_character = (c & 0xc0) != 0x80;
    if (begins_character && characters++ == column) break;
    if (begins_character) before += c == '\t' ? '\t' : ' ';
  }
  const std::string label = std::to_string(number);
  return std::string(6 - std::min<size_t>(5, label.size()), ' ') + label + " | " + line + "\n" +
         std::string(6 - std::min<size_t>(5, label.size()) + label.size(), ' ') + " | " + before +
         "^\n";
}

// What the server calls a document that was sent to it.
constexpr std::string_view kSentSource = "request:";

bool IsOfRequest(const std::string& text) {
  return text.compare(0, kSentSource.size(), kSentSource) == 0;
}

std::string NameSource(const std::string& name, const std::string& text) {
  return name + ":" + text.substr(kSentSource.size());
}

}  // namespace

std::string PrintYaml(const ApiJson& value) {
  YAML::Emitter out;
  EmitYaml(value, &out);
  return std::string(out.c_str()) + "\n";
}

std::string DescribeProblem(int status, const std::string& body, const std::string& document,
                            const std::string& name) {
  const ApiJson problem = ApiJson::parse(body, nullptr, false);
  const ApiJson errors = problem.is_object() ? problem.value("errors", ApiJson()) : ApiJson();
  if (!errors.empty() && errors.is_array()) {
    const std::vector<std::string> lines = LinesOf(document);
    std::string text;
    for (const ApiJson& error : errors) {
      const std::string line = ApiText(error, "line");
      const std::string column = ApiText(error, "column");
      text += name + ":" + line + ":" + column + ": " + ApiText(error, "message") + "\n";
      text += ShowPlace(lines, NumberOf(error, "line"), NumberOf(error, "column"));
    }
    return text;
  }
  std::string detail = ApiText(problem, "detail");
  if (detail.empty()) detail = ApiText(problem, "title");
  if (detail.empty()) detail = "the server answered with status " + std::to_string(status);
  // What has no place in the document is about the whole of it.
  if (!name.empty() && IsOfRequest(detail)) detail = NameSource(name, detail);
  if (status == 401) detail += " (name a token with --token-file or TRUMPET_TOKEN_FILE)";
  return detail + "\n";
}

void NameSourceOfWarnings(const std::string& name, ApiJson* plan) {
  if (!plan->is_object() || !plan->contains("warnings")) return;
  std::string explanation = ApiText(*plan, "explanation");
  for (ApiJson& warning : (*plan)["warnings"]) {
    const std::string text = warning.is_string() ? warning.get<std::string>() : "";
    if (!IsOfRequest(text)) continue;
    warning = NameSource(name, text);
    const std::string told = "warning: " + text + "\n";
    const size_t at = explanation.find(told);
    if (at == explanation.npos) continue;
    explanation.replace(at, told.size(), "warning: " + warning.get<std::string>() + "\n");
    (*plan)["explanation"] = explanation;
  }
}

}  // namespace trumpet
