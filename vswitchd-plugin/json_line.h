// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// JSON as commands answer with it, whatever bytes names are made of: they come from outside, and
// what is no UTF-8 must not stop the output.

#ifndef TRUMPET_VSWITCHD_PLUGIN_JSON_LINE_H
#define TRUMPET_VSWITCHD_PLUGIN_JSON_LINE_H

#include <nlohmann/json.hpp>
#include <string>

namespace trumpet {

// On one line.
inline std::string JsonLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// The same in many lines, for people as well.
inline std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_JSON_LINE_H
