// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramAsker: requests of ctrl to a program at many hosts, and what each of them answers.
//
// All hosts are asked at once; who says nothing for kPatience is silent.
//
// Threads: that of the loop.  Answers never come from within a call.
// Memory: at most kMaxCopies of an answer are kept; further ones are counted.

#ifndef TRUMPET_CONTROLLER_MEASURE_PROGRAM_ASKER_H
#define TRUMPET_CONTROLLER_MEASURE_PROGRAM_ASKER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/measure/cell_reader.h"
#include "lib/base/loop_event.h"
#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/wire/message.h"

namespace trumpet {

struct AskedField {
  MeasureFieldId field = 0;
  uint64_t value = 0;
};

struct AskedProgram {
  ProgramName program;
  std::vector<AskedField> fields;
  size_t endpoint_count = 0;  // of the program, as is
  size_t field_count = 0;     // those of its headers included
};

struct HostAnswer {
  std::string host;  // id
  std::vector<ProgramCopy> copies;
};

struct RequestAnswer {
  std::vector<HostAnswer> hosts;  // that have answered, by id
  std::vector<SilentHost> silent;
  uint64_t left_out = 0;  // copies
};

class ProgramAsker {
 public:
  static constexpr size_t kMaxRequests = 16;  // under way
  static constexpr size_t kMaxCopies = 10000;
  static constexpr Nanos kPatience = 2 * kNanosPerSecond;

  using Send = CellReader::Send;
  using Done = std::function<void(const RequestAnswer&)>;

  ProgramAsker(event_base* base, Send send);
  ~ProgramAsker();

  // False: too many requests are under way.
  bool Ask(AskedProgram request, std::vector<std::string> hosts, Done done);

  // Answers to others are left alone.
  void OnAnswer(const std::string& host, const CellsAnswer& answer);
  void OnHostGone(const std::string& host);

 private:
  struct Job;

  void Begin(Job* job);
  void Take(Job* job, const std::string& host, const CellsAnswer& answer);
  void Leave(Job* job, const std::string& host, const std::string& why);
  void Sweep();

  event_base* const base_;
  const Send send_;
  uint64_t last_number_ = uint64_t{1} << 63;  // CellReader counts from 1
  std::vector<std::unique_ptr<Job>> jobs_;
  LoopEvent sweep_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_PROGRAM_ASKER_H
