// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceTable: copies of all switches -> traces, one for each packet.
//
// A trace is complete when no copy of its packet has come for a while.  The while is a second at
// first; it grows when copies come later than that, and goes back slowly.  A complete trace is told
// and then kept for `retain`: a copy that comes late joins it, and it is told again with a higher
// revision.  One that has as many hops as it may waits for no more; a copy that comes when it has
// been complete for a while is of a packet that is equal to it, and begins a new trace.
//
// Memory is taken at the start: `max_traces`, `max_hops` and `max_long_packets`.  If either is used
// up, the oldest traces that have been told already go first (`forgotten`: a late copy of theirs
// would begin a new trace), then the oldest of all are told as they are (`evicted`).  Every copy is
// counted at one place: in a trace, or in `hops_not_kept` of one.
//
// Threads: one.  Time: given; it is that of the copies' arrival, and may step back: if far, what
// came before is complete.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TRACE_TABLE_H
#define TRUMPET_CONTROLLER_ANALYZER_TRACE_TABLE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "controller/analyzer/trace_copy.h"
#include "lib/base/units.h"

namespace trumpet {

struct TraceTableOptions {
  size_t max_traces = 1 << 18;
  size_t max_hops = 1 << 20;
  size_t max_hops_of_trace = 64;  // a loop has many more
  // Of protocols, that are kept up to kControlPacketBytes; of more, as of others.
  size_t max_long_packets = 4096;
  Nanos quiet = kNanosPerSecond;
  Nanos max_quiet = 3 * kNanosPerSecond;
  Nanos retain = 3 * kNanosPerSecond;
};

constexpr size_t kTraceNotes = 9;

// As it is told; the hops are borrowed for the call, in the order of their arrival.
struct Trace {
  Uint128 key = 0;
  uint64_t flow = 0;
  TracePacket packet;      // by its first copy
  std::string_view bytes;  // the first of them; borrowed for the call, too
  std::vector<TraceHop> hops;
  uint64_t hops_not_kept = 0;  // beyond max_hops_of_trace
  uint32_t revision = 0;       // 0: told the first time
  bool is_evicted = false;     // there was no room to wait for more
  // What the one who was told the revision before noted of it: 0 at first, and kept till the next.
  std::array<uint32_t, kTraceNotes> notes{};
};

struct TraceTableCounters {
  uint64_t copies = 0;
  uint64_t traces = 0;   // begun
  uint64_t told = 0;     // the first time
  uint64_t revised = 0;  // told again
  uint64_t late_copies = 0;
  uint64_t hops_not_kept = 0;
  uint64_t evicted = 0;
  uint64_t forgotten = 0;
  uint64_t cut_packets = 0;  // of protocols, that could not be kept whole
};

class TraceTable {
 public:
  using Tell = std::function<void(Trace& trace)>;

  TraceTable(const TraceTableOptions& options, Tell tell);

  void Take(const TraceCopy& copy);
  // Asks the memory for what Take() will need for these, and waits for none of it.  Not needed, and
  // does nothing else; some of them may not be taken after all.
  void Fetch(const TraceCopy* copies, size_t count) const;
  // Tells what is complete, at most `max_traces` of them; true: there may be more.
  bool Advance(Nanos now, size_t max_traces);
  // Once more, with a higher revision, if it was told and is kept still: what is known of it has
  // changed.
  void TellAgain(Uint128 key);
  // Tells all that has not been told.
  void Finish();

  const TraceTableCounters& counters() const { return counters_; }
  Nanos quiet() const { return quiet_; }
  size_t trace_count() const { return trace_count_; }
  size_t hop_count() const { return hop_count_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // What every copy needs: one line of the cache.
  struct alignas(64) Entry {
    Uint128 key = 0;
    Nanos last = 0;  // copy
    uint32_t first_hop = kNone;
    uint32_t last_hop = kNone;
    uint32_t hop_count = 0;
    uint32_t revision = 0;
    uint32_t older = kNone;  // in its list
    uint32_t newer = kNone;
    uint64_t hops_not_kept = 0;
    uint16_t byte_count = 0;
    bool is_told = false;
    uint8_t marks = 0;         // of all copies
    uint32_t not_kept_ms = 0;  // when the last one came that was not kept; wraps
  };
  static_assert(sizeof(Entry) == 64);
  // What is written once, and read when the trace is told; beside the entry of the same index.
  struct Content {
    uint64_t flow = 0;
    TracePacket packet;
    std::array<uint32_t, kTraceNotes> notes{};
    std::array<char, kTracePacketBytes> bytes{};
    uint32_t rest = kNone;  // set if there are more than these
  };
  // What a long packet has beyond kTracePacketBytes.
  using Rest = std::array<char, kControlPacketBytes - kTracePacketBytes>;
  struct Hop {
    TraceHop hop;
    uint32_t next = kNone;
  };
  struct List {
    uint32_t oldest = kNone;
    uint32_t newest = kNone;
  };

  size_t SlotOf(Uint128 key) const { return static_cast<size_t>(key) & (slots_.size() - 1); }
  size_t Find(Uint128 key) const;  // its slot, or the free one where it belongs
  void Erase(size_t slot);
  void Append(uint32_t at, List* list);
  void Remove(uint32_t at, List* list);
  uint32_t Begin(const TraceCopy& copy, size_t slot);
  void Keep(const TraceCopy& copy, Entry* entry, Content* content);
  std::string_view BytesOf(const Entry& entry, const Content& content);
  void AddHop(uint32_t at, const TraceHop& hop);
  void CountHop(uint32_t at, const TraceHop& hop);
  bool IsAnother(const Entry& entry, const TraceHop& hop) const;
  bool HasSame(const Entry& entry, const TraceHop& hop) const;
  void NoteLate(Nanos gap);
  void MakeRoom();
  void FetchNextToTell(const Entry& entry) const;
  void FetchNextToForget(const Entry& entry) const;
  void TellOldest(bool is_evicted);
  void TellOf(uint32_t at, bool is_evicted);
  void ForgetOldest();
  void Forget(uint32_t at);  // one that was told

  const TraceTableOptions options_;
  const Tell tell_;
  Nanos quiet_;
  std::vector<uint32_t> slots_;  // open addressing; a power of two
  std::vector<Entry> entries_;
  std::vector<Content> contents_;
  std::vector<Hop> hops_;
  std::vector<Rest> rests_;
  std::vector<uint32_t> free_rests_;
  std::array<char, kControlPacketBytes> whole_{};  // of a long packet that is being told
  uint32_t free_entry_ = kNone;                    // linked by `newer`
  uint32_t free_hop_ = kNone;
  size_t trace_count_ = 0;
  size_t hop_count_ = 0;
  List open_;  // not told since their last copy, the oldest first
  List told_;
  Trace trace_;  // lent to tell_; its memory is used again
  TraceTableCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TRACE_TABLE_H
