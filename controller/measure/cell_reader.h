// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CellReader: cells of a program's variables from many hosts, merged into one by the rule of each
// variable.
//
// Hosts are asked piece by piece, and no more than kHostsAtOnce at a time; one that says nothing
// for kPatience is silent, and what it has told of its cells is left out.
//
// Threads: that of the loop.  Answers never come from within a call.
// Memory: a read holds the cells of its questions once for all hosts and once for each one that is
// asked just now.

#ifndef TRUMPET_CONTROLLER_MEASURE_CELL_READER_H
#define TRUMPET_CONTROLLER_MEASURE_CELL_READER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/message.h"

namespace trumpet {

struct CellQuestion {
  MeasureIndex variable = 0;
  MeasureMerge merge = MeasureMerge::kSum;  // not kShared, unless one host is asked
  uint32_t count = 0;                       // from the first cell on; of a key: all
  std::vector<uint64_t> key;
  // Instead of cells: keys of packets that hosts have collected last, `count` values of each host
  // at most.  All of them stand behind each other, some more than once.
  bool wants_keys = false;
};

struct SilentHost {
  std::string host;  // id
  std::string why;
};

struct CellReading {
  std::vector<std::vector<uint64_t>> cells;  // of each question; empty if no host has answered
  std::vector<std::string> hosts;            // that have answered
  std::vector<SilentHost> silent;
};

class CellReader {
 public:
  static constexpr size_t kHostsAtOnce = 8;  // of one read
  static constexpr size_t kMaxReads = 16;
  static constexpr Nanos kPatience = 2 * kNanosPerSecond;

  using Send = std::function<Status(const std::string& host, const CellsRequest& request)>;
  using Done = std::function<void(const CellReading&)>;

  CellReader(event_base* base, Send send);
  ~CellReader();

  // `silent`: hosts that cannot be asked, for the reading.  The answer is the read's number, never
  // 0; 0: too many are under way.
  uint64_t Read(const ProgramName& program, std::vector<CellQuestion> questions,
                std::vector<std::string> hosts, std::vector<SilentHost> silent, Done done);
  // What a read that is under way has until now; hosts that have not answered yet are silent.
  CellReading SoFar(uint64_t number) const;
  // Nobody waits for it any longer: `done` is not called any more.
  void End(uint64_t number);

  void OnAnswer(const std::string& host, const CellsAnswer& answer);
  void OnHostGone(const std::string& host);

 private:
  struct Asked {
    std::string host;
    uint64_t number = 0;                       // of the request that is not answered
    size_t question = 0;                       // that it belongs to
    std::vector<std::vector<uint64_t>> cells;  // of the questions so far
    std::unique_ptr<LoopEvent> timer;
  };
  struct Job;

  const Job* Find(uint64_t number) const;
  void AskMore(Job* job);
  void Ask(Job* job, Asked* asked);
  void Take(Job* job, Asked* asked, const CellsAnswer& answer);
  void Leave(Job* job, Asked* asked, const std::string& why);  // ends `asked`
  void Sweep();

  event_base* const base_;
  const Send send_;
  uint64_t last_number_ = 0;  // of reads and of requests
  std::vector<std::unique_ptr<Job>> jobs_;
  LoopEvent sweep_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_CELL_READER_H
