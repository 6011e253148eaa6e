// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/switch_book.h"

#include "lib/model/slice_spec.h"

namespace trumpet {

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

}  // namespace trumpet
