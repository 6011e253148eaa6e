// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// KeptRecords: what a packet thread delivered, read before anybody asked for it.
//
// Records of sets name lists of a generation (delivery.h).  When that is given up before the agent
// has read them, as programs change faster than it looks, they are read at once and kept here.
//
// Threads: the agent.

#ifndef TRUMPET_LIB_TPM_KEPT_RECORDS_H
#define TRUMPET_LIB_TPM_KEPT_RECORDS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lib/tpm/packet_monitor.h"

namespace trumpet {

class KeptRecords : public DeliverySink {
 public:
  void OnPartial(const PartialView& partial) override;
  void OnFlowState(const FlowStateUpdate& update) override { records_.emplace_back(update); }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    records_.emplace_back(EpochEnd{start, end, reasons});
  }

  // Hands all of it to `sink`, in its order, and forgets it.  Returns how many there were.
  size_t HandOver(DeliverySink* sink);

 private:
  struct Partial {
    PartialView view;  // without the two pointers
    std::vector<uint64_t> words;
    std::string key;
  };
  struct EpochEnd {
    Nanos start;
    Nanos end;
    uint32_t reasons;
  };
  static void HandOverOne(const Partial& partial, DeliverySink* sink);
  static void HandOverOne(const FlowStateUpdate& update, DeliverySink* sink);
  static void HandOverOne(const EpochEnd& end, DeliverySink* sink);

  std::vector<std::variant<Partial, FlowStateUpdate, EpochEnd>> records_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_KEPT_RECORDS_H
