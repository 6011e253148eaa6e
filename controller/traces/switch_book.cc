// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/switch_book.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "lib/model/slice_spec.h"

namespace trumpet {
namespace {

std::string BookPath(const std::string& folder) { return folder + "/switches.json"; }

}  // namespace

Status SwitchBook::Add(const std::string& name, uint16_t number) {
  if (name.empty()) return Status::Error("a switch needs a name");
  if (number > kMaxSwitchNumber) {
    return Status::Error(name + ": " + std::to_string(number) + " is no number of a switch; 0 to " +
                         std::to_string(kMaxSwitchNumber) + " are");
  }
  const auto other = names_.find(number);
  if (other != names_.end()) {
    return Status::Error(name + ": number " + std::to_string(number) + " is that of " +
                         other->second);
  }
  if (!numbers_.emplace(name, number).second) {
    return Status::Error(name + ": a switch of that name has a number already");
  }
  names_.emplace(number, name);
  return Status::Ok();
}

Status SwitchBook::AddNext(const std::string& name) {
  if (numbers_.count(name) != 0) return Status::Ok();
  uint16_t number = 1;
  while (names_.count(number) != 0) ++number;
  return Add(name, number);
}

std::string SwitchBook::NameOf(uint16_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? std::to_string(number) : found->second;
}

std::optional<uint16_t> SwitchBook::NumberOf(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

Result<SwitchBook> LoadSwitchBook(const std::string& folder) {
  const std::string path = BookPath(folder);
  SwitchBook book;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return book;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return Status::Error(path + ": is no list of switches");
  for (const auto& [name, number] : json.items()) {
    const bool is_number = number.is_number_unsigned() && number <= kMaxSwitchNumber;
    const Status added = is_number ? book.Add(name, number.get<uint16_t>())
                                   : Status::Error(name + ": has no number of a switch");
    if (!added.ok()) return Status::Error(path + ": " + added.message());
  }
  return book;
}

Status SaveSwitchBook(const SwitchBook& book, const std::string& folder) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [number, name] : book.names()) json[name] = number;
  const std::string path = BookPath(folder);
  std::ofstream file(path + ".part");
  using Handler = nlohmann::ordered_json::error_handler_t;
  file << json.dump(-1, ' ', false, Handler::replace) << "\n";
  file.close();
  if (file && std::rename((path + ".part").c_str(), path.c_str()) == 0) return Status::Ok();
  return Status::Error(path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace trumpet
