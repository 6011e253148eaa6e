// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/thread_programs.h"

namespace trumpet {

ThreadPrograms::ThreadPrograms(const std::vector<ProgramState*>& states) : set_(states, {}) {
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) packets_[i].values = &values_[i];
}

void ThreadPrograms::Run(const Frame* frames, int count, uint32_t in_port, Nanos now) {
  for (int i = 0; i < count; ++i) {
    PacketValues* values = &values_[static_cast<size_t>(i)];
    ReadPacketValues(frames[i], values);
    values->Set(kPktInputPort, in_port & 0xffff);
    packets_[static_cast<size_t>(i)].now = static_cast<uint64_t>(now);
  }
  set_.Run(packets_.data(), static_cast<uint32_t>(count));
}

}  // namespace trumpet
