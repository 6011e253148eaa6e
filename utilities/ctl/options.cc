// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/options.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "utilities/ctl/command_help.h"

namespace trumpet {
namespace {

const CtlOption* FindOption(const std::vector<CtlOption>& options, const std::string& name) {
  for (const CtlOption& option : options) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

const CtlCommand* FindCommand(const std::string& name) {
  for (const CtlCommand& command : CtlCommands()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

// The words of the line, told apart.
struct Words {
  std::vector<std::string> plain;
  std::vector<std::pair<std::string, std::string>> options;  // name, value
  std::vector<bool> has_value;
};

// An option's value is behind `=`, or the next word if the option takes one.
Status SplitWords(const std::vector<std::string>& arguments, Words* words) {
  const auto takes_value = [](const std::string& name) {
    const CtlOption* option = FindOption(CommonCtlOptions(), name);
    for (const CtlCommand& command : CtlCommands()) {
      if (option == nullptr) option = FindOption(command.options, name);
    }
    return option != nullptr && option->value != nullptr;
  };
  bool only_plain = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string word = arguments[i];
    if (word == "-o") word = "--output";
    if (word == "-h") word = "--help";
    if (word == "-V") word = "--version";
    if (word == "-w") word = "--write";
    if (only_plain || word.size() < 2 || word[0] != '-') {
      words->plain.push_back(word);
      continue;
    }
    if (word == "--") {
      only_plain = true;
      continue;
    }
    if (word.compare(0, 2, "--") != 0) return Status::Error("there is no option " + word);
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == word.npos ? word.npos : equals - 2);
    if (equals != word.npos) {
      words->options.emplace_back(name, word.substr(equals + 1));
      words->has_value.push_back(true);
    } else if (takes_value(name)) {
      if (i + 1 == arguments.size()) return Status::Error("--" + name + " needs a value");
      words->options.emplace_back(name, arguments[++i]);
      words->has_value.push_back(true);
    } else {
      words->options.emplace_back(name, "");
      words->has_value.push_back(false);
    }
  }
  return Status::Ok();
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Status SetOutput(const std::string& text, CtlInvocation* invocation) {
  if (text == "table") {
    invocation->output = OutputFormat::kTable;
  } else if (text == "json") {
    invocation->output = OutputFormat::kJson;
  } else if (text == "yaml") {
    invocation->output = OutputFormat::kYaml;
  } else {
    return Status::Error("output is '" + text + "'; it takes table, json or yaml");
  }
  return Status::Ok();
}

// Of all commands; from any of the three sources.
Status SetCommon(const std::string& name, const std::string& value, CtlInvocation* invocation) {
  if (name == "output") return SetOutput(value, invocation);
  if (name == "server") {
    invocation->server = value;
    while (!invocation->server.empty() && invocation->server.back() == '/') {
      invocation->server.pop_back();
    }
    if (value.compare(0, 7, "http://") == 0 || value.compare(0, 8, "https://") == 0) {
      return Status::Ok();
    }
    return Status::Error("server is '" + value + "'; it begins with http:// or https://");
  }
  (name == "ca" ? invocation->ca_file : invocation->token_file) = value;
  return Status::Ok();
}

Status ReadConfig(std::string_view text, const std::string& source, CtlInvocation* invocation) {
  YAML::Node root;
  try {
    root = YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return Status::Error(source + ":" + std::to_string(error.mark.line + 1) + ":" +
                         std::to_string(error.mark.column + 1) + ": " + error.msg);
  }
  if (root.IsNull()) return Status::Ok();
  if (!root.IsMap()) return Status::Error(source + ": want keys with values");
  for (const auto& item : root) {
    const std::string place = source + ":" + std::to_string(item.first.Mark().line + 1) + ":" +
                              std::to_string(item.first.Mark().column + 1) + ": ";
    if (!item.first.IsScalar() || !item.second.IsScalar()) {
      return Status::Error(place + "want a key and a text");
    }
    const std::string& name = item.first.Scalar();
    if (name != "server" && name != "token-file" && name != "ca" && name != "output") {
      return Status::Error(place + "'" + name + "' is not server, token-file, ca or output");
    }
    Status set = SetCommon(name, item.second.Scalar(), invocation);
    if (!set) return Status::Error(place + set.message());
  }
  return Status::Ok();
}

// The first one to three plain words; the rest are arguments.
Status TakeCommand(const std::vector<std::string>& plain, CtlInvocation* invocation) {
  if (plain.empty()) return Status::Error("which command? trumpetctl --help lists them");
  size_t used = 0;
  std::string typed_name;
  while (invocation->command == nullptr && used < std::min<size_t>(plain.size(), 3)) {
    typed_name += (used == 0 ? "" : " ") + plain[used];
    invocation->command = FindCommand(typed_name);
    ++used;
  }
  if (invocation->command == nullptr) {
    std::string known;
    for (const CtlCommand& command : CtlCommands()) {
      const std::string name = command.name;
      if (name.compare(0, plain[0].size() + 1, plain[0] + " ") == 0) {
        known += (known.empty() ? "" : ", ") + name;
      }
    }
    const std::string typed = plain[0] + (plain.size() > 1 && !known.empty() ? " " + plain[1] : "");
    return Status::Error("'" + typed + "' is no command; " +
                         (known.empty() ? "trumpetctl --help lists them" : "there are " + known));
  }
  invocation->arguments.assign(plain.begin() + static_cast<ptrdiff_t>(used), plain.end());
  return Status::Ok();
}

Status CheckArguments(const CtlInvocation& invocation) {
  const CtlCommand& command = *invocation.command;
  const size_t count = invocation.arguments.size();
  if (count >= command.min_arguments && count <= command.max_arguments) return Status::Ok();
  return Status::Error(std::string(count < command.min_arguments ? "too few" : "too many") +
                       " arguments; usage: trumpetctl " + command.name + " [OPTION]... " +
                       command.arguments);
}

}  // namespace

std::string CtlInvocation::Get(const std::string& option, const std::string& otherwise) const {
  const auto found = options.find(option);
  return found == options.end() ? otherwise : found->second;
}

uint64_t CtlInvocation::Whole(const std::string& option, uint64_t otherwise) const {
  const auto number = Has(option) ? ReadWhole(option, Get(option), {}) : otherwise;
  assert(number);
  return number ? *number : otherwise;
}

double CtlInvocation::Decimal(const std::string& option, double otherwise) const {
  constexpr DecimalRange kAny = {-HUGE_VAL, HUGE_VAL};
  const auto number = Has(option) ? ReadDecimal(option, Get(option), kAny) : otherwise;
  assert(number);
  return number ? *number : otherwise;
}

Result<CtlInvocation> ParseCtlArguments(const std::vector<std::string>& arguments,
                                        const Environment& environment,
                                        std::string_view config_text,
                                        const std::string& config_name) {
  // `--wait` alone is allowed; everywhere else a value must follow.
  std::vector<std::string> prepared = arguments;
  std::replace(prepared.begin(), prepared.end(), std::string("--wait"), std::string("--wait=60"));
  CtlInvocation invocation;
  Words words;
  Status status = SplitWords(prepared, &words);
  if (!status) return status;
  const auto given = [&](const char* name) {
    return std::any_of(words.options.begin(), words.options.end(),
                       [&](const auto& option) { return option.first == name; });
  };
  if (given("version")) {
    invocation.help = "trumpetctl " TRUMPET_VERSION "\n";
    return invocation;
  }
  if (words.plain.empty() && given("help")) {
    invocation.help = GeneralCtlHelp();
    return invocation;
  }
  status = TakeCommand(words.plain, &invocation);
  if (!status && given("help")) invocation.help = CtlHelpOfAll(Join(words.plain));
  if (!invocation.help.empty()) return invocation;
  if (!status) return status;
  if (given("help")) {
    invocation.help = CtlHelpOf(*invocation.command);
    return invocation;
  }
  status = ReadConfig(config_text, config_name, &invocation);
  if (!status) return status;
  const std::pair<const char*, const char*> variables[] = {
      {"server", "TRUMPET_SERVER"}, {"token-file", "TRUMPET_TOKEN_FILE"}, {"ca", "TRUMPET_CA"}};
  for (const auto& [name, variable] : variables) {
    const std::string value = environment(variable);
    if (value.empty()) continue;
    status = SetCommon(name, value, &invocation);
    if (!status) return Status::Error(std::string(variable) + ": " + status.message());
  }
  for (size_t i = 0; i < words.options.size(); ++i) {
    const auto& [name, value] = words.options[i];
    const CtlOption* option = FindOption(invocation.command->options, name);
    const bool is_common = option == nullptr;
    if (is_common) option = FindOption(CommonCtlOptions(), name);
    if (option == nullptr) {
      return Status::Error(std::string("trumpetctl ") + invocation.command->name +
                           " has no option --" + name);
    }
    if (words.has_value[i] != (option->value != nullptr)) {
      return Status::Error("--" + name +
                           (option->value != nullptr ? " needs a value" : " takes no value"));
    }
    if (!is_common) {
      status = CheckOptionNumber(name, value, option->numbers);
      if (!status) return status;
      invocation.options[name] = value;
      continue;
    }
    status = SetCommon(name, value, &invocation);
    if (!status) return status;
  }
  status = CheckArguments(invocation);
  if (!status) return status;
  return invocation;
}

}  // namespace trumpet
