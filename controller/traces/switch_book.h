// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SwitchBook: names of switches beside the numbers that stand in their copies.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_TRACES_SWITCH_BOOK_H
#define TRUMPET_CONTROLLER_TRACES_SWITCH_BOOK_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/status.h"

namespace trumpet {

class SwitchBook {
 public:
  // Each name and each number once; 0 to kMaxSwitchNumber.
  Status Add(const std::string& name, uint16_t number);
  // With the lowest number from 1 that is free; nothing changes if the name has one.
  Status AddNext(const std::string& name);

  // Of a switch without a name: its number.
  std::string NameOf(uint16_t number) const;
  std::optional<uint16_t> NumberOf(std::string_view name) const;
  const std::map<uint16_t, std::string>& names() const { return names_; }

 private:
  std::map<uint16_t, std::string> names_;
  std::map<std::string, uint16_t, std::less<>> numbers_;
};

// switches.json in the folder of a store: {"leaf1": 1, ...}.  None is an empty book.
Result<SwitchBook> LoadSwitchBook(const std::string& folder);
// What is there already and says otherwise goes.
Status SaveSwitchBook(const SwitchBook& book, const std::string& folder);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_SWITCH_BOOK_H
