// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "controller/analyzer/set_back.h"

namespace trumpet {
namespace {

// After so many traces that were complete, most of a longer wait is gone.
constexpr Nanos kTracesToGoBack = 1024;

// With half of the slots free a search ends soon.
size_t SlotCount(size_t max_traces) {
  size_t count = 16;
  while (count < 2 * max_traces) count *= 2;
  return count;
}

uint32_t InMilliseconds(Nanos time) { return static_cast<uint32_t>(time / kNanosPerMilli); }

void FetchBytes(const void* begin, size_t size) {
  constexpr size_t kLine = 64;
  const auto* const bytes = static_cast<const char*>(begin);
  for (size_t at = 0; at < size; at += kLine) __builtin_prefetch(bytes + at, 1);
  __builtin_prefetch(bytes + size - 1, 1);
}

}  // namespace

TraceTable::TraceTable(const TraceTableOptions& options, Tell tell)
    : options_(options),
      tell_(std::move(tell)),
      quiet_(options.quiet),
      slots_(SlotCount(options.max_traces), kNone),
      entries_(std::max<size_t>(options.max_traces, 1)),
      contents_(entries_.size()),
      hops_(std::max<size_t>(options.max_hops, 1)),
      rests_(options.max_long_packets) {
  free_rests_.reserve(rests_.size());
  for (size_t i = rests_.size(); i-- > 0;) free_rests_.push_back(static_cast<uint32_t>(i));
  for (size_t i = entries_.size(); i-- > 0;) {
    entries_[i].newer = std::exchange(free_entry_, static_cast<uint32_t>(i));
  }
  for (size_t i = hops_.size(); i-- > 0;) {
    hops_[i].next = std::exchange(free_hop_, static_cast<uint32_t>(i));
  }
}

size_t TraceTable::Find(Uint128 key) const {
  size_t slot = SlotOf(key);
  while (slots_[slot] != kNone && entries_[slots_[slot]].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

// Moves up what stood behind, so that no search ends too early.
void TraceTable::Erase(size_t slot) {
  const size_t mask = slots_.size() - 1;
  for (size_t next = (slot + 1) & mask; slots_[next] != kNone; next = (next + 1) & mask) {
    const size_t home = SlotOf(entries_[slots_[next]].key);
    if (((next - home) & mask) < ((next - slot) & mask)) continue;
    slots_[slot] = slots_[next];
    slot = next;
  }
  slots_[slot] = kNone;
}

void TraceTable::Append(uint32_t at, List* list) {
  entries_[at].older = list->newest;
  entries_[at].newer = kNone;
  (list->newest == kNone ? list->oldest : entries_[list->newest].newer) = at;
  list->newest = at;
}

void TraceTable::Remove(uint32_t at, List* list) {
  const Entry& entry = entries_[at];
  (entry.older == kNone ? list->oldest : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? list->newest : entries_[entry.newer].older) = entry.older;
}

// In rounds, so that what one of them reads has been asked for by the one before.  Traces that
// begin take free entries in the order of their list, the ones that were freed last at first.
void TraceTable::Fetch(const TraceCopy* copies, size_t count) const {
  for (size_t i = 0; i < count; ++i) __builtin_prefetch(&slots_[SlotOf(copies[i].key)]);
  uint32_t free = free_entry_;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t at = slots_[SlotOf(copies[i].key)];
    if (at != kNone) {
      __builtin_prefetch(&entries_[at], 1);
    } else if (free != kNone && (i == 0 || copies[i].key != copies[i - 1].key)) {
      FetchBytes(&contents_[free], sizeof(Content));
      free = entries_[free].newer;
    }
  }
}

// `entry` itself was fetched when the one before it was told.
void TraceTable::FetchNextToTell(const Entry& entry) const {
  if (entry.newer == kNone) return;
  const Entry& next = entries_[entry.newer];
  if (next.newer != kNone) __builtin_prefetch(&entries_[next.newer], 1);
  if (next.first_hop != kNone) {
    __builtin_prefetch(&hops_[next.first_hop]);
    __builtin_prefetch(&hops_[next.last_hop]);
  }
  FetchBytes(&contents_[entry.newer], offsetof(Content, bytes));
}

// Its hops are those that will be taken next.
void TraceTable::FetchNextToForget(const Entry& entry) const {
  if (entry.newer == kNone) return;
  const Entry& next = entries_[entry.newer];
  if (next.newer != kNone) __builtin_prefetch(&entries_[next.newer], 1);
  __builtin_prefetch(&slots_[SlotOf(next.key)], 1);
  if (next.first_hop == kNone) return;
  __builtin_prefetch(&hops_[next.first_hop], 1);
  __builtin_prefetch(&hops_[next.last_hop], 1);
}

void TraceTable::Take(const TraceCopy& copy) {
  ++counters_.copies;
  if (free_hop_ == kNone) MakeRoom();
  size_t slot = Find(copy.key);
  if (slots_[slot] == kNone && free_entry_ == kNone) {
    MakeRoom();
    slot = Find(copy.key);
  }
  uint32_t at = slots_[slot];
  if (at != kNone && entries_[at].hop_count >= options_.max_hops_of_trace) {
    if (!IsAnother(entries_[at], copy.hop)) return CountHop(at, copy.hop);
    Forget(at);
    slot = Find(copy.key);
    at = kNone;
  }
  if (at == kNone) {
    at = Begin(copy, slot);
  } else {
    Entry& entry = entries_[at];
    Remove(at, entry.is_told ? &told_ : &open_);
    if (entry.is_told) {
      ++counters_.late_copies;
      ++entry.revision;
      if (!HasSame(entry, copy.hop)) NoteLate(copy.hop.time - entry.last);
    }
  }
  Entry& entry = entries_[at];
  entry.is_told = false;
  entry.marks |= copy.packet.marks;
  entry.last = std::max(entry.last, copy.hop.time);
  Append(at, &open_);
  AddHop(at, copy.hop);
}

uint32_t TraceTable::Begin(const TraceCopy& copy, size_t slot) {
  const uint32_t at = free_entry_;
  free_entry_ = entries_[at].newer;
  Entry& entry = entries_[at];
  Content& content = contents_[at];
  entry.key = copy.key;
  entry.hops_not_kept = 0;
  entry.last = copy.hop.time;
  entry.first_hop = entry.last_hop = kNone;
  entry.hop_count = entry.revision = 0;
  entry.is_told = false;
  entry.marks = 0;
  content.flow = copy.flow;
  content.packet = copy.packet;
  content.notes = {};
  Keep(copy, &entry, &content);
  slots_[slot] = at;
  ++trace_count_;
  ++counters_.traces;
  return at;
}

void TraceTable::Keep(const TraceCopy& copy, Entry* entry, Content* content) {
  const size_t first = std::min<size_t>(copy.captured, kTracePacketBytes);
  if (first > 0) std::memcpy(content->bytes.data(), copy.bytes, first);
  entry->byte_count = static_cast<uint16_t>(first);
  const bool is_long =
      copy.captured > kTracePacketBytes && (copy.packet.marks & kMarkProtocol) != 0;
  if (!is_long) return;
  const size_t all = std::min<size_t>(copy.captured, kControlPacketBytes);
  counters_.cut_packets += free_rests_.empty() || all < copy.captured ? 1 : 0;
  if (free_rests_.empty()) return;
  content->rest = free_rests_.back();
  free_rests_.pop_back();
  std::memcpy(rests_[content->rest].data(), copy.bytes + first, all - first);
  entry->byte_count = static_cast<uint16_t>(all);
}

std::string_view TraceTable::BytesOf(const Entry& entry, const Content& content) {
  if (entry.byte_count <= kTracePacketBytes) return {content.bytes.data(), entry.byte_count};
  std::memcpy(whole_.data(), content.bytes.data(), kTracePacketBytes);
  std::memcpy(whole_.data() + kTracePacketBytes, rests_[content.rest].data(),
              entry.byte_count - kTracePacketBytes);
  return {whole_.data(), entry.byte_count};
}

// Equal bytes that are sent every now and then are no packet that goes round: that one comes again
// at once.
bool TraceTable::IsAnother(const Entry& entry, const TraceHop& hop) const {
  const auto is_quiet = [this](Nanos gap) { return gap >= options_.quiet; };
  const uint32_t gap_ms = InMilliseconds(hop.time) - entry.not_kept_ms;
  return entry.is_told && is_quiet(hop.time - entry.last) &&
         (entry.hops_not_kept == 0 || is_quiet(gap_ms * kNanosPerMilli));
}

// Then it is a copy of equal bytes that were sent again, and not late.
bool TraceTable::HasSame(const Entry& entry, const TraceHop& hop) const {
  for (uint32_t at = entry.first_hop; at != kNone; at = hops_[at].next) {
    const TraceHop& other = hops_[at].hop;
    const bool is_same =
        other.switch_number == hop.switch_number && other.tag == hop.tag && other.ttl == hop.ttl;
    if (is_same) return true;
  }
  return false;
}

// A packet that goes round for ever is not waited for, and known as long as it does.
void TraceTable::CountHop(uint32_t at, const TraceHop& hop) {
  Entry& entry = entries_[at];
  ++entry.hops_not_kept;
  entry.not_kept_ms = InMilliseconds(hop.time);
  ++counters_.hops_not_kept;
  if (!entry.is_told) return;
  Remove(at, &told_);
  entry.last = std::max(entry.last, hop.time);
  Append(at, &told_);
}

void TraceTable::AddHop(uint32_t at, const TraceHop& hop) {
  Entry& entry = entries_[at];
  const uint32_t place = free_hop_;
  free_hop_ = hops_[place].next;
  hops_[place] = {hop, kNone};
  (entry.first_hop == kNone ? entry.first_hop : hops_[entry.last_hop].next) = place;
  entry.last_hop = place;
  ++entry.hop_count;
  ++hop_count_;
}

// What is late by so much would have been in time with half as much again.
void TraceTable::NoteLate(Nanos gap) {
  quiet_ = std::clamp(std::max(quiet_, gap + gap / 2), options_.quiet, options_.max_quiet);
}

void TraceTable::MakeRoom() {
  if (told_.oldest != kNone) {
    ++counters_.forgotten;
  } else {
    ++counters_.evicted;
    TellOldest(true);
  }
  ForgetOldest();
}

void TraceTable::TellOldest(bool is_evicted) {
  const uint32_t at = open_.oldest;
  FetchNextToTell(entries_[at]);
  Remove(at, &open_);
  entries_[at].is_told = true;
  Append(at, &told_);
  TellOf(at, is_evicted);
}

void TraceTable::TellAgain(Uint128 key) {
  const uint32_t at = slots_[Find(key)];
  if (at == kNone || !entries_[at].is_told) return;
  ++entries_[at].revision;
  TellOf(at, false);
}

void TraceTable::TellOf(uint32_t at, bool is_evicted) {
  const Entry& entry = entries_[at];
  Content& content = contents_[at];
  trace_.key = entry.key;
  trace_.flow = content.flow;
  trace_.hops.clear();
  for (uint32_t hop = entry.first_hop; hop != kNone; hop = hops_[hop].next) {
    trace_.hops.push_back(hops_[hop].hop);
  }
  trace_.hops_not_kept = entry.hops_not_kept;
  trace_.revision = entry.revision;
  trace_.is_evicted = is_evicted;
  ++(entry.revision == 0 ? counters_.told : counters_.revised);
  trace_.packet = content.packet;
  trace_.packet.marks = entry.marks;
  trace_.bytes = BytesOf(entry, content);
  trace_.notes = content.notes;
  tell_(trace_);
  content.notes = trace_.notes;
}

void TraceTable::ForgetOldest() {
  FetchNextToForget(entries_[told_.oldest]);
  Forget(told_.oldest);
}

void TraceTable::Forget(uint32_t at) {
  Entry& entry = entries_[at];
  Remove(at, &told_);
  Erase(Find(entry.key));
  if (entry.first_hop != kNone) {
    hops_[entry.last_hop].next = free_hop_;
    free_hop_ = entry.first_hop;
  }
  if (entry.byte_count > kTracePacketBytes) free_rests_.push_back(contents_[at].rest);
  hop_count_ -= entry.hop_count;
  --trace_count_;
  entry.newer = free_entry_;
  free_entry_ = at;
}

bool TraceTable::Advance(Nanos now, size_t max_traces) {
  const auto is_over = [&](const List& list, Nanos wait) {
    if (list.oldest == kNone) return false;
    const Nanos last = entries_[list.oldest].last;
    return now - last >= wait || WasSetBack(last, now);
  };
  size_t count = 0;
  while (is_over(open_, quiet_)) {
    if (count++ == max_traces) return true;
    TellOldest(false);
    quiet_ -= (quiet_ - options_.quiet) / kTracesToGoBack;
  }
  while (is_over(told_, quiet_ + options_.retain)) {
    if (count++ == max_traces) return true;
    ForgetOldest();
  }
  return false;
}

void TraceTable::Finish() {
  while (open_.oldest != kNone) TellOldest(false);
}

}  // namespace trumpet
