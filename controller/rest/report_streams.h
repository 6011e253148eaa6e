// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportStreams: reports to clients as they come, as server-sent events; and likewise what happens
// to runs of campaigns.
//
//   id: 17
//   data: {"number":17,"event":"heavy",...}
//
// A stream pulls: it is given what follows the last report it was given, while its reader keeps up,
// from the hub's memory or, if it has fallen behind that, from the store.  So a slow reader costs
// kMaxWaiting bytes and no more; one who takes nothing for kStall is cut off.  Where reports are
// no longer known, the stream says so:
//
//   event: gap
//   data: {"after":17,"before":1000}
//
// A stream of campaigns is the same, without a store:
//
//   id: 1785
//   event: slice
//   data: {"number":1785,"slice":"web","what":"slot-begun",...}
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_REST_REPORT_STREAMS_H
#define TRUMPET_CONTROLLER_REST_REPORT_STREAMS_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "controller/rest/http_exchange.h"
#include "controller/slice/campaign_feed.h"
#include "controller/tem/report_hub.h"
#include "lib/base/loop_event.h"

namespace trumpet {

class RestServer;
class WireClock;
struct RestParts;

// What a client asks for.
struct StreamWish {
  bool is_of_slices = false;
  uint64_t after = 0;  // the number of the last one it had
  std::string tenant;
  std::vector<std::string> names;  // of events or campaigns; none: all
};

class ReportStreams final : private ReportSubscriber {
 public:
  static constexpr size_t kMaxWaiting = 1024 * 1024;  // bytes, beyond which nothing is added
  static constexpr Nanos kStall = 30 * kNanosPerSecond;
  static constexpr Nanos kHeartbeat = 15 * kNanosPerSecond;
  static constexpr Nanos kTokenLasts = 500 * kNanosPerMilli;  // from one look at it to the next
  // A store that fails is asked again, and done without after a while.
  static constexpr Nanos kAskAgain = kNanosPerSecond;
  static constexpr Nanos kStoreAway = 10 * kNanosPerSecond;

  ReportStreams(RestServer* server, const RestParts& parts, size_t max_streams);
  ~ReportStreams() override;

  bool is_full() const { return streams_.size() >= max_streams_; }
  void Begin(std::shared_ptr<HttpExchange> exchange, StreamWish wish);

  // All of them; no more reports are given.
  void End();

  uint64_t sent_reports() const { return sent_reports_; }
  uint64_t gaps() const { return gaps_; }

 private:
  struct Stream;

  void OnReports(const ReportRows& rows) override;
  void Pump(const std::shared_ptr<Stream>& stream);
  void PumpNews(Stream* stream);
  void SayGap(Stream* stream, uint64_t next);
  void AskStore(const std::shared_ptr<Stream>& stream);
  void OnStored(const std::shared_ptr<Stream>& stream, Result<ReportRows> rows);
  void Give(Stream* stream, const ReportRows& rows);
  void SkipToMemory(Stream* stream, bool is_known = true);
  bool MayGoOn(Stream* stream, Nanos now);
  void Tick();

  RestServer* const server_;
  ReportHub* const hub_;
  CampaignFeed* const feed_;  // null: there are no campaigns
  const WireClock* const clock_;
  const size_t max_streams_;
  // Shared with the calls back of the store, which may come when the stream has ended.
  std::list<std::shared_ptr<Stream>> streams_;
  uint64_t sent_reports_ = 0;
  uint64_t gaps_ = 0;
  LoopEvent ticker_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_REPORT_STREAMS_H
