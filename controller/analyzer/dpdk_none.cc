// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// In builds without libdpdk.

#include "controller/analyzer/dpdk_eal.h"
#include "controller/analyzer/dpdk_receiver.h"

namespace trumpet {
namespace {

Status None() {
  return Status::Error("this trumpet-analyzer was built without DPDK (configure found no libdpdk)");
}

}  // namespace

class DpdkEal::Stream {};
DpdkEal::DpdkEal() = default;
DpdkEal::~DpdkEal() = default;

bool HasDpdk() { return false; }

Result<std::unique_ptr<DpdkEal>> DpdkEal::Start(const std::string&, Log) { return None(); }

Result<std::unique_ptr<DpdkReceiver>> DpdkReceiver::Open(event_base*, const DpdkEal&,
                                                         const DpdkReceiverOptions&, TakeFrames) {
  return None();
}

}  // namespace trumpet
