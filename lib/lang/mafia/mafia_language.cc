// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/mafia_language.h"

#include <algorithm>
#include <utility>

#include "lib/base/utf8.h"
#include "lib/lang/event/diagnostic.h"
#include "lib/lang/mafia/check.h"
#include "lib/lang/mafia/conflicts.h"
#include "lib/lang/mafia/lower.h"
#include "lib/lang/mafia/merge.h"
#include "lib/lang/mafia/parser.h"
#include "lib/lang/mafia/print.h"
#include "lib/lang/mafia/resolve.h"

namespace trumpet {
namespace mafia {
namespace {

using event_lang::Quote;

bool HasSize(std::string_view text, Problems* problems) {
  if (text.size() <= kMaxMafiaTextBytes) return true;
  return problems->Add(0, "",
                       "longer than the " + std::to_string(kMaxMafiaTextBytes) +
                           " bytes that are read of a program");
}

// Nothing for branches of which only one sees a packet.
std::optional<MafiaProblem> InWords(const MeasureDiagnostic& diagnostic) {
  const std::string name = Quote(diagnostic.name);
  if (diagnostic.note == MeasureNote::kExclusive) return std::nullopt;
  if (diagnostic.finding == MeasureFinding::kWriteWrite) {
    return MafiaProblem{"warning", diagnostic.place,
                        "two branches of this '++' write " + name +
                            " of one packet; the last one in the text wins"};
  }
  if (diagnostic.finding == MeasureFinding::kTruncation) {
    return MafiaProblem{
        "warning", diagnostic.place,
        "the value is wider than " + name + ", and is cut; '& MASK' says which bits are meant"};
  }
  return MafiaProblem{"note", diagnostic.place,
                      "a branch of this '++' reads " + name +
                          ", which another one writes; it sees what was there before"};
}

void AddWarnings(bool is_strict, Problems* problems, MafiaCheck* check) {
  for (const MeasureDiagnostic& diagnostic : check->program.diagnostics) {
    auto problem = InWords(diagnostic);
    if (!problem) continue;
    if (is_strict && problem->code == "warning") {
      problems->AddAt(problem->place, problem->code, problem->message);
    } else {
      AddTo(&check->warnings, kMaxMeasureDiagnostics, std::move(*problem));
    }
  }
  SortByPlace(&check->warnings);
  const uint64_t left_out = check->program.left_out_diagnostics;
  if (left_out == 0) return;
  check->warnings.push_back({"note",
                             {},
                             std::to_string(left_out) +
                                 " more about branches of '++' are left out; of those told, what "
                                 "two branches write goes first"});
}

}  // namespace
}  // namespace mafia

MafiaCheck CheckMafia(std::string_view text, std::string_view name, const MafiaOptions& options) {
  MafiaCheck check;
  check.program.name = std::string(name);
  text = WithoutByteOrderMark(text);
  mafia::Problems problems(text);
  mafia::Tree tree;
  if (mafia::HasSize(text, &problems)) tree = mafia::Parse(text, &problems);
  if (problems.empty()) {
    mafia::Symbols symbols(&problems);
    mafia::Resolve(tree, options, &symbols, &problems, &check.program);
    mafia::Lower(tree, symbols, &problems, &check.program);
    mafia::Check(tree, check.program, &problems);
  }
  if (problems.empty()) {
    mafia::FindConflicts(&check.program);
    mafia::DecideMerges(&check.program);
    mafia::AddWarnings(options.is_strict, &problems, &check);
  }
  check.errors = problems.Take();
  return check;
}

Result<MeasureProgram> CompileMafia(std::string_view text, std::string_view name,
                                    const MafiaOptions& options) {
  MafiaCheck check = CheckMafia(text, name, options);
  if (check.ok()) return std::move(check.program);
  std::string message;
  for (const MafiaProblem& problem : check.errors) {
    message += (message.empty() ? "" : "\n") + FormatMafiaProblem(name, problem);
  }
  return Status::Error(message);
}

Result<std::string> PrintMafia(std::string_view text, std::string_view name) {
  text = WithoutByteOrderMark(text);
  mafia::Problems problems(text);
  mafia::Tree tree;
  if (mafia::HasSize(text, &problems)) tree = mafia::Parse(text, &problems);
  if (problems.empty()) return mafia::Print(tree);
  return Status::Error(FormatMafiaProblem(name, problems.Take().front()));
}

std::string FormatMafiaProblem(std::string_view name, const MafiaProblem& problem) {
  return std::string(name) + ":" + std::to_string(problem.place.line) + ":" +
         std::to_string(problem.place.column) + ": " +
         (problem.code.empty() ? "" : problem.code + ": ") + problem.message;
}

}  // namespace trumpet
