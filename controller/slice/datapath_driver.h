// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DatapathDriver: slices in the datapath of hosts, by their agents' sessions with the event
// manager.
//
// The host ends a slice by itself; when its session is away by then, what is told of the slice has
// no counts.
//
// Copies are made by static flows of the bridge.  Those of ours (copy_flows.h) copy whole packets
// or their first kSliceSnapBytes, and slices of another `snap_bytes` are refused; that of an
// administrator copies what it says, whatever the slice does (docs/slices.md).
//
// Threads: that of the loop.  Lifetime: `base` and `manager` must outlive it.

#ifndef TRUMPET_CONTROLLER_SLICE_DATAPATH_DRIVER_H
#define TRUMPET_CONTROLLER_SLICE_DATAPATH_DRIVER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/slice/slice_driver.h"
#include "controller/tem/event_manager.h"
#include "lib/base/loop_event.h"

namespace trumpet {

// Who sees to it that marked packets are copied.
enum class CopyFlowState : uint8_t {
  kAdministrators,  // no business of ours
  kOurs,            // they are there
  kMissing,         // they should be ours, and are not there now
};

// A switch as its host knows it.
struct DatapathPlace {
  std::string host;     // id or name
  std::string bridge;   // empty: every port of the datapath
  uint16_t number = 0;  // SliceGreKey; as in the flow that sends copies
  CopyFlowState flow = CopyFlowState::kAdministrators;
};

class DatapathDriver final : public SliceDriver {
 public:
  using FindPlace = std::function<std::optional<DatapathPlace>(const std::string& switch_name)>;

  static constexpr Nanos kPatience = kNanosPerSecond;  // with an answer, and after a deadline

  DatapathDriver(event_base* base, EventManager* manager, FindPlace find_place);
  ~DatapathDriver() override;

  const char* name() const override { return "datapath"; }
  bool Serves(const std::string& switch_name) const override;
  uint16_t NumberOf(const std::string& switch_name) const override;
  void TurnOn(const std::string& switch_name, const SliceSpec& slice, Done done) override;
  void TurnOff(const std::string& switch_name, uint32_t tag, Done done) override;
  void OnEnd(Ended ended) override { ended_ = std::move(ended); }

 private:
  using Key = std::tuple<std::string, std::string, uint32_t>;  // id of the host, bridge, tag
  struct Slice;
  using Slices = std::map<Key, std::unique_ptr<Slice>>;

  void OnMessage(const std::string& host, const Message* message);
  void OnAck(const Key& key, const SliceAck& ack);
  void OnHostGone(const std::string& host);
  void OnTime(const Key& key);
  Result<std::string> SendOff(const Key& key);
  void Refuse(Slices::iterator at, const std::string& why);
  void End(Slices::iterator at, SliceEnd end);
  Slices::iterator Find(const std::string& switch_name, uint32_t tag);
  void Later(std::function<void()> action);

  event_base* const base_;
  EventManager* const manager_;
  const FindPlace find_place_;
  Ended ended_;
  Slices slices_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_DATAPATH_DRIVER_H
