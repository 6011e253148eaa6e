// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/connection_table.h"

#include <algorithm>
#include <cstring>

#include "lib/base/hash.h"
#include "lib/base/page_buffer.h"
#include "lib/tpm/change_lists.h"
#include "lib/tpm/connection_index.h"
#include "lib/tpm/history_pool.h"

namespace trumpet {
namespace {

constexpr uint32_t kMaxConnections = 1u << 27;
constexpr int kCandidates = 8;        // looked at in one go: the caller's time is short
constexpr uint32_t kLowHistory = 16;  // blocks; below this the dead are searched for theirs

// Is `flow` side 1 of its connection?  Side 0 has the lower address and port.
bool IsSecondSide(const FlowKey& flow) {
  const int order = std::memcmp(flow.src_ip.data(), flow.dst_ip.data(), sizeof flow.src_ip);
  return order != 0 ? order > 0 : flow.src_port > flow.dst_port;
}

uint32_t ConnectionCount(const ConnectionOptions& options) {
  return std::clamp(options.max_connections, 1u, kMaxConnections);
}

uint32_t HistoryBlockCount(const ConnectionOptions& options) {
  return std::max(options.max_history_records / SegmentBlock::kEntries, 16u);
}

}  // namespace

struct ConnectionTable::Impl {
  ConnectionOptions options;
  ConnectionCounters counters;
  ConnectionIndex connections;
  PageBuffer<TcpConnection> tcp;  // by slot
  HistoryPool history;
  ChangeLists changes;
  PageBuffer<ChangeMark> marks;  // by slot
  ConnectionSnapshot reading;    // what NextChanged() is at
  int sides_read = 0;
  Nanos tcp_valid_from = INT64_MIN;
  Nanos tcp_given_up_before = INT64_MIN;  // never after `tcp_valid_from`
  bool collects = false;
  bool has_memory = false;
  uint32_t history_hand = 0;

  bool Init(PageSource* source);
  uint32_t Add(const FlowKey& key, uint64_t hash, Nanos now);
  void Remove(uint32_t slot, Nanos now);
  bool IsAlive(const Connection& connection, Nanos now) const;
  bool IsForgettable(const Connection& connection, Nanos now) const;

