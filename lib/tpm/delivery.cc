// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/delivery.h"

#include <cstring>
#include <type_traits>

#include "lib/tpm/packet_monitor.h"

namespace trumpet {
namespace {

enum class RecordType : uint32_t { kPartial, kFlowState, kEpochEnd };

// Followed by the words, then by the bytes of the bucket key.
struct PartialRecord {
  RecordType type;
  uint32_t event_id;
  EpochSpan epoch;
  uint16_t word_count;
  uint16_t key_size;
  uint32_t is_unscaled;
};
static_assert(sizeof(PartialRecord) % sizeof(uint64_t) == 0);

struct FlowStateRecord {
  RecordType type;
  FlowStateUpdate update;
};
static_assert(std::is_trivially_copyable_v<FlowStateRecord>);

struct EpochEndRecord {
  RecordType type;
  uint32_t reasons;
  EpochSpan epoch;
};

template <typename Record>
bool Deliver(SpscRing* ring, const Record& record) {
  void* room = ring->Reserve(sizeof record);
  if (room == nullptr) return false;
  std::memcpy(room, &record, sizeof record);
  ring->Commit();
  return true;
}

template <typename Record>
Record Load(const void* data) {
  Record record;
  std::memcpy(&record, data, sizeof record);
  return record;
}

PartialView ViewOf(const void* data) {
  const auto record = Load<PartialRecord>(data);
  const auto* bytes = static_cast<const char*>(data) + sizeof record;
  PartialView view;
  view.event_id = record.event_id;
  view.epoch_start = record.epoch.start;
  view.epoch_end = record.epoch.end;
  view.words = reinterpret_cast<const uint64_t*>(bytes);
  view.bucket_key = {bytes + record.word_count * sizeof(uint64_t), record.key_size};
  view.is_unscaled = record.is_unscaled != 0;
  return view;
}

}  // namespace

size_t MaxPartialBytes(const TriggerPlan& plan) {
  return sizeof(PartialRecord) + plan.word_count * sizeof(uint64_t) +
         MaxBucketKeyBytes(plan.spec.granularity);
}

uint64_t* ReservePartial(SpscRing* ring, uint32_t event_id, const EpochSpan& epoch,
                         bool is_unscaled, const BucketKey& bucket, size_t word_count) {
  const size_t words_bytes = word_count * sizeof(uint64_t);
  auto* room =
      static_cast<uint8_t*>(ring->Reserve(sizeof(PartialRecord) + words_bytes + bucket.size));
  if (room == nullptr) return nullptr;
  const PartialRecord record{
      RecordType::kPartial, event_id, epoch, static_cast<uint16_t>(word_count), bucket.size,
      is_unscaled ? 1u : 0u};
  std::memcpy(room, &record, sizeof record);
  std::memcpy(room + sizeof record + words_bytes, bucket.bytes, bucket.size);
  return reinterpret_cast<uint64_t*>(room + sizeof record);
}

bool DeliverFlowState(SpscRing* ring, const FlowStateUpdate& update) {
  return Deliver(ring, FlowStateRecord{RecordType::kFlowState, update});
}

bool DeliverEpochEnd(SpscRing* ring, const EpochSpan& epoch, uint32_t reasons) {
  return Deliver(ring, EpochEndRecord{RecordType::kEpochEnd, reasons, epoch});
}

size_t DrainRecords(SpscRing* ring, DeliverySink* sink) {
  size_t count = 0;
  while (const SpscRing::Record record = ring->Peek()) {
    switch (Load<RecordType>(record.data)) {
      case RecordType::kPartial:
        sink->OnPartial(ViewOf(record.data));
        break;
      case RecordType::kFlowState:
        sink->OnFlowState(Load<FlowStateRecord>(record.data).update);
        break;
      case RecordType::kEpochEnd: {
        const auto end = Load<EpochEndRecord>(record.data);
        sink->OnEpochEnd(end.epoch.start, end.epoch.end, end.reasons);
        break;
      }
    }
    ring->Release();
    count++;
  }
  return count;
}

}  // namespace trumpet
