// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/delivery.h"

#include <cstring>
#include <type_traits>

#include "lib/tpm/packet_monitor.h"
#include "lib/tpm/trigger_sums.h"

namespace trumpet {
namespace {

enum class RecordType : uint8_t {
  kEpochBegin,
  kPartial,
  kLatePartial,
  kSetTotals,
  kFlowState,
  kEpochEnd
};

struct EpochBeginRecord {
  RecordType type;
  EpochSpan epoch;
};

// Followed by its epoch if it is a late one, then by the words, then by the bytes of the bucket
// key. Thousands of events have one each in every epoch, which pass through the caches of two
// processors.
struct PartialRecord {
  RecordType type;
  uint8_t is_unscaled;
  uint16_t word_count;
  uint32_t event_id;
};
static_assert(sizeof(PartialRecord) == sizeof(uint64_t));

// Followed by the words, whose number is the record's length.
struct SetTotalsRecord {
  RecordType type;
  uint8_t is_unscaled;
  uint16_t first_word;
  uint32_t set;
  Generation* generation;
};
static_assert(sizeof(SetTotalsRecord) == 2 * sizeof(uint64_t));

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

// `epoch`: that of all partials but late ones.
PartialView ViewOf(const SpscRing::Record& on_ring, EpochSpan epoch) {
  const auto record = Load<PartialRecord>(on_ring.data);
  const auto* bytes = static_cast<const char*>(on_ring.data);
  const char* const end = bytes + on_ring.size;
  bytes += sizeof record;
  if (record.type == RecordType::kLatePartial) {
    epoch = Load<EpochSpan>(bytes);
    bytes += sizeof epoch;
  }
  const char* const key = bytes + record.word_count * sizeof(uint64_t);
  PartialView view;
  view.event_id = record.event_id;
  view.epoch_start = epoch.start;
  view.epoch_end = epoch.end;
  view.words = reinterpret_cast<const uint64_t*>(bytes);
  view.word_count = record.word_count;
  view.bucket_key = {key, static_cast<size_t>(end - key)};
  view.is_unscaled = record.is_unscaled != 0;
  return view;
}

SetTotals TotalsOf(const SpscRing::Record& on_ring) {
  const auto record = Load<SetTotalsRecord>(on_ring.data);
  SetTotals totals;
  totals.generation = record.generation;
  totals.set = record.set;
  totals.first_word = record.first_word;
  totals.word_count = static_cast<uint16_t>((on_ring.size - sizeof record) / sizeof(uint64_t));
  totals.is_unscaled = record.is_unscaled != 0;
  totals.words = static_cast<const uint64_t*>(on_ring.data) + sizeof record / sizeof(uint64_t);
  return totals;
}

// Of `epoch`, or of the one that began last if that is null.
uint64_t* Reserve(SpscRing* ring, const EpochSpan* epoch, uint32_t event_id, bool is_unscaled,
                  const BucketKey& bucket, size_t word_count) {
  const size_t begin = sizeof(PartialRecord) + (epoch != nullptr ? sizeof *epoch : 0);
  const size_t end = begin + word_count * sizeof(uint64_t);
  auto* room = static_cast<uint8_t*>(ring->Reserve(end + bucket.size));
  if (room == nullptr) return nullptr;
  const PartialRecord record{epoch != nullptr ? RecordType::kLatePartial : RecordType::kPartial,
                             is_unscaled, static_cast<uint16_t>(word_count), event_id};
  std::memcpy(room, &record, sizeof record);
  if (epoch != nullptr) std::memcpy(room + sizeof record, epoch, sizeof *epoch);
  std::memcpy(room + end, bucket.bytes, bucket.size);
  return reinterpret_cast<uint64_t*>(room + begin);
}

}  // namespace

size_t MaxPartialBytes(const TriggerPlan& plan) {
  return sizeof(PartialRecord) + sizeof(EpochSpan) + plan.word_count * sizeof(uint64_t) +
         MaxBucketKeyBytes(plan.spec.granularity);
}

bool DeliverEpochBegin(SpscRing* ring, const EpochSpan& epoch) {
  return Deliver(ring, EpochBeginRecord{RecordType::kEpochBegin, epoch});
}

uint64_t* ReservePartial(SpscRing* ring, uint32_t event_id, bool is_unscaled,
                         const BucketKey& bucket, size_t word_count) {
  return Reserve(ring, nullptr, event_id, is_unscaled, bucket, word_count);
}

uint64_t* ReserveLatePartial(SpscRing* ring, const EpochSpan& epoch, uint32_t event_id,
                             const BucketKey& bucket, size_t word_count) {
  return Reserve(ring, &epoch, event_id, /*is_unscaled=*/false, bucket, word_count);
}

bool DeliverSetTotals(SpscRing* ring, const SetTotals& totals) {
  const size_t bytes = totals.word_count * sizeof(uint64_t);
  auto* room = static_cast<uint8_t*>(ring->Reserve(sizeof(SetTotalsRecord) + bytes));
  if (room == nullptr) return false;
  const SetTotalsRecord record{RecordType::kSetTotals, totals.is_unscaled, totals.first_word,
                               totals.set, totals.generation};
  std::memcpy(room, &record, sizeof record);
  std::memcpy(room + sizeof record, totals.words, bytes);
  ring->Commit();
  return true;
}

bool DeliverFlowState(SpscRing* ring, const FlowStateUpdate& update) {
  return Deliver(ring, FlowStateRecord{RecordType::kFlowState, update});
}

bool DeliverEpochEnd(SpscRing* ring, const EpochSpan& epoch, uint32_t reasons) {
  return Deliver(ring, EpochEndRecord{RecordType::kEpochEnd, reasons, epoch});
}

size_t DrainRecords(SpscRing* ring, EpochSums* sums, DeliverySink* sink) {
  size_t count = 0;
  const size_t end_of_ring = ring->end();
  while (const SpscRing::Record record = ring->PeekUntil(end_of_ring)) {
    count++;
    switch (Load<RecordType>(record.data)) {
      case RecordType::kEpochBegin:
        sums->Begin(Load<EpochBeginRecord>(record.data).epoch, sink);
        count--;
        break;
      case RecordType::kPartial:
      case RecordType::kLatePartial:
        sink->OnPartial(ViewOf(record, sums->epoch()));
        break;
      case RecordType::kSetTotals:
        sums->Add(TotalsOf(record));
        break;
      case RecordType::kFlowState:
        sink->OnFlowState(Load<FlowStateRecord>(record.data).update);
        break;
      case RecordType::kEpochEnd: {
        const auto end = Load<EpochEndRecord>(record.data);
        sums->HandOver(sink);
        sink->OnEpochEnd(end.epoch.start, end.epoch.end, end.reasons);
        break;
      }
    }
    ring->Release();
  }
  return count;
}

}  // namespace trumpet