  void DropTcp(uint32_t slot);
  void NoteChange(uint32_t slot);
  void NoteLoss(uint32_t slot);
  void FillSnapshot(uint32_t slot, ConnectionSnapshot* snapshot) const;
  bool ReadNextChanged();
  void CollectDeadHistory(Nanos now);
  bool ObserveTcp(uint32_t slot, bool was_alive, SegmentArrival* arrival, PacketFacts* facts,
                  RttSample* sample);
  void NoteSeen(Connection* connection, int side, Nanos now) const;
};

bool ConnectionTable::Impl::Init(PageSource* source) {
  const uint32_t count = ConnectionCount(options);
  return connections.Init(count, source) && tcp.Allocate(count, source) &&
         history.Init(HistoryBlockCount(options), source, options.history_walk_limit) &&
         changes.Init(count, source) && marks.Allocate(count, source);
}

size_t ConnectionTable::BytesFor(const ConnectionOptions& options) {
  const uint32_t count = ConnectionCount(options);
  return ConnectionIndex::BytesFor(count) + PageBuffer<TcpConnection>::BytesFor(count) +
         PageBuffer<HistoryBlock>::BytesFor(HistoryBlockCount(options)) +
         ChangeLists::BytesFor(count) + PageBuffer<ChangeMark>::BytesFor(count);
}

uint32_t ConnectionTable::Impl::Add(const FlowKey& key, uint64_t hash, Nanos now) {
  const uint32_t victim = connections.Victim(hash, now);
  if (victim != kNoSlot) Remove(victim, now);
  const uint32_t slot = connections.Add(key, hash);
  if (key.protocol == kProtocolTcp) tcp[slot].places = PeerPlaces{};
  counters.created++;
  counters.connections++;
  return slot;
}

bool ConnectionTable::Impl::IsAlive(const Connection& connection, Nanos now) const {
  return connection.last_ns() != kNeverSeen &&
         NanosBetween(connection.last_ns(), now) <= options.flow_timeout_ns;
}

// Neither its state nor the time of its last packet can matter any more.
bool ConnectionTable::Impl::IsForgettable(const Connection& connection, Nanos now) const {
  return NanosBetween(connection.last_ns(), now) >
         std::max(options.flow_timeout_ns, options.burst_gap_ns);
}

void ConnectionTable::Impl::Remove(uint32_t slot, Nanos now) {
  Connection& connection = connections[slot];
  (IsForgettable(connection, now) ? counters.expired : counters.evicted_alive)++;
  if (connection.has_tcp) {
    NoteLoss(slot);
    DropTcp(slot);
  }
  connections.Remove(slot);
  counters.connections--;
}

void ConnectionTable::Impl::DropTcp(uint32_t slot) {
  ReleaseTcp(&tcp[slot], &history);
  connections[slot].has_tcp = 0;
}

void ConnectionTable::Impl::NoteChange(uint32_t slot) {
  if (!collects) {
    NoteLoss(slot);  // of values that wait to be read, should there be any
    return;
  }
  ConnectionSnapshot* room = changes.Note(slot, &marks[slot]);
  if (room != nullptr) FillSnapshot(slot, room);
}

void ConnectionTable::Impl::NoteLoss(uint32_t slot) {
  if (!changes.has_unread()) return;
  ConnectionSnapshot* room = changes.Leave(slot, &marks[slot]);
  if (room != nullptr) FillSnapshot(slot, room);
}

void ConnectionTable::Impl::FillSnapshot(uint32_t slot, ConnectionSnapshot* snapshot) const {
  const Connection& connection = connections[slot];
  snapshot->side_count = 0;
  if (!connection.has_tcp || tcp[slot].places.awaits_state) return;
  snapshot->side_count = connection.is_mirror ? 1 : 2;
  snapshot->key = connection.key;
  for (int side = 0; side < snapshot->side_count; side++) {
    const TcpDirection& direction = tcp[slot].directions[side];
    FlowState& state = snapshot->states[side];
    state.ack = direction.ack;
    state.seq = direction.seq;
    state.dup = direction.dup;
    state.last_packet_ns = connection.last_ns();
    state.incarnation = tcp[slot].incarnation;
    state.has_ack = direction.has_ack;
    state.has_seq = direction.has_seq;
    state.doubts_seq = state.doubts_ack = tcp[slot].places.doubt != 0;
    state.sees_sender = !tcp[slot].places.is_elsewhere(side);
    state.sees_receiver = !tcp[slot].places.is_elsewhere(connection.is_mirror ? side : 1 - side);
    state.sender_ns = connection.last_seen_ns[side];
    state.receiver_ns = connection.last_seen_ns[connection.is_mirror ? side : 1 - side];
  }
}

// Connections that nobody touches any more keep their history until their slot is needed; when
// blocks run out, it is taken from them a few at a time.
void ConnectionTable::Impl::CollectDeadHistory(Nanos now) {
  for (int i = 0; i < kCandidates && connections.used_slots() != 0; i++) {
    if (++history_hand >= connections.used_slots()) history_hand = 0;
    Connection& connection = connections[history_hand];
    if (!connection.is_in_use() || !connection.has_tcp || IsAlive(connection, now)) continue;
    NoteLoss(history_hand);
    DropTcp(history_hand);
  }
}

bool ConnectionTable::Impl::ObserveTcp(uint32_t slot, bool was_alive, SegmentArrival* arrival,
                                       PacketFacts* facts, RttSample* sample) {
  Connection& connection = connections[slot];
  TcpConnection& state = tcp[slot];
  if (connection.has_tcp && (!was_alive || connection.last_ns() < tcp_valid_from)) {
    if (was_alive && connection.last_ns() < tcp_given_up_before) counters.evicted_alive++;
    DropTcp(slot);
  }
  if (!arrival->segment->is_present) return false;
  if (connection.has_tcp && StartsAnew(state, *arrival->segment)) {
    DropTcp(slot);
    counters.restarted++;
  }
  if (history.unused() < kLowHistory) CollectDeadHistory(arrival->now);
  if (!connection.has_tcp) {
    ClearTcp(&state);
    state.incarnation = arrival->now;
    connection.has_tcp = 1;
  }
  arrival->peer = connection.is_mirror ? arrival->side : 1 - arrival->side;
  return TrackSegment(&state, &history, *arrival, facts, sample);
}

// A packet received by another thread may come a little late: time does not run backwards for that.
void ConnectionTable::Impl::NoteSeen(Connection* connection, int side, Nanos now) const {
  if (now >= connection->last_ns()) connection->last_side = static_cast<uint32_t>(side);
  connection->last_seen_ns[side] = std::max(connection->last_seen_ns[side], now);
}

ConnectionTable::ConnectionTable(const ConnectionOptions& options, PageSource* source)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->has_memory = impl_->Init(source);
}

