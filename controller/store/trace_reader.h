// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceReader: questions about traces that are stored, wherever that is, while others write.
//
// A place is a folder ("/var/lib/trumpet/traces"), or servers ("clickhouse:http://a:8123").  A
// folder may say that its traces are on servers; "files:FOLDER" means its own files in any case.
//
// Threads: one at a time for each reader.  Calls wait for the disk or the servers.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_READER_H
#define TRUMPET_CONTROLLER_STORE_TRACE_READER_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/trace_folder.h"
#include "controller/store/trace_store.h"

namespace trumpet {

class TraceReader {
 public:
  using MayGoOn = std::function<bool()>;  // may be empty; else asked many times a second
  // Which servers have not answered, and why: the answer is that of the others.  Where nobody takes
  // this (null), and where none answers, it is an error.
  using Missing = std::vector<std::string>;

  virtual ~TraceReader() = default;
  virtual Result<std::vector<StoredTrace>> Find(const TraceQuery& query, const MayGoOn& may_go_on,
                                                Missing* missing) = 0;
  virtual Result<TraceCost> Estimate(const TraceQuery& query, Missing* missing) = 0;
  virtual Result<std::map<Nanos, TraceCount>> Count(const TraceQuery& query, Nanos step,
                                                    const MayGoOn& may_go_on, Missing* missing) = 0;
  virtual Result<std::vector<LinkCounters>> Links(Nanos from, Nanos until, Missing* missing) = 0;
  // The first and the last time with counters; the first is later than the last if there are none.
  virtual Result<std::pair<Nanos, Nanos>> LinkTimes(Missing* missing) = 0;
};

constexpr char kFilesPrefix[] = "files:";

// The folder of a place, where names of switches are kept; empty: it has none.
std::string FolderOfTracePlace(const std::string& place);

// Reads what it says of servers, and asks none.
Result<std::unique_ptr<TraceReader>> OpenTraceReader(const std::string& place);

// Makes the folder say that its traces are there: "clickhouse:..."; empty: in its files.
Status SaveTraceServers(const std::string& folder, const std::string& servers);
// Empty: in its files.
Result<std::string> LoadTraceServers(const std::string& folder);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_READER_H
