// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Commands of the control socket about campaigns of slices.

#include "controller/daemon/control_commands.h"
#include "controller/rest/slice_views.h"
#include "controller/view/slice_tables.h"

namespace trumpet {
namespace {

bool TakeJson(CommandArguments* arguments) {
  if (arguments->empty() || arguments->front() != "json") return false;
  arguments->erase(arguments->begin());
  return true;
}

std::string ListText(const CampaignManager& campaigns, bool as_json) {
  Json list = Json::array();
  for (const CampaignView& campaign : campaigns.Campaigns(Caller())) {
    list.push_back(ToJson(campaign));
  }
  return as_json ? list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                 : SliceTable(list);
}

// Of one campaign, or of all that run.
Result<std::string> ScheduleText(const CampaignManager& campaigns, const std::string& name) {
  std::string text;
  bool is_known = name.empty();
  for (const CampaignView& campaign : campaigns.Campaigns(Caller())) {
    if (!name.empty() && campaign.record.name != name) continue;
    is_known = true;
    if (campaign.now == nullptr) {
      if (!name.empty()) text = "campaign " + name + " does not run now\n";
      continue;
    }
    text += SliceText(ToJson(campaign)) + SliceRunText(ToJson(*campaign.now)) + campaign.schedule;
  }
  if (!is_known) return Status::Error("there is no campaign '" + name + "'; slice/list shows them");
  return text.empty() ? "no campaign runs now\n" : text;
}

}  // namespace

std::vector<DaemonCommand> MakeSliceCommands(const CampaignManager* campaigns) {
  return {{"slice/list", "[json]", 0, 1,
           [campaigns](CommandArguments arguments, const CommandReply& reply) {
             reply(ListText(*campaigns, TakeJson(&arguments)));
           }},
          {"slice/schedule-show", "[CAMPAIGN]", 0, 1,
           [campaigns](const CommandArguments& arguments, const CommandReply& reply) {
             reply(ScheduleText(*campaigns, arguments.empty() ? "" : arguments[0]));
           }}};
}

}  // namespace trumpet