ConnectionTable::~ConnectionTable() = default;

bool ConnectionTable::has_memory() const { return impl_->has_memory; }

uint64_t ConnectionTable::HashOf(const FlowKey& flow) const {
  const FlowKey key = IsSecondSide(flow) ? Reversed(flow) : flow;
  return HashBytes(&key, sizeof key, impl_->options.hash_seed);
}

void ConnectionTable::Prefetch(uint64_t hash) const {
  if (impl_->has_memory) impl_->connections.PrefetchChain(hash);
}

void ConnectionTable::PrefetchHint(ConnectionRef hint) const {
  if (hint >> 1 >= impl_->connections.count()) return;
  __builtin_prefetch(&impl_->connections[hint >> 1]);
  __builtin_prefetch(&impl_->tcp[hint >> 1]);
}

ConnectionRef ConnectionTable::Find(const FlowKey& flow, uint64_t hash, ConnectionRef hint,
                                    Nanos now) {
  if (!impl_->has_memory) return kNoConnection;
  const uint32_t side = IsSecondSide(flow) ? 1 : 0;
  const FlowKey key = side != 0 ? Reversed(flow) : flow;
  const uint32_t hinted = hint >> 1;
  if (hinted < impl_->connections.count() && impl_->connections[hinted].key == key) {
    return hinted << 1 | side;
  }
  uint32_t slot = impl_->connections.Find(key, hash);
  if (slot == kNoSlot) slot = impl_->Add(key, hash, now);
  return slot << 1 | side;
}

ConnectionRef ConnectionTable::FindKnown(const FlowKey& flow, uint64_t hash) const {
  if (!impl_->has_memory) return kNoConnection;
  const uint32_t side = IsSecondSide(flow) ? 1 : 0;
  const uint32_t slot = impl_->connections.Find(side != 0 ? Reversed(flow) : flow, hash);
  return slot == kNoSlot ? kNoConnection : slot << 1 | side;
}

bool ConnectionTable::Observe(ConnectionRef ref, const ParsedPacket& packet, bool tracks_tcp,
                              Nanos now, uint64_t owner, PacketFacts* facts, RttSample* sample) {
  *facts = PacketFacts{};
  if (ref == kNoConnection) return false;
  const uint32_t slot = ref >> 1;
  const int side = static_cast<int>(ref & 1);
  Connection& connection = impl_->connections[slot];
  const bool is_new = connection.last_ns() == kNeverSeen;
  const bool was_alive = impl_->IsAlive(connection, now);
  if (!is_new && !was_alive) impl_->counters.expired++;
  const Nanos previous = connection.last_seen_ns[side];
  facts->is_burst =
      previous != kNeverSeen && NanosBetween(previous, now) <= impl_->options.burst_gap_ns;

  const bool is_tcp = connection.key.protocol == kProtocolTcp;
  if (is_tcp && (connection.has_tcp || tracks_tcp)) impl_->NoteChange(slot);
  bool has_sample = false;
  if (is_tcp && tracks_tcp) {
    SegmentArrival arrival;
    arrival.segment = &packet.tcp;
    arrival.side = side;
    arrival.is_burst = facts->is_burst;
    arrival.owner = owner;
    arrival.now = now;
    has_sample = impl_->ObserveTcp(slot, was_alive, &arrival, facts, sample);
  } else if (connection.has_tcp) {
    impl_->DropTcp(slot);
  }
  impl_->NoteSeen(&connection, side, now);
  return has_sample;
}

