// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/message_parts.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/wire/limits.h"

namespace trumpet {
namespace {

// Cuts lists of elements into parts.  Each element's size is known; a part is closed when the next
// one would not fit.
class Parts {
 public:
  Parts(size_t head_bytes, size_t max_bytes)
      : head_bytes_(head_bytes), max_bytes_(max_bytes), used_(head_bytes) {}

  bool Fits(size_t element_bytes) const { return used_ + element_bytes <= max_bytes_; }
  bool FitsAlone(size_t element_bytes) const { return head_bytes_ + element_bytes <= max_bytes_; }
  void Take(size_t element_bytes) { used_ += element_bytes; }
  void Begin() { used_ = head_bytes_; }

 private:
  const size_t head_bytes_;
  const size_t max_bytes_;
  size_t used_;
};

std::string NameOf(const TriggerChange& change) {
  return change.put ? "event '" + change.put->event.name + "'" : "removal of an event";
}

// The size of a message with this one element, which is more than the element adds to another.
size_t BytesOf(const TriggerChange& change) {
  TriggerSet set;
  set.generation = set.base_generation = UINT64_MAX;
  set.changes.push_back(change);
  return EncodedBytes(set);
}

size_t BytesOf(const Bridge& bridge) {
  HostFacts facts;
  facts.bridges.push_back(bridge);
  return EncodedBytes(facts);
}

size_t BytesOf(const Port& port) {
  HostFacts facts;
  facts.ports.push_back(port);
  return EncodedBytes(facts);
}

constexpr size_t kHeadBytes = 64;  // of a part: numbers, tags and lengths

// Collects HostFacts part by part.
class FactsParts {
 public:
  explicit FactsParts(size_t head_bytes, size_t max_bytes) : parts_(head_bytes, max_bytes) {}

  template <typename Element>
  void Add(Element&& element, std::vector<std::decay_t<Element>> HostFacts::*list) {
    const size_t bytes = BytesOf(element);
    if (!parts_.Fits(bytes)) {
      done_.push_back(std::move(part_));
      part_ = HostFacts();
      parts_.Begin();
    }
    (part_.*list).push_back(std::forward<Element>(element));
    parts_.Take(bytes);
  }

  void SetIds(std::vector<KeyValue> ids) { part_.external_ids = std::move(ids); }

  std::vector<HostFacts> Finish() {
    done_.push_back(std::move(part_));
    for (size_t i = 0; i < done_.size(); ++i) {
      done_[i].part = static_cast<uint32_t>(i);
      done_[i].is_last = i + 1 == done_.size();
    }
    return std::move(done_);
  }

 private:
  Parts parts_;
  HostFacts part_;
  std::vector<HostFacts> done_;
};

}  // namespace

Status SplitTriggerSet(TriggerSet set, size_t max_bytes, const SendMessage& send) {
  if (set.changes.size() > kMaxTriggerChanges) {
    return Status::Error("a trigger set has " + std::to_string(set.changes.size()) +
                         " changes; at most " + std::to_string(kMaxTriggerChanges) +
                         " are allowed");
  }
  std::vector<size_t> bytes;
  bytes.reserve(set.changes.size());
  Parts parts(kHeadBytes, max_bytes);
  for (const TriggerChange& change : set.changes) {
    bytes.push_back(BytesOf(change));
    if (!parts.FitsAlone(bytes.back())) return TooLong(NameOf(change), bytes.back(), max_bytes);
  }
  TriggerSet part;
  part.generation = set.generation;
  part.base_generation = set.base_generation;
  part.is_last = false;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    if (!parts.Fits(bytes[i])) {
      const uint32_t number = part.part;
      TriggerSet done = std::move(part);
      part = TriggerSet{set.generation, set.base_generation, number + 1, false, {}, {}};
      send(std::move(done));
      parts.Begin();
    }
    part.changes.push_back(std::move(set.changes[i]));
    parts.Take(bytes[i]);
  }
  part.is_last = true;
  send(std::move(part));
  return Status::Ok();
}

Status SplitHostFacts(HostFacts facts, size_t max_bytes, const SendMessage& send) {
  HostFacts head;
  head.external_ids = facts.external_ids;
  const size_t head_bytes = EncodedBytes(head) + kHeadBytes;
  Parts limit(head_bytes, max_bytes);
  for (const Bridge& bridge : facts.bridges) {
    const size_t bytes = BytesOf(bridge);
    if (!limit.FitsAlone(bytes)) return TooLong("bridge " + bridge.name, bytes, max_bytes);
  }
  for (const Port& port : facts.ports) {
    const size_t bytes = BytesOf(port);
    if (!limit.FitsAlone(bytes)) return TooLong("port " + port.name, bytes, max_bytes);
  }
  if (!limit.FitsAlone(0)) return TooLong("external_ids", head_bytes, max_bytes);
  FactsParts parts(head_bytes, max_bytes);
  parts.SetIds(std::move(facts.external_ids));
  for (Bridge& bridge : facts.bridges) parts.Add(std::move(bridge), &HostFacts::bridges);
  for (Port& port : facts.ports) parts.Add(std::move(port), &HostFacts::ports);
  for (HostFacts& part : parts.Finish()) send(std::move(part));
  return Status::Ok();
}

size_t MaxBucketsInPartials(uint32_t words_per_bucket, size_t key_bytes, size_t max_bytes) {
  constexpr size_t kVarintBytes = 10;  // of a word; a position or size takes less
  constexpr size_t kSmallVarintBytes = 5;
  const size_t bucket_bytes =
      key_bytes + 2 * kSmallVarintBytes + size_t{words_per_bucket} * kVarintBytes;
  constexpr size_t kListHeads = 4 * kElementHeadBytes;
  const size_t room = max_bytes - std::min(max_bytes, kHeadBytes + kListHeads);
  return std::max<size_t>(1, room / bucket_bytes);
}

void JoinRange(const IncompleteRange& range, IncompleteRange* with) {
  if (range.event_id != with->event_id) with->event_id = 0;
  with->start_ns = std::min(with->start_ns, range.start_ns);
  with->end_ns = std::max(with->end_ns, range.end_ns);
  with->reasons |= range.reasons;
}

}  // namespace trumpet
