// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/copy_flows.h"

#include <cstdio>
#include <string>

#include "controller/openflow/openflow_switch.h"

namespace trumpet {
namespace {

constexpr uint64_t kCopyCookie = kOpenflowCookie | uint64_t{3} << 40;

std::string KeyOf(const OpenflowCopyPort& to) {
  const std::string number = std::to_string(to.switch_number);
  if (to.is_erspan) {
    return "load:" + number +
           "->NXM_NX_TUN_ID[],move:NXM_NX_PKT_MARK[0..19]->tun_erspan_idx[0..19]";
  }
  return "move:NXM_NX_PKT_MARK[0..19]->NXM_NX_TUN_ID[0..19],load:" + number +
         "->NXM_NX_TUN_ID[20..31]";
}

// The route of a tunnel is looked up by the mark, too, so the copy must not have it.
OpenflowRule CopyFlow(const OpenflowCopyPort& to, uint16_t mark, const std::string& output) {
  char match[64];
  std::snprintf(match, sizeof match, "pkt_mark=0x%x/0x%x", uint32_t{mark} << kSliceTagBits,
                ~kMaxSliceTag);
  OpenflowRule rule;
  rule.kind = OpenflowRule::Kind::kFlow;
  rule.text = "table=0,send_flow_rem,priority=65535," + std::string(match) + ",actions=clone(" +
              KeyOf(to) + ",load:0->NXM_NX_PKT_MARK[]," + output +
              "),load:0->NXM_NX_PKT_MARK[],resubmit(,0)";
  rule.cookie = kCopyCookie | mark;
  rule.lasts = true;
  return rule;
}

}  // namespace

std::vector<OpenflowRule> CopyFlows(const OpenflowCopyPort& to) {
  const std::string port = std::to_string(to.port);
  const std::string beginning =
      "output(port=" + port + ",max_len=" + std::to_string(kSliceSnapBytes) + ")";
  return {CopyFlow(to, kWholeMark, "output:" + port), CopyFlow(to, kBeginningMark, beginning)};
}

}  // namespace trumpet