bool ConnectionTable::ObserveForeign(ConnectionRef ref, const TcpSegment& segment, Nanos now,
                                     RttSample* sample) {
  const uint32_t slot = ref >> 1;
  Connection& connection = impl_->connections[slot];
  const bool was_alive = impl_->IsAlive(connection, now);
  impl_->NoteChange(slot);
  PacketFacts facts;
  SegmentArrival arrival;
  arrival.segment = &segment;
  arrival.side = static_cast<int>(ref & 1);
  arrival.is_foreign = true;
  arrival.now = now;
  const bool has_sample = impl_->ObserveTcp(slot, was_alive, &arrival, &facts, sample);
  impl_->NoteSeen(&connection, arrival.side, now);
  if (has_sample) sample->rtt_ns = std::max<Nanos>(sample->rtt_ns, 0);
  return has_sample;
}

PeerPlaces& ConnectionTable::PlacesOf(ConnectionRef ref) { return impl_->tcp[ref >> 1].places; }

bool ConnectionTable::HasAck(ConnectionRef ref) const {
  return impl_->connections[ref >> 1].has_tcp != 0 &&
         impl_->tcp[ref >> 1].directions[ref & 1].has_ack;
}

bool ConnectionTable::Summarize(ConnectionRef ref, TcpSummary* summary) const {
  if (impl_->connections[ref >> 1].has_tcp == 0) return false;
  *summary = SummaryOf(impl_->tcp[ref >> 1]);
  return true;
}

bool ConnectionTable::Adopt(ConnectionRef ref, const TcpSummary& summary, Nanos asked_ns,
                            bool is_whole) {
  const uint32_t slot = ref >> 1;
  TcpConnection& state = impl_->tcp[slot];
  if (impl_->connections[slot].has_tcp == 0 || state.incarnation > asked_ns) return false;
  impl_->NoteChange(slot);
  return AdoptSummary(summary, static_cast<int>(ref & 1), is_whole, &state, &impl_->history);
}

void ConnectionTable::HandOver(ConnectionRef ref) {
  if (impl_->connections[ref >> 1].has_tcp == 0) return;
  impl_->tcp[ref >> 1].histories[ref & 1].unacknowledged.Release(&impl_->history);
}

bool ConnectionTable::BeginEpoch(Nanos start, Nanos end) {
  if (has_unread_changes()) return false;
  impl_->changes.Begin(start, end);
  impl_->reading.side_count = 0;
  return true;
}

bool ConnectionTable::has_unread_changes() const {
  return impl_->changes.has_unread() || impl_->sides_read < impl_->reading.side_count;
}

// Makes the next connection of the finished epoch the one that is read.  False: none of the next
// few has state left; any number of them may have lost it, and the caller's time is short.
bool ConnectionTable::Impl::ReadNextChanged() {
  sides_read = 0;
  reading.side_count = 0;
  for (int i = 0; i < kCandidates && reading.side_count == 0; i++) {
    uint32_t slot = 0;
    const ConnectionSnapshot* kept = nullptr;
    if (!changes.Next(&slot, &kept)) return false;
    if (kept != nullptr) {
      reading = *kept;
    } else {
      FillSnapshot(slot, &reading);
    }
  }
  return reading.side_count != 0;
}

bool ConnectionTable::NextChanged(FlowStateUpdate* update) {
  ConnectionSnapshot& reading = impl_->reading;
  if (impl_->sides_read >= reading.side_count && !impl_->ReadNextChanged()) return false;
  const int side = impl_->sides_read++;
  update->flow = side == 0 ? reading.key : Reversed(reading.key);
  update->state = reading.states[side];
  update->epoch_start = impl_->changes.finished_start();
  update->epoch_end = impl_->changes.finished_end();
  return true;
}

void ConnectionTable::set_collects_changes(bool collects) { impl_->collects = collects; }

void ConnectionTable::ForgetTcpBefore(Nanos from) { impl_->tcp_valid_from = from; }

void ConnectionTable::GiveUpTcpBefore(Nanos from) {
  impl_->tcp_valid_from = impl_->tcp_given_up_before = from;
}

void ConnectionTable::set_flow_timeout(Nanos flow_timeout_ns) {
  impl_->options.flow_timeout_ns = flow_timeout_ns;
}

void ConnectionTable::set_burst_gap(Nanos burst_gap_ns) {
  impl_->options.burst_gap_ns = burst_gap_ns;
}

const ConnectionCounters& ConnectionTable::counters() const {
  impl_->counters.history_evicted = impl_->history.evicted();
  impl_->counters.history_blocks = impl_->history.used();
  return impl_->counters;
}

}  // namespace trumpet
