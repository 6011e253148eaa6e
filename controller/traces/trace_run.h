// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceRun: traces as they are told -> lines of JSON and a store.
//
// What is kept (abnormal, marked, of protocols) is printed and stored; of the rest only what links
// carried is.  Rows are written in batches.
//
// Threads: one; it waits for the store.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_RUN_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_RUN_H

#include <iosfwd>
#include <string>
#include <vector>

#include "controller/store/trace_store.h"
#include "controller/traces/link_book.h"
#include "controller/traces/passed_lengths.h"
#include "controller/traces/rule_sums.h"
#include "controller/traces/switch_book.h"
#include "controller/traces/trace_maker.h"

namespace trumpet {

class TraceRun {
 public:
  // `store` may be null; the others must outlive it.
  TraceRun(const SwitchBook& switches, TraceStore* store, bool prints_all, std::ostream* out)
      : switches_(switches), store_(store), prints_all_(prints_all), out_(*out) {}

  // Those by which switches have copied.
  void SetRules(std::vector<ToldRule> rules) { rules_.Set(std::move(rules)); }
  const RuleSums& rules() const { return rules_; }

  // The store has the links of these captures already.
  void LeaveLinks() { counts_links_ = false; }

  void Tell(const TraceReport& report);
  // Writes what waits, if it is much.
  void WriteIfMuch(Nanos now);
  // Writes what waits; `now` is for the age of files.
  void Write(Nanos now);

  // Traces and rows of links that the store did not take, and why it did not the first time.
  uint64_t refused() const { return refused_; }
  const std::string& first_error() const { return first_error_; }

 private:
  void Note(const Status& status, size_t rows);

  const SwitchBook& switches_;
  TraceStore* const store_;
  const bool prints_all_;
  bool counts_links_ = true;
  std::ostream& out_;
  LinkBook links_;
  RuleSums rules_{0, 0};  // of captures: all that is in them, and whoever they are from may see it
  PassedLengths lengths_;
  std::vector<StoredTrace> waiting_;
  uint64_t refused_ = 0;
  std::string first_error_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_RUN_H
