// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JSON as commands answer with it: a line, whatever bytes names are made of.

#ifndef TRUMPET_VSWITCHD_PLUGIN_JSON_LINE_H
#define TRUMPET_VSWITCHD_PLUGIN_JSON_LINE_H

#include <nlohmann/json.hpp>
#include <string>

namespace trumpet {

inline std::string JsonLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_JSON_LINE_H
