// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SliceDriver: turns slices on and off at switches.  One driver asks the plug-in in the datapath,
// another one programs any OpenFlow switch.
//
// Both keep the same promises: forwarding is never touched, a slice ends by itself at its deadline
// even if the controller is gone, its caps hold at the switch, and nothing is left behind.
//
// Threads: all on the loop of the controller; answers come from the loop, never from within a call.

#ifndef TRUMPET_CONTROLLER_SLICE_SLICE_DRIVER_H
#define TRUMPET_CONTROLLER_SLICE_SLICE_DRIVER_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/model/slice_spec.h"

namespace trumpet {

// What a switch says of a slice that has ended there.
struct SliceEnd {
  std::string switch_name;
  uint32_t tag = 0;
  uint64_t packets = 0;  // copied
  uint64_t bytes = 0;
  uint64_t withheld = 0;  // packets that matched beyond a cap
  Nanos lasted = 0;       // as measured by the switch; 0: it cannot tell
};

class SliceDriver {
 public:
  using Done = std::function<void(const Status&)>;
  using Ended = std::function<void(const SliceEnd&)>;

  virtual ~SliceDriver() = default;

  // Short name for people: "datapath", "openflow".
  virtual const char* name() const = 0;
  // Whether slices can be turned on at this switch now.
  virtual bool Serves(const std::string& switch_name) const = 0;
  // What copies of this switch are told by (SliceGreKey); 0: it is not known.
  virtual uint16_t NumberOf(const std::string& switch_name) const {
    (void)switch_name;
    return 0;
  }
  // `done` once the switch has it on, or with the reason why not; then nothing was changed.
  virtual void TurnOn(const std::string& switch_name, const SliceSpec& slice, Done done) = 0;
  // Before its deadline; fine if it has ended already.
  virtual void TurnOff(const std::string& switch_name, uint32_t tag, Done done) = 0;
  // Switches that Probe() can be asked of now.
  virtual std::vector<std::string> ProbeTargets() const { return {}; }
  // Has the switch send one packet to the analyzer, under this tag, and one back: `back` is called
  // when it comes.  What is lost on the way is not told.
  virtual void Probe(const std::string& switch_name, uint32_t tag, std::function<void()> back) {
    (void)switch_name, (void)tag, (void)back;
  }
  // Of every slice that was on, once.
  virtual void OnEnd(Ended ended) = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_SLICE_DRIVER_H
