// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/kept_records.h"

namespace trumpet {

void KeptRecords::OnPartial(const PartialView& partial) {
  records_.emplace_back(Partial{partial,
                                {partial.words, partial.words + partial.word_count},
                                std::string(partial.bucket_key)});
}

size_t KeptRecords::HandOver(DeliverySink* sink) {
  const size_t count = records_.size();
  for (const auto& record : records_) {
    std::visit([sink](const auto& one) { HandOverOne(one, sink); }, record);
  }
  records_.clear();
  return count;
}

void KeptRecords::HandOverOne(const Partial& partial, DeliverySink* sink) {
  PartialView view = partial.view;
  view.words = partial.words.data();
  view.bucket_key = partial.key;
  sink->OnPartial(view);
}

void KeptRecords::HandOverOne(const FlowStateUpdate& update, DeliverySink* sink) {
  sink->OnFlowState(update);
}

void KeptRecords::HandOverOne(const EpochEnd& end, DeliverySink* sink) {
  sink->OnEpochEnd(end.start, end.end, end.reasons);
}

}  // namespace trumpet
