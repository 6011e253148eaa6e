// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/datapath_id.h"

#include <charconv>
#include <cstdio>

namespace trumpet {

std::string DatapathIdText(uint64_t datapath_id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(datapath_id));
  return text;
}

Result<uint64_t> ParseDatapathId(std::string_view text) {
  uint64_t id = 0;
  if (text.substr(0, 2) == "0x") text.remove_prefix(2);
  const auto end = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size() && !text.empty()) return id;
  return Status::Error("'" + std::string(text) +
                       "' is no datapath id; it takes 1 to 16 hexadecimal digits");
}

}  // namespace trumpet
