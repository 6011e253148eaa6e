// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "controller/plan/trace/sonic_import.h"

namespace trumpet {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Titles have two blanks to spare there; columns of nothing but numbers are set to the right.
std::string Tabulate(Rows rows) {
  std::vector<std::string> rules;
  std::vector<bool> is_number;
  for (size_t column = 0; column < rows[0].size(); ++column) {
    size_t width = rows[0][column].size() + 2;
    is_number.push_back(rows.size() > 1);
    for (size_t i = 1; i < rows.size(); ++i) {
      const std::string& cell = rows[i][column];
      width = std::max(width, cell.size());
      const bool is_one = !cell.empty() && cell.find_first_not_of("0123456789") == cell.npos;
      is_number.back() = is_number.back() && is_one;
    }
    rules.emplace_back(width, '-');
  }
  rows.insert(rows.begin() + 1, rules);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const std::string space(rules[column].size() - row[column].size(), ' ');
      line += (column == 0 ? "" : "  ") +
              (is_number[column] ? space + row[column] : row[column] + space);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string SonicSession::Get(const std::string& key) const {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

bool SonicSession::is_span() const { return Get("type") == "SPAN" || !Get("dst_port").empty(); }

std::string SonicSessionTable(const std::vector<SonicSession>& sessions) {
  Rows erspan = {{"Name", "Status", "SRC IP", "DST IP", "GRE", "DSCP", "TTL", "Queue", "Policer",
                  "Monitor Port", "SRC Port", "Direction"}};
  Rows span = {{"Name", "Status", "DST Port", "SRC Port", "Direction", "Queue", "Policer"}};
  for (const SonicSession& session : sessions) {
    const auto get = [&](const char* key) { return session.Get(key); };
    std::string direction = get("direction");
    for (char& c : direction) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (session.is_span()) {
      span.push_back({session.name, "inactive", get("dst_port"), get("src_port"), direction,
                      get("queue"), get("policer")});
    } else {
      erspan.push_back({session.name, "inactive", get("src_ip"), get("dst_ip"), get("gre_type"),
                        get("dscp"), get("ttl"), get("queue"), get("policer"), "", get("src_port"),
                        direction});
    }
  }
  return "ERSPAN Sessions\n" + Tabulate(erspan) + "\nSPAN Sessions\n" + Tabulate(span);
}

}  // namespace trumpet
