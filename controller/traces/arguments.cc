// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/arguments.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace trumpet {

bool Arguments::Has(std::string_view name) const {
  return std::any_of(options.begin(), options.end(),
                     [name](const auto& option) { return option.first == name; });
}

Result<Arguments> ReadArguments(const std::vector<std::string>& words,
                                const std::vector<KnownArgument>& known) {
  Arguments arguments;
  bool has_ended = false;  // by "--"
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (has_ended || word.size() < 2 || word[0] != '-') {
      arguments.files.push_back(word);
      continue;
    }
    if (word == "--") {
      has_ended = true;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const KnownArgument& one) { return one.name == name; });
    if (found == known.end()) return Status::Error(name + ": unknown option");
    if (!found->takes_value) {
      if (equals != word.npos) return Status::Error(name + " takes no value");
      arguments.options.emplace_back(name, "");
    } else if (equals != word.npos) {
      arguments.options.emplace_back(name, word.substr(equals + 1));
    } else if (++i < words.size()) {
      arguments.options.emplace_back(name, words[i]);
    } else {
      return Status::Error(name + " needs a value");
    }
  }
  return arguments;
}

int RunProgram(const std::vector<std::string>& words, std::vector<KnownArgument> known,
               const char* usage, const std::function<Status(const Arguments&)>& run,
               std::ostream* out, std::ostream* err) {
  known.push_back({"-h", false});
  known.push_back({"--help", false});
  const auto arguments = ReadArguments(words, known);
  if (arguments.ok() && (arguments->Has("-h") || arguments->Has("--help"))) {
    *out << usage;
    return 0;
  }
  const Status status = arguments.ok() ? run(*arguments) : arguments.status();
  if (status.ok()) return 0;
  *err << "trumpet-analyzer: " << status.message() << "\n";
  return 1;
}

std::pair<std::string, std::string> SplitAtEquals(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Result<uint64_t> ReadCount(const std::string& what, const std::string& text, uint64_t least,
                           uint64_t most) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < least || value > most) {
    return Status::Error(what + ": '" + text + "' is not a number from " + std::to_string(least) +
                         " to " + std::to_string(most));
  }
  return value;
}

Result<Nanos> ReadSpan(const std::string& what, const std::string& text) {
  static constexpr std::pair<std::string_view, Nanos> kUnits[] = {
      {"ns", 1}, {"us", kNanosPerMicro}, {"ms", kNanosPerMilli}, {"s", kNanosPerSecond}};
  constexpr Nanos kLongest = 3600 * kNanosPerSecond;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  for (const auto& [unit, factor] : kUnits) {
    if (digits == 0 || text.substr(digits) != unit) continue;
    const auto count =
        ReadCount(what, text.substr(0, digits), 0, static_cast<uint64_t>(kLongest / factor));
    if (!count) return count.status();
    return static_cast<Nanos>(*count) * factor;
  }
  return Status::Error(what + ": '" + text + "' is not a time such as 500ms or 2s");
}

}  // namespace trumpet
