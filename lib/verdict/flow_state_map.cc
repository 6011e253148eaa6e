// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/flow_state_map.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/model/bucket_key.h"

namespace trumpet {
namespace {

constexpr uint32_t kNoFlow = UINT32_MAX;
constexpr size_t kFirstChains = 1024;

// Is the word of `news` on packets of one direction to be preferred?  Between words of the same
// age, that of a thread which saw the packet itself.
bool IsNewer(Nanos news_ns, bool news_is_own, Nanos old_ns, bool old_is_own) {
  if (news_ns != old_ns) return news_ns > old_ns;
  return news_is_own || !old_is_own;
}

// Two threads' words on one connection, in any order.
void Merge(const FlowState& news, FlowState* state) {
  if (IsNewer(news.sender_ns, news.sees_sender, state->sender_ns, state->sees_sender)) {
    state->seq = news.seq;
    state->has_seq = news.has_seq;
    state->sender_ns = news.sender_ns;
    state->sees_sender = news.sees_sender;
    state->doubts_seq = news.doubts_seq;
  }
  if (IsNewer(news.receiver_ns, news.sees_receiver, state->receiver_ns, state->sees_receiver)) {
    state->ack = news.ack;
    state->dup = news.dup;
    state->has_ack = news.has_ack;
    state->receiver_ns = news.receiver_ns;
    state->sees_receiver = news.sees_receiver;
    state->doubts_ack = news.doubts_ack;
  }
  state->last_packet_ns = std::max(state->last_packet_ns, news.last_packet_ns);
}

// Closed on the right, like the connection table: alive for exactly the timeout.
bool IsAlive(const FlowState& state, Nanos timeout_ns, Nanos instant) {
  return instant - state.last_packet_ns <= timeout_ns;
}

}  // namespace

FlowStateMap::FlowStateMap(Nanos flow_timeout_ns, uint64_t hash_seed)
    : flow_timeout_ns_(flow_timeout_ns), hash_seed_(hash_seed), chains_(kFirstChains, kNoFlow) {}

void FlowStateMap::SetLengths(const std::vector<Nanos>& lengths) {
  if (lengths == lengths_) return;
  std::vector<StartState> starts(flows_.size() * lengths.size());
  for (size_t to = 0; to < lengths.size(); ++to) {
    const size_t from = LengthIndex(lengths[to]);
    if (from == lengths_.size()) continue;
    for (size_t flow = 0; flow < flows_.size(); ++flow) {
      starts[flow * lengths.size() + to] = starts_[flow * lengths_.size() + from];
    }
  }
  starts_ = std::move(starts);
  lengths_ = lengths;
}

void FlowStateMap::Queue(const FlowStateUpdate& update, Nanos flow_timeout_ns) {
  queue_[update.epoch_end].push_back(
      {update, flow_timeout_ns != 0 ? flow_timeout_ns : flow_timeout_ns_});
  ++queued_count_;
}

void FlowStateMap::Clear() {
  if (flows_.empty() && queue_.empty()) return;
  queue_.clear();
  queued_count_ = count_ = 0;
  chains_.assign(kFirstChains, kNoFlow);
  flows_.clear();
  starts_.clear();
  free_ = kNoFlow;
}

void FlowStateMap::ApplyUntil(Nanos instant) {
  while (!queue_.empty() && queue_.begin()->first <= instant) {
    for (const Queued& queued : queue_.begin()->second) Apply(queued);
    queued_count_ -= queue_.begin()->second.size();
    queue_.erase(queue_.begin());
  }
}

void FlowStateMap::Apply(const Queued& queued) {
  const FlowStateUpdate& update = queued.update;
  FlowKey key = update.flow;
  key.zone = 0;
  const uint64_t hash = HashOf(key);
  uint32_t index = Find(key, hash);
  const bool is_known = index != kNoFlow;
  if (!is_known && count_ >= std::min(limit_, kMaxFlows)) {
    last_refused_ = update.epoch_end;
    return;
  }
  if (!is_known) index = Add(key, hash);
  Flow& flow = flows_[index];
  const bool is_same =
      is_known && flow.zone == update.flow.zone && flow.now.incarnation == update.state.incarnation;
  if (is_known && !is_same && update.state.last_packet_ns < flow.now.last_packet_ns) return;
  for (size_t i = 0; i < lengths_.size(); ++i) {
    StartState& start = starts_[index * lengths_.size() + i];
    const Nanos begin = CellOf(update.epoch_end - 1, lengths_[i]) * lengths_[i];
    if (start.begin < begin) start = {begin, is_known, flow.now, flow.timeout_ns};
  }
  if (update.state.last_packet_ns >= flow.now.last_packet_ns) flow.timeout_ns = queued.timeout_ns;
  if (is_same) {
    Merge(update.state, &flow.now);
  } else {
    flow.now = update.state;
    flow.zone = update.flow.zone;
  }
}

FlowInstants FlowStateMap::Read(std::string_view bucket_key, Nanos start, Nanos end) const {
  FlowInstants instants;
  FlowKey key;
  if (!FlowKeyOfBucket(bucket_key, &key)) return instants;
  const uint32_t index = Find(key, HashOf(key));
  if (index == kNoFlow) return instants;
  const Flow& flow = flows_[index];
  if (IsAlive(flow.now, flow.timeout_ns, end)) instants.at_end = flow.now;
  const size_t length = LengthIndex(end - start);
  if (length == lengths_.size()) return instants;
  const StartState& kept = starts_[index * lengths_.size() + length];
  const bool has_changed = kept.begin == start;  // else the flow is as it was then
  const bool is_known = !has_changed || kept.is_known;
  const FlowState& state = has_changed ? kept.state : flow.now;
  const Nanos timeout_ns = has_changed ? kept.timeout_ns : flow.timeout_ns;
  if (is_known && IsAlive(state, timeout_ns, start) && state.incarnation == flow.now.incarnation) {
    instants.at_start = state;
  }
  return instants;
}

void FlowStateMap::Expire(Nanos oldest_asked) {
  const bool is_due = last_expire_ == INT64_MIN || oldest_asked - last_expire_ > flow_timeout_ns_;
  if (!is_due && count_ < next_expire_count_) return;
  for (uint32_t index = 0; index < flows_.size(); ++index) {
    const Flow& flow = flows_[index];
    if (flow.in_use && !IsAlive(flow.now, flow.timeout_ns, oldest_asked)) Remove(index);
  }
  last_expire_ = oldest_asked;
  next_expire_count_ = std::max<size_t>(1024, 2 * count_);
}

size_t FlowStateMap::LengthIndex(Nanos length) const {
  return static_cast<size_t>(std::find(lengths_.begin(), lengths_.end(), length) -
                             lengths_.begin());
}

uint64_t FlowStateMap::HashOf(const FlowKey& key) const {
  return XXH3_64bits_withSeed(&key, sizeof key, hash_seed_);
}

uint32_t FlowStateMap::Find(const FlowKey& key, uint64_t hash) const {
  uint32_t index = chains_[hash & (chains_.size() - 1)];
  while (index != kNoFlow && (flows_[index].hash != hash || flows_[index].key != key)) {
    index = flows_[index].next;
  }
  return index;
}

uint32_t FlowStateMap::Add(const FlowKey& key, uint64_t hash) {
  if (count_ >= chains_.size()) GrowChains();
  uint32_t index = free_;
  if (index != kNoFlow) {
    free_ = flows_[index].next;
  } else {
    index = static_cast<uint32_t>(flows_.size());
    flows_.emplace_back();
    starts_.resize(starts_.size() + lengths_.size());
  }
  uint32_t* head = &chains_[hash & (chains_.size() - 1)];
  Flow flow;
  flow.key = key;
  flow.hash = hash;
  flow.next = *head;
  flow.in_use = true;
  flows_[index] = flow;
  for (size_t i = 0; i < lengths_.size(); ++i) starts_[index * lengths_.size() + i] = {};
  *head = index;
  ++count_;
  return index;
}

void FlowStateMap::Remove(uint32_t index) {
  uint32_t* link = &chains_[flows_[index].hash & (chains_.size() - 1)];
  while (*link != index) link = &flows_[*link].next;
  *link = flows_[index].next;
  flows_[index].in_use = false;
  flows_[index].next = free_;
  free_ = index;
  --count_;
}

void FlowStateMap::GrowChains() {
  chains_.assign(2 * chains_.size(), kNoFlow);
  for (uint32_t index = 0; index < flows_.size(); ++index) {
    if (!flows_[index].in_use) continue;
    uint32_t* head = &chains_[flows_[index].hash & (chains_.size() - 1)];
    flows_[index].next = *head;
    *head = index;
  }
}

}  // namespace trumpet
