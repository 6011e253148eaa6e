// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/flow_walk.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "controller/openflow/frame_match.h"
#include "controller/openflow/openflow_switch.h"

namespace trumpet {
namespace {

constexpr int kMaxDepth = 64;    // as Open vSwitch has it
constexpr int kMaxSteps = 4096;  // likewise

// What forwards, to ports that are not to be told from here.
constexpr std::array<std::string_view, 7> kSomewhere = {"NORMAL",  "FLOOD",   "ALL",       "LOCAL",
                                                        "IN_PORT", "in_port", "CONTROLLER"};
// What changes the packet, or what flows see of it: the next table may take it for another one.
constexpr std::array<std::string_view, 11> kChanges = {
    "mod_",       "set_",       "load:",        "move:",  "push",    "pop",
    "strip_vlan", "multipath(", "bundle_load(", "learn(", "dec_mpls"};

bool BeginsWith(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

template <size_t kCount>
bool IsOneOf(std::string_view text, const std::array<std::string_view, kCount>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return BeginsWith(text, name); });
}

// What stands in "name(...)"; empty: it is another action.
std::string Inside(const std::string& action, std::string_view name) {
  if (!BeginsWith(action, name) || action.size() <= name.size() + 1) return "";
  if (action[name.size()] != '(' || action.back() != ')') return "";
  return action.substr(name.size() + 1, action.size() - name.size() - 2);
}

uint32_t NumberBehind(const std::string& action, std::string_view name) {
  return static_cast<uint32_t>(std::strtoul(action.c_str() + name.size(), nullptr, 10));
}

// Of "resubmit(,5)" and "goto_table:5"; -1: it is another action.
int TableOf(const std::string& action) {
  if (BeginsWith(action, "goto_table:")) {
    return static_cast<int>(NumberBehind(action, "goto_table:"));
  }
  const std::string inside = Inside(action, "resubmit");
  const size_t comma = inside.find(',');
  if (inside.empty() || comma == std::string::npos) return -1;
  return std::atoi(inside.c_str() + comma + 1);
}

class Walker {
 public:
  Walker(const std::vector<OpenflowFlow>& flows, const WalkedPacket& packet) : packet_(packet) {
    for (const OpenflowFlow& flow : flows) {
      const bool is_ours = (flow.cookie & kOpenflowCookieMask) == kOpenflowCookie;
      if (!is_ours) tables_[flow.table].push_back(&flow);
    }
    for (auto& [number, table] : tables_) {
      std::stable_sort(
          table.begin(), table.end(),
          [](const OpenflowFlow* a, const OpenflowFlow* b) { return a->priority > b->priority; });
    }
  }

  FlowWalk Run() {
    LookUp(0, 0);
    if (is_stuck_) {
      walk_.end = FlowWalk::End::kNotKnown;
    } else if (is_expired_) {
      walk_.end = FlowWalk::End::kExpired;
    } else if (is_forwarded_) {
      walk_.end = FlowWalk::End::kForwarded;
    } else {
      walk_.end = has_no_flow_ ? FlowWalk::End::kNoFlow : FlowWalk::End::kDropped;
    }
    return std::move(walk_);
  }

 private:
  // Null: none takes it, or it cannot be told which one does.
  const OpenflowFlow* FindFlow(uint8_t table) {
    for (const OpenflowFlow* flow : tables_[table]) {
      const Result<bool> takes = TakesFrame(flow->match, packet_.in_port, packet_.frame);
      if (!takes.ok()) {
        is_stuck_ = true;
        return nullptr;
      }
      if (*takes) return flow;
    }
    return nullptr;
  }

  void LookUp(uint8_t table, int depth) {
    if (depth > kMaxDepth || ++steps_ > kMaxSteps || is_changed_) {
      is_stuck_ = true;
      return;
    }
    const OpenflowFlow* const flow = FindFlow(table);
    if (is_stuck_) return;
    walk_.table = table;
    if (flow == nullptr) {
      has_no_flow_ = true;
      return;
    }
    walk_.flow = flow->Place() + " actions=" + flow->actions;
    walk_.packets = flow->packets == kUnknownCount ? 0 : flow->packets;
    Follow(flow->actions, depth);
  }

  void Follow(const std::string& actions, int depth) {
    for (const std::string& action : SplitActions(actions)) {
      if (is_stuck_ || is_expired_) return;
      Take(action, depth);
    }
  }

  void Output(const std::string& action) {
    const char first = action[sizeof "output:" - 1];
    if (first < '0' || first > '9') {
      is_forwarded_ = true;  // a register says where to
      return;
    }
    const uint32_t port = NumberBehind(action, "output:");
    if (port == packet_.in_port) return;  // takes IN_PORT
    is_forwarded_ = true;
    walk_.ports.push_back(port);
  }

  void Take(const std::string& action, int depth) {
    const int table = TableOf(action);
    const std::string inside = Inside(action, "clone") + Inside(action, "write_actions");
    if (action == "drop" || action == "clear_actions") return;
    if (table >= 0) return LookUp(static_cast<uint8_t>(table), depth + 1);
    if (BeginsWith(action, "output:")) {
      Output(action);
    } else if (BeginsWith(action, "output(")) {
      is_forwarded_ = true;  // cut short
    } else if (BeginsWith(action, "group:") || IsOneOf(action, kSomewhere)) {
      is_forwarded_ = true;
    } else if (BeginsWith(action, "meter:")) {
      if (!is_forwarded_) walk_.meters.push_back(NumberBehind(action, "meter:"));
    } else if (BeginsWith(action, "dec_ttl")) {
      is_expired_ = packet_.ttl <= ++hops_taken_;
    } else if (!inside.empty()) {
      Follow(inside, depth);
    } else if (IsOneOf(action, kChanges)) {
      is_changed_ = true;
    } else {
      is_stuck_ = true;
    }
  }

  const WalkedPacket& packet_;
  std::map<uint8_t, std::vector<const OpenflowFlow*>> tables_;  // by falling priority
  FlowWalk walk_;
  int steps_ = 0;
  uint8_t hops_taken_ = 0;
  bool is_forwarded_ = false;
  bool is_changed_ = false;
  bool is_expired_ = false;
  bool is_stuck_ = false;
  bool has_no_flow_ = false;
};

}  // namespace

std::vector<std::string> SplitActions(const std::string& actions) {
  std::vector<std::string> all;
  int depth = 0;
  std::string one;
  for (const char c : actions) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) {
      one += c;
      continue;
    }
    if (!one.empty()) all.push_back(one);
    one.clear();
  }
  if (!one.empty()) all.push_back(one);
  return all;
}

FlowWalk WalkFlows(const std::vector<OpenflowFlow>& flows, const WalkedPacket& packet) {
  return Walker(flows, packet).Run();
}

}  // namespace trumpet
