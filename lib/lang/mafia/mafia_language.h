// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The measurement language (MAFIA): tasks from eight primitives, as text.
//
//   flowid = Key(ip.src, ip.dst, tcp.src, tcp.dst, ip.proto);
//   flow_size = Sketch(alg="count-min", key=flowid, nhash=4, size=256, width=32);
//   pkts >> flow_size.set(flow_size + pkt.size);
//
// docs/measurement-language.md is its guide.
//
// Threads: no state.

#ifndef TRUMPET_LIB_LANG_MAFIA_MAFIA_LANGUAGE_H
#define TRUMPET_LIB_LANG_MAFIA_MAFIA_LANGUAGE_H

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/measure_program.h"

namespace trumpet {

// Of a text; those of what it says are in lib/model/measure_program.h.
constexpr size_t kMaxMafiaTextBytes = 64 * 1024;
constexpr size_t kMaxMafiaProblems = 50;  // told of one text

struct MafiaProblem {
  std::string code;  // "E1" to "E12"; "" is a mistake in the syntax; "warning" or "note"
  MeasurePlace place;
  std::string message;
};

struct MafiaOptions {
  bool is_strict = false;  // warnings are errors
  // Values of params, written as in a program ("10ms", "0.05"): instead of those in the text.
  std::map<std::string, std::string> params;
};

struct MafiaCheck {
  std::vector<MafiaProblem> errors;    // in the order of the text
  std::vector<MafiaProblem> warnings;  // program.diagnostics in words, but exclusive ones
  MeasureProgram program;              // if there are no errors

  bool ok() const { return errors.empty(); }
};

// Everything that is wrong with a program.  Meaning is checked only when the syntax is right.
MafiaCheck CheckMafia(std::string_view text, std::string_view name,
                      const MafiaOptions& options = {});

// The error: all problems, one a line, "hh.mafia:3:9: E1: 'totl' is not declared; ...".
Result<MeasureProgram> CompileMafia(std::string_view text, std::string_view name,
                                    const MafiaOptions& options = {});

// The canonical text: the same items without comments.  Only the syntax is looked at.
Result<std::string> PrintMafia(std::string_view text, std::string_view name);

// "hh.mafia:3:9: E1: 'totl' is not declared"
std::string FormatMafiaProblem(std::string_view name, const MafiaProblem& problem);

}  // namespace trumpet

#endif  // TRUMPET_LIB_LANG_MAFIA_MAFIA_LANGUAGE_H
