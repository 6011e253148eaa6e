// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenflowDriver: slices at any switch that speaks OpenFlow with Open vSwitch's extensions
// (docs/openflow.md says which, and where the flows lie).
//
// A flow of a slice forwards first, by going through table 0 again, inside a clone and with a mark
// that keeps it from matching again; then it copies.  So what others do with the packet stays as it
// was, and the copy is of the packet as it arrived.  It has a timeout in whole seconds, should the
// controller be gone, and is deleted at the deadline.
//
// A cap on packets is a meter with a bucket of as many, that of a rate one with a second's: what
// they hold back, and pass, is told exactly.  At a switch that has no meters, and of bytes, caps
// are kept by reading the flows' counters, and Open vSwitch brings those up to date twice a second
// only: a cap may be exceeded by what half a second brings, and what SliceEnd tells of a slice
// shorter than that is the least that there was.  Analyzers know better.
//
// Threads: that of the loop.  Lifetime: `base` and `net` must outlive it.

#ifndef TRUMPET_CONTROLLER_SLICE_OPENFLOW_DRIVER_H
#define TRUMPET_CONTROLLER_SLICE_OPENFLOW_DRIVER_H

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/openflow/openflow_net.h"
#include "controller/slice/slice_driver.h"
#include "lib/base/loop_event.h"

namespace trumpet {

// Where a switch sends copies: its port to an analyzer.
struct OpenflowCopyPort {
  uint32_t port = 0;
  uint16_t switch_number = 0;  // 1 to kMaxSwitchNumber
  bool is_erspan = false;      // else GRE with a key
};

// What the slices of all switches are known by.
OpenflowClaim SliceClaim();

// The actions that send a copy there under a tag, of `snap_bytes` at most; 0: all of it.
std::string CopyActions(uint32_t tag, uint16_t snap_bytes, const OpenflowCopyPort& to);

class OpenflowDriver final : public SliceDriver, private OpenflowObserver {
 public:
  using FindPort = std::function<std::optional<OpenflowCopyPort>(const std::string& switch_name)>;

  static constexpr int kMaxSlices = 32;  // at a switch: a bit of a register each
  static constexpr uint8_t kCopyTable = 250;
  static constexpr uint16_t kPriority = 65000;

  OpenflowDriver(event_base* base, OpenflowNet* net, FindPort find_port);
  ~OpenflowDriver() override;

  const char* name() const override { return "openflow"; }
  bool Serves(const std::string& switch_name) const override;
  uint16_t NumberOf(const std::string& switch_name) const override;
  void TurnOn(const std::string& switch_name, const SliceSpec& slice, Done done) override;
  void TurnOff(const std::string& switch_name, uint32_t tag, Done done) override;
  std::vector<std::string> ProbeTargets() const override;
  void Probe(const std::string& switch_name, uint32_t tag, std::function<void()> back) override;
  void OnEnd(Ended ended) override { ended_ = std::move(ended); }

  size_t slice_count() const { return slices_.size(); }

 private:
  struct Slice;
  using Slices = std::list<std::unique_ptr<Slice>>;

  Slice* Find(const OpenflowSwitch* which, uint32_t tag) const;
  int FreeBit(const OpenflowSwitch* which) const;
  void Install(Slice* slice, Done done);
  void Begin(Slice* slice);
  void End(Slice* slice);
  void AskMeter(Slice* slice);
  void RemoveMeter(Slice* slice);
  void LookAtCaps(Slice* slice);
  void Finish(Slice* slice);
  void Later(std::function<void()> action);
  void OnPacketIn(OpenflowSwitch* which, const OpenflowMessage& packet_in) override;
  void OnFlowRemoved(OpenflowSwitch* which, const OpenflowMessage& removed) override;

  event_base* const base_;
  OpenflowNet* const net_;
  const FindPort find_port_;
  Ended ended_;
  Slices slices_;
  uint64_t last_life_ = 0;
  // By switch and tag; a later probe takes the place of one that was lost.
  std::map<std::pair<const OpenflowSwitch*, uint32_t>, std::function<void()>> probes_;
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_OPENFLOW_DRIVER_H
