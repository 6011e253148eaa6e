// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/daemon/switch_commands.h"

#include <string>
#include <utility>

#include "lib/base/text_table.h"

namespace trumpet {
namespace {

std::string SwitchTable(const RemoteSwitches& switches) {
  TextTable table({"switch", "database", "lock", ">bridges", ">changes", "problem"});
  for (const auto& [name, one] : switches.all()) {
    table.Add({name, one->state(), one->has_lock() ? "ours" : "",
               std::to_string(one->view().bridges.size()), std::to_string(one->counters().changes),
               one->problem()});
  }
  return table.is_empty() ? "no switches whose databases are followed\n" : table.ToString(0);
}

std::string SwitchJson(const RemoteSwitches& switches) {
  Json list = Json::array();
  for (const auto& [name, one] : switches.all()) {
    Json bridges = Json::array();
    for (const SwitchBridge& bridge : one->view().bridges) bridges.push_back(bridge.name);
    list.push_back({{"name", name},
                    {"state", one->state()},
                    {"connected", one->is_connected()},
                    {"has_lock", one->has_lock()},
                    {"bridges", std::move(bridges)},
                    {"changes", one->counters().changes},
                    {"refused", one->counters().refused},
                    {"repairs", one->counters().repairs},
                    {"problem", one->problem()}});
  }
  return PrintJson(list) + "\n";
}

}  // namespace

std::vector<DaemonCommand> MakeSwitchCommands(RemoteSwitches* switches, AnalyzerPorts* ports) {
  return {
      {"ovsdb/list", "[json]", 0, 1,
       [switches](const CommandArguments& arguments, const CommandReply& reply) {
         reply(arguments.empty() ? SwitchTable(*switches) : SwitchJson(*switches));
       }},
      {"ovsdb/uninstall", "", 0, 0,
       [=](const CommandArguments& /*arguments*/, const CommandReply& reply) {
         ports->StandDown();
         switches->Uninstall([reply](const Status& status) {
           if (!status.ok()) return reply(status);
           reply(std::string("nothing of this controller is left in the databases\n"));
         });
       }},
  };
}

}  // namespace trumpet
